/* cdef: the scope and its public functions. */
#include "lua/cdef/cdef.h"

#include <stdlib.h>

#include "lua/cdef/cdef_impl.h"

struct xc_cdef *xc_cdef_new(const struct xc_process *process)
{
	struct xc_cdef *cdef = xc_alloc(sizeof *cdef);
	cdef->process = process;
	return cdef;
}

void xc_cdef_free(struct xc_cdef *cdef)
{
	if (!cdef)
		return;
	free(cdef->names);
	xc_hashtable_fini(&cdef->newest);
	xc_arena_fini(&cdef->arena);
	free(cdef);
}

/* ---- declarations ---- */

static bool declare_typedef(struct xc_cdef_parser *p, const struct xc_cdef_specifiers *specifiers,
			    const struct xc_cdef_declarator *d)
{
	uint64_t aligned = d->attributes.last ? d->attributes.last : specifiers->attributes.last;
	struct xc_cdef_name name = xc_cdef_new_name(p, XC_CDEF_ORDINARY, XC_CDEF_TYPE, &d->name);
	struct xc_type *type = xc_type_new(xc_types_of(p->process), XC_TYPE_TYPEDEF);
	type->name = name.name;
	type->target = d->type;
	type->is_c = true;
	xc_type_set_alignment(type, (uint32_t)aligned, aligned > 0);
	name.type = type;
	const struct xc_cdef_name *before = xc_cdef_find(p->cdef, XC_CDEF_ORDINARY, d->name.text, d->name.len);
	if (before && before->kind == XC_CDEF_TYPE && xc_cdef_same(before->type, type))
		return true;
	if (before && before->kind != XC_CDEF_LIBRARY)
		return xc_cdef_conflict(p, &d->name, before,
					before->kind == XC_CDEF_TYPE ? "another type" : "an enumerator");
	xc_cdef_add(p->cdef, &name);
	return true;
}

/* The declarators after the specifiers, up to the semicolon. */
static bool parse_declarators(struct xc_cdef_parser *p, const struct xc_cdef_specifiers *specifiers)
{
	for (;;) {
		struct xc_cdef_declarator d;
		struct xc_cdef_attributes between = {0};
		if (!xc_cdef_parse_attributes(p, &between) ||
		    !xc_cdef_parse_declarator(p, specifiers->type, XC_CDEF_NAMED, &d) ||
		    !xc_cdef_parse_attributes(p, &d.attributes))
			return false;
		if (d.name.kind == XC_TOKEN_END)
			return xc_cdef_unexpected(p, "a name");
		if (specifiers->storage == XC_CDEF_TYPEDEF && !declare_typedef(p, specifiers, &d))
			return false;
		if (xc_cdef_is(p, '{') && d.type->kind == XC_TYPE_FUNCTION && specifiers->storage != XC_CDEF_TYPEDEF)
			return xc_cdef_skip_balanced(p);
		if (xc_cdef_is(p, '='))
			return xc_cdef_fail(p, &p->token, XC_ERR_UNSUPPORTED,
					    "only declarations are supported, not values of variables");
		if (!xc_cdef_skip(p, ','))
			return xc_cdef_expect(p, ';', "a semicolon");
	}
}

static bool parse_declaration(struct xc_cdef_parser *p)
{
	struct xc_cdef_specifiers specifiers;
	if (xc_cdef_skip(p, ';'))
		return true;
	if (xc_cdef_is_word(p, "_Static_assert") || xc_cdef_is_word(p, "static_assert"))
		return xc_cdef_parse_assert(p);
	if (!xc_cdef_parse_specifiers(p, &specifiers))
		return false;
	return xc_cdef_skip(p, ';') || parse_declarators(p, &specifiers);
}

/* Return the error, if any; the scope is then restored. */
static struct xc_error *finish(struct xc_cdef_parser *p, size_t before)
{
	struct xc_error *err = xc_take(p->err);
	if (err)
		xc_cdef_cut(p->cdef, before);
	xc_cdef_parser_fini(p);
	return err;
}

struct xc_error *xc_cdef_declare(struct xc_cdef *cdef, const char *text)
{
	struct xc_cdef_parser p;
	size_t before = cdef->count;
	cdef->texts++;
	xc_cdef_parser_init(&p, cdef, text, false);
	while (p.token.kind != XC_TOKEN_END && !p.err)
		parse_declaration(&p);
	return finish(&p, before);
}

struct xc_error *xc_cdef_type(struct xc_cdef *cdef, const char *name, const struct xc_type **out)
{
	struct xc_cdef_parser p;
	size_t before = cdef->count;
	xc_cdef_parser_init(&p, cdef, name, true);
	const struct xc_type *type = p.err ? NULL : xc_cdef_parse_type_name(&p);
	if (type && p.token.kind != XC_TOKEN_END)
		xc_cdef_unexpected(&p, "the end");
	if (!p.err)
		*out = type;
	return finish(&p, before);
}

struct xc_error *xc_cdef_constant(struct xc_cdef *cdef, const char *name, int64_t *out)
{
	struct xc_cdef_parser p;
	struct xc_cdef_value value;
	size_t before = cdef->count, len = strnlen(name, XC_CDEF_TEXT);
	const struct xc_cdef_name *macro = xc_cdef_find(cdef, XC_CDEF_MACRO, name, len);
	const struct xc_cdef_name *other = xc_cdef_find(cdef, XC_CDEF_ORDINARY, name, len);
	if (!macro && (!other || other->kind != XC_CDEF_CONSTANT))
		return xc_error_new(XC_ERR_NOT_FOUND, "no macro or enumerator `%.*s` is declared",
				    (int)(len < 80 ? len : 80), name);
	if (macro && macro->kind == XC_CDEF_CALLED)
		return xc_error_new(XC_ERR_UNSUPPORTED, "`%s` is a macro with parameters", macro->name);
	xc_cdef_parser_init(&p, cdef, name, true);
	if (!p.err && xc_cdef_parse_constant(&p, &value) && p.token.kind != XC_TOKEN_END)
		xc_cdef_unexpected(&p, "the end of the constant");
	if (!p.err)
		*out = (int64_t)value.bits;
	return finish(&p, before);
}

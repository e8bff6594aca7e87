/* cdef_record: structs and unions. */
#include <stdlib.h>

#include "core/base/text.h"
#include "dwarf/layout/layout.h"
#include "lua/cdef/cdef_impl.h"

struct reader {
	struct xc_cdef_parser *p;
	struct xc_cdef_record record;
	struct xc_cdef_token flexible; /* the member that must be the last one; kind END: none is */
};

/* ---- tags ---- */

bool xc_cdef_parse_head(struct xc_cdef_parser *p, struct xc_cdef_attributes *attributes, struct xc_cdef_token *name_out,
			struct xc_cdef_token *spot_out)
{
	xc_cdef_next(p);
	if (!xc_cdef_parse_attributes(p, attributes))
		return false;
	*spot_out = p->token;
	if (xc_cdef_at_name(p)) {
		*name_out = p->token;
		xc_cdef_next(p);
	} else {
		*name_out = (struct xc_cdef_token){.kind = XC_TOKEN_END};
	}
	return true;
}

struct xc_type *xc_cdef_tag(struct xc_cdef_parser *p, enum xc_type_kind kind, const struct xc_cdef_token *token)
{
	static const char *const words[] = {
		[XC_TYPE_STRUCT] = "a struct", [XC_TYPE_UNION] = "a union", [XC_TYPE_ENUM] = "an enum"};
	const struct xc_cdef_name *found = xc_cdef_find(p->cdef, XC_CDEF_TAG, token->text, token->len);
	if (found && found->type->kind == kind)
		return (struct xc_type *)found->type; /* ours */
	if (found) {
		xc_cdef_conflict(p, token, found, words[found->type->kind]);
		return NULL;
	}
	if (p->is_name) {
		xc_cdef_fail(p, token, XC_ERR_NOT_FOUND, "no %s `%.*s` is declared", strchr(words[kind], ' ') + 1,
			     (int)(token->len < 80 ? token->len : 80), token->text);
		return NULL;
	}
	struct xc_cdef_name name = xc_cdef_new_name(p, XC_CDEF_TAG, XC_CDEF_TYPE, token);
	struct xc_type *type = xc_type_new(xc_types_of(p->process), kind);
	type->name = name.name;
	type->is_c = true;
	xc_type_undefine(type);
	name.type = type;
	xc_cdef_add(p->cdef, &name);
	return type;
}

const struct xc_type *xc_cdef_define(struct xc_cdef_parser *p, struct xc_type *fresh, const struct xc_cdef_token *token)
{
	if (token->kind == XC_TOKEN_END)
		return fresh;
	bool is_name = p->is_name;
	p->is_name = false; /* `sizeof(struct new {…})` may */
	struct xc_type *type = xc_cdef_tag(p, fresh->kind, token);
	p->is_name = is_name;
	if (!type)
		return NULL;
	if (!type->is_declaration) {
		fresh->name = type->name;
		if (xc_cdef_same_items(type, fresh))
			return type;
		xc_cdef_conflict(p, token, xc_cdef_find(p->cdef, XC_CDEF_TAG, token->text, token->len),
				 "defined differently");
		return NULL;
	}
	xc_type_define(type, fresh);
	struct xc_cdef_name name = xc_cdef_new_name(p, XC_CDEF_TAG, XC_CDEF_TYPE, token);
	name.type = type;
	name.defines = true;
	xc_cdef_add(p->cdef, &name);
	return type;
}

/* ---- members ---- */

static bool add(struct reader *r, const struct xc_cdef_field *field)
{
	struct xc_cdef_record *record = &r->record;
	struct xc_cdef_parser *p = r->p;
	if (r->flexible.kind != XC_TOKEN_END && !record->is_union)
		return xc_cdef_fail(p, &r->flexible, XC_ERR_FORMAT,
				    "only the last member may be an array without a count");
	if (record->count == XC_CDEF_RECORD_ITEMS || ++p->cdef->items > XC_CDEF_ITEMS)
		return xc_cdef_fail(p, &p->token, XC_ERR_LIMIT, "more than %d members",
				    record->count == XC_CDEF_RECORD_ITEMS ? XC_CDEF_RECORD_ITEMS : XC_CDEF_ITEMS);
	record->fields = xc_grow(record->fields, record->count, &record->capacity, sizeof *record->fields);
	record->fields[record->count++] = *field;
	return true;
}

/* The width of a bit-field, after the colon. */
static bool parse_width(struct reader *r, const struct xc_cdef_declarator *d, struct xc_cdef_field *field)
{
	struct xc_cdef_parser *p = r->p;
	const struct xc_type *plain = xc_type_strip(d->type);
	struct xc_cdef_token spot = p->token;
	uint64_t width;
	bool integer = plain->kind == XC_TYPE_INT || plain->kind == XC_TYPE_CHAR || plain->kind == XC_TYPE_BOOL ||
		       plain->kind == XC_TYPE_ENUM;
	if (!xc_cdef_parse_count(p, 1024, "the width of the bit-field", &width))
		return false;
	if (!integer || !plain->size_known)
		return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "a bit-field of type `%s`", xc_type_name(d->type));
	if (width > (plain->kind == XC_TYPE_BOOL ? 1 : plain->size * 8))
		return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "a bit-field wider than `%s`", xc_type_name(d->type));
	if (width == 0 && d->name.kind != XC_TOKEN_END)
		return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "a bit-field of 0 bits has no name");
	field->is_bits = true;
	field->member.bit_size = (uint16_t)width;
	return true;
}

static bool check_type(struct xc_cdef_parser *p, const struct xc_cdef_declarator *d, const struct xc_cdef_token *spot)
{
	const struct xc_type *plain = xc_type_strip(d->type);
	uint64_t size;
	if (plain->kind == XC_TYPE_FUNCTION)
		return xc_cdef_fail(p, spot, XC_ERR_FORMAT, "a member that is a function");
	return xc_type_size(d->type, &size) || xc_layout_is_flexible(d->type) ||
	       xc_cdef_fail(p, spot, XC_ERR_FORMAT, "a member of type `%s`, which is not complete",
			    xc_type_name(d->type));
}

/* One declarator of a member, with its width and attributes. */
static bool parse_member(struct reader *r, const struct xc_cdef_specifiers *specifiers)
{
	struct xc_cdef_parser *p = r->p;
	struct xc_cdef_field field = {.packed = false};
	struct xc_cdef_declarator d;
	struct xc_cdef_token spot = p->token;
	if (!xc_cdef_parse_attributes(p, &(struct xc_cdef_attributes){0}) ||
	    !xc_cdef_parse_declarator(p, specifiers->type, XC_CDEF_NAMED, &d))
		return false;
	if (xc_cdef_skip(p, ':') ? !parse_width(r, &d, &field) : d.name.kind == XC_TOKEN_END)
		return xc_cdef_unexpected(p, "the name of a member");
	if (!xc_cdef_parse_attributes(p, &d.attributes) || (!field.is_bits && !check_type(p, &d, &spot)))
		return false;
	uint64_t aligned = d.attributes.aligned;
	aligned = specifiers->attributes.aligned > aligned ? specifiers->attributes.aligned : aligned;
	aligned = specifiers->alignas > aligned ? specifiers->alignas : aligned;
	field.packed = d.attributes.packed || specifiers->attributes.packed;
	field.member.alignment = (uint32_t)aligned;
	field.member.type = d.type;
	struct xc_arena *arena = xc_types_of(p->process)->arena;
	if (d.name.kind != XC_TOKEN_END)
		field.member.name = xc_arena_strndup(arena, d.name.text, d.name.len);
	if (!add(r, &field))
		return false;
	if (!field.is_bits && xc_layout_is_flexible(d.type))
		r->flexible = spot;
	return true;
}

static bool parse_members(struct reader *r)
{
	struct xc_cdef_parser *p = r->p;
	struct xc_cdef_specifiers specifiers;
	if (xc_cdef_skip(p, ';'))
		return true;
	if (xc_cdef_is_word(p, "_Static_assert") || xc_cdef_is_word(p, "static_assert"))
		return xc_cdef_parse_assert(p);
	struct xc_cdef_token spot = p->token;
	if (!xc_cdef_parse_specifiers(p, &specifiers))
		return false;
	if (specifiers.storage != XC_CDEF_PLAIN)
		return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "a member has no storage class");
	if (xc_cdef_is(p, ';')) { /* a struct or union that has only a tag is a declaration, not a member */
		struct xc_cdef_field field = {.member.type = specifiers.type};
		return (!specifiers.is_anonymous || add(r, &field)) && xc_cdef_skip(p, ';');
	}
	do {
		if (!parse_member(r, &specifiers))
			return false;
	} while (xc_cdef_skip(p, ','));
	return xc_cdef_expect(p, ';', "a semicolon");
}

/* ---- names that come twice ---- */

struct list {
	const char **items;
	size_t count, capacity;
};

/* The names of members, through anonymous ones. */
static void collect(struct list *list, const struct xc_member *members, size_t count, unsigned depth)
{
	for (size_t i = 0; i < count && depth < XC_CDEF_NESTING && list->count < XC_CDEF_ITEMS; i++) {
		if (members[i].name) {
			list->items = xc_grow(list->items, list->count, &list->capacity, sizeof *list->items);
			list->items[list->count++] = members[i].name;
		} else if (!members[i].bit_size) {
			size_t inner;
			const struct xc_member *in = xc_type_members(xc_type_strip(members[i].type), &inner);
			collect(list, in, inner, depth + 1);
		}
	}
}

static bool check_names(struct xc_cdef_parser *p, const struct xc_member *members, size_t count,
			const struct xc_cdef_token *spot)
{
	struct list list = {0};
	const char *twice = NULL;
	collect(&list, members, count, 0);
	if (list.count > 1)
		qsort(list.items, list.count, sizeof *list.items, xc_text_order);
	for (size_t i = 1; i < list.count && !twice; i++)
		twice = strcmp(list.items[i - 1], list.items[i]) == 0 ? list.items[i] : NULL;
	free(list.items);
	return !twice || xc_cdef_fail(p, spot, XC_ERR_FORMAT, "two members `%s`", twice);
}

/* ---- the whole ---- */

/* The record as a type. Unnamed bit-fields only take room. */
static struct xc_type *make_type(struct reader *r, const struct xc_cdef_token *spot)
{
	struct xc_cdef_parser *p = r->p;
	struct xc_types *types = xc_types_of(p->process);
	struct xc_cdef_record *record = &r->record;
	if (!xc_cdef_lay_out(p->process, record)) {
		xc_cdef_fail(p, spot, XC_ERR_FORMAT, "larger than any object");
		return NULL;
	}
	struct xc_type *type = xc_type_new(types, record->is_union ? XC_TYPE_UNION : XC_TYPE_STRUCT);
	struct xc_member *members = xc_arena_alloc(types->arena, record->count * sizeof *members + 1);
	size_t count = 0;
	for (size_t i = 0; i < record->count; i++) {
		const struct xc_cdef_field *field = &record->fields[i];
		if (field->member.name || !field->is_bits)
			members[count++] = field->member;
	}
	type->is_c = true;
	type->size = record->size;
	type->size_known = true;
	xc_type_set_alignment(type, (uint32_t)record->alignment, record->alignment_asked);
	xc_type_set_items(type, members, count);
	return check_names(p, members, count, spot) ? type : NULL;
}

/* After the brace, up to the attributes after the closing one. */
static const struct xc_type *parse_body(struct reader *r, struct xc_cdef_attributes *attributes,
					const struct xc_cdef_token *name, const struct xc_cdef_token *spot)
{
	struct xc_cdef_parser *p = r->p;
	while (!xc_cdef_is(p, '}') && !p->err) {
		if (p->token.kind == XC_TOKEN_END)
			xc_cdef_unexpected(p, "}");
		else
			parse_members(r);
	}
	xc_cdef_next(p);
	if (!xc_cdef_parse_attributes(p, attributes))
		return NULL;
	r->record.packed = attributes->packed;
	r->record.aligned = attributes->last;
	r->record.pack = p->pack;
	struct xc_type *fresh = make_type(r, spot);
	return fresh ? xc_cdef_define(p, fresh, name) : NULL;
}

const struct xc_type *xc_cdef_parse_record(struct xc_cdef_parser *p, bool *anonymous_out)
{
	struct reader r = {.p = p, .flexible = {.kind = XC_TOKEN_END}};
	struct xc_cdef_attributes attributes = {0};
	struct xc_cdef_token name, spot;
	r.record.is_union = xc_cdef_is_word(p, "union");
	enum xc_type_kind kind = r.record.is_union ? XC_TYPE_UNION : XC_TYPE_STRUCT;
	if (!xc_cdef_parse_head(p, &attributes, &name, &spot))
		return NULL;
	if (!xc_cdef_skip(p, '{')) {
		if (name.kind != XC_TOKEN_END)
			return p->err ? NULL : xc_cdef_tag(p, kind, &name);
		xc_cdef_unexpected(p, "a name or {");
		return NULL;
	}
	/* known inside, and as an incomplete type */
	bool known = name.kind == XC_TOKEN_END || p->is_name || xc_cdef_tag(p, kind, &name);
	const struct xc_type *type = known ? parse_body(&r, &attributes, &name, &spot) : NULL;
	*anonymous_out = name.kind == XC_TOKEN_END;
	free(r.record.fields);
	return p->err ? NULL : type;
}

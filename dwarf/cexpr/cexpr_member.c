/* cexpr_member: a.b and a->b, which are equivalent: members, also of base classes and anonymous parts, `a.Base::b`,
 * static members and functions of the class; and a suggestion when there is none. */
#include "dwarf/cexpr/cexpr_impl.h"

enum { MAX_NESTING = 16 };

static const struct xc_type *record_of(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->is_declaration ? xc_type_complete(type) : type;
}

static struct xc_error *no_member(const struct xc_type *type, const char *name)
{
	const char *near = xc_value_near_member(type, name);
	if (near)
		return xc_error_new(XC_ERR_NOT_FOUND, "no member `%s` in `%s`; did you mean `%s`?", name,
				    xc_type_name(type), near);
	return xc_error_new(XC_ERR_NOT_FOUND, "no member `%s` in `%s`", name, xc_type_name(type));
}

/* Is `name`, which may lack namespaces, the name of this class? */
static bool is_called(const char *full, const char *name, size_t len)
{
	size_t have = strlen(full);
	if (have < len || memcmp(full + have - len, name, len) != 0)
		return false;
	return have == len || (have - len >= 2 && memcmp(full + have - len - 2, "::", 2) == 0);
}

/* The base class with this name within an object. The object's own class counts too. */
static bool find_base(const struct xc_value *object, const char *name, size_t len, unsigned nesting,
		      struct xc_value *out)
{
	size_t count;
	const struct xc_type *type = record_of(object->type);
	if (type->name && is_called(type->name, name, len)) {
		*out = *object;
		return true;
	}
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && nesting < MAX_NESTING; i++) {
		struct xc_value base;
		if (!members[i].base)
			continue;
		xc_value_field(object, &members[i], &base);
		if (find_base(&base, name, len, nesting + 1, out))
			return true;
	}
	return false;
}

/* The last `::` outside of template arguments; NULL when there is none. */
static const char *qualifier_end(const char *name)
{
	const char *end = NULL;
	int depth = 0;
	for (const char *at = name; *at; at++) {
		depth += (*at == '<') - (*at == '>');
		if (depth == 0 && at[0] == ':' && at[1] == ':')
			end = at;
	}
	return end;
}

struct xc_error *xc_cexpr_member(struct xc_cexpr *c, const struct xc_value *value, const char *name,
				 struct xc_value *out)
{
	struct xc_value object = *value;
	struct xc_error *err;
	if (xc_cexpr_is_untyped(c, value->type))
		return xc_cexpr_untyped();
	enum xc_type_kind kind = xc_type_strip(object.type)->kind; /* an array decays to a pointer: array->member */
	if ((kind == XC_TYPE_POINTER || kind == XC_TYPE_ARRAY) &&
	    xc_type_is_record(xc_type_strip(object.type)->target) && (err = xc_cexpr_deref(c, &object, &object)))
		return err;
	const struct xc_type *type = record_of(object.type);
	if (!xc_type_is_record(type))
		return xc_error_new(XC_ERR_USAGE, "`%s` has no members", xc_type_name(value->type));
	if (type->is_declaration)
		return xc_error_new(XC_ERR_NOT_FOUND, "`%s` is declared, but no module defines it",
				    xc_type_name(object.type));
	const char *end = qualifier_end(name);
	if (end && !find_base(&object, name, (size_t)(end - name), 0, &object))
		return xc_error_new(XC_ERR_NOT_FOUND, "`%.*s` is not a base class of `%s`", (int)(end - name), name,
				    xc_type_name(type));
	name = end ? end + 2 : name;
	err = xc_value_member(&object, name, out);
	if (!err || err->code != XC_ERR_NOT_FOUND)
		return err;
	xc_error_free(err);
	if (xc_cexpr_variant_member(&object, name, out) || xc_cexpr_class_member(c, object.type, name, out))
		return NULL;
	struct xc_value content;
	if (xc_cexpr_content(c, &object, &content)) { /* owner->name of a smart pointer */
		err = xc_cexpr_member(c, &content, name, out);
		if (!err || err->code != XC_ERR_USAGE)
			return err;
		xc_error_free(err);
	}
	return no_member(object.type, name);
}

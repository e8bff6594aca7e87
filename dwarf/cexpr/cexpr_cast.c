/* cexpr_cast: (type) value.
 *
 * Numbers convert as in C. A pointer to a class converts to a pointer to a base class, or back, with the adjustment of
 * C++. A value in memory that is not a number is reinterpreted in place. */
#include "dwarf/cexpr/cexpr_impl.h"

enum { MAX_NESTING = 16 };

static bool is_scalar(const struct xc_type *type)
{
	switch (type->kind) {
	case XC_TYPE_INT:
	case XC_TYPE_BOOL:
	case XC_TYPE_CHAR:
	case XC_TYPE_FLOAT:
	case XC_TYPE_ENUM:
	case XC_TYPE_POINTER:
		return type->size_known && type->size > 0 && type->size <= 16;
	default:
		return false;
	}
}

static const struct xc_type *record_of(const struct xc_type *type)
{
	return xc_type_complete(xc_type_strip(type));
}

static bool same_class(const struct xc_type *a, const struct xc_type *b)
{
	return a == b || (a->name && b->name && strcmp(a->name, b->name) == 0);
}

/* The address of a base class in an object at addr. Virtual bases are found through the object itself. */
static bool base_in(struct xc_cexpr *c, const struct xc_type *type, xc_addr addr, const struct xc_type *base,
		    unsigned nesting, xc_addr *base_out)
{
	size_t count;
	if (same_class(type, base)) {
		*base_out = addr;
		return true;
	}
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && nesting < MAX_NESTING; i++) {
		struct xc_value object = xc_value_memory(c->process, type, addr), part;
		if (!members[i].base)
			continue;
		xc_value_field(&object, &members[i], &part);
		if (part.kind == XC_VALUE_MEMORY &&
		    base_in(c, record_of(part.type), part.addr, base, nesting + 1, base_out))
			return true;
	}
	return false;
}

/* The address of the same object as another class; unchanged when the classes are not related. */
static xc_addr adjusted(struct xc_cexpr *c, const struct xc_type *from, const struct xc_type *to, xc_addr addr)
{
	xc_addr at;
	from = record_of(from);
	to = record_of(to);
	if (addr == 0 || !xc_type_is_record(from) || !xc_type_is_record(to) || from->is_c || to->is_c)
		return addr;
	if (base_in(c, from, addr, to, 0, &at))
		return at;
	/* From base to derived. A virtual base has no fixed offset in derived classes, so it is not found here. */
	return base_in(c, to, 0, from, 0, &at) ? addr - at : addr;
}

static struct xc_error *reinterpret(struct xc_cexpr *c, const struct xc_value *value, const struct xc_type *type,
				    struct xc_value *out)
{
	const struct xc_type *plain = xc_type_strip(type);
	uint64_t have, element;
	if (value->kind == XC_VALUE_ABSENT && !c->dry)
		return xc_cexpr_unreadable(value);
	if (value->kind != XC_VALUE_MEMORY && !c->dry)
		return xc_error_new(XC_ERR_USAGE, "`%s` cannot be cast to `%s`: it is not in memory",
				    xc_type_name(value->type), xc_type_name(type));
	if (plain->kind == XC_TYPE_ARRAY && !plain->count_known && xc_type_size(value->type, &have) &&
	    xc_type_size(plain->target, &element) && element > 0) /* (char[]) x */
		type = xc_ctype_array(c->process, plain->target, have / element);
	*out = *value;
	out->type = type;
	return NULL;
}

static struct xc_error *cast_to_reference(struct xc_cexpr *c, const struct xc_value *value, const struct xc_type *type,
					  bool adjust, struct xc_value *out)
{
	const struct xc_type *target = xc_type_strip(type)->target;
	if (value->kind != XC_VALUE_MEMORY)
		return xc_error_new(XC_ERR_USAGE, "a reference can only refer to a value in memory");
	*out = xc_value_memory(c->process, target,
			       adjust ? adjusted(c, value->type, target, value->addr) : value->addr);
	return NULL;
}

struct xc_error *xc_cexpr_cast(struct xc_cexpr *c, const struct xc_value *given, const struct xc_type *type,
			       bool adjust, struct xc_value *out)
{
	const struct xc_type *to = xc_type_strip(type);
	struct xc_value value;
	struct xc_cnumber number;
	struct xc_error *err;
	if (to->kind == XC_TYPE_VOID) {
		*out = (struct xc_value){.process = c->process, .type = type, .kind = XC_VALUE_BYTES};
		return NULL;
	}
	if (to->kind == XC_TYPE_REFERENCE || to->kind == XC_TYPE_RVALUE_REFERENCE)
		return cast_to_reference(c, given, type, adjust, out);
	bool untyped = xc_cexpr_is_untyped(c, given->type);
	if (!is_scalar(to) || untyped) {
		const struct xc_type *from = xc_type_strip(given->type);
		if (xc_type_is_record(to) && xc_type_is_record(from) && adjust && given->kind == XC_VALUE_MEMORY) {
			*out = xc_value_memory(c->process, type, adjusted(c, from, to, given->addr));
			return NULL;
		}
		return reinterpret(c, given, type, out);
	}
	if ((err = xc_cexpr_decay(c, given, &value)))
		return err;
	const struct xc_type *from = xc_type_strip(value.type);
	if (!is_scalar(from) && !(from->kind == XC_TYPE_UNKNOWN && from->size_known))
		return reinterpret(c, &value, type, out);
	if ((err = xc_cexpr_number(c, &value, &number)))
		return err;
	if (from->kind == XC_TYPE_POINTER && to->kind == XC_TYPE_POINTER && adjust)
		number.bits = adjusted(c, from->target, to->target, (xc_addr)number.bits);
	if (number.is_real && to->kind == XC_TYPE_POINTER)
		return xc_error_new(XC_ERR_USAGE, "a float is not an address");
	err = xc_cexpr_convert(c, &number, type, out);
	if (!err)
		out->guessed = value.guessed;
	return err;
}

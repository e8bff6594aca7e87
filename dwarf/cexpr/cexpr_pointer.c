/* cexpr_pointer: pointers: dereference, address-of, indexing, arithmetic and comparison.
 *
 * Elements of void and of functions have size 1, as in GNU C. Bounds of arrays in memory are not checked, since `char
 * d[1]` at the end of a struct is often longer. */
#include "dwarf/cexpr/cexpr_impl.h"

enum { MAX_REPEAT = 1 << 30 };

static const struct xc_type *pointer_to(struct xc_cexpr *c, const struct xc_type *type)
{
	return xc_ctype_derive(c->process, XC_TYPE_POINTER, type);
}

static struct xc_value pointer_value(struct xc_cexpr *c, const struct xc_type *target, xc_addr addr)
{
	return xc_value_small(c->process, pointer_to(c, target), &addr, sizeof addr);
}

struct xc_error *xc_cexpr_decay(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	bool array = type->kind == XC_TYPE_ARRAY && !type->is_vector;
	if (!array && type->kind != XC_TYPE_FUNCTION) {
		*out = *value;
		return NULL;
	}
	if (c->dry) {
		*out = pointer_value(c, array ? type->target : value->type, 0);
		return NULL;
	}
	if (value->kind == XC_VALUE_ABSENT)
		return xc_cexpr_unreadable(value);
	if (value->kind != XC_VALUE_MEMORY)
		return xc_error_new(XC_ERR_USAGE, "this array is not in the target's memory: it has no address");
	*out = pointer_value(c, array ? type->target : value->type, value->addr);
	return NULL;
}

static bool is_integer(const struct xc_type *type)
{
	return type->kind == XC_TYPE_INT || type->kind == XC_TYPE_CHAR || type->kind == XC_TYPE_BOOL ||
	       type->kind == XC_TYPE_ENUM;
}

static struct xc_value at_address(struct xc_cexpr *c, const struct xc_type *type, xc_addr addr)
{
	return xc_value_memory(c->process, type, addr);
}

struct xc_error *xc_cexpr_deref(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	struct xc_value pointer;
	struct xc_cnumber number;
	struct xc_error *err;
	bool reference = type->kind == XC_TYPE_REFERENCE || type->kind == XC_TYPE_RVALUE_REFERENCE;
	if (xc_cexpr_is_untyped(c, value->type))
		return xc_cexpr_untyped();
	if (type->kind == XC_TYPE_FUNCTION) {
		*out = *value;
		return NULL;
	}
	if (is_integer(type)) { /* as in gdb: the word at this address */
		if ((err = xc_cexpr_number(c, value, &number)))
			return err;
		*out = at_address(c, xc_ctype(c->process, XC_C_LONG), (uint64_t)number.bits);
		return NULL;
	}
	if (xc_cexpr_content(c, value, &pointer)) {
		if (xc_type_strip(pointer.type)->kind == XC_TYPE_POINTER)
			return xc_cexpr_deref(c, &pointer, out);
		*out = pointer;
		return NULL;
	}
	if ((err = xc_cexpr_decay(c, value, &pointer)))
		return err;
	type = xc_type_strip(pointer.type);
	if (type->kind != XC_TYPE_POINTER && !reference)
		return xc_error_new(XC_ERR_USAGE, "`%s` is not a pointer", xc_type_name(value->type));
	if (xc_type_strip(type->target)->kind == XC_TYPE_VOID)
		return xc_error_hint(
			xc_error_new(XC_ERR_USAGE, "`%s` points to an unknown type", xc_type_name(value->type)),
			"cast it: *(struct foo *)p");
	if (c->dry)
		*out = at_address(c, type->target, 0);
	else if (pointer.kind == XC_VALUE_POINTEE)
		*out = *pointer.pointee;
	else if (!(err = xc_cexpr_number(c, &pointer, &number)))
		*out = at_address(c, type->target, (uint64_t)number.bits);
	return err;
}

struct xc_error *xc_cexpr_address(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out)
{
	if (value->bit_size > 0)
		return xc_error_new(XC_ERR_USAGE, "a bit-field has no address");
	if (value->kind == XC_VALUE_ABSENT && !c->dry)
		return xc_cexpr_unreadable(value);
	if (value->kind != XC_VALUE_MEMORY && !c->dry)
		return xc_error_new(XC_ERR_USAGE, "this value is not in memory: it has no address");
	*out = pointer_value(c, value->type, value->kind == XC_VALUE_MEMORY ? value->addr : 0);
	return NULL;
}

/* The size of the elements that pointer arithmetic counts in. */
static struct xc_error *step_of(const struct xc_type *target, uint64_t *size_out)
{
	const struct xc_type *type = xc_type_strip(target);
	if (type->kind == XC_TYPE_VOID || type->kind == XC_TYPE_FUNCTION)
		*size_out = 1;
	else if (!xc_type_size(target, size_out))
		return xc_error_new(XC_ERR_NOT_FOUND, "the size of `%s` is not known", xc_type_name(target));
	return NULL;
}

static struct xc_error *index_number(struct xc_cexpr *c, const struct xc_value *index, int64_t *out)
{
	struct xc_cnumber number;
	struct xc_error *err = xc_cexpr_number(c, index, &number);
	if (err)
		return err;
	if (number.is_real)
		return xc_error_new(XC_ERR_USAGE, "`%s` is not an index", xc_type_name(index->type));
	*out = (int64_t)number.bits;
	return NULL;
}

/* An element of an array that is not in memory (a string constant, pieces in registers), or of a vector: checked. */
static struct xc_error *index_bytes(const struct xc_value *array, const struct xc_type *type, int64_t index,
				    struct xc_value *out)
{
	uint64_t size;
	struct xc_error *err = step_of(type->target, &size);
	if (err)
		return err;
	if (index < 0 || (type->count_known && (uint64_t)index >= type->count))
		return xc_error_new(XC_ERR_LIMIT, "index %lld is outside `%s`", (long long)index,
				    xc_type_name(array->type));
	*out = *array;
	out->type = type->target;
	out->addr += (uint64_t)index * size; /* a vector may be in memory */
	out->at += (uint64_t)index * size;
	return NULL;
}

struct xc_error *xc_cexpr_index(struct xc_cexpr *c, const struct xc_value *a, const struct xc_value *b,
				struct xc_value *out)
{
	const struct xc_type *type = xc_type_strip(a->type);
	struct xc_error *err;
	int64_t index;
	uint64_t size;
	if (xc_cexpr_is_untyped(c, a->type) || xc_cexpr_is_untyped(c, b->type))
		return xc_cexpr_untyped();
	if (is_integer(type)) { /* 2[p] */
		const struct xc_value *swap = a;
		a = b;
		b = swap;
		type = xc_type_strip(a->type);
	}
	bool container;
	err = xc_cexpr_container_index(c, a, b, out, &container);
	if (err || container)
		return err;
	if (type->kind != XC_TYPE_ARRAY && type->kind != XC_TYPE_POINTER)
		return xc_error_new(XC_ERR_USAGE, "`%s` has no elements", xc_type_name(a->type));
	if ((err = index_number(c, b, &index)))
		return err;
	if (type->kind == XC_TYPE_ARRAY && (a->kind != XC_VALUE_MEMORY || type->is_vector)) {
		if (a->kind == XC_VALUE_ABSENT && !c->dry)
			return xc_cexpr_unreadable(a);
		if (a->kind != XC_VALUE_ABSENT)
			return index_bytes(a, type, index, out);
	}
	struct xc_value start = *a;
	if (type->kind == XC_TYPE_ARRAY) {
		start.type = type->target;
	} else if ((err = xc_cexpr_deref(c, a, &start))) {
		return err;
	}
	if ((err = step_of(start.type, &size)))
		return err;
	*out = start;
	out->addr += (uint64_t)index * size;
	out->at += (uint64_t)index * size;
	return NULL;
}

struct xc_error *xc_cexpr_repeat(struct xc_cexpr *c, const struct xc_value *value, const struct xc_value *count,
				 struct xc_value *out)
{
	uint64_t size;
	int64_t number = 0;
	bool dry = c->dry;
	c->dry = false; /* the number of elements is part of the type */
	struct xc_error *err = index_number(c, count, &number);
	c->dry = dry;
	if (err || (err = step_of(value->type, &size)))
		return err;
	if (number < 1 || number > MAX_REPEAT)
		return xc_error_new(XC_ERR_LIMIT, "%lld elements: @ accepts 1 to %d", (long long)number, MAX_REPEAT);
	if (value->kind == XC_VALUE_ABSENT && !c->dry)
		return xc_cexpr_unreadable(value);
	if ((value->kind != XC_VALUE_MEMORY || value->bit_size > 0) && !c->dry)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "@ needs an object in memory"), "*p@%lld",
				     (long long)number);
	*out = *value;
	out->type = xc_ctype_array(c->process, value->type, (uint64_t)number);
	return NULL;
}

/* ---- + - and comparisons ---- */

static struct xc_error *moved(struct xc_cexpr *c, const struct xc_value *pointer, const struct xc_value *steps,
			      bool back, struct xc_value *out)
{
	const struct xc_type *type = xc_type_strip(pointer->type);
	struct xc_cnumber addr;
	int64_t count;
	uint64_t size;
	struct xc_error *err = index_number(c, steps, &count);
	if (err || (err = step_of(type->target, &size)) || (err = xc_cexpr_number(c, pointer, &addr)))
		return err;
	uint64_t offset = (uint64_t)count * size, to = (uint64_t)addr.bits + (back ? 0 - offset : offset);
	if (c->process->arch->word == 4)
		to &= UINT32_MAX;
	*out = xc_value_small(c->process, pointer->type, &to, sizeof to);
	return NULL;
}

static struct xc_error *distance(struct xc_cexpr *c, const struct xc_value *a, const struct xc_value *b,
				 struct xc_value *out)
{
	struct xc_cnumber x, y;
	uint64_t size, other;
	struct xc_error *err = step_of(xc_type_strip(a->type)->target, &size);
	if (err || (err = step_of(xc_type_strip(b->type)->target, &other)) || (err = xc_cexpr_number(c, a, &x)) ||
	    (err = xc_cexpr_number(c, b, &y)))
		return err;
	if (size != other || size == 0)
		return xc_error_new(XC_ERR_USAGE, "`%s` and `%s` cannot be subtracted: their elements differ in size",
				    xc_type_name(a->type), xc_type_name(b->type));
	int64_t bytes = (int64_t)((uint64_t)x.bits - (uint64_t)y.bits);
	*out = xc_cexpr_int(c, XC_C_LONG, (uint64_t)(bytes / (int64_t)size));
	return NULL;
}

static bool is_comparison(unsigned op)
{
	return op == '<' || op == '>' || op == XC_OP2('<', '=') || op == XC_OP2('>', '=') || op == XC_OP2('=', '=') ||
	       op == XC_OP2('!', '=');
}

/* Other operators use the address as a number: p & ~7 is useful for tagged pointers, though not allowed in C. */
static struct xc_error *as_number(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out)
{
	struct xc_cnumber number;
	struct xc_error *err;
	if (xc_type_strip(value->type)->kind != XC_TYPE_POINTER) {
		*out = *value;
		return NULL;
	}
	if (!(err = xc_cexpr_number(c, value, &number)))
		*out = xc_cexpr_int(c, XC_C_ULONG, (uint64_t)number.bits);
	return err;
}

struct xc_error *xc_cexpr_pointer_binary(struct xc_cexpr *c, unsigned op, const struct xc_value *left,
					 const struct xc_value *right, struct xc_value *out, bool *handled_out)
{
	struct xc_value a, b;
	struct xc_error *err;
	*handled_out = false;
	if (xc_cexpr_is_untyped(c, left->type) || xc_cexpr_is_untyped(c, right->type))
		return xc_cexpr_untyped();
	if ((err = xc_cexpr_decay(c, left, &a)) || (err = xc_cexpr_decay(c, right, &b)))
		return err;
	bool left_points = xc_type_strip(a.type)->kind == XC_TYPE_POINTER;
	bool right_points = xc_type_strip(b.type)->kind == XC_TYPE_POINTER;
	if (!left_points && !right_points)
		return NULL;
	*handled_out = true;
	if (op == '-' && left_points && right_points)
		return distance(c, &a, &b, out);
	if (op == '+' && left_points && right_points)
		return xc_error_new(XC_ERR_USAGE, "two pointers cannot be added");
	if ((op == '+' || op == '-') && left_points)
		return moved(c, &a, &b, op == '-', out);
	if (op == '+')
		return moved(c, &b, &a, false, out);
	bool on_bits =
		op == '&' || op == '|' || op == '^' || op == '%' || op == XC_OP2('>', '>') || op == XC_OP2('<', '<');
	if (!is_comparison(op) && !on_bits)
		return xc_error_new(XC_ERR_USAGE, "the operator does not accept `%s` and `%s`", xc_type_name(a.type),
				    xc_type_name(b.type));
	if ((err = as_number(c, &a, &a)) || (err = as_number(c, &b, &b)))
		return err;
	return xc_cexpr_binary(c, op, &a, &b, out);
}

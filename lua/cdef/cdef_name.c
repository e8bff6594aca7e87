/* cdef_name: the names of a scope, newest last, found through a hash table; and compatibility of types. */
#include "lua/cdef/cdef_impl.h"

static uint64_t hash_of(enum xc_cdef_space space, const char *name, size_t len)
{
	return xc_hash_bytes(space, name, len);
}

const struct xc_cdef_name *xc_cdef_find(const struct xc_cdef *cdef, enum xc_cdef_space space, const char *name,
					size_t len)
{
	const union xc_hashtable_value *newest = xc_hashtable_find(&cdef->newest, hash_of(space, name, len), 1);
	for (size_t at = newest ? newest->number : 0; at; at = cdef->names[at - 1].next) {
		const struct xc_cdef_name *one = &cdef->names[at - 1];
		if (one->space == space && strncmp(one->name, name, len) == 0 && !one->name[len])
			return one->kind == XC_CDEF_GONE ? NULL : one;
	}
	return NULL;
}

void xc_cdef_add(struct xc_cdef *cdef, const struct xc_cdef_name *name)
{
	cdef->names = xc_grow(cdef->names, cdef->count, &cdef->capacity, sizeof *cdef->names);
	cdef->names[cdef->count] = *name;
	struct xc_cdef_name *one = &cdef->names[cdef->count++];
	one->hash = hash_of(name->space, name->name, strlen(name->name));
	uint64_t *newest = &xc_hashtable_at(&cdef->newest, NULL, one->hash, 1)->number;
	one->next = *newest;
	*newest = cdef->count;
}

void xc_cdef_cut(struct xc_cdef *cdef, size_t count)
{
	while (cdef->count > count) {
		const struct xc_cdef_name *last = &cdef->names[--cdef->count];
		xc_hashtable_at(&cdef->newest, NULL, last->hash, 1)->number = last->next;
		if (last->defines)
			xc_type_undefine((struct xc_type *)last->type); /* made here */
	}
}

static bool same(const struct xc_type *a, const struct xc_type *b, unsigned depth);

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_members(const struct xc_type *a, const struct xc_type *b, unsigned depth)
{
	size_t count, other;
	const struct xc_member *x = xc_type_members(a, &count), *y = xc_type_members(b, &other);
	for (size_t i = 0; i < count && count == other; i++) {
		if (!same_text(x[i].name, y[i].name) || x[i].offset != y[i].offset || x[i].bit_size != y[i].bit_size ||
		    x[i].bit_offset != y[i].bit_offset || !same(x[i].type, y[i].type, depth))
			return false;
	}
	return count == other;
}

static bool same_enumerators(const struct xc_type *a, const struct xc_type *b)
{
	size_t count, other;
	const struct xc_enumerator *x = xc_type_enumerators(a, &count), *y = xc_type_enumerators(b, &other);
	for (size_t i = 0; i < count && count == other; i++) {
		if (strcmp(x[i].name, y[i].name) != 0 || x[i].value != y[i].value)
			return false;
	}
	return count == other;
}

static bool same_items(const struct xc_type *a, const struct xc_type *b, unsigned depth)
{
	return a->size == b->size && a->is_declaration == b->is_declaration &&
	       xc_type_made_alignment(a, NULL) == xc_type_made_alignment(b, NULL) &&
	       (a->kind == XC_TYPE_ENUM ? same_enumerators(a, b) : same_members(a, b, depth));
}

static bool same_signature(const struct xc_type *a, const struct xc_type *b, unsigned depth)
{
	size_t count, other;
	const struct xc_type *const *x = xc_type_parameters(a, &count), *const *y = xc_type_parameters(b, &other);
	if (count != other || a->is_variadic != b->is_variadic || a->is_prototyped != b->is_prototyped)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!same(x[i], y[i], depth))
			return false;
	}
	return same(a->target, b->target, depth);
}

static bool same(const struct xc_type *a, const struct xc_type *b, unsigned depth)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || depth > XC_TYPE_DEPTH || !same_text(a->name, b->name))
		return false;
	switch (a->kind) {
	case XC_TYPE_STRUCT:
	case XC_TYPE_UNION:
	case XC_TYPE_ENUM:
		return !a->name && same_items(a, b, depth + 1);
	case XC_TYPE_ARRAY:
		return a->count == b->count && a->count_known == b->count_known &&
		       same(a->target, b->target, depth + 1);
	case XC_TYPE_FUNCTION:
		return same_signature(a, b, depth + 1);
	case XC_TYPE_TYPEDEF: /* one that failed, or a library's that was declared since */
		return xc_type_made_alignment(a, NULL) == xc_type_made_alignment(b, NULL) &&
		       same(a->target, b->target, depth + 1);
	case XC_TYPE_POINTER:
	case XC_TYPE_CONST:
	case XC_TYPE_VOLATILE:
	case XC_TYPE_RESTRICT:
	case XC_TYPE_ATOMIC:
		return same(a->target, b->target, depth + 1);
	default:
		return false;
	}
}

bool xc_cdef_same(const struct xc_type *a, const struct xc_type *b)
{
	return same(a, b, 0);
}

bool xc_cdef_same_items(const struct xc_type *a, const struct xc_type *b)
{
	return a->kind == b->kind && same_items(a, b, 0);
}

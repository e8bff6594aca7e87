#include "triage/util/same_type.h"

#include <string.h>

enum { DEPTH = 8, MEMBERS = 400 };

static const struct xc_type *plain(const struct xc_type *type)
{
	return type ? xc_type_complete(xc_type_strip(type)) : NULL;
}

const struct xc_type *xc_same_type_pointed(const struct xc_type *pointer)
{
	return plain(pointer && xc_type_is_pointer(pointer) ? xc_type_strip(pointer)->target : NULL);
}

bool xc_same_type_is_record(const struct xc_type *type)
{
	type = plain(type);
	return type && (type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS);
}

bool xc_same_type_is_bytes(const struct xc_type *type)
{
	uint64_t size;
	type = plain(type);
	return !type || type->kind == XC_TYPE_VOID || type->kind == XC_TYPE_UNKNOWN ||
	       (type->kind != XC_TYPE_STRUCT && type->kind != XC_TYPE_CLASS && type->kind != XC_TYPE_UNION &&
		type->kind != XC_TYPE_ARRAY && xc_type_size(type, &size) && size == 1);
}

static bool is_same(const struct xc_type *a, const struct xc_type *b)
{
	return a == b || (a->kind == b->kind && a->name && b->name && strcmp(a->name, b->name) == 0);
}

bool xc_same_type(const struct xc_type *a, const struct xc_type *b)
{
	a = plain(a);
	b = plain(b);
	return a && b && is_same(a, b);
}

/* Has it no room for the part? A flexible array has no size. */
static bool is_smaller(const struct xc_type *whole, const struct xc_type *part)
{
	uint64_t room, size;
	return xc_type_size(whole, &room) && room && xc_type_size(part, &size) && room < size;
}

/* Is `part` on some level of `whole`? */
static bool contains(const struct xc_type *whole, const struct xc_type *part, unsigned depth, unsigned *left)
{
	size_t count;
	if (!whole || is_same(whole, part))
		return true;
	bool open = whole->kind == XC_TYPE_ARRAY && whole->count_known && whole->count <= 1; /* may have more */
	if ((whole->kind == XC_TYPE_ARRAY || whole->kind == XC_TYPE_UNION) && !open && is_smaller(whole, part))
		return false;
	if (whole->kind == XC_TYPE_ARRAY)
		return xc_same_type_is_bytes(whole->target) ||
		       (depth && contains(plain(whole->target), part, depth - 1, left));
	if (whole->kind == XC_TYPE_UNION || xc_same_type_is_bytes(whole))
		return true;
	if (whole->kind != XC_TYPE_STRUCT && whole->kind != XC_TYPE_CLASS)
		return false;
	const struct xc_member *members = xc_type_members(whole, &count);
	for (size_t i = 0; i < count && depth && *left; i++) {
		--*left;
		if (members[i].dynamic || contains(plain(members[i].type), part, depth - 1, left))
			return true;
	}
	return !depth || !*left; /* not known */
}

static bool is_same_member(const struct xc_member *a, const struct xc_member *b)
{
	return a->name && b->name && strcmp(a->name, b->name) == 0 && a->offset == b->offset &&
	       is_same(plain(a->type), plain(b->type));
}

/* May the member say which of several structs the object is? */
static bool is_tag(const struct xc_member *member)
{
	static const char *const endings[] = {"kind", "type", "tag", "op", "opcode", "class", "magic", "family"};
	const struct xc_type *type = plain(member->type);
	size_t len = member->name ? strlen(member->name) : 0;
	if (type && (type->kind == XC_TYPE_ENUM || type->kind == XC_TYPE_POINTER || xc_same_type_is_record(type)))
		return true;
	for (size_t i = 0; i < XC_COUNT(endings); i++) {
		size_t n = strlen(endings[i]);
		if (len >= n && strcmp(member->name + len - n, endings[i]) == 0 &&
		    (len == n || n > 3 || member->name[len - n - 1] == '_'))
			return true;
	}
	return false;
}

/* Structs that begin alike are views of each other, as the nodes of a syntax tree in C: with a tag, a header, or two
 * members. One number of the same name, such as `id`, is chance. */
static bool begin_alike(const struct xc_type *a, const struct xc_type *b)
{
	size_t count, others;
	if (!xc_same_type_is_record(a) || !xc_same_type_is_record(b))
		return false;
	const struct xc_member *one = xc_type_members(a, &count), *other = xc_type_members(b, &others);
	if (!count || !others || !is_same_member(one, other))
		return false;
	return is_tag(one) || count == 1 || others == 1 || is_same_member(one + 1, other + 1);
}

bool xc_same_type_may_hold(const struct xc_type *holder, const struct xc_type *object)
{
	unsigned left = MEMBERS, more = MEMBERS;
	holder = plain(holder);
	object = plain(object);
	if (!holder || !object || holder->is_declaration || object->is_declaration || xc_same_type_is_bytes(object) ||
	    object->kind == XC_TYPE_UNION)
		return true;
	return begin_alike(holder, object) || contains(holder, object, DEPTH, &left) ||
	       contains(object, holder, DEPTH, &more);
}

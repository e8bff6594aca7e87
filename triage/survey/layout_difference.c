/* layout_difference: members are matched by their names. */
#include "triage/survey/layout_difference.h"

#include <string.h>

enum { MEMBERS = 256, TOLD = 3 };

/* What compilers agree on. They write the names of types differently. */
enum sort { SORT_OTHER, SORT_NUMBER, SORT_POINTER, SORT_FLOAT, SORT_RECORD, SORT_ARRAY };

static enum sort sort_of(const struct xc_type *type)
{
	switch (xc_type_strip(type)->kind) {
	case XC_TYPE_INT:
	case XC_TYPE_BOOL:
	case XC_TYPE_CHAR:
	case XC_TYPE_ENUM:
		return SORT_NUMBER;
	case XC_TYPE_POINTER:
	case XC_TYPE_REFERENCE:
	case XC_TYPE_RVALUE_REFERENCE:
		return SORT_POINTER;
	case XC_TYPE_FLOAT:
		return SORT_FLOAT;
	case XC_TYPE_STRUCT:
	case XC_TYPE_CLASS:
	case XC_TYPE_UNION:
		return SORT_RECORD;
	case XC_TYPE_ARRAY:
		return SORT_ARRAY;
	default:
		return SORT_OTHER;
	}
}

static const struct xc_member *find(const struct xc_member *members, size_t count, const struct xc_member *like)
{
	for (size_t i = 0; i < count && i < MEMBERS; i++)
		if (members[i].base == like->base && members[i].name && strcmp(members[i].name, like->name) == 0)
			return &members[i];
	return NULL;
}

/* Members that debug information describes for the compiler, and those whose place depends on the object, are left out:
 * others move with them. */
static bool counts(const struct xc_member *member)
{
	return member->name && member->type && !member->artificial && !member->dynamic;
}

static bool is_elsewhere(const struct xc_member *a, const struct xc_member *b)
{
	return a->offset != b->offset || a->bit_offset != b->bit_offset;
}

static bool is_other(const struct xc_member *a, const struct xc_member *b)
{
	uint64_t size, other;
	const enum sort sort = sort_of(a->type), other_sort = sort_of(b->type);
	bool known = xc_type_size(xc_type_complete(xc_type_strip(a->type)), &size) &&
		     xc_type_size(xc_type_complete(xc_type_strip(b->type)), &other);
	return a->bit_size != b->bit_size || (known && size != other) ||
	       (sort != other_sort && sort != SORT_OTHER && other_sort != SORT_OTHER);
}

/* An empty one takes no room, and the arguments of a template are not always written alike. */
static bool is_plain_base(const struct xc_member *member)
{
	uint64_t size;
	return member->base && counts(member) && !strchr(member->name, '<') &&
	       xc_type_size(xc_type_complete(xc_type_strip(member->type)), &size) && size > 1;
}

static void take(struct xc_layout_difference *out, const struct xc_member *member, uint64_t from, bool moved)
{
	if (from >= out->from)
		return;
	out->from = from;
	out->moved = moved;
	out->member = member->base ? NULL : member->name;
	out->base = member->base ? member->name : NULL;
}

static void compare(const struct xc_member *member, const struct xc_member *same, struct xc_layout_difference *out)
{
	if (!same && is_plain_base(member))
		take(out, member, member->offset, false);
	else if (same && is_elsewhere(member, same))
		take(out, member, member->offset < same->offset ? member->offset : same->offset, true);
	else if (same && is_other(member, same))
		take(out, member, member->offset, false);
}

bool xc_layout_difference_find(const struct xc_type *type, const struct xc_type *other,
			       struct xc_layout_difference *out)
{
	size_t count, others;
	*out = (struct xc_layout_difference){.from = UINT64_MAX};
	if (!xc_type_size(type, &out->size) || !xc_type_size(other, &out->other_size))
		return false;
	const struct xc_member *members = xc_type_members(type, &count), *theirs = xc_type_members(other, &others);
	for (size_t i = 0; i < count && i < MEMBERS; i++)
		if (counts(&members[i]))
			compare(&members[i], find(theirs, others, &members[i]), out);
	if (out->from == UINT64_MAX && out->size == out->other_size)
		return false;
	uint64_t end = out->size < out->other_size ? out->size : out->other_size;
	if (out->from == UINT64_MAX)
		out->from = end;
	return true;
}

size_t xc_layout_difference_extra(const struct xc_type *type, const struct xc_type *other, struct xc_text *text)
{
	size_t count, others, extra = 0;
	const struct xc_member *members = xc_type_members(type, &count), *theirs = xc_type_members(other, &others);
	for (size_t i = 0; i < others && i < MEMBERS; i++) {
		if (!counts(&theirs[i]) || theirs[i].base || find(members, count, &theirs[i]))
			continue;
		if (extra++ < TOLD)
			xc_text_printf(text, "%s`%s`", extra > 1 ? ", " : "", theirs[i].name);
	}
	return extra;
}

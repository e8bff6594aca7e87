/* typing_tag: the member of a struct whose value distinguishes its variants. */
#include "heap/types/typing_map.h"

#include <string.h>

enum { DEPTH = 16 };

/* Words in its name, and whole names: `tt` is that of interpreters of Lua's kind. */
static bool named_like_a_tag(const char *name)
{
	static const char *const words[] = {"kind",   "type",    "tag",   "magic",   "encoding", "class",
					    "opcode", "variety", "which", "variant", "discrim"};
	static const char *const names[] = {"tt", "tt_", "ty", "op", "cmd", "command"};
	for (size_t i = 0; name && i < XC_COUNT(words); i++)
		if (strcasestr(name, words[i]))
			return true;
	for (size_t i = 0; name && i < XC_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_table_of_functions(const struct xc_type *type)
{
	size_t count;
	const struct xc_type *to = type->kind == XC_TYPE_POINTER ? xc_type_strip(type->target) : NULL;
	const struct xc_member *members = to && to->kind == XC_TYPE_STRUCT ? xc_type_members(to, &count) : NULL;
	for (size_t i = 0; members && i < count; i++) {
		const struct xc_type *bare = xc_type_strip(members[i].type);
		if (bare->kind == XC_TYPE_POINTER && xc_type_strip(bare->target)->kind == XC_TYPE_FUNCTION)
			return true;
	}
	return false;
}

/* Is it an integer of a few bits? Beside a union it says, by any name, which member is meant. */
static bool is_narrow(const struct xc_member *member, const struct xc_type *bare, uint64_t size)
{
	uint64_t bits = member->bit_size ? member->bit_size : size * 8;
	return (bare->kind == XC_TYPE_INT || bare->kind == XC_TYPE_CHAR) && bits > 1 && bits <= 8;
}

static bool has_union(const struct xc_member *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (xc_type_strip(members[i].type)->kind == XC_TYPE_UNION)
			return true;
	return false;
}

/* How well a member distinguishes variants; 0: not at all. */
static int tag_rank(const struct xc_member *member, const struct xc_type *bare, uint64_t size)
{
	if (member->base || member->dynamic || size > 8)
		return 0;
	if (bare->kind == XC_TYPE_ENUM)
		return 4;
	if ((bare->kind == XC_TYPE_INT || bare->kind == XC_TYPE_CHAR) && named_like_a_tag(member->name))
		return 3;
	if (is_table_of_functions(bare))
		return 2;
	return bare->kind == XC_TYPE_POINTER && member->offset == 0 &&
	       xc_type_strip(bare->target)->kind == XC_TYPE_FUNCTION;
}

bool xc_typing_find_tag(const struct xc_type *bare, uint64_t offset, struct xc_tag *tag, unsigned depth)
{
	size_t count;
	int best = 0;
	const struct xc_member *members = bare->kind == XC_TYPE_UNION ? NULL : xc_type_members(bare, &count);
	for (size_t i = 0; members && i < count; i++) {
		const struct xc_type *type = xc_type_strip(members[i].type);
		uint64_t size;
		bool known = xc_type_size(type, &size);
		int rank = known ? tag_rank(&members[i], type, size) : 0;
		if (known && !rank && !best && is_narrow(&members[i], type, size) && has_union(members, count))
			rank = 1;
		uint64_t at = offset + members[i].offset;
		if (rank <= best || at > UINT32_MAX || members[i].bit_offset + members[i].bit_size > 64)
			continue;
		best = rank;
		*tag = (struct xc_tag){.at = (uint32_t)at,
				       .size = (uint8_t)size,
				       .values = type->kind == XC_TYPE_ENUM ? type : NULL,
				       .shift = members[i].bit_offset,
				       .bits = (uint8_t)(members[i].bit_size ? members[i].bit_size : size * 8)};
		if (members[i].bit_size)
			tag->size = (uint8_t)((members[i].bit_offset + members[i].bit_size + 7) / 8);
	}
	/* a struct that begins with another one has that one's tag */
	if (!best && members && count && members[0].offset == 0 && depth < DEPTH &&
	    xc_typemap_is_record(xc_type_strip(members[0].type)))
		return xc_typing_find_tag(xc_type_strip(members[0].type), offset, tag, depth + 1);
	return best > 0;
}

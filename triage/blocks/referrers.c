#include "triage/blocks/referrers.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/format/format.h"
#include "heap/graph/stale_range.h"
#include "heap/query/rootword.h"
#include "heap/query/whatis.h"
#include "triage/blocks/block_types.h"
#include "triage/util/memory_search.h"

enum {
	TOLD = 3,
	HITS = 256, /* words to check */
	OBJECT_MOST = 200,
};

/* The allocator's own data does not count. */
static bool is_of_allocator(const char *place)
{
	return strstr(place, "main_arena") || strstr(place, "libc.so") || strstr(place, "tcache_perthread_struct");
}

/* Append a description of the place of a pointer. Infers the types of blocks for it. False when the place does not
 * count. */
static bool place_of(const struct xc_crash_context *crash, xc_addr at, bool stacks, struct xc_text *text)
{
	struct xc_what what = xc_what(crash->process, crash->heap, at);
	bool live = what.kind == XC_WHAT_BLOCK && xc_block_state(&crash->heap->blocks, what.block) == XC_BLOCK_LIVE;
	bool stack = stacks && what.kind == XC_WHAT_STACK;
	if (!live && !stack && what.kind != XC_WHAT_DATA)
		return false;
	if (live)
		xc_block_types_infer(crash);
	xc_rootword_place(crash->heap, at, stack, text);
	const char *place = xc_text_string(text);
	return !xc_stale_ranges_have(crash->heap, at) && !is_of_allocator(place) &&
	       !(stack && (!strstr(place, "#") || strstr(place, "no named variable")));
}

void xc_referrers_object(const struct xc_crash_context *crash, const struct xc_type *type, xc_addr addr, unsigned depth)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	const struct xc_value object = xc_value_memory(crash->process, type, addr);
	const char *name = xc_type_name(type);
	options.depth = depth;
	options.length = OBJECT_MOST;
	if (xc_format_whole(&text, &object, &options)) {
		xc_verdict_evidence(crash->report, "that %s is %s", name, xc_text_string(&text));
		xc_verdict_redact(crash->report,
				  xc_arena_printf(&crash->report->arena, "that %s holds other values, too", name));
	}
	xc_text_fini(&text);
}

/* What the object that has the pointer says: of a buffer often its length. */
static void report_object(const struct xc_crash_context *crash, xc_addr at, uint32_t *last)
{
	uint32_t block;
	const struct xc_typed *typed = xc_block_types_at(crash, at, &block);
	if (!typed || typed->offset || typed->shape != XC_TYPED_ONE || typed->confidence < XC_TYPE_STRONG ||
	    block == *last)
		return;
	*last = block;
	xc_referrers_object(crash, typed->type, xc_block_addr(&crash->heap->blocks, block), 1);
}

/* Of a freed object: a control block of std::shared_ptr that still counts owners would have freed it itself, later.
 * libstdc++ 12, bits/shared_ptr_base.h: { vptr, int use count, int weak count, pointer }. */
static bool report_owner(const struct xc_crash_context *crash, xc_addr at)
{
	enum { USES = 8 };
	uint32_t block;
	uint64_t uses;
	const struct xc_typed *typed = xc_block_types_at(crash, at, &block);
	if (!typed || typed->offset || !typed->type->name ||
	    !xc_begins_with(typed->type->name, "std::_Sp_counted_ptr<") ||
	    !xc_space_peek_uint(crash->process->space, xc_block_addr(&crash->heap->blocks, block) + USES, 4, &uses) ||
	    !uses || uses > INT32_MAX)
		return false;
	xc_verdict_evidence(crash->report,
			    "by that a std::shared_ptr owns it, and counts %" PRIu64 " owner%s: likely something else "
			    "deleted it: another std::shared_ptr that was made from the same pointer, or delete",
			    uses, uses == 1 ? "" : "s");
	return true;
}

/* A freed block of the size of a live one that has the same word at the same place: an object was copied by assignment,
 * with a pointer in it, which both release. found[i] is in the live one. */
static bool report_copied(const struct xc_crash_context *crash, const xc_addr *found, size_t count, size_t i)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	uint32_t typed_block;
	const struct xc_typed *typed = xc_block_types_at(crash, found[i], &typed_block); /* may renumber the blocks */
	uint32_t mine = xc_blocks_find(blocks, found[i]);
	uint64_t value, other;
	if (!typed || typed->offset || typed->shape != XC_TYPED_ONE || !typed->type->name ||
	    xc_begins_with(typed->type->name, "std::") || mine == XC_NO_BLOCK ||
	    xc_block_state(blocks, mine) != XC_BLOCK_LIVE ||
	    !xc_space_peek_uint(crash->process->space, found[i], crash->process->arch->word, &value))
		return false;
	for (size_t k = 0; k < count; k++) {
		uint32_t block = xc_blocks_find(blocks, found[k]);
		if (block == XC_NO_BLOCK || !xc_block_is_freed(xc_block_state(blocks, block)) ||
		    xc_block_size(blocks, block) != xc_block_size(blocks, mine) ||
		    found[k] - xc_block_addr(blocks, block) != found[i] - xc_block_addr(blocks, mine) ||
		    !xc_space_peek_uint(crash->process->space, found[k], crash->process->arch->word, &other) ||
		    other != value)
			continue;
		xc_addr at = xc_block_addr(blocks, block);
		xc_verdict_evidence(crash->report,
				    "a freed block of the same size, at 0x%" PRIx64
				    ", has the same pointer at the same place: likely that %s was copied with its "
				    "pointers, and both copies released them",
				    at, xc_type_name(typed->type));
		return true;
	}
	return false;
}

size_t xc_referrers_report(const struct xc_crash_context *crash, uint32_t block, bool stacks, const char *what)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	xc_addr found[HITS];
	size_t count = xc_memory_search_words(crash->process, xc_block_addr(blocks, block),
					      xc_block_size(blocks, block) - 1, found, HITS);
	size_t told = 0;
	uint32_t last = XC_NO_BLOCK;
	bool owned = !xc_block_is_freed(xc_block_state(blocks, block)), copied = owned;
	for (size_t i = 0; i < count && told < TOLD; i++) {
		struct xc_text text = {0};
		if (place_of(crash, found[i], stacks, &text)) {
			xc_verdict_evidence(crash->report, "%s pointed to by %s, at 0x%" PRIx64, what,
					    xc_text_string(&text), found[i]);
			if (stacks)
				report_object(crash, found[i], &last);
			owned = owned || report_owner(crash, found[i]);
			copied = copied || report_copied(crash, found, count, i);
			told++;
		}
		xc_text_fini(&text);
	}
	return told;
}

#include "triage/blocks/block_types.h"

#include <string.h>

enum { VOTES = 8 };

static bool is_variable(const char *via)
{
	return via && (strncmp(via, "local ", 6) == 0 || strncmp(via, "argument ", 9) == 0);
}

void xc_block_types_infer(const struct xc_crash_context *crash)
{
	struct xc_typing *typing;
	if (crash->heap->blocks.count <= XC_BLOCK_TYPES_MOST)
		xc_error_free(xc_typing_of(crash->heap, &typing));
}

const struct xc_typed *xc_block_types_at(const struct xc_crash_context *crash, xc_addr at, uint32_t *block_out)
{
	xc_block_types_infer(crash);
	const struct xc_blocks *blocks = &crash->heap->blocks;
	*block_out = blocks->count > XC_BLOCK_TYPES_MOST ? XC_NO_BLOCK : xc_blocks_find(blocks, at);
	return *block_out == XC_NO_BLOCK ? NULL : xc_typing_get(crash->heap->typing, *block_out);
}

const char *xc_block_types_only_by(const struct xc_crash_context *crash, xc_addr at)
{
	uint32_t block;
	struct xc_vote votes[VOTES];
	const struct xc_typed *typed = crash->heap ? xc_block_types_at(crash, at, &block) : NULL;
	if (!typed || typed->shape == XC_TYPED_TEXT || typed->confidence == XC_TYPE_EXACT || !is_variable(typed->via))
		return "";
	size_t count = xc_typing_votes(crash->heap->typing, block, votes, VOTES);
	for (size_t i = 0; i < count; i++)
		if (votes[i].type == typed->type && votes[i].votes > 1)
			return ""; /* others say so, too */
	return xc_arena_printf(&crash->report->arena, ", whose type only %s tells", typed->via);
}

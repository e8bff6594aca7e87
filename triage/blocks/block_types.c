#include "triage/blocks/block_types.h"

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

#include "triage/blocks/block_types.h"

#include "heap/types/typing.h"

void xc_block_types_infer(const struct xc_crash_context *crash)
{
	struct xc_typing *typing;
	if (crash->heap->blocks.count <= XC_BLOCK_TYPES_MOST)
		xc_error_free(xc_typing_of(crash->heap, &typing));
}

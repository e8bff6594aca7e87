/* evidence_claim: the types that plugins claim for blocks. */
#include "heap/graph/claim.h"
#include "heap/evidence/evidence_list.h"

static void seed(struct xc_typing *typing)
{
	const struct xc_heap *heap = typing->heap;
	const struct xc_claims *claims = heap->claims;
	for (size_t i = 0; claims && i < claims->count; i++) {
		const struct xc_heap_claim *claim = &claims->items[i];
		uint32_t block = claim->type ? xc_blocks_find(&heap->blocks, claim->addr) : XC_NO_BLOCK;
		if (block == XC_NO_BLOCK)
			continue;
		const struct xc_typed typed = {.type = claim->type,
					       .shape = claim->is_array ? XC_TYPED_ARRAY : XC_TYPED_ONE,
					       .confidence = XC_TYPE_EXACT,
					       .via = claim->what};
		uint32_t item = xc_typing_item(typing, &typed);
		if (item)
			xc_typing_seed(typing, block, item);
	}
}

const struct xc_evidence xc_evidence_claim = {.name = "claims", .seed = seed};

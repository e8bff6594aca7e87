#include "triage/blocks/object_class.h"

#include "heap/evidence/vtable.h"

enum { VPTR = 8 };

/* In the heap, the beginning of a live block. */
static bool is_place(const struct xc_crash_context *crash, xc_addr begin)
{
	const struct xc_blocks *blocks = crash->heap ? &crash->heap->blocks : NULL;
	uint32_t block = blocks ? xc_blocks_find(blocks, begin) : XC_NO_BLOCK;
	const struct xc_mapping *m = xc_process_mapping(crash->process, begin);
	if (block != XC_NO_BLOCK)
		return xc_block_addr(blocks, block) == begin && xc_block_state(blocks, block) == XC_BLOCK_LIVE &&
		       xc_block_size(blocks, block) >= 2 * VPTR;
	return m && m->writable;
}

const struct xc_type *xc_object_class(const struct xc_crash_context *crash, xc_addr begin)
{
	uint64_t vptr;
	if (!is_place(crash, begin) || !xc_space_peek_uint(crash->process->space, begin, VPTR, &vptr))
		return NULL;
	struct xc_vtables *tables = xc_vtables_new(crash->process);
	const struct xc_vtable *vtable = xc_vtables_at(tables, vptr);
	const struct xc_type *type = vtable && !vtable->to_top ? vtable->type : NULL;
	xc_vtables_free(tables);
	return type;
}

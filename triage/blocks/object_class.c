#include "triage/blocks/object_class.h"

#include "heap/evidence/vtable.h"

struct search {
	uint32_t block;
	const struct xc_type *found;
};

static void seen(void *context, uint32_t block, uint64_t offset, struct xc_vtable *vtable)
{
	struct search *s = context;
	if (block == s->block && !offset && !vtable->to_top)
		s->found = vtable->type;
}

const struct xc_type *xc_object_class(const struct xc_crash_context *crash, xc_addr begin)
{
	struct search s = {.block = xc_blocks_find(&crash->heap->blocks, begin)};
	if (s.block == XC_NO_BLOCK || xc_block_addr(&crash->heap->blocks, s.block) != begin)
		return NULL;
	struct xc_vtables *tables = xc_vtables_new(crash->process);
	xc_vtables_scan(tables, crash->heap, seen, &s);
	xc_vtables_free(tables);
	return s.found;
}

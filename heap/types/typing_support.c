/* typing_support: does each block's type still have a source?
 *
 * While types flow, a block's type may be replaced by a better one, and votes may change it or make it weak at the end.
 * What its pointers proposed for other blocks stays. So types flow once more, without learning: now each block accepts
 * its final type only. Blocks that no source reaches any more become untyped, and none is surer than its surest source.
 *
 * At last, guesses that describe only the beginning of a larger block are withdrawn: they were needed to follow the
 * pointers in it, but the block is of some other type that begins so. */
#include "heap/types/typing_engine.h"

#include <stdlib.h>

/* A certain type, but its source is a guess: the same as a weak item. */
static uint32_t weakened(const struct xc_engine *e, uint32_t final, uint32_t reached)
{
	const struct xc_typed *have = &e->typing->items[final], *got = &e->typing->items[reached];
	return got->confidence < have->confidence ? reached : final;
}

void xc_typing_drop_unsupported(struct xc_engine *e)
{
	size_t count = e->heap->blocks.count;
	xc_auto(xc_freep) uint32_t *final = xc_alloc((count + 1) * sizeof *final);
	for (size_t i = 0; i < count; i++) {
		final[i] = xc_code_item(e->typing->by_block[i]);
		e->typing->by_block[i] = 0;
	}
	e->final = final;
	xc_typing_flow_again(e);
	e->final = NULL;
	for (size_t i = 0; i < count; i++) {
		uint32_t reached = xc_code_item(e->typing->by_block[i]);
		e->typing->by_block[i] = reached ? xc_code(e, weakened(e, final[i], reached)) : 0;
	}
}

/* Is something after the object that neither its type nor more such objects explain? */
static bool has_more(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint32_t number)
{
	const struct xc_typemap *map = e->maps[number];
	uint64_t size = xc_block_size(&e->heap->blocks, block), shown = size < XC_WINDOW_COPY ? size : XC_WINDOW_COPY;
	const uint8_t *bytes = xc_window(window, xc_block_addr(&e->heap->blocks, block), shown);
	struct xc_score score = {0};
	bool more = false;
	for (uint64_t i = map->size; bytes && i < shown && !more; i++)
		more = bytes[i] != 0;
	if (more && size / 2 >= map->size)
		xc_typing_score(e, window, number, XC_TYPED_ARRAY, 0, block, &score);
	return more && (size / 2 < map->size || score.bad);
}

bool xc_typing_drop_beginnings(struct xc_engine *e)
{
	bool any = false;
	struct xc_window window;
	xc_window_init(&window, e->heap->process->space);
	for (size_t i = 0; i < e->heap->blocks.count; i++) {
		uint32_t item = xc_code_item(e->typing->by_block[i]), block = (uint32_t)i;
		const struct xc_typed *typed = &e->typing->items[item];
		const struct xc_typemap *map = e->maps[e->facts[item].map];
		if (item && typed->confidence == XC_TYPE_WEAK && typed->shape == XC_TYPED_ONE && !typed->offset &&
		    !map->is_opaque && !map->has_flexible &&
		    !(e->facts[item].is_learned &&
		      xc_typing_may_fit(e, map->size, xc_block_size(&e->heap->blocks, block))) &&
		    !xc_typing_fits(e, map->size, xc_block_size(&e->heap->blocks, block)) &&
		    has_more(e, &window, block, e->facts[item].map)) {
			e->typing->by_block[i] = 0;
			any = true;
		}
	}
	xc_window_fini(&window);
	return any;
}

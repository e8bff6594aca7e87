/* typing_words: the pointers of packed objects, which the graph's scan of aligned words passes over. Visits only
 * the objects of types that have such pointers: mostly there are none. */
#include "heap/types/typing_queue.h"

#include <stdlib.h>

#include "heap/blocks/scan.h"
#include "heap/graph/misaligned.h"

struct found {
	const struct xc_engine *engine;
	struct xc_misaligned_word *items;
	size_t count, capacity;
};

/* May the objects of an array, or the array itself, lie at other addresses than multiples of a word? */
static bool is_off(const struct xc_engine *e, const struct xc_typemap_slot *slot)
{
	return slot->offset % e->word != 0 || (slot->count != 1 && slot->stride % e->word != 0);
}

static bool has_misaligned(const struct xc_engine *e, const struct xc_typemap *map, const bool *known)
{
	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct xc_typemap_slot *slot = &map->slots[i];
		bool objects = slot->kind == XC_SLOT_OBJECTS && e->maps[slot->target]->has_pointers;
		if ((slot->kind <= XC_SLOT_VOID || objects || slot->kind == XC_SLOT_EVIDENCE) && is_off(e, slot))
			return true;
		if (slot->kind == XC_SLOT_OBJECTS && known[slot->target])
			return true;
		for (uint32_t k = 0; k < slot->object_count; k++)
			if (known[slot->objects[k]])
				return true;
	}
	return map->has_pointers && map->size % e->word != 0;
}

static bool *misaligned_maps(const struct xc_engine *e)
{
	bool *known = xc_alloc(e->map_count + 1), more = true, any = false;
	for (unsigned nest = 0; more && nest <= XC_TYPING_NEST; nest++) {
		more = false;
		for (size_t i = 1; i < e->map_count; i++)
			if (!known[i] && has_misaligned(e, e->maps[i], known))
				known[i] = more = any = true;
	}
	if (!any) {
		free(known);
		return NULL;
	}
	return known;
}

static void take(void *context, const struct xc_hit *hit)
{
	struct found *f = context;
	const struct xc_blocks *blocks = &f->engine->heap->blocks;
	if (hit->at % f->engine->word == 0 || f->count >= XC_MISALIGNED || hit->from == hit->block ||
	    !xc_scan_has_edges(blocks->heads[hit->block]) ||
	    (hit->from != XC_NO_BLOCK && !xc_scan_has_edges(blocks->heads[hit->from])))
		return;
	f->items = xc_grow(f->items, f->count, &f->capacity, sizeof *f->items);
	f->items[f->count++] = (struct xc_misaligned_word){
		.at = hit->at, .from = hit->from, .block = hit->block, .interior = hit->offset != 0};
}

struct xc_error *xc_typing_find_misaligned(struct xc_engine *e)
{
	struct found f = {.engine = e};
	xc_auto(xc_freep) bool *maps = misaligned_maps(e);
	if (!maps)
		return NULL;
	xc_typing_hits_of_maps(e, maps, take, &f);
	return f.count ? xc_misaligned_set(e->heap, f.items, f.count) : NULL;
}

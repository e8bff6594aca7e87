#include "heap/blocks/heap.h"

#include <stdlib.h>

#include "dwarf/elf/symbol.h"

/* ---- for allocators ---- */

uint32_t xc_heap_add_arena(struct xc_heap *heap, const struct xc_heap_arena *arena)
{
	heap->arenas = xc_grow(heap->arenas, heap->arena_count, &heap->arena_capacity, sizeof *heap->arenas);
	struct xc_heap_arena *added = &heap->arenas[heap->arena_count];
	*added = *arena;
	added->name = xc_arena_strdup(&heap->memory, arena->name);
	added->evidence = xc_arena_strdup(&heap->memory, arena->evidence);
	return (uint32_t)heap->arena_count++;
}

void xc_heap_add_region(struct xc_heap *heap, const struct xc_region *region)
{
	heap->regions = xc_grow(heap->regions, heap->region_count, &heap->region_capacity, sizeof *heap->regions);
	heap->regions[heap->region_count++] = *region;
}

void xc_heap_add_damage(struct xc_heap *heap, const struct xc_damage *damage)
{
	if (heap->damage_count >= XC_DAMAGES) {
		heap->damage_dropped++;
		return;
	}
	heap->damages = xc_grow(heap->damages, heap->damage_count, &heap->damage_capacity, sizeof *heap->damages);
	struct xc_damage *added = &heap->damages[heap->damage_count++];
	*added = *damage;
	added->what = xc_arena_strdup(&heap->memory, damage->what);
	added->expected = xc_arena_strdup(&heap->memory, damage->expected);
	added->found = xc_arena_strdup(&heap->memory, damage->found);
}

/* ---- asking ---- */

const char *xc_heap_why_empty(const struct xc_heap *heap)
{
	if (heap->blocks.count)
		return NULL;
	if (heap->process->missing_bytes)
		return "the core is truncated, and the allocated blocks are not in the part that is left";
	if (heap->part_count)
		return "its allocator has allocated nothing";
	if (heap->why)
		return heap->why;
	if (xc_symbol_find(heap->process, "runtime.mheap_", NULL, NULL))
		return "its heap is that of Go's runtime, whose objects are not listed";
	return xc_symbol_find(heap->process, "__simple_malloc", NULL, NULL)
		       ? "no allocator that xcore knows is in use; if the program never frees, it may be musl's simple "
			 "one"
		       : "no allocator that xcore knows is in use";
}

const struct xc_region *xc_heap_region(const struct xc_heap *heap, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(heap->region_count, i, heap->regions[i].hi < addr);
	return lo < heap->region_count && heap->regions[lo].lo <= addr ? &heap->regions[lo] : NULL;
}

static bool is_byte_lost(const struct xc_heap *heap, xc_addr addr)
{
	const struct xc_segment *segment = xc_space_find(heap->process->space, addr);
	const struct xc_mapping *mapping = xc_process_mapping(heap->process, addr);
	return mapping && mapping->writable && segment && !segment->bytes && !segment->backing;
}

bool xc_heap_is_lost(const struct xc_heap *heap, xc_addr addr, uint64_t size)
{
	return is_byte_lost(heap, addr) || is_byte_lost(heap, addr + size - 1);
}

bool xc_heap_blocks_lost(const struct xc_heap *heap, xc_addr addr)
{
	for (size_t i = 0; i < heap->damage_count; i++)
		if (heap->damages[i].lost_lo <= addr && addr <= heap->damages[i].lost_hi)
			return true;
	return false;
}

struct xc_heap_totals xc_heap_totals(const struct xc_heap *heap)
{
	struct xc_heap_totals totals = {0};
	for (size_t i = 0; i < heap->blocks.count; i++) {
		enum xc_block_state state = xc_block_state(&heap->blocks, (uint32_t)i);
		totals.count[state]++;
		totals.bytes[state] += xc_block_size(&heap->blocks, (uint32_t)i);
	}
	for (size_t i = 0; i < heap->region_count; i++)
		totals.managed += heap->regions[i].hi - heap->regions[i].lo + 1;
	return totals;
}

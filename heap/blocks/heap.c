#include "heap/blocks/heap.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "heap/blocks/allocator.h"
#include "heap/graph/claim.h"
#include "heap/graph/graph.h"
#include "heap/graph/retention.h"
#include "heap/blocks/scan.h"
#include "heap/types/typing.h"

static const struct xc_allocator *const allocators[] = {
	&xc_allocator_glibc,    &xc_allocator_jemalloc, &xc_allocator_mallocng,
	&xc_allocator_tcmalloc, &xc_allocator_mimalloc,
};

/* Blocks need not lie in memory that the core has. So many are believed in that case, and more as it has more. */
enum { LEAST_BLOCKS = 1 << 24, LEAST_BLOCK = 8 };

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

void xc_walk_damage(struct xc_walk *walk, const struct xc_damage *damage)
{
	if (walk->damage_count > XC_DAMAGES)
		return;
	walk->damages = xc_grow(walk->damages, walk->damage_count, &walk->damage_capacity, sizeof *walk->damages);
	walk->damages[walk->damage_count++] = *damage;
}

/* ---- opening ---- */

/* A piece of one part's work. */
struct job {
	struct xc_heap *heap;
	struct xc_heap_part *part;
	size_t piece;
	struct xc_walk walk;
	uint64_t found; /* blocks, once it is walked; atomic */
};

static void detect(struct xc_heap *heap)
{
	heap->parts = xc_alloc(XC_COUNT(allocators) * sizeof *heap->parts);
	for (size_t i = 0; i < XC_COUNT(allocators); i++) {
		struct xc_heap_part part = {.allocator = allocators[i]};
		const char *why = NULL;
		part.state = part.allocator->detect(heap, &part.pieces, &why);
		if (part.state)
			heap->parts[heap->part_count++] = part;
		else if (why)
			heap->why = heap->why ? xc_arena_printf(&heap->memory, "%s; %s", heap->why, why) : why;
	}
}

/* Do pieces before this one have too many blocks already? What is known of them yet may be less than there is, never more. */
static bool is_too_late(const struct job *jobs, size_t number)
{
	const struct xc_heap *heap = jobs->heap;
	uint64_t before = 0;
	if (__atomic_load_n(&heap->blocks_walked, __ATOMIC_RELAXED) <= heap->most_blocks)
		return false;
	for (size_t i = 0; i < number && before <= heap->most_blocks; i++)
		before += __atomic_load_n(&jobs[i].found, __ATOMIC_RELAXED);
	return before > heap->most_blocks;
}

static void walk_piece(void *context, size_t number, unsigned worker)
{
	struct job *jobs = context, *job = jobs + number;
	(void)worker;
	if (is_too_late(jobs, number))
		return;
	job->part->allocator->walk(&job->walk, job->piece);
	__atomic_store_n(&job->found, job->walk.blocks.count, __ATOMIC_RELAXED);
	__atomic_add_fetch(&job->heap->blocks_walked, job->found, __ATOMIC_RELAXED);
}

/* Leave out the pieces behind the one that made too many blocks: the same ones however many threads there were. Returns how many stay. */
static size_t drop_pieces(struct xc_heap *heap, struct job *jobs, size_t count)
{
	uint64_t blocks = 0;
	size_t kept = 0;
	while (kept < count && blocks <= heap->most_blocks)
		blocks += jobs[kept++].found;
	for (size_t i = kept; i < count; i++) {
		xc_block_list_fini(&jobs[i].walk.blocks);
		jobs[i].walk.damage_count = 0;
	}
	heap->pieces_dropped = count - kept;
	return kept;
}

static struct job *plan(struct xc_heap *heap, size_t *count_out)
{
	size_t count = 0, at = 0;
	for (size_t i = 0; i < heap->part_count; i++)
		count += heap->parts[i].pieces;
	struct job *jobs = xc_alloc((count + 1) * sizeof *jobs);
	for (size_t i = 0; i < heap->part_count; i++)
		for (size_t piece = 0; piece < heap->parts[i].pieces; piece++, at++) {
			jobs[at] = (struct job){.heap = heap, .part = &heap->parts[i], .piece = piece};
			jobs[at].walk.heap = heap;
			jobs[at].walk.state = heap->parts[i].state;
			xc_window_init(&jobs[at].walk.window, heap->process->space);
		}
	*count_out = count;
	return jobs;
}

/* Jobs stand in the order of the parts and their pieces; `count` of them stay. */
static void join(struct xc_heap *heap, struct job *jobs, size_t count)
{
	struct xc_walk **walks = xc_alloc((count + 1) * sizeof *walks);
	for (size_t i = 0; i < count; i++)
		walks[i] = &jobs[i].walk;
	for (size_t i = 0, at = 0; i < heap->part_count && at < count; at += heap->parts[i++].pieces) {
		size_t pieces = heap->parts[i].pieces < count - at ? heap->parts[i].pieces : count - at;
		if (heap->parts[i].allocator->join)
			heap->parts[i].allocator->join(walks + at, pieces);
	}
	free(walks);
}

static void build_table(struct xc_heap *heap, const struct job *jobs, size_t count)
{
	struct xc_block_list *lists = xc_alloc((count + 1) * sizeof *lists);
	for (size_t i = 0; i < count; i++)
		lists[i] = jobs[i].walk.blocks;
	xc_blocks_build(&heap->blocks, lists, count);
	free(lists);
}

static void finish_jobs(struct xc_heap *heap, struct job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct xc_walk *walk = &jobs[i].walk;
		for (size_t k = 0; k < walk->damage_count; k++)
			xc_heap_add_damage(heap, &walk->damages[k]);
		free(walk->damages);
		xc_window_fini(&walk->window);
		xc_block_list_fini(&walk->blocks);
		xc_arena_fini(&walk->memory);
	}
	free(jobs);
}

static int region_order(const void *a, const void *b)
{
	const struct xc_region *x = a, *y = b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static int damage_order(const void *a, const void *b)
{
	const struct xc_damage *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The block that ends at a damaged header, or nearest below it in the same region. */
static void find_neighbours(struct xc_heap *heap)
{
	for (size_t i = 0; i < heap->damage_count; i++) {
		struct xc_damage *damage = &heap->damages[i];
		uint32_t behind = xc_blocks_from(&heap->blocks, damage->addr);
		const struct xc_region *region = xc_heap_region(heap, damage->addr);
		if (damage->kind == XC_DAMAGE_HEADER && damage->before == XC_NO_BLOCK && behind > 0 && region &&
		    xc_block_addr(&heap->blocks, behind - 1) >= region->lo)
			damage->before = behind - 1;
	}
}

struct xc_heap *xc_heap_open(const struct xc_process *process, const struct xc_heap_options *options)
{
	struct xc_heap *heap = xc_alloc(sizeof *heap);
	size_t count;
	heap->process = process;
	heap->jobs = options ? options->jobs : 0;
	heap->progress = options ? options->progress : NULL;
	heap->blocks.lo = 1;
	detect(heap);
	if (heap->region_count)
		qsort(heap->regions, heap->region_count, sizeof *heap->regions, region_order);
	struct job *jobs = plan(heap, &count);
	heap->most_blocks = LEAST_BLOCKS + xc_scan_stored_bytes(process->space, 0, UINT64_MAX) / LEAST_BLOCK;
	xc_parallel(heap->jobs, count, walk_piece, jobs);
	join(heap, jobs, drop_pieces(heap, jobs, count));
	build_table(heap, jobs, count);
	finish_jobs(heap, jobs, count);
	for (size_t i = 0; i < heap->part_count; i++)
		if (heap->parts[i].allocator->settle)
			heap->parts[i].allocator->settle(heap, heap->parts[i].state);
	if (heap->damage_count)
		qsort(heap->damages, heap->damage_count, sizeof *heap->damages, damage_order);
	find_neighbours(heap);
	return heap;
}

void xc_heap_close(struct xc_heap *heap)
{
	if (!heap)
		return;
	xc_retention_free(heap->retention);
	xc_typing_free(heap->typing);
	xc_graph_free(heap->graph);
	xc_claims_free(heap->claims);
	for (size_t i = 0; i < heap->part_count; i++)
		heap->parts[i].allocator->fini(heap->parts[i].state);
	xc_blocks_fini(&heap->blocks);
	free(heap->parts);
	free(heap->arenas);
	free(heap->regions);
	free(heap->damages);
	xc_arena_fini(&heap->memory);
	free(heap);
}

struct xc_heap *xc_heap_of(struct xc_process *process, const struct xc_heap_options *options)
{
	struct xc_heap *older = process->heap;
	if (older && !older->outdated)
		return older;
	struct xc_heap *heap = process->heap = xc_heap_open(process, options);
	heap->older = older;
	return heap;
}

void xc_heap_outdate(struct xc_process *process)
{
	struct xc_heap *heap = process->heap;
	if (heap)
		heap->outdated = true;
}

void xc_heap_forget(struct xc_process *process)
{
	struct xc_heap *older;
	for (struct xc_heap *heap = process->heap; heap; heap = older) {
		older = heap->older;
		xc_heap_close(heap);
	}
	process->heap = NULL;
}

struct xc_error *xc_heap_work_out(struct xc_heap *heap)
{
	struct xc_graph *graph;
	struct xc_typing *typing;
	struct xc_error *err = xc_graph_of(heap, &graph);
	return err ? err : xc_typing_of(heap, &typing);
}

/* ---- asking ---- */

const char *xc_heap_why_empty(const struct xc_heap *heap)
{
	if (heap->blocks.count)
		return NULL;
	if (heap->process->missing_bytes)
		return "the core is cut short, and what its allocator handed out is not in what is left";
	if (heap->part_count)
		return "its allocator has handed out nothing";
	return heap->why ? heap->why : "no allocator that xcore knows is in use";
}

const struct xc_region *xc_heap_region(const struct xc_heap *heap, xc_addr addr)
{
	size_t lo = 0, hi = heap->region_count;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (heap->regions[middle].hi < addr)
			lo = middle + 1;
		else
			hi = middle;
	}
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

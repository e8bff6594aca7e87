/* session: the steps of opening a heap, in the order that allocator.h describes. */
#include "heap/session/session.h"

#include <stdlib.h>

#include "core/base/parallel.h"
#include "heap/blocks/allocator.h"
#include "heap/blocks/scan.h"
#include "heap/evidence/evidence_list.h"
#include "heap/graph/claim.h"
#include "heap/graph/graph.h"
#include "heap/graph/inner_pointer.h"
#include "heap/graph/misaligned.h"
#include "heap/graph/stale_range.h"
#include "heap/graph/retention.h"
#include "heap/types/typing.h"

/* Blocks may lie in memory that the core lacks. This many are accepted in any case, and more in proportion to the
 * stored memory. */
enum { LEAST_BLOCKS = 1 << 24, LEAST_BLOCK = 8 };

/* One piece of a part's work. */
struct job {
	struct xc_heap *heap;
	struct xc_heap_part *part;
	size_t piece;
	struct xc_walk walk;
	uint64_t found; /* number of blocks after the walk; atomic */
};

static void detect(struct xc_heap *heap)
{
	size_t capacity = 0;
	for (size_t i = 0; xc_allocator_list[i]; i++) {
		struct xc_heap_part part = {.allocator = xc_allocator_list[i]};
		const char *why = NULL;
		part.state = part.allocator->detect(heap, &part.pieces, &why);
		if (part.state) {
			heap->parts = xc_grow(heap->parts, heap->part_count, &capacity, sizeof *heap->parts);
			heap->parts[heap->part_count++] = part;
		} else if (why)
			heap->why = heap->why ? xc_arena_printf(&heap->memory, "%s; %s", heap->why, why) : why;
	}
}

/* Do the pieces before this one already have too many blocks? The counts known so far may be too low, never too
 * high. */
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

/* Drops the pieces after the one that exceeded the limit: the same ones for any number of threads. Returns the
 * number of pieces kept. */
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

/* Jobs are in the order of the parts and their pieces; `count` of them are kept. */
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

/* Finds the block that ends at a damaged header, or the nearest one below it in the same region. */
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
	heap->evidence = xc_evidence_list;
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
	xc_misaligned_free(heap->misaligned);
	xc_stale_ranges_free(heap->stale_ranges);
	xc_inner_pointers_free(heap->inner_pointers);
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

void xc_heap_invalidate(struct xc_process *process)
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

struct xc_error *xc_heap_analyze(struct xc_heap *heap)
{
	struct xc_graph *graph;
	struct xc_typing *typing;
	struct xc_error *err = xc_graph_of(heap, &graph);
	return err ? err : xc_typing_of(heap, &typing);
}

/* list_walk: Brent's cycle detection (An improved Monte Carlo factorization algorithm, BIT 20, 1980) beside the
 * loop. */
#include "lua/bulk/list_walk.h"

#include <string.h>

enum {
	SAMPLE = 512,           /* sampled nodes, to decide whether a list is scattered */
	PREFETCH_FROM = 4096,   /* nodes: prefetching does not speed up shorter lists */
	PREFETCH_EVERY = 65536, /* nodes to walk before prefetching is tried again */
};

void xc_list_walk_begin(struct xc_list_walk *walk, xc_addr head, xc_addr stop)
{
	walk->head = walk->at = walk->mark = head;
	walk->stop = stop;
	walk->since = 0;
	walk->span = 1;
	walk->prefetch = NULL;
	walk->prefetch_from = PREFETCH_FROM;
	walk->end = head == 0 || head == stop ? XC_LIST_WALK_DONE : XC_LIST_WALK_GOES_ON;
}

/* Process the next-pointer of a node that was returned. */
static inline void step(struct xc_list_walk *walk, xc_addr next)
{
	walk->since++;
	if (next == 0 || next == walk->head || next == walk->stop) {
		walk->end = XC_LIST_WALK_DONE;
	} else if (next == walk->mark) {
		walk->end = XC_LIST_WALK_CYCLE;
	} else if (walk->since == walk->span) {
		walk->mark = next;
		walk->span *= 2;
		walk->since = 0;
	}
	walk->at = next;
}

/* The same as xc_list_walk_run, while nodes are in mapped memory. */
static size_t run_direct(struct xc_list_walk *walk, xc_addr *nodes, size_t room)
{
	struct xc_memory_view window = walk->host->window;
	uint64_t mask = ~UINT64_C(0) >> (64 - walk->size * 8), next;
	struct xc_list_walk local = *walk; /* a local, so that the loop keeps it in registers */
	size_t given = 0;
	while (local.end == XC_LIST_WALK_GOES_ON && given < room) {
		xc_addr at = local.at + local.offset;
		if (!xc_inside(at, sizeof next, window.lo, window.hi)) {
			const struct xc_memory_view *view = xc_memory_view_at(&walk->host->views, at, sizeof next);
			if (!view)
				break;
			window = *view;
		}
		memcpy(&next, window.bytes + (at - window.lo), sizeof next);
		nodes[given++] = local.at;
		step(&local, next & mask);
	}
	*walk = local;
	return given;
}

static size_t run_prefetched(struct xc_list_walk *walk, xc_addr *nodes, size_t room)
{
	size_t given = 0;
	xc_addr next;
	while (walk->prefetch && walk->end == XC_LIST_WALK_GOES_ON && given < room) {
		if (!xc_list_prefetch_next(walk->prefetch, &next)) {
			xc_list_walk_end(walk);
			break;
		}
		nodes[given++] = walk->at;
		step(walk, next);
	}
	return given;
}

void xc_list_walk_look_ahead(struct xc_list_walk *walk, const xc_addr *nodes, size_t count)
{
	if (walk->prefetch || walk->end != XC_LIST_WALK_GOES_ON || count < walk->prefetch_from)
		return;
	walk->prefetch = xc_list_prefetch_new(&walk->host->views, walk->offset, walk->size, nodes + (count - SAMPLE),
					      SAMPLE, walk->at);
	walk->prefetch_from = count + PREFETCH_EVERY;
}

void xc_list_walk_end(struct xc_list_walk *walk)
{
	xc_list_prefetch_free(walk->prefetch);
	walk->prefetch = NULL;
}

size_t xc_list_walk_run(struct xc_list_walk *walk, xc_addr *nodes, size_t room)
{
	size_t given = run_prefetched(walk, nodes, room);
	given += run_direct(walk, nodes + given, room - given);
	while (walk->end == XC_LIST_WALK_GOES_ON && given < room) {
		xc_addr next;
		if (!xc_bind_load(walk->host, walk->at + walk->offset, walk->size, &next)) {
			walk->end = XC_LIST_WALK_FAULT;
			break;
		}
		nodes[given++] = walk->at;
		step(walk, next);
		given += run_direct(walk, nodes + given, room - given);
	}
	return given;
}

struct xc_list_walk_cycle xc_list_walk_cycle(const struct xc_list_walk *walk, const xc_addr *nodes, size_t count)
{
	size_t length = (size_t)walk->since;
	/* The last node leads back to the node `length` nodes before the end; from the start of the cycle on every
	 * node is followed by itself after `length` steps, and none before. */
	size_t start = XC_LOWER_BOUND(count - length, i, nodes[i] != nodes[i + length]);
	return (struct xc_list_walk_cycle){.count = start + length, .back = start};
}

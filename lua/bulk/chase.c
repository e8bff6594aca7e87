/* chase: Brent's cycle detection (An improved Monte Carlo factorization algorithm, BIT 20, 1980) beside the loop. */
#include "lua/bulk/chase.h"

#include <string.h>

enum {
	SAMPLE = 512,        /* nodes that tell whether a list lies scattered */
	SCOUT_FROM = 4096,   /* nodes: for fewer it is not worth while */
	SCOUT_EVERY = 65536, /* nodes to go alone before help is looked for again */
};

void xc_chase_begin(struct xc_chase *chase, xc_addr head, xc_addr stop)
{
	chase->head = chase->at = chase->mark = head;
	chase->stop = stop;
	chase->since = 0;
	chase->span = 1;
	chase->scout = NULL;
	chase->scout_from = SCOUT_FROM;
	chase->end = head == 0 || head == stop ? XC_CHASE_DONE : XC_CHASE_GOES_ON;
}

/* Look at the pointer that leads on from a node that was given. */
static inline void step(struct xc_chase *chase, xc_addr next)
{
	chase->since++;
	if (next == 0 || next == chase->head || next == chase->stop) {
		chase->end = XC_CHASE_DONE;
	} else if (next == chase->mark) {
		chase->end = XC_CHASE_CYCLE;
	} else if (chase->since == chase->span) {
		chase->mark = next;
		chase->span *= 2;
		chase->since = 0;
	}
	chase->at = next;
}

/* The same as xc_chase_run while nodes lie where they need not be copied. */
static size_t run_direct(struct xc_chase *chase, xc_addr *nodes, size_t room)
{
	struct xc_lens window = chase->host->window;
	uint64_t mask = ~UINT64_C(0) >> (64 - chase->size * 8), next;
	struct xc_chase local = *chase; /* so that the loop keeps it in registers */
	size_t given = 0;
	while (local.end == XC_CHASE_GOES_ON && given < room) {
		xc_addr at = local.at + local.offset;
		if (!xc_inside(at, sizeof next, window.lo, window.hi)) {
			const struct xc_lens *lens = xc_lens_at(&chase->host->lenses, at, sizeof next);
			if (!lens)
				break;
			window = *lens;
		}
		memcpy(&next, window.bytes + (at - window.lo), sizeof next);
		nodes[given++] = local.at;
		step(&local, next & mask);
	}
	*chase = local;
	return given;
}

static size_t run_scouted(struct xc_chase *chase, xc_addr *nodes, size_t room)
{
	size_t given = 0;
	xc_addr next;
	while (chase->scout && chase->end == XC_CHASE_GOES_ON && given < room) {
		if (!xc_scout_next(chase->scout, &next)) {
			xc_chase_end(chase);
			break;
		}
		nodes[given++] = chase->at;
		step(chase, next);
	}
	return given;
}

void xc_chase_look_ahead(struct xc_chase *chase, const xc_addr *nodes, size_t count)
{
	if (chase->scout || chase->end != XC_CHASE_GOES_ON || count < chase->scout_from)
		return;
	chase->scout = xc_scout_new(&chase->host->lenses, chase->offset, chase->size, nodes + (count - SAMPLE), SAMPLE,
				    chase->at);
	chase->scout_from = count + SCOUT_EVERY;
}

void xc_chase_end(struct xc_chase *chase)
{
	xc_scout_free(chase->scout);
	chase->scout = NULL;
}

size_t xc_chase_run(struct xc_chase *chase, xc_addr *nodes, size_t room)
{
	size_t given = run_scouted(chase, nodes, room);
	given += run_direct(chase, nodes + given, room - given);
	while (chase->end == XC_CHASE_GOES_ON && given < room) {
		xc_addr next;
		if (!xc_bind_load(chase->host, chase->at + chase->offset, chase->size, &next)) {
			chase->end = XC_CHASE_FAULT;
			break;
		}
		nodes[given++] = chase->at;
		step(chase, next);
		given += run_direct(chase, nodes + given, room - given);
	}
	return given;
}

struct xc_chase_cycle xc_chase_cycle(const struct xc_chase *chase, const xc_addr *nodes, size_t count)
{
	size_t length = (size_t)chase->since;
	/* The last node leads back to the one `length` nodes before the end; from where the cycle begins every node is
	 * followed by itself after `length` steps, and none before. */
	size_t lo = 0, hi = count - length;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (nodes[middle] == nodes[middle + length])
			hi = middle;
		else
			lo = middle + 1;
	}
	return (struct xc_chase_cycle){.count = lo + length, .back = lo};
}

/* list_prefetch: lanes advance in rounds; the node that a lane reads next was prefetched in the round before. */
#include "lua/bulk/list_prefetch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"

enum {
	LANES = 1024,
	TOGETHER = 48,       /* lanes that advance at once: the number of requests that memory serves */
	ROUNDS = 64,         /* between two checks for results */
	TRIES = 16 * LANES,  /* words examined for starting points */
	SIEVE = 1 << 16,     /* bits */
	FAR = 4096,          /* distance of nodes, in bytes, beyond which the processor does not prefetch */
	TRIAL = 1 << 15,     /* rounds after which lanes must have been useful */
	MOST_HELD = 1 << 23, /* nodes kept */
	LANE_MOST = 1 << 18,
};

enum lane_state {
	WAITING,
	ACTIVE,
	MET,   /* the start of the lane `link` */
	STRAY, /* leads to `tail`, which is not in mapped memory */
	LOST,
};

struct lane {
	xc_addr *nodes; /* from its start on; while it is ACTIVE the pointer of the last one is still unread */
	size_t count, capacity;
	enum lane_state state;
	size_t link;
	xc_addr tail;
};

struct xc_list_prefetch {
	struct xc_memory_views *views;
	uint64_t offset, mask;
	struct lane lanes[LANES];
	size_t lane_count, begun; /* lanes before `begun` are not WAITING */
	size_t active[LANES], active_count;
	struct xc_hashtable lane_numbers; /* by (start, 1) */
	uint64_t sieve[SIEVE / 64];       /* a filter: the hashes of starts */
	size_t lane, at;                  /* the last node returned */
	uint64_t held, rounds, given;
	bool done;
};

/* ---- starts ---- */

static uint64_t sieve_bit(xc_addr start)
{
	return xc_hash_mix(start, 0) % SIEVE;
}

static inline bool may_be_start(const struct xc_list_prefetch *prefetch, xc_addr addr)
{
	uint64_t bit = sieve_bit(addr);
	return prefetch->sieve[bit / 64] >> bit % 64 & 1;
}

static void append(struct xc_list_prefetch *prefetch, struct lane *lane, xc_addr node)
{
	lane->nodes = xc_grow(lane->nodes, lane->count, &lane->capacity, sizeof *lane->nodes);
	lane->nodes[lane->count++] = node;
	prefetch->held++;
}

static void add_lane(struct xc_list_prefetch *prefetch, xc_addr start)
{
	uint64_t bit = sieve_bit(start);
	if (xc_hashtable_find(&prefetch->lane_numbers, start, 1))
		return;
	xc_hashtable_at(&prefetch->lane_numbers, NULL, start, 1)->number = prefetch->lane_count;
	prefetch->sieve[bit / 64] |= UINT64_C(1) << bit % 64;
	append(prefetch, &prefetch->lanes[prefetch->lane_count++], start);
}

/* ---- lanes ---- */

/* The bytes of a node's pointer; NULL when they are not in mapped memory. */
static const uint8_t *pointer_of(const struct xc_list_prefetch *prefetch, xc_addr node)
{
	return xc_memory_view_bytes(prefetch->views, node + prefetch->offset, 8);
}

/* False: the pointer of the node is not in mapped memory. */
static bool load(const struct xc_list_prefetch *prefetch, xc_addr node, xc_addr *next_out)
{
	uint64_t bits;
	const uint8_t *bytes = pointer_of(prefetch, node);
	if (!bytes)
		return false;
	memcpy(&bits, bytes, sizeof bits);
	*next_out = bits & prefetch->mask;
	return true;
}

static void step(struct xc_list_prefetch *prefetch, struct lane *lane)
{
	xc_addr next = 0;
	const union xc_hashtable_value *number;
	const uint8_t *bytes;
	bool known =
		load(prefetch, lane->nodes[lane->count - 1], &next); /* it was in mapped memory when it was appended */
	assert(known);
	if (!(bytes = pointer_of(prefetch, next))) {
		lane->state = STRAY;
		lane->tail = next;
	} else if (may_be_start(prefetch, next) && (number = xc_hashtable_find(&prefetch->lane_numbers, next, 1))) {
		lane->state = MET;
		lane->link = number->number;
	} else if (lane->count == LANE_MOST) {
		lane->state = LOST;
	} else {
		append(prefetch, lane, next);
		__builtin_prefetch(bytes);
	}
}

static void activate(struct xc_list_prefetch *prefetch, size_t lane)
{
	prefetch->lanes[lane].state = ACTIVE;
	prefetch->active[prefetch->active_count++] = lane;
}

/* Keep as many lanes active as memory serves. */
static void fill_up(struct xc_list_prefetch *prefetch)
{
	while (prefetch->active_count < TOGETHER && prefetch->begun < prefetch->lane_count &&
	       prefetch->held < MOST_HELD) {
		size_t lane = prefetch->begun++;
		if (prefetch->lanes[lane].state == WAITING)
			activate(prefetch, lane);
	}
}

static void run_rounds(struct xc_list_prefetch *prefetch)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		fill_up(prefetch);
		for (size_t i = 0; i < prefetch->active_count;) {
			struct lane *lane = &prefetch->lanes[prefetch->active[i]];
			step(prefetch, lane);
			if (lane->state == ACTIVE)
				i++;
			else
				prefetch->active[i] = prefetch->active[--prefetch->active_count];
		}
	}
	prefetch->rounds += ROUNDS;
}

/* ---- what came of them ---- */

/* Without prefetching, each round would give one node. */
static bool is_faster(const struct xc_list_prefetch *prefetch)
{
	return prefetch->rounds < TRIAL || prefetch->given > 2 * prefetch->rounds;
}

static void leave_lane(struct xc_list_prefetch *prefetch, struct lane *lane)
{
	prefetch->held -= lane->count;
	free(lane->nodes);
	lane->nodes = NULL;
	lane->state = LOST; /* a repeated start means a cycle, which the caller detects */
	lane->count = lane->capacity = 0;
}

bool xc_list_prefetch_next(struct xc_list_prefetch *prefetch, xc_addr *next_out)
{
	struct lane *lane = &prefetch->lanes[prefetch->lane];
	if (prefetch->done)
		return false;
	while (prefetch->at + 1 == lane->count && (lane->state == WAITING || lane->state == ACTIVE)) {
		if (lane->state == WAITING)
			activate(prefetch, prefetch->lane);
		run_rounds(prefetch);
	}
	prefetch->given++;
	if (prefetch->at + 1 < lane->count) {
		*next_out = lane->nodes[++prefetch->at];
		return true;
	}
	if (lane->state == MET) {
		size_t link = lane->link;
		leave_lane(prefetch, lane);
		prefetch->lane = link;
		prefetch->at = 0;
		prefetch->done = prefetch->lanes[link].count == 0 || !is_faster(prefetch);
		*next_out = prefetch->lanes[link].count ? prefetch->lanes[link].nodes[0] : 0;
		return prefetch->lanes[link].count > 0;
	}
	prefetch->done = true;
	*next_out = lane->tail;
	return lane->state == STRAY;
}

/* ---- beginning ---- */

static uint64_t random_next(uint64_t *state) /* splitmix64 */
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

struct region {
	xc_addr lo, hi;    /* of the sampled nodes */
	uint64_t low_bits; /* in which none of them differs from the first */
	size_t far;
};

static struct region survey(const xc_addr *nodes, size_t count)
{
	struct region region = {.lo = nodes[0], .hi = nodes[0]};
	uint64_t differ = 0;
	for (size_t i = 1; i < count; i++) {
		uint64_t distance = nodes[i] > nodes[i - 1] ? nodes[i] - nodes[i - 1] : nodes[i - 1] - nodes[i];
		region.far += distance > FAR;
		region.lo = nodes[i] < region.lo ? nodes[i] : region.lo;
		region.hi = nodes[i] > region.hi ? nodes[i] : region.hi;
		differ |= nodes[i] ^ nodes[0];
	}
	region.low_bits = differ ? (differ & -differ) - 1 : 7;
	return region;
}

/* Take words that point to where nodes are as starting points. */
static void pick_starts(struct xc_list_prefetch *prefetch, const struct region *region, xc_addr like)
{
	uint64_t state = 1, words = (region->hi - region->lo) / 8;
	for (unsigned i = 0; i < TRIES && prefetch->lane_count < LANES; i++) {
		xc_addr at = region->lo + random_next(&state) % words * 8 - prefetch->offset, word, next;
		bool fits = load(prefetch, at, &word) && word >= region->lo && word <= region->hi &&
			    ((word ^ like) & region->low_bits) == 0;
		if (fits && load(prefetch, word, &next) && (next == 0 || pointer_of(prefetch, next)))
			add_lane(prefetch, word);
	}
}

struct xc_list_prefetch *xc_list_prefetch_new(struct xc_memory_views *views, uint64_t offset, unsigned size,
					      const xc_addr *nodes, size_t count, xc_addr from)
{
	struct region region = survey(nodes, count);
	if (region.far < count / 2 || region.hi - region.lo < 8 || !xc_memory_view_at(views, from + offset, 8))
		return NULL;
	struct xc_list_prefetch *prefetch = xc_alloc(sizeof *prefetch);
	prefetch->views = views;
	prefetch->offset = offset;
	prefetch->mask = ~UINT64_C(0) >> (64 - size * 8);
	add_lane(prefetch, from);
	pick_starts(prefetch, &region, from);
	if (prefetch->lane_count > TOGETHER)
		return prefetch;
	xc_list_prefetch_free(prefetch);
	return NULL;
}

void xc_list_prefetch_free(struct xc_list_prefetch *prefetch)
{
	if (!prefetch)
		return;
	for (size_t i = 0; i < prefetch->lane_count; i++)
		free(prefetch->lanes[i].nodes);
	xc_hashtable_fini(&prefetch->lane_numbers);
	free(prefetch);
}

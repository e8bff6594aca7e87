/* scout: lanes are stepped in rounds; what a lane reads next was asked for a round before. */
#include "lua/bulk/scout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	LANES = 1024,
	TOGETHER = 48,       /* lanes that are followed at once: what memory serves */
	ROUNDS = 64,         /* between two looks at what was asked for */
	TRIES = 16 * LANES,  /* words looked at for places to start from */
	SLOTS = 8 * LANES,   /* of the table of starts */
	SIEVE = 1 << 16,     /* bits */
	FAR = 4096,          /* bytes to the next node from which on nothing is fetched ahead by the processor */
	TRIAL = 1 << 15,     /* rounds after which lanes must have helped */
	MOST_HELD = 1 << 23, /* nodes kept */
	LANE_MOST = 1 << 18,
};

enum lane_state {
	WAITING,
	ACTIVE,
	MET,   /* the start of the lane `link` */
	STRAY, /* leads to `tail`, which is not in our memory */
	LOST,
};

struct lane {
	xc_addr *nodes; /* from its start on; the pointer of the last was not read yet while it is ACTIVE */
	size_t count, capacity;
	enum lane_state state;
	size_t link;
	xc_addr tail;
};

struct slot {
	xc_addr start; /* 0: free */
	size_t lane;
};

struct xc_scout {
	struct xc_lenses *lenses;
	uint64_t offset, mask;
	struct lane lanes[LANES];
	size_t lane_count, begun; /* lanes before `begun` are not WAITING */
	size_t active[LANES], active_count;
	struct slot slots[SLOTS];
	uint64_t sieve[SIEVE / 64]; /* which hashes are those of starts */
	size_t lane, at;            /* the node given last */
	uint64_t held, rounds, given;
	bool done;
};

/* ---- starts ---- */

static uint64_t hash(xc_addr addr)
{
	return (addr >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

static struct slot *slot_of(struct xc_scout *scout, xc_addr start)
{
	size_t i = hash(start) % SLOTS;
	while (scout->slots[i].start != 0 && scout->slots[i].start != start)
		i = (i + 1) % SLOTS;
	return &scout->slots[i];
}

static inline bool may_be_start(const struct xc_scout *scout, xc_addr addr)
{
	uint64_t bit = hash(addr) % SIEVE;
	return scout->sieve[bit / 64] >> bit % 64 & 1;
}

static void append(struct xc_scout *scout, struct lane *lane, xc_addr node)
{
	lane->nodes = xc_grow(lane->nodes, lane->count, &lane->capacity, sizeof *lane->nodes);
	lane->nodes[lane->count++] = node;
	scout->held++;
}

static void add_lane(struct xc_scout *scout, xc_addr start)
{
	struct slot *slot = slot_of(scout, start);
	uint64_t bit = hash(start) % SIEVE;
	if (slot->start)
		return;
	*slot = (struct slot){start, scout->lane_count};
	scout->sieve[bit / 64] |= UINT64_C(1) << bit % 64;
	append(scout, &scout->lanes[scout->lane_count++], start);
}

/* ---- lanes ---- */

/* The bytes of a node's pointer; NULL when they are not in our memory. */
static const uint8_t *pointer_of(const struct xc_scout *scout, xc_addr node)
{
	return xc_lens_bytes(scout->lenses, node + scout->offset, 8);
}

/* False when the pointer of the node is not in our memory. */
static bool load(const struct xc_scout *scout, xc_addr node, xc_addr *next_out)
{
	uint64_t bits;
	const uint8_t *bytes = pointer_of(scout, node);
	if (!bytes)
		return false;
	memcpy(&bits, bytes, sizeof bits);
	*next_out = bits & scout->mask;
	return true;
}

static void step(struct xc_scout *scout, struct lane *lane)
{
	xc_addr next = 0;
	const struct slot *slot;
	const uint8_t *bytes;
	bool known = load(scout, lane->nodes[lane->count - 1], &next); /* it was in our memory when it was appended */
	assert(known);
	if (!(bytes = pointer_of(scout, next))) {
		lane->state = STRAY;
		lane->tail = next;
	} else if (may_be_start(scout, next) && (slot = slot_of(scout, next))->start) {
		lane->state = MET;
		lane->link = slot->lane;
	} else if (lane->count == LANE_MOST) {
		lane->state = LOST;
	} else {
		append(scout, lane, next);
		__builtin_prefetch(bytes);
	}
}

static void activate(struct xc_scout *scout, size_t lane)
{
	scout->lanes[lane].state = ACTIVE;
	scout->active[scout->active_count++] = lane;
}

/* Keep as many lanes going as memory serves. */
static void fill_up(struct xc_scout *scout)
{
	while (scout->active_count < TOGETHER && scout->begun < scout->lane_count && scout->held < MOST_HELD) {
		size_t lane = scout->begun++;
		if (scout->lanes[lane].state == WAITING)
			activate(scout, lane);
	}
}

static void run_rounds(struct xc_scout *scout)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		fill_up(scout);
		for (size_t i = 0; i < scout->active_count;) {
			struct lane *lane = &scout->lanes[scout->active[i]];
			step(scout, lane);
			if (lane->state == ACTIVE)
				i++;
			else
				scout->active[i] = scout->active[--scout->active_count];
		}
	}
	scout->rounds += ROUNDS;
}

/* ---- what came of them ---- */

/* Alone, one node would have been reached in a round. */
static bool is_worth_it(const struct xc_scout *scout)
{
	return scout->rounds < TRIAL || scout->given > 2 * scout->rounds;
}

static void leave_lane(struct xc_scout *scout, struct lane *lane)
{
	scout->held -= lane->count;
	free(lane->nodes);
	lane->nodes = NULL;
	lane->state = LOST; /* to come back is to go in a circle: the caller sees that by himself */
	lane->count = lane->capacity = 0;
}

bool xc_scout_next(struct xc_scout *scout, xc_addr *next_out)
{
	struct lane *lane = &scout->lanes[scout->lane];
	if (scout->done)
		return false;
	while (scout->at + 1 == lane->count && (lane->state == WAITING || lane->state == ACTIVE)) {
		if (lane->state == WAITING)
			activate(scout, scout->lane);
		run_rounds(scout);
	}
	scout->given++;
	if (scout->at + 1 < lane->count) {
		*next_out = lane->nodes[++scout->at];
		return true;
	}
	if (lane->state == MET) {
		size_t link = lane->link;
		leave_lane(scout, lane);
		scout->lane = link;
		scout->at = 0;
		scout->done = scout->lanes[link].count == 0 || !is_worth_it(scout);
		*next_out = scout->lanes[link].count ? scout->lanes[link].nodes[0] : 0;
		return scout->lanes[link].count > 0;
	}
	scout->done = true;
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
	xc_addr lo, hi;    /* of the nodes seen */
	uint64_t low_bits; /* that none of them differs in from the first */
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

/* Words that lead to where nodes are, and from there on. */
static void pick_starts(struct xc_scout *scout, const struct region *region, xc_addr like)
{
	uint64_t state = 1, words = (region->hi - region->lo) / 8;
	for (unsigned i = 0; i < TRIES && scout->lane_count < LANES; i++) {
		xc_addr at = region->lo + random_next(&state) % words * 8 - scout->offset, word, next;
		bool fits = load(scout, at, &word) && word >= region->lo && word <= region->hi &&
			    ((word ^ like) & region->low_bits) == 0;
		if (fits && load(scout, word, &next) && (next == 0 || pointer_of(scout, next)))
			add_lane(scout, word);
	}
}

struct xc_scout *xc_scout_new(struct xc_lenses *lenses, uint64_t offset, unsigned size, const xc_addr *nodes,
			      size_t count, xc_addr from)
{
	struct region region = survey(nodes, count);
	if (region.far < count / 2 || region.hi - region.lo < 8 || !xc_lens_at(lenses, from + offset, 8))
		return NULL;
	struct xc_scout *scout = xc_alloc(sizeof *scout);
	scout->lenses = lenses;
	scout->offset = offset;
	scout->mask = ~UINT64_C(0) >> (64 - size * 8);
	add_lane(scout, from);
	pick_starts(scout, &region, from);
	if (scout->lane_count > TOGETHER)
		return scout;
	xc_scout_free(scout);
	return NULL;
}

void xc_scout_free(struct xc_scout *scout)
{
	if (!scout)
		return;
	for (size_t i = 0; i < scout->lane_count; i++)
		free(scout->lanes[i].nodes);
	free(scout);
}

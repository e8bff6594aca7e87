/* stack_usage: see stack_usage.h.
 *
 * A deep stack has few functions: every pc is looked up once, and a frame becomes the number of its function. In
 * that sequence a cycle of k frames is a stretch in which each number equals the one k further out. Functions, not
 * pcs: two calls in one function walk a tree to the left and to the right. */
#include "triage/stack/stack_usage.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"
#include "triage/util/user_code.h"

enum {
	PCS = 4096,   /* pcs to look up at most */
	USERS = 1024, /* functions to distinguish at most */
	ENOUGH = 2,   /* a cycle in one of so many frames counts */
	LEAST_ROUNDS = 3,
	RING = XC_STACK_USAGE_ENDS + 1, /* frames: the ends, and the next one */
};

struct counter {
	const struct xc_crash_context *crash;
	struct xc_stack_usage *use;
	struct xc_hashtable users; /* (pc, 1) → number */
	uint32_t *sizes;           /* of frames */
	size_t capacity, size_capacity;
	struct xc_frame *ring; /* frame n at n % RING */
};

/* ---- functions ---- */

/* The name of a function for the reader, and whether it is the program's. */
static void name_user(const struct xc_place *place, struct xc_stack_user *user)
{
	struct xc_place whole = *place; /* without inlined functions */
	size_t level;
	if (place->level_count > 1) {
		whole.levels += place->level_count - 1;
		whole.level_count = 1;
	}
	user->own = xc_user_code_level(&whole, &level);
	user->name = user->function =
		whole.level_count && whole.levels[0].function ? whole.levels[0].function : place->symbol;
	if (user->own || place->level_count < 2 || !xc_user_code_level(place, &level))
		return;
	user->own = true;
	user->name = place->levels[level].function ? place->levels[level].function : user->function;
}

static uint16_t new_user(struct counter *c, const struct xc_frame *frame)
{
	struct xc_stack_usage *use = c->use;
	struct xc_stack_user user = {.lookup = xc_frame_lookup(frame), .first = use->frame_count};
	name_user(xc_debuginfo_place(c->crash->process, user.lookup), &user);
	user.own = user.own && !frame->signal;
	for (size_t i = 0; user.function && i < use->user_count; i++)
		if (use->users[i].function && strcmp(use->users[i].function, user.function) == 0) {
			if (!use->users[i].own && user.own) { /* a function of the program is inlined here */
				use->users[i].own = true;
				use->users[i].name = user.name;
			}
			return (uint16_t)i;
		}
	if (use->user_count == USERS) /* the last one stands for all others */
		return USERS - 1;
	use->users[use->user_count] = user;
	return (uint16_t)use->user_count++;
}

static uint16_t user_of(struct counter *c, const struct xc_frame *frame)
{
	const union xc_hashtable_value *known = xc_hashtable_find(&c->users, frame->pc, 1);
	if (known)
		return (uint16_t)known->number;
	if (c->users.count == PCS)
		return 0;
	uint16_t user = new_user(c, frame);
	xc_hashtable_at(&c->users, NULL, frame->pc, 1)->number = user;
	return user;
}

/* ---- frames ---- */

static void add_frame(struct counter *c, const struct xc_frame *frame, uint64_t bytes)
{
	struct xc_stack_usage *use = c->use;
	use->user_of = xc_grow(use->user_of, use->frame_count, &c->capacity, sizeof *use->user_of);
	c->sizes = xc_grow(c->sizes, use->frame_count, &c->size_capacity, sizeof *c->sizes);
	uint16_t user = user_of(c, frame);
	use->user_of[use->frame_count] = user;
	c->sizes[use->frame_count] = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
	use->users[user].frames++;
	use->users[user].bytes += bytes;
	if (bytes > use->largest || !use->frame_count) {
		use->largest = bytes;
		use->largest_at = use->frame_count;
	}
	use->bytes += bytes;
	use->frame_count++;
}

/* The end of a frame. False: it is outside of the stack, or unwinding ends (*lost_out). */
static bool step(const struct xc_crash_context *crash, const struct xc_mapping *stack, const struct xc_frame *frame,
		 struct xc_frame *caller, uint64_t *sp, bool *lost_out)
{
	const char *stop;
	if (!xc_unwind_step(crash->unwinder, frame, caller, &stop)) {
		*lost_out = strncmp(stop, XC_STOP_OUTERMOST, strlen(XC_STOP_OUTERMOST)) != 0;
		return false;
	}
	uint64_t next;
	if (!xc_regs_get(&caller->regs, crash->process->arch->sp, &next) || next < *sp || next > stack->hi)
		return false;
	*sp = next;
	return true;
}

static void walk(struct counter *c, const struct xc_mapping *stack, xc_addr lowest)
{
	uint64_t sp = lowest;
	c->ring[0] = c->crash->frames[0];
	for (;;) {
		const struct xc_frame *frame = &c->ring[c->use->frame_count % RING];
		struct xc_frame *caller = &c->ring[(c->use->frame_count + 1) % RING];
		uint64_t from = sp;
		bool more = step(c->crash, stack, frame, caller, &sp, &c->use->lost);
		if (!more && frame->cfa_known && frame->cfa > from && frame->cfa <= stack->hi)
			sp = frame->cfa;
		add_frame(c, frame, sp - from);
		if (!more)
			return;
		if (c->use->frame_count == XC_STACK_USAGE_FRAMES) {
			c->use->cut = true;
			return;
		}
	}
}

/* ---- the cycle ---- */

/* The longest stretch with period k, in frames; 0: less than three rounds. */
static uint64_t stretch(const struct xc_stack_usage *use, size_t k, uint64_t *at_out)
{
	uint64_t run = 0, best = 0;
	for (uint64_t i = 0; i + k < use->frame_count; i++) {
		run = use->user_of[i] == use->user_of[i + k] ? run + 1 : 0;
		if (run > best) {
			best = run;
			*at_out = i + 1 - run;
		}
	}
	return best >= (LEAST_ROUNDS - 1) * k ? best + k : 0;
}

static void find_cycle(struct counter *c)
{
	struct xc_stack_usage *use = c->use;
	for (size_t k = 1; k <= XC_STACK_USAGE_PERIOD && use->cycle_frames < use->frame_count / ENOUGH; k++) {
		uint64_t at = 0, frames = stretch(use, k, &at);
		/* a multiple of a period only adds the rest of a round */
		if (frames <= use->cycle_frames + k)
			continue;
		use->period = k;
		use->cycle_at = at;
		use->cycle_frames = frames;
	}
	for (uint64_t i = 0; use->period && i < use->cycle_frames - use->cycle_frames % use->period; i++)
		use->cycle_bytes += c->sizes[use->cycle_at + i];
}

/* ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct xc_stack_user *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Most bytes first; renumbers the frames. */
static void rank(struct xc_stack_usage *use, struct xc_arena *arena)
{
	uint16_t *rank_of = xc_alloc(USERS * sizeof *rank_of);
	struct xc_stack_user *ranked = xc_arena_alloc(arena, (use->user_count + 1) * sizeof *ranked);
	memcpy(ranked, use->users, use->user_count * sizeof *ranked);
	qsort(ranked, use->user_count, sizeof *ranked, by_bytes);
	for (size_t r = 0; r < use->user_count; r++)
		rank_of[use->user_of[ranked[r].first]] = (uint16_t)r;
	uint16_t *numbers = xc_arena_alloc(arena, (use->frame_count + 1) * sizeof *numbers);
	for (uint64_t i = 0; i < use->frame_count; i++)
		numbers[i] = rank_of[use->user_of[i]];
	free(rank_of);
	use->users = ranked;
	use->user_of = numbers;
}

static void keep_ends(struct counter *c, struct xc_arena *arena)
{
	struct xc_stack_usage *use = c->use;
	use->end_count = use->frame_count < XC_STACK_USAGE_ENDS ? use->frame_count : XC_STACK_USAGE_ENDS;
	use->ends = xc_arena_alloc(arena, use->end_count * sizeof *use->ends);
	for (size_t i = 0; i < use->end_count; i++)
		use->ends[i] = c->ring[(use->frame_count - use->end_count + i) % RING];
}

void xc_stack_usage_count(const struct xc_crash_context *crash, const struct xc_mapping *stack, xc_addr lowest,
			  struct xc_arena *arena, struct xc_stack_usage *out)
{
	struct counter c = {.crash = crash, .use = out};
	*out = (struct xc_stack_usage){.users = xc_alloc(USERS * sizeof *out->users)};
	c.ring = xc_alloc(RING * sizeof *c.ring);
	walk(&c, stack, lowest);
	find_cycle(&c);
	keep_ends(&c, arena);
	struct xc_stack_user *users = out->users;
	uint16_t *numbers = out->user_of;
	rank(out, arena);
	free(users);
	free(numbers);
	free(c.sizes);
	xc_hashtable_fini(&c.users);
	free(c.ring);
}

const struct xc_frame *xc_stack_usage_frame(const struct xc_crash_context *crash, const struct xc_stack_usage *use,
					    uint64_t number)
{
	if (number < crash->frame_count)
		return &crash->frames[number];
	uint64_t ends_at = use->frame_count - use->end_count;
	return number >= ends_at && number < use->frame_count ? &use->ends[number - ends_at] : NULL;
}

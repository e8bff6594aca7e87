/* forecast: the thread is run until it comes again to the loop's beginning, and on. When it comes there as it was
 * before, but for some registers and bytes, these are marked, and it is run once more: if nothing that they lead to
 * decides where it goes, or where it reads and writes, then each later turn is like this one. If they decide, but
 * change only by sums, the numbers of three turns tell when the decision will be another one (meeting.h).
 *
 * A turn may be several rounds: a search that goes round a table comes back to where it was after as many as it has
 * slots. The rounds that are compared are chosen as in Brent's search for a cycle. */
#include "triage/loop/forecast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "triage/loop/idle_step.h"
#include "triage/loop/meeting.h"
#include "triage/loop/narrow_counter.h"

enum {
	STEPS = 200000,
	MORE_STEPS = 1000000,
	DECISIONS = 512,
	TRIES = 4,
	WIDENINGS = 4,
	STEADY = 3,
	LESS = 6 /* of conditions */,
	DEAD = 1 << 16 /* bytes below the frame */
};

static const uint64_t WRAPS = UINT64_C(1) << 24; /* less is soon over */

/* The decisions of a turn of which the operands change, in their order; and of all of them. */
struct turn {
	struct xc_emulated_branch items[DECISIONS];
	size_t count;
	uint64_t path;  /* a digest, without what they compare … */
	uint64_t fixed; /* … and of what those compare that do not change */
	bool shared;    /* one depends on what others may change */
};

struct forecast {
	const struct xc_process *process;
	struct xc_emulator *emulator;
	struct xc_emulated_state *state;
	xc_addr anchor, sp, lo, hi;   /* the loop's beginning; its code is in [lo, hi] */
	size_t left;                  /* instructions */
	uint64_t path;                /* of the last round: a digest of its decisions, without what they compare … */
	uint64_t values;              /* … and with it */
	bool left_loop;               /* the last round ended because the loop was left */
	struct xc_emulated_call call; /* the last one of the turns that repeat */
	xc_addr idle;                 /* an addition of 0 by which the decisions would change, if it were 1; 0: none */
	struct xc_emulated_state *then, *start;
	struct turn turns[STEADY];
};

/* ---- rounds ---- */

static uint64_t mix(uint64_t digest, uint64_t value)
{
	return (digest ^ value) * UINT64_C(0x100000001b3);
}

static bool has_left(const struct forecast *f)
{
	const struct xc_emulated_state *s = f->state;
	return s->regs[XC_EMULATOR_SP].bits > f->sp ||
	       (s->regs[XC_EMULATOR_SP].bits == f->sp && (s->pc < f->lo || s->pc > f->hi));
}

/* False: there are too many. */
static bool note(struct turn *turn, const struct xc_emulated_branch *b)
{
	turn->path = mix(turn->path, b->pc + b->taken);
	turn->shared |= (b->flags.marks & XC_EMULATOR_OTHERS) != 0;
	if (!(b->flags.marks & XC_EMULATOR_CHANGES)) {
		turn->fixed = mix(mix(turn->fixed, b->flags.left), b->flags.right);
		return true;
	}
	if (turn->count == DECISIONS)
		return false;
	turn->items[turn->count++] = *b;
	return true;
}

/* Run to the loop's beginning. A loop may call what is outside of it: only code of its own frame counts, and a
 * call pushes first. */
static bool run_round(struct forecast *f, struct turn *turn)
{
	f->path = f->values = UINT64_C(0xcbf29ce484222325);
	do {
		struct xc_emulated_branch b;
		if (!f->left-- || !xc_emulator_step(f->emulator, &b))
			return false;
		f->left_loop = has_left(f);
		if (f->left_loop)
			return false;
		if (!b.pc)
			continue;
		f->path = mix(f->path, b.pc + b.taken);
		f->values = mix(mix(mix(f->values, b.pc + b.taken), b.flags.left), b.flags.right);
		if (turn && !note(turn, &b))
			return false;
	} while (f->state->pc != f->anchor || f->state->regs[XC_EMULATOR_SP].bits != f->sp);
	return true;
}

static bool run_turn(struct forecast *f, uint64_t rounds, struct turn *turn)
{
	turn->count = 0;
	turn->path = turn->fixed = 0;
	turn->shared = false;
	for (uint64_t i = 0; i < rounds; i++)
		if (!run_round(f, turn))
			return false;
	return true;
}

/* ---- what changes ---- */

static uint8_t changed_bytes(uint64_t a, uint64_t b)
{
	uint8_t bytes = 0;
	for (unsigned i = 0; i < 8; i++)
		bytes |= (uint8_t)(((a ^ b) >> (8 * i) & 0xff ? 1 : 0) << i);
	return bytes;
}

/* Mark in `marked`, which is the start of a turn, what has changed or is marked at its end, the current state.
 * *more_out: there is something that was not marked so. False when it cannot be told. */
static bool widen(struct forecast *f, struct xc_emulated_state *marked, bool *more_out)
{
	struct xc_emulated_state *end = f->then;
	memcpy(end, f->state, sizeof *end);
	memcpy(f->state, marked, sizeof *end);
	*more_out = false;
	for (size_t i = 0; i < XC_COUNT(end->regs); i++) {
		uint8_t marks = end->regs[i].marks, *into = &f->state->regs[i].marks;
		uint64_t change = end->regs[i].bits ^ f->state->regs[i].bits;
		if (!(marks & (XC_EMULATOR_CHANGES & ~XC_EMULATOR_HIGH)) && change)
			marks |= change & UINT8_MAX ? XC_EMULATOR_COUNTS : XC_EMULATOR_HIGH;
		*more_out |= (marks & ~*into) != 0;
		*into |= marks;
	}
	for (size_t i = 0; i < XC_COUNT(end->vectors); i++) {
		uint8_t marks = end->vectors[i].marks, *into = &f->state->vectors[i].marks;
		if ((marks & XC_EMULATOR_CHANGES) || end->vectors[i].bits != f->state->vectors[i].bits)
			marks |= XC_EMULATOR_DATA;
		*more_out |= (marks & ~*into) != 0;
		*into |= marks;
	}
	for (size_t i = 0; i < end->word_count; i++) {
		struct xc_emulated_word now;
		const struct xc_emulated_word *w = &end->words[i];
		if (!xc_emulator_word(f->emulator, f->state, w->addr, &now))
			return false;
		uint8_t counts = w->counts | (uint8_t)(changed_bytes(w->bits, now.bits) & ~w->data);
		bool all_data = !(w->data & ~now.data), all_counts = !(counts & ~(now.counts | now.data));
		*more_out |= !all_data || !all_counts;
		if ((counts || w->data) &&
		    !xc_emulator_mark(f->emulator, w->addr, (uint8_t)(counts & ~now.data), w->data))
			return false;
	}
	memcpy(marked, f->state, sizeof *marked);
	return true;
}

/* Find all that changes from turn to turn. Leaves the state marked, at the start of a turn. */
static bool find_changes(struct forecast *f, uint64_t rounds)
{
	bool more = true;
	memcpy(f->start, f->state, sizeof *f->start);
	for (unsigned i = 0; i < WIDENINGS && more; i++)
		if (!run_turn(f, rounds, &f->turns[0]) || !widen(f, f->start, &more))
			return false;
	return !more;
}

/* ---- what decides ---- */

static uint64_t step_of(uint64_t before, uint64_t after, uint32_t size)
{
	return (after - before) & (size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1);
}

/* A decision of which the operands change: after how many turns is it another one? 0: not known. */
static uint64_t look_ahead(const struct xc_emulated_branch *a, const struct xc_emulated_branch *b,
			   const struct xc_emulated_branch *c, struct xc_meeting *p, bool *wraps)
{
	const struct xc_emulated_flags *f = &c->flags;
	*p = (struct xc_meeting){.left = f->left,
				 .right = f->right,
				 .left_step = step_of(b->flags.left, f->left, f->size),
				 .right_step = step_of(b->flags.right, f->right, f->size),
				 .size = f->size,
				 .condition = c->condition,
				 .holds = c->taken};
	if (!f->size || a->flags.size != f->size || b->flags.size != f->size ||
	    step_of(a->flags.left, b->flags.left, f->size) != p->left_step ||
	    step_of(a->flags.right, b->flags.right, f->size) != p->right_step)
		return 0;
	bool carries = (c->condition >> 1) == 1 || (c->condition >> 1) == 3;
	return f->result && carries ? 0 : xc_meeting_rounds(p, wraps);
}

static void keep(struct xc_forecast *out, const struct xc_meeting *p, uint64_t turns, bool wraps)
{
	bool left = p->left_step;
	if (out->step && turns >= out->rounds) /* what comes first decides */
		return;
	out->kind = turns == UINT64_MAX ? XC_FORECAST_NEVER : wraps ? XC_FORECAST_AWAY : XC_FORECAST_FAR;
	out->rounds = turns;
	out->value = left ? p->left : p->right;
	out->bound = left ? p->right : p->left;
	out->size = p->size;
	out->is_signed = (p->condition >> 1) >= LESS;
	out->step = (int64_t)xc_extend(left ? p->left_step : p->right_step, 8 * p->size, true);
}

static bool same_way(const struct turn *a, const struct turn *b)
{
	return a->path == b->path && a->count == b->count;
}

/* Would the decisions of the next two turns be other ones, if this addition gave 1 more, and each added to what the
 * last one gave? What cannot be run decides nothing. */
static bool decides(struct forecast *f, uint64_t rounds, xc_addr addition)
{
	struct turn *other = &f->turns[1];
	const size_t left = f->left;
	bool same = true;
	xc_emulator_nudge(f->emulator, addition);
	for (unsigned i = 0; i < 2; i++) {
		f->left_loop = false;
		const bool run = run_turn(f, rounds, other);
		same &= run ? same_way(&f->turns[0], other) && f->turns[0].fixed == other->fixed : !f->left_loop;
		if (!run)
			break;
	}
	const bool carried = xc_emulator_nudge(f->emulator, 0);
	f->left = f->left > left ? 0 : f->left; /* it ended below 0 */
	return !same && carried;
}

/* The only addition of 0 that decides. Changes the state, and all turns but the first. */
static xc_addr find_idle(struct forecast *f, uint64_t rounds)
{
	xc_addr sums[XC_EMULATED_IDLE], found = 0;
	size_t count = xc_emulator_idle_sums(f->emulator, sums);
	struct xc_emulated_state *start = count ? xc_alloc(sizeof *start) : NULL;
	for (size_t i = 0; i < count; i++) {
		memcpy(i ? f->state : start, i ? start : f->state, sizeof *start);
		if (!decides(f, rounds, sums[i]))
			continue;
		if (found) {
			found = 0;
			break;
		}
		found = sums[i];
	}
	free(start);
	return found;
}

/* Three turns from the marked state. */
static bool judge(struct forecast *f, uint64_t rounds, struct xc_forecast *out)
{
	xc_emulator_lost_sum(f->emulator);
	f->idle = 0;
	for (unsigned i = 0; i < STEADY; i++)
		if (!run_turn(f, rounds, &f->turns[i]) || !same_way(&f->turns[0], &f->turns[i]))
			return false;
	*out = (struct xc_forecast){
		.kind = XC_FORECAST_REPEATS, .period = rounds, .lost = xc_emulator_lost_sum(f->emulator)};
	out->shared = f->turns[0].shared;
	for (size_t i = 0; i < f->turns[0].count; i++) {
		const struct xc_emulated_branch *b = &f->turns[STEADY - 1].items[i];
		struct xc_meeting p;
		bool wraps = false;
		uint64_t turns = look_ahead(&f->turns[0].items[i], &f->turns[1].items[i], b, &p, &wraps);
		if (!turns || (turns < XC_FORECAST_FOREVER && !(wraps && turns >= WRAPS)))
			return false;
		if (p.left_step || p.right_step)
			keep(out, &p, turns, wraps);
	}
	f->call = xc_emulator_call(f->emulator);
	if (out->kind == XC_FORECAST_REPEATS)
		f->idle = find_idle(f, rounds);
	return true;
}

/* ---- the search ---- */

static bool try_turn(struct forecast *f, uint64_t rounds, struct xc_forecast *out)
{
	struct xc_emulated_state *before = xc_alloc(sizeof *before);
	uint64_t path = f->path, values = f->values;
	struct xc_forecast one;
	memcpy(before, f->state, sizeof *before);
	bool found = find_changes(f, rounds) && judge(f, rounds, &one);
	memcpy(f->state, before, sizeof *before);
	f->path = path;
	f->values = values;
	if (found)
		*out = one;
	free(before);
	return found;
}

static uint64_t digest_registers(const struct forecast *f)
{
	uint64_t digest = 0;
	for (size_t i = 0; i < XC_COUNT(f->state->regs); i++)
		digest = mix(digest, f->state->regs[i].bits);
	return digest;
}

/* As in Brent's search, since the last round at a power of two. A round with the same values may end a turn, and one
 * with the same registers, too, as of a search that meets the same content in many slots; one that goes the same way
 * may be a turn by itself, in which the values count. */
static void search(struct forecast *f, struct xc_forecast *out)
{
	uint64_t path = 0, values = 0, registers = 0, power = 1;
	unsigned repeats = TRIES, returns = TRIES, counts = TRIES;
	if (!run_round(f, NULL)) /* the rest of this one */
		return;
	for (uint64_t since = 1; (repeats || returns || counts) && run_round(f, NULL); since++) {
		bool back = returns && digest_registers(f) == registers;
		bool again = back || (repeats && f->values == values);
		bool likewise = counts && f->path == path && since == power;
		returns -= back;
		repeats -= again && !back;
		counts -= !again && likewise;
		if ((again || likewise) && try_turn(f, again ? since : 1, out))
			return;
		if (since < power)
			continue;
		power *= 2;
		since = 0;
		path = f->path;
		values = f->values;
		registers = digest_registers(f);
	}
}

/* Is what the program keeps of the kernel's answer, or of errno, in its memory already? Then it had this answer
 * before. */
static bool is_seen(const struct forecast *f)
{
	uint8_t seen = 0;
	for (size_t i = 0; i < f->state->word_count; i++) {
		const struct xc_emulated_word *w = &f->state->words[i];
		uint8_t kept = (uint8_t)(w->answers & ~(w->counts | w->data));
		bool dead = w->addr < f->sp && f->sp - w->addr < DEAD;
		uint64_t now;
		if (dead || !kept)
			continue;
		if (!xc_space_peek_uint(f->process->space, w->addr, 8, &now) || (changed_bytes(w->bits, now) & kept))
			return false;
		seen |= kept;
	}
	return seen;
}

static void run(struct forecast *f, const struct xc_frame_code *code, const int *answer, uint64_t *purse,
		struct xc_forecast *out)
{
	const struct xc_crash_context *view = code->crash;
	struct xc_emulated_call call = {.number = -1};
	f->emulator = xc_emulator_new(view->process, &view->frames[0].regs);
	if (!f->emulator)
		return;
	if (answer)
		xc_emulator_answer(f->emulator, *answer);
	f->state = xc_emulator_state(f->emulator);
	size_t most = (size_t)(STEPS + (*purse < MORE_STEPS ? *purse : MORE_STEPS));
	f->left = most;
	search(f, out);
	size_t used = f->left < most ? most - f->left : most; /* it ends below 0 */
	*purse -= used > STEPS ? used - STEPS : 0;
	call = out->kind == XC_FORECAST_REPEATS ? f->call : xc_emulator_call(f->emulator);
	out->call = call.number;
	out->fd = call.fd;
	out->answer = answer ? *answer : 0;
	out->seen = answer && is_seen(f);
	if (out->kind == XC_FORECAST_REPEATS && f->idle)
		out->idle = xc_idle_step_words(code, f->idle);
	xc_emulator_free(f->emulator);
}

/* A counter whose bound is beyond what it can be: however long a round is. */
static void look_at_narrow(const struct xc_frame_code *code, const struct xc_loop *loop, struct xc_forecast *out)
{
	struct xc_narrow_counter n;
	if (!xc_narrow_counter_find(code, loop, &n))
		return;
	*out = (struct xc_forecast){.kind = XC_FORECAST_NEVER,
				    .shared = n.shared,
				    .called = n.called,
				    .call = -1,
				    .bound = n.bound,
				    .size = 8,
				    .narrow = n.size};
}

/* The last of its instructions: code that a compiler moved away, to behind the loop, jumps back to its beginning. */
static xc_addr end_of(const struct xc_body *body, const struct xc_loop *loop)
{
	xc_addr end = body->insns[loop->last].addr;
	for (size_t i = loop->last + 1; i < body->count; i++)
		if (body->insns[i].has_target && body->insns[i].target == body->insns[loop->first].addr &&
		    body->insns[i].kind != XC_INSN_CALL)
			end = body->insns[i].addr;
	return end;
}

/* Such a call does not return 0 for what has bytes. */
static bool writes(long call)
{
	static const uint8_t numbers[] = {1, 18, 20, 44, 46}; /* write, pwrite64, writev, sendto, sendmsg */
	return call >= 0 && call < 64 && memchr(numbers, (int)call, sizeof numbers);
}

struct xc_forecast xc_forecast_loop(const struct xc_frame_code *code, const struct xc_loop *loop, uint64_t *purse)
{
	static const int answers[] = {0, -EAGAIN};
	struct xc_forecast out = {.kind = XC_FORECAST_NONE, .call = -1};
	const struct xc_crash_context *view = code->crash;
	struct forecast *f = xc_alloc(sizeof *f);
	f->process = view->process;
	f->then = xc_alloc(sizeof *f->then);
	f->start = xc_alloc(sizeof *f->start);
	f->anchor = f->lo = code->body->insns[loop->first].addr;
	f->hi = end_of(code->body, loop);
	bool known = xc_regs_get(&view->frames[code->frame].regs, view->process->arch->sp, &f->sp);
	if (known)
		run(f, code, NULL, purse, &out);
	bool calls = out.kind == XC_FORECAST_NONE && out.call >= 0;
	for (size_t i = writes(out.call) ? 1 : 0; known && calls && i < XC_COUNT(answers); i++) {
		struct xc_forecast one = {.kind = XC_FORECAST_NONE, .call = -1};
		run(f, code, &answers[i], purse, &one);
		if (one.kind != XC_FORECAST_NONE && (out.kind == XC_FORECAST_NONE || (one.seen && !out.seen)))
			out = one;
	}
	free(f->then);
	free(f->start);
	free(f);
	if (out.kind == XC_FORECAST_NONE)
		look_at_narrow(code, loop, &out);
	return out;
}

#include "dwarf/sample/sample_stack.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"
#include "core/live/live.h"
#include "core/perf/perf_regs.h"
#include "dwarf/decode/code.h"
#include "dwarf/sample/sample_guest.h"
#include "dwarf/sample/steady_word.h"
#include "dwarf/unwind/reach.h"
#include "dwarf/unwind/unwind.h"

enum { MOST_SLOTS = 1 << 16 };
/* The target decides how much work a frame is. So many frames of a stack are always taken, more only in that time. */
enum { SURE_FRAMES = 256, LONGEST_NS = 20000000 };
/* Below the stack pointer a function that calls none may have variables (x86-64 psABI 3.2.2); they are not copied. */
enum { RED_ZONE = 128, MOST_STILL = 16 };
enum { SOON_NS = 300000 }; /* in which no request ends, and another gets as far as to the same place */

struct xc_sample_unwinder {
	struct xc_process *process;
	struct xc_unwinder *unwinder;
	struct xc_sample_guest *guest; /* NULL: none */
	/* Of the sample being unwound. */
	const struct xc_perf_record *sample; /* NULL: of a thread that sleeps */
	xc_addr copy_lo, copy_hi;            /* of the copy; hi is behind it */
	xc_addr shown_lo, shown_hi;          /* of the stack that is shown, */
	const uint8_t *shown_bytes;          /* and what the copy has of it */
	size_t shown_len;
	size_t copied; /* frames known from the copy alone */
	size_t valued; /* frames when the value of the dimension was told; 0: it was not */
	bool doubtful;
	unsigned still;     /* red zones that were looked at */
	bool holding, held; /* freeze what is shown; there was room for all of it */
	/* Words of stacks from which return addresses were read later. */
	struct xc_steady_word *slots;
	size_t slot_count, slot_capacity;
	struct xc_hashtable by_place; /* (stack pointer, tid) → index into slots, plus one */
};

struct xc_sample_unwinder *xc_sample_unwinder_new(struct xc_process *process)
{
	struct xc_sample_unwinder *u = xc_alloc(sizeof *u);
	u->process = process;
	u->unwinder = xc_unwinder_new(process);
	return u;
}

void xc_sample_unwinder_free(struct xc_sample_unwinder *u)
{
	if (!u)
		return;
	xc_unwinder_free(u->unwinder);
	xc_hashtable_fini(&u->by_place);
	free(u->slots);
	free(u);
}

void xc_sample_unwinder_forget(struct xc_sample_unwinder *u)
{
	xc_unwinder_forget(u->unwinder);
}

void xc_sample_unwinder_guest(struct xc_sample_unwinder *u, struct xc_sample_guest *guest)
{
	u->guest = guest;
}

/* Show the bytes of a stack from sp on, and above them its present memory, past the cache. */
static void show(struct xc_sample_unwinder *u, xc_addr sp, const uint8_t *bytes, size_t len)
{
	const struct xc_mapping *m = xc_process_mapping(u->process, sp);
	if (u->holding && u->shown_hi)
		u->held &= xc_live_hold(u->process, true);
	u->shown_lo = sp;
	u->shown_bytes = bytes;
	u->shown_len = len;
	u->shown_hi = m ? m->hi : sp + len;
	xc_live_show(u->process, sp, bytes, len, u->shown_hi);
}

static struct xc_sample_frame frame_of(const struct xc_frame *f)
{
	return (struct xc_sample_frame){
		.at = xc_frame_lookup(f),
		.kind = f->signal                   ? XC_SAMPLE_SIGNAL
			: f->trust == XC_TRUST_SCAN ? XC_SAMPLE_GUESS
						    : XC_SAMPLE_CODE,
	};
}

static void add_kernel(const struct xc_perf_record *sample, struct xc_sample_stack *s)
{
	for (size_t i = 0; i < sample->kernel_count && s->count < XC_SAMPLE_FRAMES / 2; i++)
		s->frames[s->count++] = (struct xc_sample_frame){sample->kernel[i] - (i ? 1 : 0), XC_SAMPLE_KERNEL};
	s->kernel_count = s->count;
}

/* Was the return address to `caller` read later than the sample? A function that jumped on to the callee has none
 * there, and the stack pointer of the callee. */
static bool is_late(const struct xc_sample_unwinder *u, const struct xc_frame *caller, const struct xc_frame *callee)
{
	uint64_t sp;
	return !callee->signal && !caller->tail_call && xc_regs_get(&caller->regs, u->process->arch->sp, &sp) &&
	       (sp <= u->copy_lo || sp > u->copy_hi);
}

/* Note the return address to `caller`, at its place on the stack of the thread. Places are kept once a return address
 * was read later from them; then every sample counts. True: it and the callee have been the same each time, and often
 * enough. */
static bool is_steady(struct xc_sample_unwinder *u, pid_t tid, const struct xc_frame *caller, xc_addr entry, bool late)
{
	uint64_t sp = 0;
	if (u->slot_count == MOST_SLOTS) {
		xc_hashtable_fini(&u->by_place);
		u->slot_count = 0;
	}
	if (!xc_regs_get(&caller->regs, u->process->arch->sp, &sp))
		return false;
	union xc_hashtable_value *found = xc_hashtable_find(&u->by_place, sp, (uint64_t)tid);
	if (!found && !late)
		return false;
	if (!found) {
		u->slots = xc_grow(u->slots, u->slot_count, &u->slot_capacity, sizeof *u->slots);
		u->slots[u->slot_count++] = (struct xc_steady_word){0};
		found = xc_hashtable_at(&u->by_place, NULL, sp, (uint64_t)tid);
		found->number = u->slot_count;
	}
	return xc_steady_word_see(&u->slots[found->number - 1], caller->pc, entry);
}

/* Does the call that ends at `ret` go to the function, itself or by a stub of the linkage table? */
static bool calls(const struct xc_process *process, xc_addr ret, const struct xc_function_range *function)
{
	xc_addr target, slot;
	if (!xc_code_returns(process, ret, &target) || !target)
		return false;
	slot = xc_code_stub(process, target);
	return target == function->lo || (slot && slot == function->lo);
}

static bool is_believed(struct xc_sample_unwinder *u, pid_t tid, const struct xc_frame *caller,
			const struct xc_frame *callee, bool late)
{
	if (!late && !u->slot_count)
		return true;
	const struct xc_function_range function = xc_function_range_of(u->process, xc_frame_lookup(callee));
	const bool steady = is_steady(u, tid, caller, function.lo, late);
	return !late || steady || caller->tail_call || callee->signal || calls(u->process, caller->pc, &function);
}

/* A signal handler may have a stack of its own: that on which the thread was interrupted was not copied. */
static void follow_stack(struct xc_sample_unwinder *u, const struct xc_frame *frame)
{
	uint64_t sp;
	if (xc_regs_get(&frame->regs, u->process->arch->sp, &sp) && (sp < u->shown_lo || sp > u->shown_hi))
		show(u, sp, NULL, 0);
}

void xc_sample_stack_add(struct xc_sample_stack *s, uint32_t place)
{
	if (s->count < XC_SAMPLE_FRAMES / 2)
		s->frames[s->count++] = (struct xc_sample_frame){place, XC_SAMPLE_GUEST};
	else
		s->full = true;
}

bool xc_sample_stack_torn_inside(const struct xc_sample_stack *s)
{
	size_t at = 0;
	while (at < s->count && s->frames[at].kind != XC_SAMPLE_GUEST)
		at++;
	return at < s->count && s->frames[at].at == XC_GUEST_TORN;
}

void xc_sample_stack_add_value(struct xc_sample_stack *s, uint32_t value)
{
	s->count -= s->count == XC_SAMPLE_FRAMES;
	s->frames[s->count++] = (struct xc_sample_frame){value, XC_SAMPLE_VALUE};
	s->value = value;
}

/* ---- values ---- */

/* The stack above a frame, before its value is read. */
struct check {
	xc_addr cfa;
	uint64_t time_ns; /* 0: it is not as in the sample */
};

/* Is the stack from `from` on as in the sample? The window is closed meanwhile. */
static bool is_same(const struct xc_sample_unwinder *u, xc_addr from)
{
	uint8_t now[4096];
	bool same = from > u->copy_lo && from < u->copy_hi;
	xc_live_show(u->process, 0, NULL, 0, 0);
	for (xc_addr at = from; same && at < u->copy_hi; at += sizeof now) {
		const size_t left = (size_t)(u->copy_hi - at), len = left < sizeof now ? left : sizeof now;
		same = xc_live_reread(u->process, at, now, len) == len &&
		       memcmp(now, u->sample->stack + (at - u->copy_lo), len) == 0;
	}
	xc_live_show(u->process, u->shown_lo, u->shown_bytes, u->shown_len, u->shown_hi);
	return same;
}

static struct check begin_check(const struct xc_sample_unwinder *u, struct xc_frame *frame)
{
	const bool known = frame->cfa_known || xc_unwind_cfa(u->unwinder, frame);
	const uint64_t now = xc_now_ns();
	return (struct check){known ? frame->cfa : 0, known && is_same(u, frame->cfa) ? now : 0};
}

static bool is_proved(const struct xc_sample_unwinder *u, const struct check *check, enum xc_sample_proof proof)
{
	if (!check->time_ns || !is_same(u, check->cfa))
		return false;
	return xc_now_ns() - (proof == XC_PROOF_BEGAN ? check->time_ns : u->sample->time_ns) <= SOON_NS;
}

/* What an interpreter runs in this frame is called by it, so it comes before. The guest may tell how its code is
 * unwound. */
static void add_guests(struct xc_sample_unwinder *u, struct xc_frame *frame, xc_addr callee, struct xc_sample_stack *s)
{
	struct xc_sample_guest *g = u->guest;
	const size_t before = s->count;
	struct check check = {.time_ns = 0};
	if (!g || !g->wants(g->ctx, frame))
		return;
	if (g->values && !s->value && u->sample)
		check = begin_check(u, frame);
	if (g->take(g->ctx, frame, callee, s)) {
		frame->cfa_known = false;
		xc_unwind_cfa(u->unwinder, frame);
	}
	s->guest |= s->count > before;
	if (!s->value || u->valued)
		return;
	u->valued = s->count + 1;
	if (s->proof != XC_PROOF_SAMPLE && u->sample && !is_proved(u, &check, s->proof))
		s->value = XC_SAMPLED_NOT_READ;
}

static bool is_full(const struct xc_sample_stack *s, uint64_t until_ns)
{
	return s->count == XC_SAMPLE_FRAMES || (s->count >= SURE_FRAMES && xc_now_ns() > until_ns);
}

static void walk(struct xc_sample_unwinder *u, pid_t tid, struct xc_frame frame, struct xc_sample_stack *s)
{
	const uint64_t until_ns = xc_now_ns() + LONGEST_NS;
	const char *stop;
	struct xc_frame caller;
	xc_addr callee = 0;
	for (;;) {
		if (is_full(s, until_ns)) {
			s->end = XC_SAMPLE_DEEP;
			return;
		}
		add_guests(u, &frame, callee, s);
		callee = xc_frame_lookup(&frame);
		s->frames[s->count++] = frame_of(&frame);
		if (!s->late)
			u->copied = s->count;
		if (!xc_unwind_step(u->unwinder, &frame, &caller, &stop))
			break;
		follow_stack(u, &caller);
		s->late |= is_late(u, &caller, &frame);
		u->doubtful |= !is_believed(u, tid, &caller, &frame, s->late);
		frame = caller;
	}
	s->end = !xc_begins_with(stop, "outermost frame") ? XC_SAMPLE_BROKEN
		 : s->full                                ? XC_SAMPLE_DEEP
							  : XC_SAMPLE_WHOLE;
}

/* The registers of a sample with its stack pointer. False: it has none. */
static bool read_registers(const struct xc_process *process, const struct xc_perf_record *sample, struct xc_regs *regs,
			   xc_addr *sp)
{
	return sample->regs && xc_perf_regs_read(process->arch, sample->regs, regs) &&
	       xc_regs_get(regs, process->arch->sp, sp);
}

bool xc_sample_stack_mapped(const struct xc_process *process, const struct xc_perf_record *sample)
{
	struct xc_regs regs;
	xc_addr sp;
	return !read_registers(process, sample, &regs, &sp) || xc_process_mapping(process, sp);
}

/* The value of a dimension. One that was told by a frame that is not believed is not known. */
static void tell(const struct xc_sample_unwinder *u, struct xc_sample_stack *s)
{
	if (!u->guest || !u->guest->values)
		return;
	xc_sample_stack_add_value(s, s->end == XC_SAMPLE_CUT && u->valued > s->count ? XC_SAMPLED_NOT_READ : s->value);
}

static void unwind(struct xc_sample_unwinder *u, const struct xc_perf_record *sample, struct xc_sample_stack *s)
{
	struct xc_thread thread = {.tid = sample->tid, .has_regs = true};
	struct xc_frame frame;
	xc_addr sp;
	s->count = s->kernel_count = 0;
	s->end = XC_SAMPLE_NONE;
	s->late = s->guest = s->torn = s->full = u->doubtful = false;
	s->value = XC_SAMPLED_NONE;
	u->sample = sample;
	u->valued = 0;
	u->shown_hi = 0;
	if (u->guest)
		u->guest->begin(u->guest->ctx, sample->tid, sample->time_ns);
	add_kernel(sample, s);
	if (!read_registers(u->process, sample, &thread.regs, &sp))
		return;
	u->copy_lo = sp;
	u->copy_hi = sp + sample->stack_len;
	show(u, sp, sample->stack, sample->stack_len);
	xc_unwinder_renew(u->unwinder);
	if (xc_unwind_first(u->unwinder, &thread, &frame))
		walk(u, sample->tid, frame, s);
	if (s->late && (u->doubtful || s->end == XC_SAMPLE_BROKEN)) {
		s->count = u->copied;
		s->end = XC_SAMPLE_CUT;
		s->late = false;
	}
	tell(u, s);
}

void xc_sample_unwind(struct xc_sample_unwinder *u, const struct xc_perf_record *sample, struct xc_sample_stack *s)
{
	unwind(u, sample, s);
	xc_live_show(u->process, 0, NULL, 0, 0);
}

void xc_sample_unwind_thread(struct xc_sample_unwinder *u, const struct xc_thread *thread, struct xc_sample_stack *s)
{
	struct xc_frame frame;
	xc_addr sp;
	*s = (struct xc_sample_stack){.end = XC_SAMPLE_NONE};
	if (!thread->has_regs || !xc_regs_get(&thread->regs, u->process->arch->sp, &sp))
		return;
	u->copy_lo = 0;
	u->copy_hi = UINT64_MAX;
	if (u->guest)
		u->guest->begin(u->guest->ctx, thread->tid, xc_now_ns());
	u->sample = NULL;
	u->valued = 0;
	u->doubtful = false;
	show(u, sp, NULL, 0);
	xc_unwinder_renew(u->unwinder);
	if (xc_unwind_first(u->unwinder, thread, &frame))
		walk(u, thread->tid, frame, s);
	tell(u, s);
	xc_live_show(u->process, 0, NULL, 0, 0);
}

bool xc_sample_hold(struct xc_sample_unwinder *u, const struct xc_perf_record *sample, struct xc_sample_stack *s)
{
	u->holding = u->held = true;
	unwind(u, sample, s);
	if (u->shown_hi && u->still++ < MOST_STILL)
		xc_live_freeze_still(u->process, sample->tid, u->shown_lo - RED_ZONE, RED_ZONE);
	u->held &= u->shown_hi && xc_live_hold(u->process, s->end != XC_SAMPLE_CUT);
	u->holding = false;
	xc_live_show(u->process, 0, NULL, 0, 0);
	return u->held;
}

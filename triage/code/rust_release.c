/* rust_release: the futex locks of std, rustc 1.62 to 1.95 (library/std/src/sys/sync/mutex/futex.rs and
 * rwlock/futex.rs), inlined:
 *
 *	lock cmpxchg %ecx,0x10(%rbx)         takes it: 0 becomes 1, or readers become one more
 *	xor %eax,%eax; xchg %eax,0x10(%rbx)  gives a mutex back
 *	lock xadd %ecx,0x10(%rbx)            gives a reader-writer lock back
 *
 * The word is the first member of the lock. A guard needs no word of its own: its address is made from that of the
 * object again. */
#include "triage/code/rust_release.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "triage/util/names.h"

enum { BACK = 32, WORD = 8, FUTEX = 4, LONGEST = 16, ARGUMENTS = 4, FIRST_ARGUMENT = 5 /* rdi */ };

enum act { NOTHING, TAKES, GIVES };

struct walk {
	const struct xc_body *body;
	const struct xc_frame *frame;
	xc_addr lock;
	bool doubtful; /* it may be given back at an address that is not known */
	size_t *queue;
	size_t count;
	bool *seen;
	xc_addr from, to; /* places of the frame */
};

static const char *const disposers[] = {"core::ptr::drop_in_place", "core::mem::drop", NULL};

static enum act act_of(const struct xc_process *p, const struct xc_insn *insn)
{
	uint8_t code[LONGEST] = {0};
	size_t at = 0;
	if (!insn->has_memory || insn->memory.complex || insn->memory.index != -1 || insn->memory.segment != -1 ||
	    insn->memory.size != FUTEX || !insn->reads_memory || !insn->writes_memory ||
	    insn->length + 1u > sizeof code || xc_space_peek(p->space, insn->addr, code, insn->length) != insn->length)
		return NOTHING;
	at += code[at] == 0xf0;          /* lock */
	at += (code[at] & 0xf0) == 0x40; /* rex */
	if (code[at] == 0x0f && code[at + 1] == 0xb1)
		return TAKES;
	return code[at] == 0x87 || (code[0] == 0xf0 && code[at] == 0x0f && code[at + 1] == 0xc1) ? GIVES : NOTHING;
}

/* ---- the address ---- */

/* The value that a register has, or will have, where the code only copies it. */
static bool register_value(const struct walk *w, int reg, int64_t add, xc_addr *out)
{
	const struct xc_arch *arch = w->body->process->arch;
	uint64_t value;
	if (reg < 0 || (reg != arch->sp && !(arch->preserved[0] >> reg & 1)) ||
	    !xc_regs_get(&w->frame->regs, reg, &value))
		return false;
	*out = value + (uint64_t)add;
	return true;
}

static bool slot_value(const struct walk *w, const struct xc_insn_memory *m, int64_t add, xc_addr *out)
{
	const struct xc_process *p = w->body->process;
	xc_addr at;
	uint64_t value;
	if (m->base != p->arch->sp || m->index != -1 || m->complex ||
	    !register_value(w, m->base, m->displacement, &at) || !xc_space_peek_uint(p->space, at, WORD, &value))
		return false;
	*out = value + (uint64_t)add;
	return true;
}

/* What is known of the address of an instruction's operand. */
struct match {
	bool known, is_lock;
};

static void compare(const struct walk *w, int reg, int64_t add, struct match *m)
{
	xc_addr addr;
	bool known = register_value(w, reg, add, &addr);
	m->known |= known;
	m->is_lock |= known && addr == w->lock;
}

static bool is_plain(const struct xc_insn *insn)
{
	return insn->has_memory && insn->memory.index == -1 && !insn->memory.complex;
}

/* Does the instruction copy the register to one that calls preserve, or make an address from it there? */
static void compare_copy(const struct walk *w, const struct xc_insn *insn, int reg, int64_t add, struct match *m)
{
	if (insn->kind == XC_INSN_MOVE && insn->from == reg)
		compare(w, insn->to, add, m);
	else if (insn->kind == XC_INSN_ADDRESS && is_plain(insn) && insn->memory.base == reg)
		compare(w, insn->to, add - insn->memory.displacement, m);
}

/* An argument, say, is only copied where it must outlive a call: before the instruction, or after it. */
static void compare_after(const struct walk *w, size_t at, struct match *m)
{
	int reg = w->body->insns[at].memory.base;
	for (size_t i = at + 1; i < w->body->count && i - at < BACK; i++) {
		const struct xc_insn *insn = &w->body->insns[i];
		compare_copy(w, insn, reg, w->body->insns[at].memory.displacement, m);
		if (insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN || insn->kind == XC_INSN_CALL ||
		    (reg >= 0 && insn->writes >> reg & 1))
			return;
	}
}

/* The copies before the instruction lead back to registers that calls preserve, or to a word of the stack. */
static struct match match_at(const struct walk *w, size_t at)
{
	const struct xc_insn *insns = w->body->insns;
	int reg = insns[at].memory.base;
	int64_t add = insns[at].memory.displacement;
	struct match m = {false, false};
	xc_addr addr;
	compare(w, reg, add, &m);
	compare_after(w, at, &m);
	for (size_t i = at, back = 0; i-- > 0 && back < BACK && reg >= 0; back++) {
		const struct xc_insn *insn = &insns[i];
		if (insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN || reg == w->body->process->arch->sp)
			break;
		compare_copy(w, insn, reg, add, &m);
		if (!(insn->writes >> reg & 1))
			continue;
		if (insn->kind == XC_INSN_LOAD && is_plain(insn) && slot_value(w, &insn->memory, add, &addr)) {
			m.known = true;
			m.is_lock |= addr == w->lock;
		}
		if (insn->kind == XC_INSN_MOVE) {
			reg = insn->from;
		} else if (insn->kind == XC_INSN_ADDRESS && is_plain(insn)) {
			reg = insn->memory.base;
			add += insn->memory.displacement;
		} else {
			break;
		}
		compare(w, reg, add, &m);
	}
	return m;
}

/* The act, where it is one on the lock. */
static enum act act_on(const struct walk *w, size_t at)
{
	enum act act = act_of(w->body->process, &w->body->insns[at]);
	return act != NOTHING && match_at(w, at).is_lock ? act : NOTHING;
}

/* ---- the ways through the code ---- */

static void go_to(struct walk *w, size_t at)
{
	if (at >= w->body->count || w->seen[at])
		return;
	w->seen[at] = true;
	w->queue[w->count++] = at;
}

/* ud2 */
static bool is_trap(const struct xc_process *p, const struct xc_insn *insn)
{
	uint8_t code[2];
	return insn->length == sizeof code && xc_space_peek(p->space, insn->addr, code, sizeof code) == sizeof code &&
	       code[0] == 0x0f && code[1] == 0x0b;
}

static void go_on(struct walk *w, size_t at)
{
	const struct xc_insn *insn = &w->body->insns[at];
	bool jumps = insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_BRANCH;
	long target = jumps && insn->has_target ? xc_body_at(w->body, insn->target) : XC_BODY_NONE;
	if (target >= 0)
		go_to(w, (size_t)target);
	if (insn->kind != XC_INSN_JUMP && insn->kind != XC_INSN_RETURN && at + 1 < w->body->count &&
	    w->body->insns[at + 1].addr == insn->addr + insn->length &&
	    !(insn->kind == XC_INSN_CALL && xc_body_never_returns(w->body, insn)) && !is_trap(w->body->process, insn))
		go_to(w, at + 1);
}

/* A drop that is not inlined, or one of several guards. */
static bool drops_guard(const struct xc_body *body, const struct xc_insn *insn)
{
	static const char drop[] = "core::ptr::drop_in_place";
	const char *callee =
		insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP ? xc_body_callee(body, insn, NULL) : NULL;
	return callee && strncmp(callee, drop, strlen(drop)) == 0;
}

static bool gives_back(struct walk *w)
{
	for (size_t next = 0; next < w->count; next++) {
		size_t at = w->queue[next];
		const struct xc_insn *insn = &w->body->insns[at];
		enum act act = act_on(w, at);
		if (act == GIVES)
			return true;
		w->doubtful |= drops_guard(w->body, insn) ||
			       (act_of(w->body->process, insn) == GIVES && !match_at(w, at).known);
		if (act == NOTHING)
			go_on(w, at);
	}
	return false;
}

/* Another function may have taken it, and left its guard to this one: then nothing is known of when. */
static bool takes_it(const struct walk *w)
{
	for (size_t i = 0; i < w->body->count; i++)
		if (act_on(w, i) == TAKES)
			return true;
	return false;
}

/* A walk that begins at the frame's position; false when there is none. */
static bool begin(struct walk *w, const struct xc_body *body, const struct xc_frame *frame, xc_addr lock)
{
	long at = body ? xc_body_at(body, frame->pc) : XC_BODY_NONE;
	if (at < 0 || body->process->arch->machine != EM_X86_64 || body->process->arch->word != WORD)
		return false;
	*w = (struct walk){.body = body,
			   .frame = frame,
			   .lock = lock,
			   .doubtful = body->jumps_wild || body->incomplete,
			   .queue = xc_alloc(body->count * sizeof *w->queue),
			   .seen = xc_alloc(body->count * sizeof *w->seen)};
	go_to(w, (size_t)at);
	return true;
}

static void forget(struct walk *w)
{
	memset(w->seen, 0, w->body->count * sizeof *w->seen);
	w->count = 0;
}

static void end(struct walk *w)
{
	free(w->queue);
	free(w->seen);
}

/* ---- was it given back before? ---- */

/* Does one of the ways of the walk lead to the frame's position? It ends where the lock, or the place, is taken
 * anew. */
typedef bool anew_fn(const struct walk *w, const struct xc_insn *insn);

static bool leads_here(struct walk *w, anew_fn *anew)
{
	size_t here = (size_t)xc_body_at(w->body, w->frame->pc);
	for (size_t next = 0; next < w->count; next++) {
		if (w->queue[next] == here)
			return true;
		if (!anew(w, &w->body->insns[w->queue[next]]))
			go_on(w, w->queue[next]);
	}
	return false;
}

static bool takes_anew(const struct walk *w, const struct xc_insn *insn)
{
	return act_on(w, (size_t)(insn - w->body->insns)) == TAKES;
}

static bool gave_back(const struct xc_body *body, const struct xc_frame *frame, xc_addr lock)
{
	struct walk w;
	begin(&w, body, frame, lock);
	forget(&w);
	for (size_t i = 0; i < body->count; i++)
		if (act_on(&w, i) == GIVES)
			go_on(&w, i);
	bool gave = leads_here(&w, takes_anew);
	end(&w);
	return gave;
}

enum xc_rust_release xc_rust_release(const struct xc_body *body, const struct xc_frame *frame, xc_addr lock)
{
	struct walk w;
	if (!begin(&w, body, frame, lock))
		return XC_RUST_RELEASE_UNKNOWN;
	bool takes = takes_it(&w), gives = takes && gives_back(&w), doubtful = w.doubtful;
	end(&w);
	if (gives)
		return XC_RUST_RELEASE_FOLLOWS;
	return takes && !doubtful && gave_back(body, frame, lock) ? XC_RUST_RELEASE_PAST : XC_RUST_RELEASE_UNKNOWN;
}

/* ---- was it taken before? ---- */

enum { FREE = 1, HELD = 2, TWICE = 4, NEAR = 16 };

/* Does it wait where it does not get the lock: a call of lock_contended() follows? Else it only tries. */
static bool waits_for_it(const struct walk *w, size_t take)
{
	struct walk near = *w;
	bool waits = false;
	near.count = 0;
	go_on(&near, take);
	for (size_t next = 0; next < near.count && next < NEAR && !waits; next++) {
		const struct xc_insn *insn = &w->body->insns[near.queue[next]];
		const char *callee = insn->kind == XC_INSN_CALL ? xc_body_callee(w->body, insn, NULL) : NULL;
		waits = callee && strstr(callee, "contended");
		if (!waits && act_of(w->body->process, insn) != TAKES)
			go_on(&near, near.queue[next]);
	}
	for (size_t i = 0; i < near.count; i++)
		near.seen[near.queue[i]] = false;
	return waits;
}

/* May the guard leave the function: by a call that drops one, or that is given the lock's address? */
static bool gives_away(const struct walk *w, size_t at)
{
	const struct xc_insn *insns = w->body->insns, *call = &insns[at];
	if (call->kind != XC_INSN_CALL && call->kind != XC_INSN_JUMP)
		return act_of(w->body->process, call) == GIVES && !match_at(w, at).known;
	const char *callee = xc_body_callee(w->body, call, NULL);
	if (drops_guard(w->body, call))
		return true;
	for (size_t i = at, back = 0; call->kind == XC_INSN_CALL && i-- > 0 && back < ARGUMENTS * 2; back++) {
		xc_addr addr;
		if (insns[i].kind == XC_INSN_CALL || insns[i].kind == XC_INSN_JUMP)
			break;
		if (insns[i].to == FIRST_ARGUMENT && insns[i].kind == XC_INSN_MOVE)
			return !(callee && strstr(callee, "contended")) && register_value(w, insns[i].from, 0, &addr) &&
			       addr == w->lock;
	}
	return false;
}

/* All states in which each instruction is reached from the function's beginning on. Visits each three times at most. */
static void spread(struct walk *w, const enum act *acts, uint8_t *states)
{
	size_t *pending = xc_alloc((3 * w->body->count + 1) * sizeof *pending), count = 0;
	forget(w);
	states[w->body->entry] = FREE;
	pending[count++] = w->body->entry;
	while (count) {
		size_t at = pending[--count];
		unsigned had = states[at], taken = (had & FREE ? HELD : 0U) | (had & (HELD | TWICE) ? TWICE : 0U);
		unsigned state = acts[at] == GIVES ? FREE : acts[at] == TAKES ? taken : had;
		w->count = 0;
		go_on(w, at);
		for (size_t i = 0; i < w->count; i++) {
			size_t to = w->queue[i];
			w->seen[to] = false;
			if ((states[to] | state) != states[to])
				pending[count++] = to;
			states[to] |= (uint8_t)state;
		}
	}
	free(pending);
}

bool xc_rust_release_took(const struct xc_body *body, const struct xc_frame *frame, xc_addr lock)
{
	struct walk w;
	if (!begin(&w, body, frame, lock))
		return false;
	enum act *acts = xc_alloc(body->count * sizeof *acts);
	uint8_t *states = xc_alloc(body->count);
	for (size_t i = 0; i < body->count; i++) {
		acts[i] = act_on(&w, i);
		if (acts[i] == TAKES && !waits_for_it(&w, i))
			acts[i] = NOTHING;
	}
	bool known = !w.doubtful;
	spread(&w, acts, states);
	for (size_t i = 0; i < body->count && known; i++)
		known = !(states[i] & HELD) || !gives_away(&w, i);
	bool took = known && states[xc_body_at(body, frame->pc)] == TWICE;
	free(states);
	free(acts);
	end(&w);
	return took;
}

/* ---- places of the frame ---- */

/* Does the instruction read or write one of the places, or take the address of it? */
static bool uses(const struct walk *w, const struct xc_insn *insn)
{
	const struct xc_insn_memory *m = &insn->memory;
	xc_addr at;
	return insn->has_memory && m->segment == -1 && m->index == -1 && !m->complex &&
	       register_value(w, m->base, m->displacement, &at) && at >= w->from && at < w->to;
}

static bool writes_anew(const struct walk *w, const struct xc_insn *insn)
{
	return uses(w, insn) && (insn->kind == XC_INSN_STORE || insn->kind == XC_INSN_STORE_CONSTANT);
}

static bool is_used(struct walk *w)
{
	for (size_t next = 0; next < w->count; next++) {
		const struct xc_insn *insn = &w->body->insns[w->queue[next]];
		if (writes_anew(w, insn))
			continue;
		if (uses(w, insn))
			return true;
		go_on(w, w->queue[next]);
	}
	return false;
}

/* The callee of a call that disposes of its argument: that drops it in place, say. NULL: it does not. */
static const char *disposer(const struct walk *w, size_t at)
{
	const struct xc_insn *call = &w->body->insns[at];
	const char *callee = call->kind == XC_INSN_CALL ? xc_body_callee(w->body, call, NULL) : NULL;
	return callee && xc_names_begin(disposers, callee) ? callee : NULL;
}

/* Does the call get the address, or the content, of one of the places? */
static bool is_given(const struct walk *w, size_t call)
{
	for (size_t i = call, back = 0; i-- > 0 && back < ARGUMENTS; back++) {
		const struct xc_insn *insn = &w->body->insns[i];
		if (insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN)
			return false;
		if ((insn->kind == XC_INSN_ADDRESS || insn->kind == XC_INSN_LOAD) && uses(w, insn))
			return true;
	}
	return false;
}

bool xc_rust_release_is_done(const struct xc_body *body, const struct xc_frame *frame, xc_addr from, xc_addr to)
{
	struct walk w;
	if (!begin(&w, body, frame, 0))
		return false;
	w.from = from;
	w.to = to;
	bool used = w.doubtful || is_used(&w);
	forget(&w);
	for (size_t i = 0; !used && i < body->count; i++)
		if (disposer(&w, i) && is_given(&w, i))
			go_on(&w, i);
	bool done = !used && leads_here(&w, writes_anew);
	end(&w);
	return done;
}

/* "core::ptr::drop_in_place<std::sync::mutex::MutexGuard<u64>>", or of an error that begins with one. */
static bool is_of_guard(const char *callee)
{
	static const char *const ends[] = {"Guard", "::PoisonError"};
	const char *type = strchr(callee, '<');
	size_t len = type ? strcspn(type + 1, "<") : 0;
	for (size_t i = 0; i < XC_COUNT(ends); i++)
		if (len >= strlen(ends[i]) && strncmp(type + 1 + len - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
			return true;
	return false;
}

/* Does the function drop a guard that is at these places? *others_out: all that it drops are known, and elsewhere. */
static bool drops_it(const struct xc_body *body, const struct xc_frame *frame, xc_addr from, xc_addr to,
		     bool *others_out)
{
	struct walk w;
	bool it = false, unknown = false, others = false;
	if (!begin(&w, body, frame, 0))
		return false;
	for (size_t i = 0; i < body->count && !it; i++) {
		const char *callee = disposer(&w, i);
		if (!callee || !strstr(callee, "Guard<"))
			continue;
		w.from = 0;
		w.to = UINT64_MAX;
		bool known = is_given(&w, i) && is_of_guard(callee);
		w.from = from;
		w.to = to;
		it = is_of_guard(callee) && is_given(&w, i);
		unknown |= !known;
		others |= known && !it;
	}
	end(&w);
	*others_out = others && !it && !unknown;
	return it;
}

enum xc_rust_release xc_rust_release_of_guard(const struct xc_body *body, const struct xc_frame *frame, xc_addr from,
					      xc_addr to)
{
	bool others = false, it = drops_it(body, frame, from, from + WORD, &others);
	if (others || xc_rust_release_is_done(body, frame, from, to))
		return XC_RUST_RELEASE_PAST;
	return it ? XC_RUST_RELEASE_FOLLOWS : XC_RUST_RELEASE_UNKNOWN;
}

/* rust_release: the futex mutex of std, rustc 1.62 to 1.95 (library/std/src/sys/sync/mutex/futex.rs), inlined:
 *
 *	lock cmpxchg %ecx,0x10(%rbx)         takes it: 0 becomes 1
 *	xor %eax,%eax; xchg %eax,0x10(%rbx)  gives it back
 *
 * The word is the first member of the lock. A guard needs no word of its own: its address is made from that of the
 * object again. */
#include "triage/code/rust_release.h"

#include <elf.h>
#include <stdlib.h>

enum { BACK = 32, WORD = 8, FUTEX = 4, LONGEST = 16 };

enum act { NOTHING, TAKES, GIVES };

struct walk {
	const struct xc_body *body;
	const struct xc_frame *frame;
	xc_addr lock;
	size_t *queue;
	size_t count;
	bool *seen;
};

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
	return code[at] == 0x87 ? GIVES : NOTHING;
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

/* The copies before the instruction lead back to a register that calls preserve, or to a word of the stack. */
static bool address_of(const struct walk *w, size_t at, xc_addr *out)
{
	const struct xc_insn *insns = w->body->insns;
	int reg = insns[at].memory.base;
	int64_t add = insns[at].memory.displacement;
	for (size_t i = at, back = 0; i-- > 0 && back < BACK && reg >= 0; back++) {
		const struct xc_insn *insn = &insns[i];
		bool plain = insn->has_memory && insn->memory.index == -1 && !insn->memory.complex;
		if (insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN || reg == w->body->process->arch->sp)
			break;
		if (!(insn->writes >> reg & 1))
			continue;
		if (insn->kind == XC_INSN_LOAD && plain && insn->memory.base == w->body->process->arch->sp)
			return slot_value(w, &insn->memory, add, out);
		if (insn->kind == XC_INSN_MOVE) {
			reg = insn->from;
		} else if (insn->kind == XC_INSN_ADDRESS && plain) {
			reg = insn->memory.base;
			add += insn->memory.displacement;
		} else {
			break;
		}
	}
	return register_value(w, reg, add, out);
}

/* ---- the ways through the code ---- */

static void go_to(struct walk *w, size_t at)
{
	if (at >= w->body->count || w->seen[at])
		return;
	w->seen[at] = true;
	w->queue[w->count++] = at;
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
	    !(insn->kind == XC_INSN_CALL && xc_body_never_returns(w->body, insn)))
		go_to(w, at + 1);
}

static bool gives_back(struct walk *w)
{
	for (size_t next = 0; next < w->count; next++) {
		size_t at = w->queue[next];
		enum act act = act_of(w->body->process, &w->body->insns[at]);
		xc_addr addr;
		bool is_it = act != NOTHING && address_of(w, at, &addr) && addr == w->lock;
		if (is_it && act == GIVES)
			return true;
		if (!is_it)
			go_on(w, at);
	}
	return false;
}

/* Another function may have taken it, and left its guard to this one: then nothing is known of when. */
static bool takes_it(const struct walk *w)
{
	xc_addr addr;
	for (size_t i = 0; i < w->body->count; i++)
		if (act_of(w->body->process, &w->body->insns[i]) == TAKES && address_of(w, i, &addr) && addr == w->lock)
			return true;
	return false;
}

bool xc_rust_release_follows(const struct xc_body *body, const struct xc_frame *frame, xc_addr lock)
{
	long at = body ? xc_body_at(body, frame->pc) : XC_BODY_NONE;
	if (at < 0 || body->process->arch->machine != EM_X86_64 || body->process->arch->word != WORD)
		return false;
	struct walk w = {.body = body,
			 .frame = frame,
			 .lock = lock,
			 .queue = xc_alloc(body->count * sizeof *w.queue),
			 .seen = xc_alloc(body->count * sizeof *w.seen)};
	go_to(&w, (size_t)at);
	bool follows = takes_it(&w) && gives_back(&w);
	free(w.queue);
	free(w.seen);
	return follows;
}

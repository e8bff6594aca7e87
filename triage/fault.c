/* fault: facts of the killing event.
 *
 * x86-64, Linux: at a trampoline sp points at the ucontext; general registers begin 40 bytes into it, and number 19 is
 * the page fault's error code, 20 the trap number, 22 the fault address (include/uapi/asm/sigcontext.h and
 * sys/ucontext.h, REG_ERR, REG_TRAPNO, REG_CR2). Error code: bit 0 protection, bit 1 write, bit 4 fetch (Intel SDM
 * volume 3, 4.7). */
#include "fault.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "../core/facts.h"
#include "../core/text.h"

enum {
	MAX_FRAMES = 4096,
	UCONTEXT_GREGS = 40,
	REG_ERR_INDEX = 19,
	REG_TRAPNO_INDEX = 20,
	REG_CR2_INDEX = 22,
	TRAP_DIVIDE = 0,
	TRAP_BREAKPOINT = 3,
	TRAP_OPCODE = 6,
	TRAP_PROTECTION = 13,
	TRAP_PAGE = 14,
	FIRST_PAGE = 64 << 10,
	NEAR = 4096,
};

const char *xc_access_text(enum xc_access access)
{
	static const char *const texts[] = {"access to", "read of", "write to", "jump to"};
	return texts[access];
}

static bool saved_word(const struct xc_process *p, xc_addr ucontext, unsigned index, uint64_t *value)
{
	return xc_space_peek_uint(p->space, ucontext + UCONTEXT_GREGS + 8 * (xc_addr)index, 8, value);
}

static void page_fault(struct xc_fault *f, uint64_t error, uint64_t addr)
{
	f->signal = SIGSEGV;
	f->code = error & 1 ? SEGV_ACCERR : SEGV_MAPERR;
	f->code_known = f->addr_known = true;
	f->addr = addr;
	f->access = error & 16 ? XC_ACCESS_EXECUTE : error & 2 ? XC_ACCESS_WRITE : XC_ACCESS_READ;
}

/* What the kernel saved when it called the handler. */
static void read_context(const struct xc_process *p, xc_addr ucontext, struct xc_fault *f)
{
	uint64_t error, trap, addr;
	if (!saved_word(p, ucontext, REG_ERR_INDEX, &error) || !saved_word(p, ucontext, REG_TRAPNO_INDEX, &trap) ||
	    !saved_word(p, ucontext, REG_CR2_INDEX, &addr))
		return;
	f->addr_known = f->code_known = false;
	switch (trap) {
	case TRAP_PAGE:
		page_fault(f, error, addr);
		break;
	case TRAP_PROTECTION:
		f->signal = SIGSEGV;
		f->code = SI_KERNEL;
		f->code_known = true;
		break;
	case TRAP_DIVIDE:
		f->signal = SIGFPE;
		f->code = FPE_INTDIV;
		f->code_known = true;
		break;
	case TRAP_OPCODE:
		f->signal = SIGILL;
		break;
	case TRAP_BREAKPOINT:
		f->signal = SIGTRAP;
		break;
	default:
		break;
	}
}

/* A handler that was called for a fault, not for a signal that somebody sent: trap numbers stay from the last
 * fault, so only a frame whose context speaks of one of the fault signals counts. */
static void look_through_handlers(const struct xc_process *p, struct xc_unwinder *u, struct xc_fault *f)
{
	struct xc_frame at = f->frame;
	const char *stop;
	for (size_t i = 0; i < MAX_FRAMES; i++) {
		uint64_t sp;
		bool trampoline = at.signal && xc_regs_get(&at.regs, p->arch->sp, &sp);
		if (!xc_unwind_step(u, &at, &at, &stop))
			return;
		if (!trampoline || p->arch->machine != EM_X86_64)
			continue;
		f->outer_signal = f->signal;
		f->in_handler = true;
		f->sent = false;
		f->access = XC_ACCESS_UNKNOWN;
		f->frame = at;
		read_context(p, sp, f);
		return; /* the innermost handler: the fault it was called for is the one it died of */
	}
}

/* Without an error code: a fetch faults at pc itself; a write to a page without write permission. */
static enum xc_access guess_access(const struct xc_process *p, const struct xc_fault *f)
{
	const struct xc_mapping *m = xc_process_mapping(p, f->addr);
	if (f->frame_known && f->frame.pc == f->addr)
		return XC_ACCESS_EXECUTE;
	if (f->code == SEGV_ACCERR && m && m->readable && !m->writable)
		return XC_ACCESS_WRITE;
	return XC_ACCESS_UNKNOWN;
}

bool xc_fault_find(const struct xc_process *p, struct xc_unwinder *u, struct xc_fault *fault_out)
{
	if (p->live || !p->signal.known || p->thread_count == 0 || !p->threads[0].crashed)
		return false;
	struct xc_fault f = {.signal = p->signal.number, .code = p->signal.code, .code_known = p->signal.has_info,
			     .addr_known = p->signal.addr_known, .addr = p->signal.addr};
	f.outer_signal = f.signal;
	f.sent = f.code_known && f.code <= 0;
	f.frame_known = p->arch->unwinds && xc_unwind_first(u, &p->threads[0], &f.frame);
	if (f.frame_known)
		look_through_handlers(p, u, &f);
	if (f.addr_known && f.access == XC_ACCESS_UNKNOWN && f.signal == SIGSEGV)
		f.access = guess_access(p, &f);
	*fault_out = f;
	return true;
}

/* ---- relations ---- */

static void relate_mapping(struct xc_report *r, const struct xc_process *p, xc_addr addr)
{
	char place[256];
	const struct xc_mapping *m = xc_process_mapping(p, addr), *below = NULL, *above = NULL;
	if (m) {
		xc_verdict_evidence(r, "0x%" PRIx64 " lies in %s (%c%c%c)", addr,
				    xc_facts_place(p, addr, place, sizeof place) ? place : "an anonymous mapping",
				    m->readable ? 'r' : '-', m->writable ? 'w' : '-', m->executable ? 'x' : '-');
		return;
	}
	for (size_t i = 0; i < p->mapping_count; i++) {
		if (p->mappings[i].hi < addr)
			below = &p->mappings[i];
		else if (!above && p->mappings[i].lo > addr)
			above = &p->mappings[i];
	}
	if (addr < FIRST_PAGE)
		xc_verdict_evidence(r, "0x%" PRIx64 " is in the first pages, which are never mapped: a null pointer%s", addr,
				    addr ? " plus an offset" : "");
	else if (below && addr - below->hi <= NEAR)
		xc_verdict_evidence(r, "0x%" PRIx64 " is not mapped: %" PRIu64 " bytes past the end of %s", addr,
				    addr - below->hi, xc_facts_place(p, below->hi, place, sizeof place) ? place : "a mapping");
	else if (above && above->lo - addr <= NEAR)
		xc_verdict_evidence(r, "0x%" PRIx64 " is not mapped: %" PRIu64 " bytes below %s", addr, above->lo - addr,
				    xc_facts_place(p, above->lo, place, sizeof place) ? place : "a mapping");
	else
		xc_verdict_evidence(r, "0x%" PRIx64 " is not mapped, and no mapping is near", addr);
}

static void relate_registers(struct xc_report *r, const struct xc_process *p, const struct xc_fault *f)
{
	struct xc_text text = {0};
	for (int i = 0; i < p->arch->frame_regs; i++) {
		uint64_t value;
		const char *name = xc_arch_reg_name(p->arch, i);
		if (!name || i == p->arch->pc || !xc_regs_get(&f->frame.regs, i, &value))
			continue;
		int64_t away = (int64_t)(f->addr - value);
		if (away < -NEAR || away > NEAR)
			continue;
		xc_text_printf(&text, "%s%s = 0x%" PRIx64, text.len ? ", " : "", name, value);
		if (away)
			xc_text_printf(&text, " (%s0x%" PRIx64 ")", away < 0 ? "-" : "+", (uint64_t)(away < 0 ? -away : away));
	}
	if (text.len)
		xc_verdict_evidence(r, "registers near it: %s", xc_text_string(&text));
	xc_text_fini(&text);
}

static bool canonical(xc_addr addr)
{
	return addr <= UINT64_C(0x00007fffffffffff) || addr >= UINT64_C(0xffff800000000000);
}

/* A general-protection fault has no address; a register that holds a non-canonical one is the suspect. */
static void relate_non_canonical(struct xc_report *r, const struct xc_process *p, const struct xc_fault *f)
{
	for (int i = 0; i < p->arch->frame_regs; i++) {
		uint64_t value;
		const char *name = xc_arch_reg_name(p->arch, i);
		if (name && xc_regs_get(&f->frame.regs, i, &value) && !canonical(value))
			xc_verdict_evidence(r, "%s = 0x%" PRIx64 " is not a canonical address: using it as a pointer faults like this",
					    name, value);
	}
}

void xc_fault_evidence(struct xc_report *r, const struct xc_process *p, const struct xc_fault *f)
{
	if (f->in_handler)
		xc_verdict_evidence(r, "seen through a signal handler: the core itself was made by %s",
				    xc_signal_name(f->outer_signal));
	if (f->addr_known && (f->signal == SIGSEGV || f->signal == SIGBUS)) {
		relate_mapping(r, p, f->addr);
		if (f->frame_known)
			relate_registers(r, p, f);
	} else if (f->signal == SIGSEGV && f->code_known && f->code == SI_KERNEL && f->frame_known) {
		relate_non_canonical(r, p, f);
	}
}

/* The guard below a stack is unmapped or without rights; the frame that overflows may reach over it by its size. */
bool xc_fault_is_stack_overflow(const struct xc_process *p, const struct xc_fault *f)
{
	uint64_t sp;
	if (!f->addr_known || !f->frame_known || f->signal != SIGSEGV || !xc_regs_get(&f->frame.regs, p->arch->sp, &sp))
		return false;
	xc_addr low = f->addr < sp ? f->addr : sp, high = f->addr < sp ? sp : f->addr;
	const struct xc_mapping *at = xc_process_mapping(p, f->addr);
	if (high - low > FIRST_PAGE || f->addr < FIRST_PAGE || (at && at->writable))
		return false;
	for (xc_addr step = 0; step <= FIRST_PAGE; step += NEAR) {
		const struct xc_mapping *above = xc_process_mapping(p, f->addr + step);
		if (above && above->writable && !above->path)
			return above->hi - above->lo >= FIRST_PAGE / 2; /* a stack, not a small buffer */
	}
	return false;
}

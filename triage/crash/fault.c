/* fault: facts of the fatal event.
 *
 * Page faults of x86 have an error code: bit 0 protection, bit 1 write, bit 4 fetch (Intel SDM volume 3, 4.7);
 * aarch64 has the syndrome. On other machines the access can only be known from the instruction, which is not
 * decoded. */
#include "triage/crash/fault.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/facts/facts.h"
#include "core/base/text.h"
#include "triage/crash/resent.h"
#include "triage/crash/signal_frame.h"

enum {
	MAX_FRAMES = 4096,
	LONGEST_INSTRUCTION = 15,
	TRAP_DIVIDE = 0,
	TRAP_DEBUG = 1,
	TRAP_BREAKPOINT = 3,
	TRAP_OPCODE = 6,
	TRAP_STACK = 12,
	TRAP_PROTECTION = 13,
	TRAP_PAGE = 14,
	TRAP_X87 = 16,
	TRAP_ALIGNMENT = 17,
	TRAP_SIMD = 19,
};

static void page_fault(struct xc_fault *f, uint64_t error, uint64_t addr)
{
	f->signal = SIGSEGV;
	f->code = error & 1 ? SEGV_ACCERR : SEGV_MAPERR;
	f->code_known = f->addr_known = true;
	f->addr = addr;
	f->access = error & 16 ? XC_ACCESS_EXECUTE : error & 2 ? XC_ACCESS_WRITE : XC_ACCESS_READ;
}

/* x86: is the instruction at pc div or idiv? */
static bool divides(const struct xc_process *p, xc_addr pc)
{
	static const char prefixes[] = "\x66\x67\xf2\xf3\x2e\x36\x3e\x26\x64\x65\xf0";
	uint8_t code[LONGEST_INSTRUCTION];
	size_t got = xc_space_peek(p->space, pc, code, sizeof code), at = 0;
	while (at < got && code[at] && strchr(prefixes, code[at]))
		at++;
	if (at < got && (code[at] & 0xf0) == 0x40) /* REX */
		at++;
	return at + 1 < got && (code[at] & 0xfe) == 0xf6 && (code[at + 1] >> 3 & 7) >= 6;
}

/* The fault of a trap number; false when there is none. */
static bool read_trap(const struct xc_process *p, const struct xc_signal_frame *c, struct xc_fault *f)
{
	f->addr_known = f->code_known = false;
	switch (c->trap) {
	case TRAP_PAGE:
		page_fault(f, c->error, c->addr);
		return true;
	case TRAP_PROTECTION:
		f->signal = SIGSEGV;
		f->code = SI_KERNEL;
		f->code_known = true;
		return true;
	case TRAP_DIVIDE:
		f->signal = SIGFPE;
		f->code = FPE_INTDIV;
		f->code_known = true;
		return divides(p, f->frame.pc);
	case TRAP_X87:
	case TRAP_SIMD:
		f->signal = SIGFPE;
		return true;
	case TRAP_OPCODE:
		f->signal = SIGILL;
		return true;
	case TRAP_DEBUG:
	case TRAP_BREAKPOINT:
		f->signal = SIGTRAP;
		return true;
	case TRAP_STACK:
	case TRAP_ALIGNMENT:
		f->signal = SIGBUS;
		return true;
	default:
		return false;
	}
}

/* x86: a thread in a system call has not faulted, whatever its last trap number is. */
static bool in_system_call(const struct xc_process *p, xc_addr pc)
{
	uint8_t code[2];
	return xc_space_peek(p->space, pc - 2, code, 2) == 2 &&
	       ((code[0] == 0x0f && code[1] == 0x05) ||
		(p->arch->machine == EM_386 && code[0] == 0xcd && code[1] == 0x80));
}

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP;
}

/* aarch64, ESR_EL1: bits 31 to 26 are the class: 0x20, 0x21 instruction fetch, 0x24, 0x25 data. For data, bit 6 is
 * set for writes, and bit 8 for cache maintenance, which is reported as a write without being one (ARM ARM,
 * D17.2.37). */
static enum xc_access access_of_syndrome(uint64_t syndrome)
{
	switch (syndrome >> 26 & 63) {
	case 0x20:
	case 0x21:
		return XC_ACCESS_EXECUTE;
	case 0x24:
	case 0x25:
		if (syndrome >> 8 & 1)
			return XC_ACCESS_UNKNOWN;
		return syndrome >> 6 & 1 ? XC_ACCESS_WRITE : XC_ACCESS_READ;
	default:
		return XC_ACCESS_UNKNOWN;
	}
}

/* Machines without a trap number: use the siginfo, if it says that the kernel raised the signal. */
static bool read_info(const struct xc_signal_frame *c, struct xc_fault *f)
{
	if (!c->info_known || c->code <= 0 || !is_fault(c->signal))
		return false;
	f->signal = c->signal;
	f->code = c->code;
	f->code_known = true;
	f->addr_known = c->code != SI_KERNEL;
	f->addr = c->info_addr;
	if (c->syndrome_known)
		f->access = access_of_syndrome(c->syndrome);
	return true;
}

/* The event for which the handler was called; false when the signal was sent. */
static bool read_context(const struct xc_process *p, const struct xc_signal_frame *c, struct xc_fault *f)
{
	if (!c->trap_known)
		return read_info(c, f);
	if ((c->info_known && c->code <= 0) || in_system_call(p, f->frame.pc) || !read_trap(p, c, f))
		return false;
	/* A page that the kernel cannot provide is a page fault as well: SIGBUS. */
	if (c->info_known && f->addr_known && c->info_addr == f->addr &&
	    (c->signal == SIGBUS || c->signal == SIGSEGV)) {
		f->signal = c->signal;
		f->code = c->code;
	} else if (f->addr_known && f->outer_signal == SIGBUS) {
		f->signal = SIGBUS;
		f->code_known = false;
	}
	return true;
}

/* The process died in the handler of a sent signal. Who sent it? */
static void note_sender(const struct xc_signal_frame *c, struct xc_fault *f)
{
	bool by_process = c->info_known && (c->code == SI_USER || c->code == SI_QUEUE || c->code == SI_TKILL);
	const pid_t sender = (pid_t)(uint32_t)c->info_addr;
	if (!f->sent || f->first_signal || !by_process || sender == 0)
		return;
	f->resent = f->resent_sure = c->signal == f->signal;
	f->first_signal = c->signal;
	f->first_sender = sender;
	f->first_user = (uid_t)(c->info_addr >> 32);
}

/* The innermost handler of a fault: the process died of that fault. Handlers of sent signals are skipped. */
static void look_through_handlers(const struct xc_process *p, struct xc_unwinder *u, struct xc_fault *f)
{
	struct xc_frame at = f->frame;
	const char *stop;
	for (size_t i = 0; i < MAX_FRAMES; i++) {
		uint64_t sp;
		struct xc_signal_frame context;
		bool trampoline = at.signal && xc_regs_get(&at.regs, p->arch->sp, &sp) &&
				  xc_signal_frame_read(p, at.pc, sp, &context);
		if (!xc_unwind_step(u, &at, &at, &stop))
			return;
		if (!trampoline)
			continue;
		struct xc_fault inner = *f;
		inner.outer_signal = f->signal;
		inner.in_handler = true;
		inner.sent = false;
		inner.access = XC_ACCESS_UNKNOWN;
		inner.frame = at;
		if (read_context(p, &context, &inner)) {
			*f = inner;
			return;
		}
		note_sender(&context, f);
	}
}

/* Without an error code or an instruction: a fault on a read-only page is a write. */
static enum xc_access guess_access(const struct xc_process *p, const struct xc_fault *f)
{
	const struct xc_mapping *m = xc_process_mapping(p, f->addr);
	if (f->code == SEGV_ACCERR && m && m->readable && !m->writable)
		return XC_ACCESS_WRITE;
	return XC_ACCESS_UNKNOWN;
}

/* A handler raised its own signal again while that was blocked. The signal is delivered when the handler returns to
 * the faulting instruction, and only the place of the fault is left. A thread that sent itself an unblocked signal
 * would be after a system call. */
static bool sent_while_blocked(const struct xc_process *p, const struct xc_fault *f)
{
	return f->sent && f->frame_known && p->arch->lr < 0 && p->pid && p->signal.sender_pid == p->pid &&
	       !in_system_call(p, f->frame.pc);
}

/* Was the first signal that of the interrupted instruction? */
static void take_raised_again(const struct xc_process *p, struct xc_fault *f)
{
	uint8_t code;
	bool fault = f->signal == SIGSEGV || f->signal == SIGBUS || f->signal == SIGFPE || f->signal == SIGILL;
	bool known = f->frame_known && xc_space_peek(p->space, f->frame.pc - 1, &code, 1) == 1;
	if (!sent_while_blocked(p, f) || (!fault && !known)) /* it may be after a system call */
		return;
	enum xc_resent resent = xc_resent_by(p, &f->frame, f->signal);
	f->resent = resent != XC_RESENT_POSSIBLE;
	f->resent_sure = resent == XC_RESENT_IMPOSSIBLE;
	if (f->resent)
		return;
	f->raised_again = true;
	f->sent = f->code_known = f->addr_known = false;
}

static void take_operand(struct xc_fault *f, const struct xc_memory_operand *operand)
{
	if (!operand)
		return;
	f->operand_known = true;
	f->operand = *operand;
	if (f->access == XC_ACCESS_UNKNOWN)
		f->access = operand->access;
}

/* General protection: the kernel gives no address, so compute it. */
static void compute_address(struct xc_fault *f)
{
	const struct xc_memory_operand *operand = xc_operand_invalid(&f->instruction, &f->misaligned);
	if (!operand)
		return;
	f->addr_known = f->computed = true;
	f->addr = operand->addr;
	take_operand(f, operand);
}

/* The fault address is lost. The instruction still has the same operands: the unmapped one is the cause. */
static void find_unmapped(const struct xc_process *p, struct xc_fault *f)
{
	for (size_t i = 0; i < f->instruction.operand_count; i++) {
		const struct xc_memory_operand *operand = &f->instruction.operands[i];
		if (!operand->addr_known || xc_process_mapping(p, operand->addr))
			continue;
		f->addr_known = true;
		f->addr = operand->addr;
		take_operand(f, operand);
		return;
	}
}

/* x86: the pc of a breakpoint is after its instruction, int3 or int1, perhaps in another function. Move the frame
 * back to the instruction. */
static void step_back(const struct xc_process *p, struct xc_fault *f)
{
	uint8_t code;
	bool other = f->code_known && f->code != SI_KERNEL && f->code != TRAP_BRKPT;
	if (f->signal != SIGTRAP || f->sent || other || !f->frame_known || p->arch->lr >= 0 ||
	    xc_space_peek(p->space, f->frame.pc - 1, &code, 1) != 1 || (code != 0xcc && code != 0xf1))
		return;
	f->frame.pc--;
	xc_regs_set(&f->frame.regs, p->arch->pc, f->frame.pc);
	f->decoded = xc_operand_decode(p, &f->frame.regs, &f->instruction);
}

/* Decode the instruction, unless none raised the signal. At a fetch, pc itself is unreadable, or is the fault
 * address. */
static void ask_instruction(const struct xc_process *p, struct xc_fault *f)
{
	bool memory = f->signal == SIGSEGV || f->signal == SIGBUS;
	if ((!memory && f->signal != SIGFPE && f->signal != SIGILL) || f->sent || !f->frame_known)
		return;
	if (memory && f->addr_known && f->frame.pc == f->addr)
		f->access = XC_ACCESS_EXECUTE;
	else
		f->decoded = xc_operand_decode(p, &f->frame.regs, &f->instruction);
	if (!f->decoded || !memory) /* for a division si_addr is the address of the instruction */
		return;
	if (f->addr_known)
		take_operand(f, xc_operand_at(&f->instruction, f->addr, f->access));
	else if (f->code_known && f->code == SI_KERNEL && !f->instruction.privileged)
		compute_address(f);
	else if (f->raised_again && f->signal == SIGSEGV)
		find_unmapped(p, f);
}

/* The error code shows whether the page was present; only the kernel knows whether something is mapped there. */
static void correct_code(const struct xc_process *p, struct xc_fault *f)
{
	const struct xc_mapping *m = f->addr_known ? xc_process_mapping(p, f->addr) : NULL;
	if (f->in_handler && f->signal == SIGSEGV && f->code_known && f->code == SEGV_MAPERR && m)
		f->code = SEGV_ACCERR;
}

bool xc_fault_find(const struct xc_process *p, struct xc_unwinder *u, struct xc_fault *fault_out)
{
	if (p->live || p->thread_count == 0 || (!p->snapshot && (!p->signal.known || !p->threads[0].crashed)))
		return false;
	struct xc_fault f = {.signal = p->signal.number,
			     .code = p->signal.code,
			     .code_known = p->signal.has_info,
			     .addr_known = p->signal.addr_known,
			     .addr = p->signal.addr};
	f.outer_signal = f.signal;
	f.sent = f.code_known && f.code <= 0;
	f.frame_known = p->arch->unwinds && xc_unwind_first(u, &p->threads[0], &f.frame);
	if (f.frame_known)
		look_through_handlers(p, u, &f);
	if (p->snapshot && !f.in_handler)
		return false;
	take_raised_again(p, &f);
	correct_code(p, &f);
	step_back(p, &f);
	ask_instruction(p, &f);
	if (f.addr_known && f.access == XC_ACCESS_UNKNOWN && f.signal == SIGSEGV)
		f.access = guess_access(p, &f);
	*fault_out = f;
	return true;
}

/* ---- words ---- */

static void add_place(const struct xc_fault *f, struct xc_text *text)
{
	const struct xc_memory_operand *o = &f->operand;
	bool within = f->operand_known && o->addr_known && o->addr != f->addr && f->addr - o->addr < o->size;
	xc_text_printf(text, "0x%" PRIx64, within ? o->addr : f->addr);
	if (within) /* the first bytes are in a page that is present */
		xc_text_printf(text, " (faulted at 0x%" PRIx64 ")", f->addr);
}

void xc_fault_describe(const struct xc_fault *f, struct xc_text *text)
{
	static const char *const verbs[] = {"accessed", "read", "wrote", "jumped to"};
	uint32_t size = f->operand_known ? f->operand.size : 0;
	xc_text_add(text, verbs[f->access]);
	if (f->access == XC_ACCESS_READ || f->access == XC_ACCESS_WRITE) {
		if (size)
			xc_text_printf(text, " %" PRIu32 " byte%s", size, size == 1 ? "" : "s");
		xc_text_add(text, " at");
	}
	xc_text_char(text, ' ');
	add_place(f, text);
}

const char *xc_fault_use(const struct xc_fault *f)
{
	bool calls = f->decoded && (strstr(f->instruction.text, "call") || strstr(f->instruction.text, "jmp"));
	if (f->access == XC_ACCESS_EXECUTE || calls)
		return "call";
	return f->access == XC_ACCESS_WRITE ? "write" : f->access == XC_ACCESS_READ ? "read" : NULL;
}

/* cause_fault: deaths that an instruction brought about: memory that cannot be had, jumps to nowhere, arithmetic, traps.
 *
 * Severity ranks what an attacker could make of it, not how likely that is. */
#include "cause_impl.h"

#include <signal.h>

#include "../core/facts.h"

enum { NULL_PAGES = 64 << 10 };

static bool executable(const struct xc_process *p, xc_addr addr)
{
	const struct xc_mapping *m = xc_process_mapping(p, addr);
	return m && m->executable;
}

static bool judge_jump(struct xc_inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	xc_addr target = f->computed ? f->addr : f->frame.pc;
	if (!f->frame_known || (f->computed ? f->access != XC_ACCESS_EXECUTE : executable(q->process, target)))
		return false;
	if (target < NULL_PAGES)
		xc_inquiry_class(q, "call-null", NULL, "medium", "certain",
				 "a function pointer that is NULL was called");
	else if (xc_process_mapping(q->process, target))
		xc_inquiry_class(q, "exec-data", NULL, "critical", "certain",
				 "control went to memory that holds data, not code");
	else
		xc_inquiry_class(
			q, "pc-control", NULL, "critical", "certain",
			"control went to an address where nothing is mapped: a damaged function pointer or return "
			"address");
	return true;
}

/* The kernel raised it without an address: a general protection fault. */
static void judge_protection(struct xc_inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	bool write = f->access == XC_ACCESS_WRITE;
	if (f->computed && f->misaligned)
		xc_inquiry_class(q, "misaligned", NULL, "low", "likely",
				 "the address was not aligned as the instruction demands");
	else if (f->computed)
		xc_inquiry_class(q, write ? "wild-write" : "wild-read", NULL, write ? "high" : "medium", "certain",
				 "a damaged pointer was dereferenced: its value is no address");
	else if (f->decoded && f->instruction.halts)
		xc_inquiry_class(q, "trap-instruction", NULL, "low", "likely",
				 "hlt was run, which C libraries put where a program must not go on");
	else if (f->decoded && f->instruction.privileged)
		xc_inquiry_class(q, "bad-instruction", NULL, "high", "likely",
				 "an instruction was run that only the kernel may use");
	else
		xc_inquiry_class(
			q, "wild-access", NULL, "high", "likely",
			"the address was not canonical (a damaged pointer), or the instruction is privileged or "
			"misaligned");
}

/* A base register that is zero makes it sure; a small number in it may have other reasons. */
static void judge_null(struct xc_inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	bool write = f->access == XC_ACCESS_WRITE, read = f->access == XC_ACCESS_READ;
	uint64_t base = 0;
	bool known = f->operand_known && f->operand.base >= 0 && xc_regs_get(&f->frame.regs, f->operand.base, &base);
	xc_inquiry_class(q,
			 write  ? "null-write"
			 : read ? "null-read"
				: "null-access",
			 NULL, write ? "medium" : "low", known && base ? "likely" : "certain",
			 known && base ? "a pointer was dereferenced that is NULL plus an offset"
				       : "a pointer that is NULL was dereferenced");
}

static void judge_segv(struct xc_inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	bool write = f->access == XC_ACCESS_WRITE, read = f->access == XC_ACCESS_READ;
	const struct xc_mapping *m = f->addr_known ? xc_process_mapping(q->process, f->addr) : NULL;
	if (judge_jump(q))
		return;
	if (xc_fault_is_stack_overflow(q->process, f))
		xc_inquiry_class(q, "stack-overflow", NULL, "low", "likely",
				 "the stack is used up: recursion without an end, or locals larger than the stack");
	else if (f->code_known && f->code == SI_KERNEL)
		judge_protection(q);
	else if (f->addr_known && f->addr < NULL_PAGES)
		judge_null(q);
	else if (f->addr_known && m && f->code == SEGV_ACCERR)
		xc_inquiry_class(q, write && !m->writable ? "write-rodata" : "protected-access", NULL, "medium",
				 "certain",
				 write && !m->writable ? "memory was written that may only be read"
						       : "the page is mapped, but not for this kind of access");
	else if (f->addr_known)
		xc_inquiry_class(q,
				 write  ? "wild-write"
				 : read ? "wild-read"
					: "wild-access",
				 NULL, write ? "high" : "medium", "certain",
				 "a pointer that leads to unmapped memory was dereferenced");
	else
		xc_inquiry_class(q, "memory-access", NULL, "medium", "guess", NULL);
}

static void judge_bus(struct xc_inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	const struct xc_mapping *m = f->addr_known ? xc_process_mapping(q->process, f->addr) : NULL;
	if (f->code == BUS_ADRALN)
		xc_inquiry_class(q, "misaligned", NULL, "low", "certain",
				 "an address was not aligned as the instruction demands");
	else if (f->code == BUS_MCEERR_AR || f->code == BUS_MCEERR_AO)
		xc_inquiry_class(q, "bad-hardware", NULL, "info", "certain", "the hardware reported a memory error");
	else if (m && m->path)
		xc_inquiry_class(q, "file-truncated", NULL, "low", "likely",
				 "a page past the end of a mapped file was touched: the file was cut short");
	else
		xc_inquiry_class(q, "bus-error", NULL, "low", "likely", "a page of a mapping could not be had");
}

static void judge_arithmetic(struct xc_inquiry *q)
{
	if (q->fault.code == FPE_INTDIV)
		xc_inquiry_class(q, "div-by-zero", NULL, "low", "certain",
				 "an integer was divided by zero (or the quotient does not fit)");
	else
		xc_inquiry_class(q, "arithmetic", NULL, "low", "certain", xc_signal_code_text(SIGFPE, q->fault.code));
}

static void judge_instruction(struct xc_inquiry *q)
{
	uint8_t code[2] = {0, 0};
	const struct xc_fault *f = &q->fault;
	bool readable = f->frame_known && xc_space_peek(q->process->space, f->frame.pc, code, 2) == 2;
	if (judge_jump(q))
		return;
	if (readable && code[0] == 0x0f && (code[1] == 0x0b || code[1] == 0xb9))
		xc_inquiry_class(q, "trap-instruction", NULL, "low", "certain",
				 "a deliberate trap (ud2): __builtin_trap, unreachable code, or a sanitizer's check");
	else if (readable)
		xc_inquiry_class(q, "bad-instruction", NULL, "high", "likely",
				 "the bytes at the program counter are no instruction of this machine");
	else
		xc_inquiry_class(q, "bad-instruction", NULL, "high", "guess", NULL);
}

void xc_cause_fault(struct xc_inquiry *q)
{
	switch (q->fault.signal) {
	case SIGSEGV:
		judge_segv(q);
		break;
	case SIGBUS:
		judge_bus(q);
		break;
	case SIGFPE:
		judge_arithmetic(q);
		break;
	case SIGILL:
		judge_instruction(q);
		break;
	default:
		xc_inquiry_class(q, "trap-instruction", NULL, "low", "likely",
				 "a breakpoint or trap instruction was run");
		break;
	}
}

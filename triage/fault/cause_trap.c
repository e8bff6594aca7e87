/* cause_trap: arithmetic without a result, invalid instructions, deliberate traps, forbidden system calls.
 *
 * Deliberate traps:
 *	x86      0f 0b ud2: __builtin_trap, unreachable code, Rust's abort · cc int3, f1 int1: pc is after it
 *	         0f b9 ud1: clang's -fsanitize-trap; 67 0f b9 40 NN, or 67 0f b9 00 for 0: which check
 *	         (clang 14, CodeGenFunction.h, LIST_SANITIZER_CHECKS)
 *	aarch64  udf #n (upper half 0) · d4200000 | n << 5 brk: pc is at it; n = 0x5500 | check for clang
 *	arm      e7f000f0 udf · riscv64  00100073 ebreak, 9002 c.ebreak */
#include "triage/fault/cause_trap.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "core/facts/facts.h"
#include "core/live/sandbox.h"
#include "triage/code/division.h"
#include "triage/util/producer.h"

enum { BRK_SANITIZER = 0x55 };

/* ---- traps by their bytes ---- */

static const char *const checks[] = {
	"integer addition overflow",
	"unreachable code",
	"control flow integrity",
	"division overflow",
	"wrong dynamic type",
	"float cast overflow",
	"wrong function type",
	"implicit conversion",
	"invalid builtin argument",
	"invalid Objective-C cast",
	"invalid value",
	"missing return",
	"integer multiplication overflow",
	"negation overflow",
	"null argument",
	"null returned",
	"null argument",
	"null returned",
	"index out of bounds",
	"pointer overflow",
	"shift out of bounds",
	"integer subtraction overflow",
	"wrong type, null or misaligned",
	"alignment assumption",
	"bad array length",
};

struct trap {
	const char *text; /* "ud2" */
	int check;        /* index of checks; -1: the instruction does not encode one */
};

static bool trap_x86(const uint8_t *code, size_t got, struct trap *out)
{
	size_t at = got > 0 && code[0] == 0x67 ? 1 : 0;
	if (got < at + 2 || code[at] != 0x0f || (code[at + 1] != 0x0b && code[at + 1] != 0xb9))
		return false;
	out->text = code[at + 1] == 0x0b ? "ud2" : "ud1";
	if (code[at + 1] == 0xb9 && at && got >= at + 4)
		out->check = code[at + 2] == 0x40 ? code[at + 3] : code[at + 2] == 0 ? 0 : -1;
	return true;
}

static bool trap_aarch64(uint32_t word, struct trap *out)
{
	bool brk = (word & 0xffe0001f) == 0xd4200000;
	out->text = brk ? "brk" : "udf";
	if (brk && (word >> 13 & 0xff) == BRK_SANITIZER)
		out->check = (int)(word >> 5 & 0xff);
	return brk || word >> 16 == 0;
}

static bool trap_riscv(uint32_t word, struct trap *out)
{
	out->text = "ebreak";
	return word == 0x00100073 || (word & 0xffff) == 0x9002;
}

static bool trap_arm(uint32_t word, struct trap *out)
{
	out->text = "udf";
	return (word & 0xfff000f0) == 0xe7f000f0 || (word & 0xff00) == 0xde00;
}

/* Is the instruction at pc a deliberate trap? */
static bool find_trap(const struct xc_crash_context *crash, struct trap *out)
{
	uint8_t code[8] = {0};
	const struct xc_process *p = crash->process;
	size_t got = crash->fault.frame_known ? xc_space_peek(p->space, crash->fault.frame.pc, code, sizeof code) : 0;
	uint32_t word = (uint32_t)xc_load_uint(code, 4, false);
	*out = (struct trap){.check = -1};
	if (xc_arch_is_x86_64(p->arch) || p->arch->machine == EM_386)
		return trap_x86(code, got, out);
	if (got < 4)
		return false;
	switch (p->arch->machine) {
	case EM_AARCH64:
		return trap_aarch64(word, out);
	case EM_RISCV:
		return trap_riscv(word, out);
	case EM_ARM:
		return trap_arm(word, out);
	default:
		return false;
	}
}

/* Was the code made by a compiler with the numbering of the table? clang has it since 12. */
static bool knows_checks(const struct xc_crash_context *crash)
{
	const char *producer = xc_producer(xc_debuginfo_place(crash->process, crash->fault.frame.pc));
	const char *version = producer ? strstr(producer, "clang version ") : NULL;
	long major = version ? strtol(version + strlen("clang version "), NULL, 10) : 0;
	return major >= 12 && major <= 14;
}

/* clang's ud1 is for nothing else. */
static bool is_inserted(const struct trap *trap)
{
	return trap->check >= 0 || strcmp(trap->text, "ud1") == 0;
}

static void classify_trap(struct xc_crash_context *crash, const struct trap *trap)
{
	const char *check = trap->check >= 0 && (size_t)trap->check < XC_COUNT(checks) ? checks[trap->check] : NULL;
	bool sure = !check || knows_checks(crash);
	xc_auto(xc_freep) char *cause =
		check ? xc_asprintf("a compiler-inserted check failed (%s): %s%s%s", trap->text, sure ? "" : "likely ",
				    check, sure ? "" : ", by the numbering of clang 14")
		: is_inserted(trap)
			? xc_asprintf("a compiler-inserted check failed (%s)", trap->text)
			: xc_asprintf("a deliberate trap (%s): __builtin_trap, unreachable code, or a failed check",
				      trap->text);
	xc_crash_context_classify(crash, "trap-instruction", check, "low", sure ? "certain" : "likely", cause);
}

/* ---- SIGILL ---- */

/* A return or branch of aarch64 with an invalid signature: autiasp, autibsp, retaa, retab (FEAT_FPAC). */
static bool authenticates(const struct xc_crash_context *crash)
{
	uint64_t word;
	const struct xc_process *p = crash->process;
	return p->arch->machine == EM_AARCH64 && crash->fault.code_known && crash->fault.code == ILL_ILLOPN &&
	       xc_space_peek_uint(p->space, crash->fault.frame.pc, 4, &word) &&
	       ((word & 0xffffffbf) == 0xd50323bf || (word & 0xfffffbff) == 0xd65f0bff);
}

/* Code that is neither of a module nor generated by a runtime: on a stack. */
static bool is_on_stack(const struct xc_crash_context *crash)
{
	uint64_t sp;
	const struct xc_process *p = crash->process;
	const struct xc_mapping *m = xc_process_mapping(p, crash->fault.frame.pc);
	return m && xc_regs_get(&crash->fault.frame.regs, p->arch->sp, &sp) && m == xc_process_mapping(p, sp);
}

bool xc_cause_trap_instruction(struct xc_crash_context *crash)
{
	struct trap trap;
	uint8_t code;
	const struct xc_fault *f = &crash->fault;
	if (find_trap(crash, &trap))
		classify_trap(crash, &trap);
	else if (f->frame_known && authenticates(crash))
		xc_crash_context_classify(crash, "hardware-guard", "pointer authentication", "high", "likely",
					  "a return address's signature did not fit: it was overwritten");
	else if (!f->frame_known || xc_space_peek(crash->process->space, f->frame.pc, &code, 1) != 1)
		xc_crash_context_classify(crash, "bad-instruction", NULL, "high", "guess", NULL);
	else if (is_on_stack(crash))
		xc_crash_context_classify(crash, "bad-instruction", NULL, "critical", "certain",
					  "control jumped to the stack, and the bytes there are not an instruction");
	else if (f->decoded)
		xc_crash_context_classify(crash, "bad-instruction", NULL, "high", "likely",
					  "the instruction is valid, but this processor does not support or allow it");
	else
		xc_crash_context_classify(crash, "bad-instruction", NULL, "high", "likely",
					  "the bytes at the program counter are not an instruction of this machine");
	return true;
}

/* ---- SIGTRAP ---- */

bool xc_cause_trap_breakpoint(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	struct trap trap;
	if (f->decoded)
		xc_crash_context_classify(crash, "trap-instruction", NULL, "low", "certain",
					  "a breakpoint instruction was executed without a debugger: one of the "
					  "program, or one that a debugger left behind");
	else if (find_trap(crash, &trap))
		classify_trap(crash, &trap);
	else if (f->code_known && f->code == TRAP_TRACE)
		xc_crash_context_classify(crash, "trap-instruction", "single step", "low", "certain",
					  "the processor was single-stepping without a debugger");
	else
		xc_crash_context_classify(crash, "trap-instruction", NULL, "low", "likely",
					  "a breakpoint or trap instruction was executed");
	return true;
}

bool xc_cause_trap_is_inserted(const struct xc_crash_context *crash)
{
	struct trap trap;
	bool breakpoint = crash->fault.signal == SIGTRAP && crash->fault.decoded;
	return !breakpoint && find_trap(crash, &trap) && is_inserted(&trap);
}

/* ---- SIGFPE ---- */

static void classify_division(struct xc_crash_context *crash)
{
	struct xc_division division = {.error = XC_DIVISION_UNKNOWN};
	if (crash->fault.frame_known)
		division = xc_division_find(crash->process, &crash->fault.frame.regs);
	xc_auto(xc_freep) char *cause =
		division.error == XC_DIVISION_ZERO ? xc_asprintf("an integer was divided by zero")
		: division.error == XC_DIVISION_OVERFLOW
			? xc_asprintf("the quotient of a division by %" PRId64 " does not fit into %u bits",
				      division.divisor, 8 * division.size)
			: xc_asprintf("an integer was divided by zero (or the quotient does not fit)");
	if (division.error == XC_DIVISION_OVERFLOW) /* the same signal and code */
		xc_crash_context_classify(crash, "arithmetic", "division overflow", "low", "certain", cause);
	else
		xc_crash_context_classify(crash, "div-by-zero", NULL, "low",
					  division.error == XC_DIVISION_ZERO ? "certain" : "likely", cause);
}

bool xc_cause_trap_arithmetic(struct xc_crash_context *crash)
{
	static const char *const kinds[] = {
		[FPE_INTOVF] = "integer overflow", [FPE_FLTDIV] = "float division by zero",
		[FPE_FLTOVF] = "float overflow",   [FPE_FLTUND] = "float underflow",
		[FPE_FLTRES] = "float inexact",    [FPE_FLTINV] = "float invalid",
		[FPE_FLTSUB] = "subscript",
	};
	const struct xc_fault *f = &crash->fault;
	size_t code = f->code_known && f->code > 0 ? (size_t)f->code : 0;
	if (code == FPE_INTDIV)
		classify_division(crash);
	else
		xc_crash_context_classify(crash, "arithmetic", code < XC_COUNT(kinds) ? kinds[code] : NULL, "low",
					  "certain", code ? xc_signal_code_text(SIGFPE, f->code) : NULL);
	return true;
}

/* ---- SIGSYS ---- */

bool xc_cause_trap_syscall(struct xc_crash_context *crash)
{
	int number = crash->process->signal.syscall_number;
	const struct xc_signal *signal = &crash->process->signal;
	if (!signal->has_info || signal->number != SIGSYS || crash->fault.sent) {
		xc_crash_context_classify(crash, "seccomp-kill", NULL, "info", "likely",
					  "a seccomp filter forbade a system call; which one is not known");
		return true;
	}
	xc_auto(xc_freep) char *name = xc_sandbox_call_name(crash->process->arch->machine, number);
	xc_auto(xc_freep) char *cause =
		xc_asprintf("a seccomp filter forbade the system call %s", name ? name : "of an unknown number");
	xc_crash_context_classify(crash, "seccomp-kill", name, "info", "certain", cause);
	xc_verdict_evidence(crash->report, "system call %d (%s)", number, name ? name : "unknown");
	return true;
}

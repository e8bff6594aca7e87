/* cause: the first class whose rule holds wins; every rule leaves its evidence.
 *
 * Abort messages need no debug information: libc keeps the text of its last words in __abort_msg (exported,
 * GLIBC_PRIVATE), a pointer to { uint32 size; char text[]; } (glibc 2.36, assert/assert.c and
 * sysdeps/posix/libc_fatal.c). Severity ranks what an attacker could make of it, not how likely that is. */
#include "cause.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../core/facts.h"
#include "../core/sandbox.h"
#include "../core/text.h"
#include "../dwarf/source_lines.h"
#include "../dwarf/symbol.h"
#include "blame.h"
#include "evidence.h"
#include "fault.h"

enum { MESSAGE_MAX = 1024, NULL_PAGES = 64 << 10, SOURCE_AROUND = 2, ABORT_DEPTH = 40 };

struct inquiry {
	struct xc_report *report;
	struct xc_process *process;
	struct xc_unwinder *unwinder;
	struct xc_verdict *verdict;
	struct xc_fault fault;
	char message[MESSAGE_MAX + 1]; /* last words, "" when there are none */
};

static const char *keep(const struct inquiry *q, const char *text)
{
	return xc_arena_strdup(&q->report->arena, text);
}

static void verdict(struct inquiry *q, const char *class_name, const char *severity, const char *confidence,
		    const char *cause)
{
	q->verdict->class_name = class_name;
	q->verdict->severity = severity;
	q->verdict->confidence = confidence;
	q->verdict->cause = cause;
}

/* ---- last words ---- */

static void read_abort_message(struct inquiry *q)
{
	const struct xc_process *p = q->process;
	xc_addr at;
	uint64_t text;
	if (!xc_symbol_find(p, "__abort_msg", NULL, &at) || !xc_space_peek_uint(p->space, at, p->arch->word, &text) ||
	    !text || xc_space_peek_string(p->space, text + 4, q->message, MESSAGE_MAX, NULL) < 0) {
		q->message[0] = '\0';
		return;
	}
	size_t len = strlen(q->message);
	while (len && (q->message[len - 1] == '\n' || q->message[len - 1] == ' '))
		q->message[--len] = '\0';
}

/* ---- the abort family ---- */

static bool message_has(const struct inquiry *q, const char *const *texts)
{
	for (; *texts; texts++)
		if (strstr(q->message, *texts))
			return true;
	return false;
}

static const char *passes(const struct inquiry *q, const char *const *names)
{
	return q->fault.frame_known ? xc_blame_passes(q->process, q->unwinder, &q->fault.frame, names, ABORT_DEPTH)
				    : NULL;
}

static bool heap_corruption(struct inquiry *q)
{
	static const char *const twice[] = {"double free", NULL};
	static const char *const overrun[] = {"invalid next size", "corrupted size vs. prev_size", "corrupted top size",
					      NULL};
	static const char *const pointer[] = {"free(): invalid pointer", "munmap_chunk(): invalid pointer",
					      "realloc(): invalid pointer", "mremap_chunk()", NULL};
	static const char *const lists[] = {"corrupted double-linked list",
					    "list corrupted",
					    "chunk detected",
					    "corrupted unsorted",
					    "malloc_consolidate()",
					    "too many chunks detected",
					    "invalid fastbin entry",
					    "break adjusted",
					    "tcache_thread_shutdown()",
					    "free(): invalid size",
					    "malloc(): memory corruption",
					    "invalid old size",
					    "malloc assertion failure",
					    "malloc(): invalid size",
					    NULL};
	const struct {
		const char *const *texts;
		const char *class_name, *severity, *cause;
	} kinds[] = {
		{twice, "heap-corruption (double free)", "high",
		 "the C library found that a block was freed a second time, or that its header was overwritten"},
		{overrun, "heap-corruption (overrun)", "high",
		 "the size of a heap block was overwritten: something wrote past the end of the block before it"},
		{pointer, "heap-corruption (bad pointer)", "high",
		 "free or realloc was given a pointer that malloc never returned"},
		{lists, "heap-corruption (list damage)", "high",
		 "the C library found its lists of free blocks damaged"},
	};
	for (size_t i = 0; i < XC_COUNT(kinds); i++)
		if (message_has(q, kinds[i].texts)) {
			verdict(q, kinds[i].class_name, kinds[i].severity, "certain", kinds[i].cause);
			return true;
		}
	return false;
}

static bool hardened_check(struct inquiry *q)
{
	static const char *const smash[] = {"stack smashing detected", NULL};
	static const char *const smash_frames[] = {"__stack_chk_fail", "__stack_chk_fail_local", NULL};
	static const char *const fortify[] = {"buffer overflow detected", "longjmp causes uninitialized", NULL};
	static const char *const fortify_frames[] = {"__chk_fail", "__fortify_fail", NULL};
	if (message_has(q, smash) || passes(q, smash_frames)) {
		verdict(q, "stack-smash", "high", "certain",
			"a function wrote past one of its local arrays, over its stack canary");
		return true;
	}
	if (message_has(q, fortify) || passes(q, fortify_frames)) {
		verdict(q, "fortify", "medium", "certain",
			"a checked C library call would have written past the end of its destination");
		return true;
	}
	return false;
}

static bool failed_assertion(struct inquiry *q)
{
	static const char *const texts[] = {"Assertion `", NULL};
	static const char *const frames[] = {"__assert_fail",
					     "__assert_fail_base",
					     "__assert_perror_fail",
					     "g_assertion_message",
					     "g_assertion_message_expr",
					     "__glibcxx_assert_fail",
					     NULL};
	if (!message_has(q, texts) && !passes(q, frames))
		return false;
	verdict(q, "assertion", "low", "certain", "an assertion of the program did not hold");
	return true;
}

static bool uncaught_exception(struct inquiry *q)
{
	static const char *const pure[] = {"__cxa_pure_virtual", NULL};
	static const char *const frames[] = {"__cxa_throw",
					     "__cxa_rethrow",
					     "std::terminate",
					     "__cxxabiv1::__terminate",
					     "__gnu_cxx::__verbose_terminate_handler",
					     "_Unwind_RaiseException",
					     NULL};
	if (passes(q, pure)) {
		verdict(q, "pure-virtual-call", "medium", "certain",
			"a pure virtual function was called: the object was being made or destroyed");
		return true;
	}
	if (!passes(q, frames))
		return false;
	verdict(q, "uncaught-exception", "low", "certain", "a C++ exception was thrown that nothing caught");
	return true;
}

static void killed(struct inquiry *q)
{
	bool other = q->fault.sent && q->process->signal.sender_pid != q->process->pid;
	verdict(q, "killed", "info", "certain",
		other ? "another process sent the signal: a watchdog, a service manager or a person" : NULL);
}

static void judge_abort(struct inquiry *q)
{
	if (heap_corruption(q) || hardened_check(q) || failed_assertion(q) || uncaught_exception(q))
		return;
	static const char *const frames[] = {"abort", "__GI_abort", NULL};
	if (passes(q, frames))
		verdict(q, "abort", "low", "certain", "the program called abort()");
	else if (!q->fault.sent || q->process->signal.sender_pid == q->process->pid)
		verdict(q, "abort", "low", "certain", "the program sent SIGABRT to itself");
	else
		killed(q);
}

/* ---- faults ---- */

static bool executable(const struct xc_process *p, xc_addr addr)
{
	const struct xc_mapping *m = xc_process_mapping(p, addr);
	return m && m->executable;
}

static bool judge_jump(struct inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	xc_addr target = f->computed ? f->addr : f->frame.pc;
	if (!f->frame_known || (f->computed ? f->access != XC_ACCESS_EXECUTE : executable(q->process, target)))
		return false;
	if (target < NULL_PAGES)
		verdict(q, "call-null", "medium", "certain", "a function pointer that is NULL was called");
	else if (xc_process_mapping(q->process, target))
		verdict(q, "exec-data", "critical", "certain", "control went to memory that holds data, not code");
	else
		verdict(q, "pc-control", "critical", "certain",
			"control went to an address where nothing is mapped: a damaged function pointer or return "
			"address");
	return true;
}

/* The kernel raised it without an address: a general protection fault. */
static void judge_protection(struct inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	bool write = f->access == XC_ACCESS_WRITE;
	if (f->computed && f->misaligned)
		verdict(q, "misaligned", "low", "likely", "the address was not aligned as the instruction demands");
	else if (f->computed)
		verdict(q, write ? "wild-write" : "wild-read", write ? "high" : "medium", "certain",
			"a damaged pointer was dereferenced: its value is no address");
	else if (f->decoded && f->instruction.halts)
		verdict(q, "trap-instruction", "low", "likely",
			"hlt was run, which C libraries put where a program must not go on");
	else if (f->decoded && f->instruction.privileged)
		verdict(q, "bad-instruction", "high", "likely", "an instruction was run that only the kernel may use");
	else
		verdict(q, "wild-access", "high", "likely",
			"the address was not canonical (a damaged pointer), or the instruction is privileged or "
			"misaligned");
}

/* A base register that is zero makes it sure; a small number in it may have other reasons. */
static void judge_null(struct inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	bool write = f->access == XC_ACCESS_WRITE, read = f->access == XC_ACCESS_READ;
	uint64_t base = 0;
	bool known = f->operand_known && f->operand.base >= 0 && xc_regs_get(&f->frame.regs, f->operand.base, &base);
	verdict(q,
		write  ? "null-write"
		: read ? "null-read"
		       : "null-access",
		write ? "medium" : "low", known && base ? "likely" : "certain",
		known && base ? "a pointer was dereferenced that is NULL plus an offset"
			      : "a pointer that is NULL was dereferenced");
}

static void judge_segv(struct inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	bool write = f->access == XC_ACCESS_WRITE, read = f->access == XC_ACCESS_READ;
	const struct xc_mapping *m = f->addr_known ? xc_process_mapping(q->process, f->addr) : NULL;
	if (judge_jump(q))
		return;
	if (xc_fault_is_stack_overflow(q->process, f))
		verdict(q, "stack-overflow", "low", "likely",
			"the stack is used up: recursion without an end, or locals larger than the stack");
	else if (f->code_known && f->code == SI_KERNEL)
		judge_protection(q);
	else if (f->addr_known && f->addr < NULL_PAGES)
		judge_null(q);
	else if (f->addr_known && m && f->code == SEGV_ACCERR)
		verdict(q, write && !m->writable ? "write-rodata" : "protected-access", "medium", "certain",
			write && !m->writable ? "memory was written that may only be read"
					      : "the page is mapped, but not for this kind of access");
	else if (f->addr_known)
		verdict(q,
			write  ? "wild-write"
			: read ? "wild-read"
			       : "wild-access",
			write ? "high" : "medium", "certain",
			"a pointer that leads to unmapped memory was dereferenced");
	else
		verdict(q, "memory-access", "medium", "guess", NULL);
}

static void judge_bus(struct inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	const struct xc_mapping *m = f->addr_known ? xc_process_mapping(q->process, f->addr) : NULL;
	if (f->code == BUS_ADRALN)
		verdict(q, "misaligned", "low", "certain", "an address was not aligned as the instruction demands");
	else if (f->code == BUS_MCEERR_AR || f->code == BUS_MCEERR_AO)
		verdict(q, "bad-hardware", "info", "certain", "the hardware reported a memory error");
	else if (m && m->path)
		verdict(q, "file-truncated", "low", "likely",
			"a page past the end of a mapped file was touched: the file was cut short");
	else
		verdict(q, "bus-error", "low", "likely", "a page of a mapping could not be had");
}

static void judge_arithmetic(struct inquiry *q)
{
	if (q->fault.code == FPE_INTDIV)
		verdict(q, "div-by-zero", "low", "certain",
			"an integer was divided by zero (or the quotient does not fit)");
	else
		verdict(q, "arithmetic", "low", "certain", xc_signal_code_text(SIGFPE, q->fault.code));
}

static void judge_instruction(struct inquiry *q)
{
	uint8_t code[2] = {0, 0};
	const struct xc_fault *f = &q->fault;
	bool readable = f->frame_known && xc_space_peek(q->process->space, f->frame.pc, code, 2) == 2;
	if (judge_jump(q))
		return;
	if (readable && code[0] == 0x0f && (code[1] == 0x0b || code[1] == 0xb9))
		verdict(q, "trap-instruction", "low", "certain",
			"a deliberate trap (ud2): __builtin_trap, unreachable code, or a sanitizer's check");
	else if (readable)
		verdict(q, "bad-instruction", "high", "likely",
			"the bytes at the program counter are no instruction of this machine");
	else
		verdict(q, "bad-instruction", "high", "guess", NULL);
}

static bool is_fault_signal(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

static void forbidden_call(const struct inquiry *q)
{
	int number = q->process->signal.syscall_number;
	xc_auto(xc_freep) char *name = xc_sandbox_call_name(q->process->arch->machine, number);
	xc_verdict_evidence(q->report, "system call %d (%s)", number, name ? name : "unknown");
}

static void judge(struct inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	if (f->sent && is_fault_signal(f->signal)) {
		verdict(q, "sent-by-user", "info", "certain",
			q->process->signal.sender_pid == q->process->pid
				? "the program sent it to itself, as crash handlers do: what came before is not in its "
				  "stack"
				: "the signal was sent by a process, not raised by an instruction");
		return;
	}
	switch (f->signal) {
	case SIGABRT:
		judge_abort(q);
		break;
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
	case SIGTRAP:
		verdict(q, "trap-instruction", "low", "likely", "a breakpoint or trap instruction was run");
		break;
	case SIGSYS:
		verdict(q, "seccomp-kill", "info", "certain",
			"a system call was made that the process had forbidden itself");
		forbidden_call(q);
		break;
	default:
		killed(q);
		break;
	}
}

/* ---- words ---- */

static void add_code(const struct inquiry *q, struct xc_text *text)
{
	const struct xc_fault *f = &q->fault;
	const char *name = xc_signal_code_name(f->signal, f->code);
	const char *words = !f->computed    ? xc_signal_code_text(f->signal, f->code)
			    : f->misaligned ? "not aligned"
					    : "not a canonical address";
	if (f->sent || !f->code_known)
		return;
	xc_text_printf(text, ", %s", words);
	if (name)
		xc_text_printf(text, " (%s)", name);
}

/* "SIGSEGV: wrote 8 bytes at 0x18, address not mapped (SEGV_MAPERR)". */
static void headline(struct inquiry *q)
{
	const struct xc_fault *f = &q->fault;
	const struct xc_signal *signal = &q->process->signal;
	struct xc_text text = {0};
	xc_text_printf(&text, "%s: ", xc_signal_name(f->signal));
	if (f->sent && f->code_known && signal->sender_pid == q->process->pid)
		xc_text_printf(&text, "%s%s", xc_signal_text(f->signal),
			       f->signal == SIGABRT ? "" : ", sent by itself");
	else if (f->sent && f->code_known)
		xc_text_printf(&text, "%s, sent by process %d (user %u)", xc_signal_text(f->signal),
			       (int)signal->sender_pid, (unsigned)signal->sender_uid);
	else if (f->addr_known && (f->signal == SIGSEGV || f->signal == SIGBUS))
		xc_fault_deed(f, &text);
	else
		xc_text_add(&text, xc_signal_text(f->signal));
	add_code(q, &text);
	q->verdict->headline = keep(q, xc_text_string(&text));
	xc_text_fini(&text);
}

static void locate(struct inquiry *q)
{
	struct xc_verdict *v = q->verdict;
	const struct xc_thread *thread = &q->process->threads[0];
	v->tid = thread->tid;
	v->thread_name = keep(q, thread->name);
	if (!q->fault.frame_known)
		return;
	struct xc_frame from = q->fault.frame;
	const char *stop;
	if (!executable(q->process, from.pc)) /* a jump to what is no code: who jumped? */
		(void)xc_unwind_step(q->unwinder, &from, &from, &stop);
	struct xc_blame blame = xc_blame_find(q->process, q->unwinder, &from);
	const struct xc_place *place = blame.place;
	if (place->module)
		v->module = keep(q, place->module->name);
	v->function = keep(q, place->symbol);
	if (place->level_count) {
		const struct xc_level *level = &place->levels[blame.level];
		if (level->function)
			v->function = keep(q, level->function);
		v->file = keep(q, level->file);
		v->line = level->line;
		xc_auto(xc_freep) char *source =
			xc_source_lines(q->process->sysroot, level->file, level->line, SOURCE_AROUND);
		v->source = keep(q, source);
	}
	if (blame.through && !q->fault.sent && q->fault.signal != SIGABRT)
		xc_verdict_evidence(q->report, "it happened inside %s (%s), called from there", blame.through,
				    blame.through_module);
}

void xc_cause(struct xc_report *report, struct xc_process *process)
{
	struct inquiry q = {.report = report, .process = process, .unwinder = xc_unwinder_new(process)};
	if (xc_fault_find(process, q.unwinder, &q.fault)) {
		q.verdict = xc_report_verdict(report);
		if (q.fault.signal == SIGABRT)
			read_abort_message(&q);
		if (q.message[0])
			q.verdict->message = keep(&q, q.message);
		judge(&q);
		headline(&q);
		locate(&q);
		xc_evidence_add(report, process, q.unwinder, &q.fault);
	}
	xc_unwinder_free(q.unwinder);
}

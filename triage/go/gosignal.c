/* gosignal: the signal is in the trampoline below sighandler() (Go 1.19, runtime/signal_unix.go, sighandler: `if
 * docrash`). */
#include "triage/go/gosignal.h"

#include <signal.h>
#include <string.h>

#include "core/facts/facts.h"
#include "triage/crash/cause_rule.h"
#include "triage/crash/signal_frame.h"
#include "triage/goroutine/goroutine.h"

enum { THREADS = 1000, FRAMES = 40, WRITES = 2, FETCHES = 16 }; /* the latter two: of x86's error code */

/* The signal of a handler. */
struct arrival {
	struct xc_signal_frame context;
	struct xc_frame frame; /* the interrupted one */
};

static bool is_handler(const struct xc_crash_context *crash, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(frame));
	const char *name = xc_place_outer_function(place);
	return name && strcmp(name, "runtime.sighandler") == 0;
}

/* The innermost signal that a thread handles in sighandler(). */
static bool find_arrival(const struct xc_crash_context *crash, const struct xc_thread *thread, struct arrival *out)
{
	struct xc_frame frame;
	const char *stop;
	bool handles = false;
	uint64_t sp;
	if (!xc_unwind_first(crash->unwinder, thread, &frame))
		return false;
	for (unsigned i = 0; i < FRAMES; i++) {
		struct xc_frame callee = frame;
		handles = handles || is_handler(crash, &frame);
		if (!xc_unwind_step(crash->unwinder, &callee, &frame, &stop))
			return false;
		if (!handles || !callee.signal)
			continue;
		out->frame = frame;
		return xc_regs_get(&callee.regs, crash->process->arch->sp, &sp) &&
		       xc_signal_frame_read(crash->process, callee.pc, sp, &out->context) && out->context.info_known;
	}
	return false;
}

static struct xc_fault fault_of(const struct xc_crash_context *crash, const struct arrival *a)
{
	const struct xc_signal_frame *c = &a->context;
	bool memory = (c->signal == SIGSEGV || c->signal == SIGBUS) && c->code > 0;
	struct xc_fault f = {.signal = c->signal,
			     .code = c->code,
			     .code_known = true,
			     .sent = c->code <= 0,
			     .addr_known = memory && c->code != SI_KERNEL,
			     .addr = c->info_addr,
			     .in_handler = true,
			     .outer_signal = crash->fault.signal,
			     .frame = a->frame,
			     .frame_known = true};
	if (memory && c->trap_known)
		f.access = c->error & FETCHES  ? XC_ACCESS_EXECUTE
			   : c->error & WRITES ? XC_ACCESS_WRITE
					       : XC_ACCESS_READ;
	f.decoded = !f.sent && xc_operand_decode(crash->process, &f.frame.regs, &f.instruction);
	const struct xc_memory_operand *operand =
		f.decoded && f.addr_known ? xc_operand_at(&f.instruction, f.addr, f.access) : NULL;
	if (operand) {
		f.operand_known = true;
		f.operand = *operand;
	}
	return f;
}

/* Continue with this thread, and the frames outward from the interrupted one. */
static void go_on_with(struct xc_crash_context *crash, const struct xc_thread *thread, const struct arrival *a)
{
	struct xc_frame *frames = xc_arena_alloc(&crash->report->arena, XC_CRASH_FRAMES * sizeof *frames);
	size_t count = 1;
	frames[0] = a->frame;
	while (count < XC_CRASH_FRAMES &&
	       xc_unwind_step(crash->unwinder, &frames[count - 1], &frames[count], &crash->stop))
		count++;
	crash->fault = fault_of(crash, a);
	crash->thread = crash->faulted = thread;
	crash->frames = frames;
	crash->frame_count = count;
	crash->blamed = 0;
	crash->blame = xc_blame_find(crash->process, crash->unwinder, &frames[0]);
	while (crash->blamed + 1 < count && frames[crash->blamed].index != crash->blame.frame.index)
		crash->blamed++;
	xc_goroutine_blame(crash, crash->blamed);
}

/* Signals that kill Go programs (Go 1.19, runtime/sigtab_linux_generic.go: _SigThrow, _SigPanic); without SIGQUIT,
 * which the runtime then sends to all of its threads. */
static bool is_deadly(int number)
{
	static const int deadly[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSTKFLT, SIGSYS};
	for (size_t i = 0; i < XC_COUNT(deadly); i++)
		if (deadly[i] == number)
			return true;
	return false;
}

/* Another process sent it. The sender in the core is Go's runtime, which raised the signal again. */
static void classify_sent(struct xc_crash_context *crash, pid_t sender)
{
	xc_crash_context_classify(crash, crash->fault.signal == SIGABRT ? "killed" : "sent-by-user", NULL, "info",
				  "certain",
				  "another process sent the signal: a watchdog, a service manager or a person");
	crash->verdict->headline =
		xc_arena_printf(&crash->report->arena, "%s: %s, sent by process %d",
				xc_signal_name(crash->fault.signal), xc_signal_text(crash->fault.signal), (int)sender);
}

static bool classify(struct xc_crash_context *crash, const struct xc_thread *thread, const struct arrival *a)
{
	bool other = thread != crash->thread;
	pid_t sender =
		(pid_t)(uint32_t)a->context.info_addr; /* si_pid has the place of si_addr: siginfo_t, offset 16 */
	go_on_with(crash, thread, a);
	if (other)
		xc_verdict_evidence(
			crash->report,
			"Go's runtime then asked all other threads for their stacks; the last of them made the core");
	if (crash->fault.sent && sender != crash->process->pid)
		classify_sent(crash, sender);
	else if (crash->fault.signal == SIGSYS)
		xc_crash_context_classify(crash, "seccomp-kill", NULL, "info", "likely",
					  "a seccomp filter forbade a system call; which one is not known");
	else if (!crash->fault.sent)
		xc_cause_rule_apply(crash, xc_cause_rule_event(&crash->fault));
	return crash->verdict->class_name != NULL;
}

bool xc_gosignal_classify(struct xc_crash_context *crash, size_t handler)
{
	const struct xc_process *p = crash->process;
	struct arrival a;
	if (handler >= crash->frame_count || !find_arrival(crash, crash->thread, &a))
		return false;
	int own = a.context.signal;
	if (is_deadly(own))
		return classify(crash, crash->thread, &a);
	for (size_t i = 0; i < p->thread_count && i < THREADS; i++)
		if (&p->threads[i] != crash->thread && find_arrival(crash, &p->threads[i], &a) &&
		    is_deadly(a.context.signal))
			return classify(crash, &p->threads[i], &a);
	if (own != SIGQUIT)
		return false;
	xc_crash_context_classify(crash, "dump-request", NULL, "info", "likely",
				  "a core was asked for with SIGQUIT: the program was not at fault");
	crash->verdict->headline = "SIGQUIT: a core was asked for";
	return true;
}

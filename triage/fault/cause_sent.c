/* cause_sent: the program is not at fault: another process sent the signal, or it sent the signal on purpose. */
#include "triage/fault/cause_sent.h"

#include <signal.h>

#include "core/facts/facts.h"
#include "triage/crash/handled_signal.h"

static const char by_other[] = "another process sent the signal: a watchdog, a service manager or a person";
static const char again[] = "the signal was sent, and sent again by its handler; its first sender is not known";

/* "the program sent itself SIGQUIT in its handler of SIGQUIT: where the first one came from is not known"; NULL: in
 * none. */
static const char *in_handler(const struct xc_crash_context *crash)
{
	const struct xc_handled_signal handled = xc_handled_signal_find(crash);
	const char *words = xc_handled_signal_words(crash, &handled);
	return words ? xc_arena_printf(&crash->report->arena, "the program sent itself %s %s",
				       xc_signal_name(crash->fault.signal), words)
		     : NULL;
}

/* How the signal came; NULL: the program sent it to itself, in no handler. */
static const char *sender(const struct xc_crash_context *crash)
{
	return xc_crash_context_sent_by_other(crash) ? by_other : crash->fault.resent ? again : in_handler(crash);
}

static void report_resent(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	if (f->resent && !f->first_sender)
		xc_verdict_evidence(
			crash->report,
			f->resent_sure ? "the instruction cannot raise %s, and there is no system call instruction: "
					 "the signal was pending until its handler returned"
				       : "all memory that the instruction accesses is mapped, so it likely did "
					 "not raise %s: the signal was pending until its handler returned",
			xc_signal_name(f->signal));
}

bool xc_cause_sent_fault(struct xc_crash_context *crash)
{
	const char *how = sender(crash);
	xc_crash_context_classify(crash, "sent-by-user", NULL, "info",
				  crash->fault.resent && !crash->fault.resent_sure ? "likely" : "certain",
				  how == by_other ? "the signal was sent by a process, not raised by an instruction"
				  : how           ? how
					: "the program sent the signal to itself, as crash handlers do: the stack "
					  "does not show what came before");
	report_resent(crash);
	return true;
}

/* SIGQUIT requests a core. A program that raises SIGTRAP or SIGQUIT itself wants to be inspected. */
bool xc_cause_sent_killed(struct xc_crash_context *crash)
{
	const char *how = sender(crash);
	if (crash->fault.signal == SIGQUIT)
		xc_crash_context_classify(
			crash, "dump-request", NULL, "info", "certain",
			how == by_other ? "another process or the terminal asked for a core with SIGQUIT: the program "
					  "was not at fault"
			: how           ? how
					: "the program asked for a core with SIGQUIT");
	else
		xc_crash_context_classify(crash, "killed", NULL, "info", "certain", how);
	report_resent(crash);
	return true;
}

/* cause_sent: the program is not at fault: another process sent the signal, or it sent the signal on purpose. */
#include "triage/fault/cause_sent.h"

#include <signal.h>

bool xc_cause_sent_fault(struct xc_crash_context *crash)
{
	xc_crash_context_classify(crash, "sent-by-user", NULL, "info", "certain",
				  crash->process->signal.sender_pid == crash->process->pid
					  ? "the program sent the signal to itself, as crash handlers do: the stack "
					    "does not show what came before"
					  : "the signal was sent by a process, not raised by an instruction");
	return true;
}

/* SIGQUIT requests a core. A program that raises SIGTRAP or SIGQUIT itself wants to be inspected. */
bool xc_cause_sent_killed(struct xc_crash_context *crash)
{
	bool other = xc_crash_context_sent_by_other(crash);
	if (crash->fault.signal == SIGQUIT)
		xc_crash_context_classify(
			crash, "dump-request", NULL, "info", "certain",
			other ? "another process or the terminal asked for a core with SIGQUIT: the program "
				"was not at fault"
			      : "the program asked for a core with SIGQUIT");
	else
		xc_crash_context_classify(
			crash, "killed", NULL, "info", "certain",
			other ? "another process sent the signal: a watchdog, a service manager or a person" : NULL);
	return true;
}

/* cause_abort: see cause_abort.h. More specific causes are tried before. */
#include "triage/runtime/cause_abort.h"

#include "core/process/module.h"
#include "triage/fault/cause_sent.h"

bool xc_cause_abort_called(const struct xc_crash_context *crash)
{
	static const char *const frames[] = {"abort", "__GI_abort", NULL};
	return xc_crash_context_find_name(crash, frames);
}

bool xc_cause_abort_sent(struct xc_crash_context *crash)
{
	bool sent = xc_crash_context_sent_by_other(crash) || crash->fault.resent;
	return sent && !xc_cause_abort_called(crash) && xc_cause_sent_killed(crash);
}

/* The caller of abort() has a name: then no frame in between would have given another class. */
static bool caller_named(const struct xc_crash_context *crash)
{
	const struct xc_place *place = crash->blame.place;
	return place && (place->symbol || place->level_count) && place->module && !xc_module_is_runtime(place->module);
}

bool xc_cause_abort_classify(struct xc_crash_context *crash)
{
	bool called = xc_cause_abort_called(crash);
	if (!caller_named(crash))
		xc_crash_context_classify(
			crash, "abort", NULL, "low", called ? "likely" : "guess",
			called ? "abort() was called; the caller is not known: it has no symbols"
			       : "the program ended itself with SIGABRT; why is not known: its stack could "
				 "not be read, or "
				 "has no names");
	else if (!called || !xc_fatal_call_classify(crash))
		xc_crash_context_classify(crash, "abort", NULL, "low", "certain",
					  called ? "the program called abort()" : "the program sent SIGABRT to itself");
	return true;
}

/* cause_abort: see cause_abort.h. Causes with a class of their own are tried before. */
#include "triage/runtime/cause_abort.h"

#include "core/process/module.h"
#include "triage/fault/cause_sent.h"

bool xc_cause_abort_called(const struct xc_crash_context *q)
{
	static const char *const frames[] = {"abort", "__GI_abort", NULL};
	return xc_crash_context_find_name(q, frames);
}

bool xc_cause_abort_sent(struct xc_crash_context *q)
{
	return xc_crash_context_sent_by_other(q) && !xc_cause_abort_called(q) && xc_cause_sent_killed(q);
}

/* Who called abort() can be named: then there was nothing in between that would have told of another class. */
static bool caller_named(const struct xc_crash_context *q)
{
	const struct xc_place *place = q->blame.place;
	return place && (place->symbol || place->level_count) && place->module && !xc_module_is_runtime(place->module);
}

bool xc_cause_abort_classify(struct xc_crash_context *q)
{
	bool called = xc_cause_abort_called(q);
	if (!caller_named(q))
		xc_crash_context_classify(q, "abort", NULL, "low", called ? "likely" : "guess",
				 called ? "abort() was called; by what is not known, there are no symbols of the caller"
					: "the program ended itself with SIGABRT; why is not known: its stack could "
					  "not be read, or "
					  "has no names");
	else
		xc_crash_context_classify(q, "abort", NULL, "low", "certain",
				 called ? "the program called abort()" : "the program sent SIGABRT to itself");
	return true;
}

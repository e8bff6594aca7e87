/* cause_abort: programs that ended themselves, by the text that libc left, else by the functions on the stack.
 *
 * Texts of glibc 2.36: malloc/malloc.c, debug/fortify_fail.c, debug/chk_fail.c, assert/assert.c. */
#include "triage/fault/cause_impl.h"

#include <signal.h>
#include <string.h>

#include "core/process/module.h"
#include "triage/runtime/assertion.h"
#include "triage/runtime/canary.h"
#include "triage/runtime/fortify.h"
#include "triage/runtime/given.h"
#include "triage/go/golang.h"
#include "triage/runtime/panic.h"
#include "triage/runtime/sanitizer.h"
#include "triage/runtime/shortage.h"
#include "triage/runtime/uncaught.h"

static bool message_has(const struct xc_inquiry *q, const char *const *texts)
{
	for (; q->verdict->message && *texts; texts++)
		if (strstr(q->verdict->message, *texts))
			return true;
	return false;
}

static bool heap_corruption(struct xc_inquiry *q)
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
		const char *kind, *cause;
	} kinds[] = {
		{twice, "double free",
		 "the C library found that a block was freed a second time, or that its header was overwritten"},
		{overrun, "overrun",
		 "the size of a heap block was overwritten: something wrote past the end of the block before it"},
		{pointer, "bad pointer", "free or realloc was given a pointer that malloc never returned"},
		{lists, "list damage", "the C library found its lists of free blocks damaged"},
	};
	for (size_t i = 0; i < XC_COUNT(kinds); i++)
		if (message_has(q, kinds[i].texts)) {
			xc_inquiry_class(q, "heap-corruption", kinds[i].kind, "high", "certain", kinds[i].cause);
			xc_given_tell(q);
			return true;
		}
	return false;
}

bool xc_cause_sent_by_other(const struct xc_inquiry *q)
{
	return q->fault.sent && q->process->signal.sender_pid != q->process->pid;
}

/* SIGQUIT asks for a core; who raises SIGTRAP or SIGQUIT in its own program wants to be looked at. */
void xc_cause_killed(struct xc_inquiry *q)
{
	bool other = xc_cause_sent_by_other(q);
	if (q->fault.signal == SIGQUIT)
		xc_inquiry_class(q, "dump-request", NULL, "info", "certain",
				 other ? "another process or the terminal asked for a core with SIGQUIT: the program "
					 "was not at fault"
				       : "the program asked for a core with SIGQUIT");
	else
		xc_inquiry_class(q, "killed", NULL, "info", "certain",
				 other ? "another process sent the signal: a watchdog, a service manager or a person"
				       : NULL);
}

/* Who called abort() can be named: then there was nothing in between that would have told of another class. */
static bool caller_named(const struct xc_inquiry *q)
{
	const struct xc_place *place = q->blame.place;
	return place && (place->symbol || place->level_count) && place->module && !xc_module_is_runtime(place->module);
}

void xc_cause_abort(struct xc_inquiry *q)
{
	static const char *const frames[] = {"abort", "__GI_abort", NULL};
	if (xc_golang_judge(q) || xc_sanitizer_judge(q) || heap_corruption(q) || xc_canary_judge(q) ||
	    xc_fortify_judge(q) || xc_assertion_judge(q) || xc_panic_judge(q) || xc_uncaught_judge(q))
		return;
	bool called = xc_inquiry_passes(q, frames);
	if (!called && xc_cause_sent_by_other(q))
		xc_cause_killed(q);
	else if (called && xc_shortage_judge(q))
		return;
	else if (!caller_named(q))
		xc_inquiry_class(q, "abort", NULL, "low", called ? "likely" : "guess",
				 called ? "abort() was called; by what is not known, there are no symbols of the caller"
					: "the program ended itself with SIGABRT; why is not known: its stack could "
					  "not be read, or "
					  "has no names");
	else
		xc_inquiry_class(q, "abort", NULL, "low", "certain",
				 called ? "the program called abort()" : "the program sent SIGABRT to itself");
}

/* sleep_loop: see sleep_loop.h. */
#include "triage/hang/sleep_loop.h"

#include "core/text/threadlabel.h"
#include "triage/hang/hang.h"
#include "triage/waits/waits.h"
#include "triage/loop/predicate.h"
#include "triage/util/imports.h"

enum { THREADS = 16 };

static void set_class(struct xc_crash_context *crash, const struct xc_wait *wait, const struct xc_predicate *p)
{
	struct xc_text text = {0}, name = {0};
	const char *function = xc_wait_function(wait);
	xc_text_name(&name, function ? function : "a function without a name");
	xc_threadlabel(&text, (int)wait->thread->tid, wait->thread->name);
	xc_text_add(&text, " sleeps in a loop of ");
	xc_wait_where(wait, &text);
	xc_text_printf(&text, ", that ends only by %s, which nothing in it changes: no other thread is left that could",
		       p->ends);
	crash->verdict = xc_report_verdict(crash->report);
	crash->verdict->headline = xc_arena_printf(
		&crash->report->arena, "hang: a loop of %s that sleeps likely never ends", xc_text_string(&name));
	xc_crash_context_classify(crash, "hang", "busy wait", "medium", "likely", xc_text_string(&text));
	crash->thread = wait->thread;
	crash->blame = (struct xc_blame){.place = wait->place, .level = wait->level, .frame = wait->frame};
	xc_verdict_involve(crash->report, wait->thread->tid);
	xc_text_fini(&text);
	xc_text_fini(&name);
}

bool xc_sleep_loop_classify(struct xc_crash_context *crash)
{
	struct xc_process *process = crash->process;
	const struct xc_waits *waits = xc_waits_of(process);
	bool dead = crash->verdict && crash->verdict->class_name;
	if (dead && !(xc_crash_context_is_signalled(crash) && xc_crash_context_sent_by_other(crash)))
		return false;
	for (size_t i = 0; i < waits->count && i < THREADS; i++) {
		const struct xc_wait *wait = &waits->items[i];
		if (!xc_predicate_sleeps(wait) ||
		    (waits->count > 1 && xc_hang_without(process, wait->thread) != XC_HANG_LIKELY))
			continue;
		const struct xc_predicate p = xc_predicate_look(crash, wait);
		if (p.state != XC_PREDICATE_FALSE || !p.ends || p.shared || xc_imports_handlers(process))
			continue;
		set_class(crash, wait, &p);
		return true;
	}
	return false;
}

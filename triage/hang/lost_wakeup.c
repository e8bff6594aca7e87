#include "triage/hang/lost_wakeup.h"

#include <string.h>

#include "core/base/text.h"
#include "triage/locks/lock_name.h"
#include "triage/waits/waits.h"

enum { PLACES = 4 };

/* The waits for one condition, by the functions that wait. */
struct sleepers {
	const struct xc_wait *first;
	const char *functions[PLACES];
	size_t counts[PLACES], place_count, all;
};

static bool is_condition(const struct xc_wait *wait)
{
	return wait->kind == XC_WAIT_CONDITION || wait->kind == XC_WAIT_RUST_CONDITION;
}

xc_addr xc_lost_wakeup_key(const struct xc_wait *wait)
{
	return wait->kind == XC_WAIT_CONDITION ? wait->word & ~(xc_addr)7 : wait->word;
}

static bool add(struct sleepers *s, const struct xc_wait *wait)
{
	const char *function = xc_wait_function(wait);
	size_t i = 0;
	if (!is_condition(wait) || !wait->word || !function ||
	    (s->first && xc_lost_wakeup_key(s->first) != xc_lost_wakeup_key(wait)))
		return false;
	s->first = s->first ? s->first : wait;
	s->all++;
	while (i < s->place_count && strcmp(s->functions[i], function) != 0)
		i++;
	if (i == PLACES)
		return true;
	s->functions[i] = function;
	s->counts[i]++;
	s->place_count += i == s->place_count;
	return true;
}

static void add_words(struct xc_process *process, const struct sleepers *s, struct xc_text *text)
{
	const char *name = xc_lock_name_expression(process, s->first);
	xc_text_printf(text, "%zu threads wait for one condition%s%s%s", s->all, name ? ", `" : "", name ? name : "",
		       name ? "`" : "");
	for (size_t i = 0; i < s->place_count; i++) {
		xc_text_printf(text, "%s %zu in ", i ? " and" : ":", s->counts[i]);
		xc_text_name(text, s->functions[i]);
	}
	xc_text_add(text, "; perhaps a lost wake-up (a guess): a signal that wakes only one, like notify_one() or "
			  "pthread_cond_signal(), may have reached one that waits for something else");
}

void xc_lost_wakeup_report(struct xc_crash_context *crash, const struct xc_thread *except)
{
	const struct xc_waits *waits = xc_waits_of(crash->process);
	struct sleepers s = {.first = NULL};
	struct xc_text text = {0};
	for (size_t i = 0; i < waits->count; i++)
		if (waits->items[i].thread != except && waits->items[i].kind != XC_WAIT_THREAD &&
		    !add(&s, &waits->items[i]))
			return;
	if (s.place_count < 2)
		return;
	add_words(crash->process, &s, &text);
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

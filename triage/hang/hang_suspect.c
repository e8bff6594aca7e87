/* hang_suspect: see hang_suspect.h. */
#include "triage/hang/hang_suspect.h"

#include <string.h>

#include "core/text/threadlabel.h"
#include "triage/hang/lost_wakeup.h"
#include "triage/locks/locks.h"

/* The first argument of a system call is told as the descriptor. */
static bool is_same_call(const struct xc_wait *a, const struct xc_wait *b)
{
	return a->kind != XC_WAIT_CALL || !a->thread->call_known || !b->thread->call_known ||
	       a->thread->call_args[0] == b->thread->call_args[0];
}

bool xc_hang_suspect_same(const struct xc_wait *a, const struct xc_wait *b)
{
	const char *one = xc_wait_function(a), *other = xc_wait_function(b);
	bool object = a->object == b->object && xc_lost_wakeup_key(a) == xc_lost_wakeup_key(b);
	return a->kind == b->kind && is_same_call(a, b) &&
	       (object || (a->kind == XC_WAIT_FUTURE && one && other)) && /* each waits for a result of its own */
	       (one && other ? strcmp(one, other) == 0 : one == other);
}

bool xc_hang_suspect_is_first(const struct xc_waits *waits, size_t index, const struct xc_thread *except)
{
	for (size_t i = 0; i < index; i++)
		if (waits->items[i].thread != except && xc_hang_suspect_same(&waits->items[i], &waits->items[index]))
			return false;
	return waits->items[index].thread != except;
}

static size_t count_alike(const struct xc_waits *waits, size_t index, const struct xc_thread *except)
{
	size_t count = 0;
	for (size_t i = index; i < waits->count; i++)
		count += waits->items[i].thread != except &&
			 xc_hang_suspect_same(&waits->items[i], &waits->items[index]);
	return count;
}

static bool is_for_lock(const struct xc_wait *wait)
{
	switch (wait->kind) {
	case XC_WAIT_MUTEX:
	case XC_WAIT_READ_LOCK:
	case XC_WAIT_WRITE_LOCK:
	case XC_WAIT_ONCE:
	case XC_WAIT_RUST_MUTEX:
	case XC_WAIT_RUST_READ:
	case XC_WAIT_RUST_WRITE:
	case XC_WAIT_LIBRARY_LOCK:
		return true;
	default:
		return false;
	}
}

/* Who holds the lock that a thread waits for, and so on: the first that waits for something else. The thread itself,
 * when that is not known. */
static const struct xc_wait *last_holder(struct xc_process *process, const struct xc_wait *wait)
{
	const struct xc_locks *locks = xc_locks_of(process);
	const struct xc_wait *at = wait;
	for (size_t steps = 0; is_for_lock(at) && steps < locks->waits->count; steps++) {
		const struct xc_lock *lock = xc_lock_awaited(locks, (size_t)(at - locks->waits->items));
		if (!lock || lock->holder == XC_LOCK_NOBODY)
			return wait;
		at = &locks->waits->items[lock->holder];
	}
	return at->has_place && !is_for_lock(at) ? at : wait;
}

/* ---- the choice ---- */

enum { JOINS = 1, IDLE = 3, OWN = 5, THERE = 7, LOCK = 8 };

static bool is_idle(const struct xc_hang_suspect *s)
{
	bool condition = s->wait->kind == XC_WAIT_CONDITION || s->wait->kind == XC_WAIT_RUST_CONDITION;
	return condition && s->threads > 1 && s->predicate.state != XC_PREDICATE_TRUE;
}

static int weight_of(const struct xc_hang_suspect *s)
{
	if (is_for_lock(s->wait))
		return LOCK;
	if (s->predicate.state == XC_PREDICATE_TRUE)
		return THERE;
	if (s->wait->kind == XC_WAIT_THREAD)
		return JOINS;
	return is_idle(s) ? IDLE : OWN;
}

static void collect(const struct xc_crash_context *crash, const struct xc_thread *except, struct xc_hang_suspects *out)
{
	const struct xc_waits *waits = xc_waits_of(crash->process);
	for (size_t i = 0; i < waits->count && out->count < XC_HANG_SUSPECTS; i++)
		if (xc_hang_suspect_is_first(waits, i, except))
			out->items[out->count++] =
				(struct xc_hang_suspect){.wait = &waits->items[i],
							 .threads = count_alike(waits, i, except),
							 .predicate = xc_predicate_look(crash, &waits->items[i])};
}

/* Not the first thread, if another is as good: it often only waits for the others. */
const struct xc_wait *xc_hang_suspect_find(const struct xc_crash_context *crash, const struct xc_thread *except,
					   struct xc_hang_suspects *out)
{
	const struct xc_waits *waits = xc_waits_of(crash->process);
	const struct xc_wait *best = NULL;
	int most = 0;
	*out = (struct xc_hang_suspects){.count = 0};
	collect(crash, except, out);
	for (size_t i = 0; i < out->count; i++) {
		const struct xc_hang_suspect *s = &out->items[i];
		int weight = s->wait->has_place ? weight_of(s) : 0;
		if (weight > most || (weight && weight == most && best == waits->items)) {
			best = s->wait;
			most = weight;
			out->lost = weight == THERE;
		}
	}
	return best ? last_holder(crash->process, best) : NULL;
}

/* ---- in words ---- */

/* Redacted: without the values that are tested. */
static void add_test(const struct xc_predicate *p, bool redacted, struct xc_text *text)
{
	if (p->ends && redacted)
		xc_text_add(text, "what it tests");
	else if (p->ends)
		xc_text_add(text, p->ends);
	else
		xc_text_printf(text, "what %s tests", p->where);
}

/* False: nothing is known of it. */
static bool add_suspect(const struct xc_hang_suspect *s, bool redacted, struct xc_text *text)
{
	const struct xc_predicate *p = &s->predicate;
	const bool tells = p->ends || p->where;
	xc_threadlabel(text, (int)s->wait->thread->tid, redacted ? NULL : s->wait->thread->name);
	if (p->state == XC_PREDICATE_TRUE) {
		xc_text_add(text, " would go on if it were woken");
		if (tells) {
			xc_text_add(text, ": its loop ends by ");
			add_test(p, redacted, text);
		}
		xc_text_add(text, ": the wake-up came before it waited, reached another thread, or was never sent");
	} else if (p->state == XC_PREDICATE_FALSE && tells) {
		xc_text_add(text, " would wait again if it were woken: its loop ends by ");
		add_test(p, redacted, text);
	} else if (p->state == XC_PREDICATE_NO_LOOP) {
		xc_text_add(text,
			    " waits in no loop that tests anything: a wake-up that came before it waited is lost");
	} else if (s->wait->kind == XC_WAIT_ATOMIC && p->ends) {
		xc_text_add(text, " waits until this is changed, and its waiters are notified: ");
		add_test(p, redacted, text);
	} else {
		return false;
	}
	return true;
}

/* Several threads wait for the same. */
static bool is_told(const struct xc_crash_context *crash, const char *text)
{
	const struct xc_verdict *v = crash->verdict;
	for (size_t i = 0; i < v->evidence_count; i++)
		if (strcmp(v->evidence[i], text) == 0)
			return true;
	return false;
}

/* "`batch.outstanding` is written in process (batch.c:41)" */
static void report_writers(const struct xc_crash_context *crash, const struct xc_hang_suspect *s)
{
	for (size_t i = 0; i < s->predicate.variable_count && s->predicate.state == XC_PREDICATE_FALSE; i++) {
		const struct xc_written *written = &s->predicate.variables[i];
		struct xc_text text = {0};
		struct xc_writers writers;
		if (!xc_writers_find(crash, s->wait->place, written, &writers))
			continue;
		xc_text_printf(&text, "`%s` ", written->name);
		xc_writers_text(crash, &writers, &text);
		if (!is_told(crash, xc_text_string(&text)))
			xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
		xc_text_fini(&text);
	}
}

/* "thread 17 waits for what is there already: `pool.queued` (2): it would go on if it were woken: the wake-up came
 * before it waited, reached another thread, or was never sent" */
void xc_hang_suspect_report(const struct xc_crash_context *crash, const struct xc_hang_suspects *suspects)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < suspects->count; i++) {
		text.len = 0;
		if (!add_suspect(&suspects->items[i], false, &text))
			continue;
		xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
		text.len = 0;
		add_suspect(&suspects->items[i], true, &text);
		xc_verdict_redact(crash->report, xc_text_string(&text));
		if (suspects->items[i].threads == 1)
			report_writers(crash, &suspects->items[i]);
	}
	xc_text_fini(&text);
}

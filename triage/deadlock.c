/* deadlock: the words about locks.
 *
 * In a core, and of threads that have not run between two looks, a circle is proved: the owner's id in a lock is written by its owner only,
 * after it has it and before it gives it back, and the owner sleeps in another lock. That an owner has ended is likely only: the list
 * of threads may be cut, ids are given anew. */
#include "deadlock.h"

#include <string.h>

enum { MEMBERS = 8, CONVOY = 2, CONVOYS = 4 };

static const struct xc_wait *wait_of(const struct xc_locks *l, size_t thread)
{
	return &l->waits->items[thread];
}

static void add_thread(const struct xc_locks *l, size_t index, struct xc_text *text)
{
	const struct xc_thread *thread = wait_of(l, index)->thread;
	xc_text_printf(text, "thread %d", (int)thread->tid);
	if (thread->name) {
		xc_text_add(text, " \"");
		xc_text_name(text, thread->name);
		xc_text_add(text, "\"");
	}
}

static const struct xc_lock *awaited(const struct xc_locks *l, size_t thread)
{
	return l->lock_of[thread] == XC_LOCK_NOBODY ? NULL : &l->locks[l->lock_of[thread]];
}

/* "thread 12 holds mutex `a` and waits for mutex `b` in f (x.c:4)". `before` waits for it. */
static void add_member(const struct xc_locks *l, size_t before, size_t index, struct xc_text *text)
{
	const struct xc_lock *held = awaited(l, before), *wanted = awaited(l, index);
	const struct xc_wait *wait = wait_of(l, index);
	add_thread(l, index, text);
	if (held) {
		xc_text_add(text, " holds ");
		xc_lock_words(held, text);
		xc_text_add(text, " and");
	}
	xc_text_add(text, " waits for ");
	if (wanted && before == index)
		xc_text_add(text, "it again");
	else if (wanted)
		xc_lock_words(wanted, text);
	else
		xc_text_printf(text, "thread %d to end", (int)wait->target);
	xc_text_add(text, " in ");
	xc_wait_where(wait, text);
}

static size_t member_before(const struct xc_cycle *cycle, size_t k)
{
	return cycle->members[k ? k - 1 : cycle->count - 1];
}

static void add_cycle(const struct xc_locks *l, const struct xc_cycle *cycle, struct xc_text *text)
{
	for (size_t k = 0; k < cycle->count && k < MEMBERS; k++) {
		xc_text_add(text, k ? "; " : "");
		add_member(l, member_before(cycle, k), cycle->members[k], text);
	}
	if (cycle->count > MEMBERS)
		xc_text_printf(text, "; and so on, %zu threads", cycle->count);
	if (cycle->timed)
		xc_text_add(text, "; one of them waits for a limited time only");
	if (cycle->guessed)
		xc_text_add(text,
			    "; that these are mutexes is told by their bytes alone: no function that locks is named "
			    "on the stacks");
}

/* ---- owners that have ended ---- */

/* The owner is no thread, though all are known. */
static bool is_orphan(const struct xc_process *p, const struct xc_lock *lock)
{
	return lock->known && lock->owner && lock->holder == XC_LOCK_NOBODY && !lock->shared && !lock->robust &&
	       !p->live && !p->missing_bytes;
}

static const struct xc_lock *orphan(const struct xc_process *p, const struct xc_locks *l)
{
	for (size_t i = 0; i < l->lock_count; i++)
		if (is_orphan(p, &l->locks[i]) && !wait_of(l, l->locks[i].first)->timed)
			return &l->locks[i];
	return NULL;
}

/* ---- the verdict ---- */

bool xc_deadlock_is(struct xc_process *process)
{
	const struct xc_locks *l = xc_locks_of(process);
	return l->cycle_count || orphan(process, l);
}

/* Did it end for no reason of its own, so that standing still is the reason? */
static bool explains(const struct xc_inquiry *q)
{
	return !q->verdict->class_name || xc_inquiry_is(q, "killed") || xc_inquiry_is(q, "dump-request") ||
	       (xc_inquiry_is(q, "abort") && !q->verdict->message);
}

static void blame(struct xc_inquiry *q, const struct xc_wait *wait)
{
	q->thread = wait->thread;
	q->blame = (struct xc_blame){.place = wait->place, .level = wait->level, .frame = wait->frame};
}

static void take_headline(struct xc_inquiry *q, struct xc_text *text)
{
	q->verdict->headline = xc_arena_strdup(&q->report->arena, xc_text_string(text));
	text->len = 0;
}

static void judge_cycle(struct xc_inquiry *q, const struct xc_locks *l, const struct xc_cycle *cycle)
{
	struct xc_text text = {0};
	bool aborted = xc_inquiry_is(q, "abort"); /* likely by a watchdog of its own: there are other reasons */
	if (cycle->count == 1)
		xc_text_printf(&text, "deadlock: a thread waits for %s",
			       awaited(l, cycle->members[0]) ? "a lock that it holds itself" : "its own end");
	else
		xc_text_printf(&text, "deadlock: %zu threads wait for each other", cycle->count);
	take_headline(q, &text);
	add_cycle(l, cycle, &text);
	xc_inquiry_class(q, "deadlock", cycle->count == 1 ? "self" : "cycle", "medium",
			 cycle->timed || cycle->guessed || aborted ? "likely" : "certain", xc_text_string(&text));
	xc_text_fini(&text);
	blame(q, wait_of(l, cycle->members[0]));
}

static void add_orphan(const struct xc_locks *l, const struct xc_lock *lock, struct xc_text *text)
{
	add_thread(l, lock->first, text);
	xc_text_add(text, " waits for ");
	xc_lock_words(lock, text);
	xc_text_add(text, " in ");
	xc_wait_where(wait_of(l, lock->first), text);
	xc_text_printf(text, "; thread %d, which took it, is not there any more: it ended without unlocking it",
		       (int)lock->owner);
}

static void judge_orphan(struct xc_inquiry *q, const struct xc_locks *l, const struct xc_lock *lock)
{
	struct xc_text text = {0};
	xc_text_add(&text, "deadlock: a thread waits for a lock whose owner has ended");
	take_headline(q, &text);
	add_orphan(l, lock, &text);
	xc_inquiry_class(q, "deadlock", "dead owner", "medium", "likely", xc_text_string(&text));
	xc_text_fini(&text);
	blame(q, wait_of(l, lock->first));
}

/* "5 threads wait for mutex `journal`, which thread 12 holds; that is in die_convoy (lock.c:155)" */
static void add_convoy(const struct xc_locks *l, const struct xc_lock *lock, struct xc_text *text)
{
	xc_text_printf(text, "%zu threads wait for ", lock->waiters);
	xc_lock_words(lock, text);
	if (lock->holder == XC_LOCK_NOBODY)
		return;
	xc_text_add(text, ", which ");
	add_thread(l, lock->holder, text);
	xc_text_add(text, " holds; that is in ");
	xc_wait_where(wait_of(l, lock->holder), text);
}

static void add_evidence(struct xc_inquiry *q, const struct xc_locks *l, size_t from)
{
	struct xc_text text = {0};
	size_t told = 0;
	for (size_t i = from; i < l->cycle_count && i < from + CONVOYS; i++) {
		text.len = 0;
		add_cycle(l, &l->cycles[i], &text);
		xc_verdict_evidence(q->report, "%s%s", from ? "also: " : "threads wait for each other: ", text.bytes);
	}
	for (size_t i = 0; i < l->lock_count && told < CONVOYS; i++) {
		const struct xc_lock *lock = &l->locks[i];
		if (lock->waiters < CONVOY || (lock->holder == XC_LOCK_NOBODY && !is_orphan(q->process, lock)))
			continue;
		text.len = 0;
		add_convoy(l, lock, &text);
		xc_verdict_evidence(q->report, "%s", text.bytes);
		told++;
	}
	xc_text_fini(&text);
}

void xc_deadlock_judge(struct xc_inquiry *q)
{
	const struct xc_locks *l = xc_locks_of(q->process);
	const struct xc_lock *lost = orphan(q->process, l);
	bool judged = explains(q) && (l->cycle_count || lost);
	if (judged && l->cycle_count)
		judge_cycle(q, l, &l->cycles[0]);
	else if (judged)
		judge_orphan(q, l, lost);
	if (judged || q->verdict->class_name)
		add_evidence(q, l, judged && l->cycle_count ? 1 : 0);
}

/* ---- the section ---- */

static void lock_row(struct xc_section *s, struct xc_table *table, const struct xc_locks *l, const struct xc_lock *lock)
{
	const char *why = !lock->known ? "its memory cannot be read" : lock->held ? "not recorded" : "nobody, just now";
	struct xc_text where = {0};
	if (lock->holder != XC_LOCK_NOBODY)
		xc_wait_where(wait_of(l, lock->holder), &where);
	else if (lock->owner)
		xc_text_add(&where, lock->shared ? "a thread of another process" : "no such thread any more");
	const struct xc_cell row[] = {
		xc_cell_text(lock->name),
		xc_cell_text(lock->is_rwlock ? "reader-writer lock" : "mutex"),
		xc_cell_address(lock->addr),
		lock->owner ? xc_cell_integer(lock->owner) : xc_cell_null(why),
		xc_cell_count(lock->readers),
		xc_cell_count(lock->waiters),
		where.len ? xc_cell_text(where.bytes) : xc_cell_null(why),
	};
	xc_table_row(s, table, row);
	xc_text_fini(&where);
}

static const char *name_of(const struct xc_lock *lock, struct xc_text *text)
{
	text->len = 0;
	if (!lock)
		return NULL;
	xc_text_name(text, lock->name);
	if (lock->is_local)
		xc_text_printf(text, " (0x%llx)", (unsigned long long)lock->addr);
	return text->bytes;
}

static void member_row(struct xc_section *s, struct xc_table *table, const struct xc_process *p,
		       const struct xc_locks *l, size_t cycle, size_t k)
{
	const struct xc_cycle *c = &l->cycles[cycle];
	size_t thread = c->members[k];
	const struct xc_wait *wait = wait_of(l, thread);
	struct xc_text held = {0}, wanted = {0}, stack = {0};
	const char *holds = name_of(awaited(l, member_before(c, k)), &held),
		   *wants = name_of(awaited(l, thread), &wanted);
	if (!wants)
		xc_text_printf(&wanted, "the end of thread %d", (int)wait->target);
	xc_wait_callers(p, wait, &stack);
	const struct xc_cell row[] = {
		xc_cell_count(cycle + 1),
		xc_cell_integer(wait->thread->tid),
		holds ? xc_cell_text(holds) : xc_cell_null("it is awaited itself"),
		xc_cell_text(wanted.bytes),
		xc_cell_text(stack.bytes),
	};
	xc_table_row(s, table, row);
	xc_text_fini(&held);
	xc_text_fini(&wanted);
	xc_text_fini(&stack);
}

static void cycle_table(struct xc_section *s, const struct xc_process *p, const struct xc_locks *l)
{
	static const struct xc_column columns[] = {
		{"cycle", "DEADLOCK", XC_FIELD_COUNT, false}, {"tid", "THREAD", XC_FIELD_INTEGER, false},
		{"holds", "HOLDS", XC_FIELD_TEXT, false},     {"waits", "WAITS FOR", XC_FIELD_TEXT, false},
		{"stack", "IN", XC_FIELD_TEXT, false},
	};
	if (!l->cycle_count)
		return;
	struct xc_table *table = xc_section_table(s, "deadlocks", columns, XC_COUNT(columns));
	for (size_t i = 0; i < l->cycle_count; i++)
		for (size_t k = 0; k < l->cycles[i].count; k++)
			member_row(s, table, p, l, i, k);
}

void xc_deadlock_report(struct xc_report *report, struct xc_process *process)
{
	static const struct xc_column columns[] = {
		{"lock", "LOCK", XC_FIELD_TEXT, false},
		{"kind", "KIND", XC_FIELD_TEXT, false},
		{"addr", "ADDRESS", XC_FIELD_ADDRESS, true},
		{"owner", "HELD BY", XC_FIELD_INTEGER, false},
		{"readers", "READERS", XC_FIELD_COUNT, true},
		{"waiting", "WAITING", XC_FIELD_COUNT, false},
		{"place", "WHERE THE OWNER IS", XC_FIELD_TEXT, false},
	};
	const struct xc_locks *l = xc_locks_of(process);
	if (!l->lock_count && !l->cycle_count)
		return;
	struct xc_section *s = xc_report_section(report, "locks", "Locks");
	cycle_table(s, process, l);
	struct xc_table *table = l->lock_count ? xc_section_table(s, "locks", columns, XC_COUNT(columns)) : NULL;
	for (size_t i = 0; i < l->lock_count; i++)
		lock_row(s, table, l, &l->locks[i]);
	struct xc_text text = {0};
	for (size_t i = 0; i < l->lock_count; i++)
		if (is_orphan(process, &l->locks[i])) {
			text.len = 0;
			add_orphan(l, &l->locks[i], &text);
			xc_section_message(s, XC_PROBLEM, NULL, "%s", text.bytes);
		}
	xc_text_fini(&text);
}

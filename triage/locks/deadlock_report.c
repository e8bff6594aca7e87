/* deadlock_report: the section of a report about locks. When there are many, the most important are listed: cycles
 * first, then by the number of waiting threads. */
#include <stdlib.h>

#include "triage/locks/deadlock.h"
#include "triage/locks/locks.h"
#include "triage/waits/namespace_tid.h"

enum { ROWS = 50, ORPHANS = 4 };

static struct xc_cell owner_cell(const struct xc_locks *l, const struct xc_lock *lock, const char *why)
{
	if (lock->holder != XC_LOCK_NOBODY)
		return xc_cell_integer(l->waits->items[lock->holder].thread->tid);
	if (lock->owner && l->waits->ids_are == XC_IDS_SAME)
		return xc_cell_integer(lock->owner);
	return xc_cell_null(lock->owner ? "its id in the list of threads is not known" : why);
}

static void add_owner_place(const struct xc_locks *l, const struct xc_lock *lock, struct xc_text *text)
{
	if (lock->holder != XC_LOCK_NOBODY) {
		if (lock->why)
			xc_text_printf(text, "likely, %s: ", lock->why);
		xc_wait_where(&l->waits->items[lock->holder], text);
	} else if (lock->owner) {
		if (l->waits->ids_are != XC_IDS_SAME) {
			xc_namespace_tid_describe(l->waits, lock->owner, text);
			xc_text_add(text, ": ");
		}
		xc_text_add(text, l->waits->ids_are == XC_IDS_UNKNOWN ? "the thread is not known"
				  : lock->shared                      ? "a thread of another process"
								      : "no such thread");
	}
}

static void lock_row(struct xc_section *s, struct xc_table *table, const struct xc_locks *l, const struct xc_lock *lock)
{
	const char *why = !lock->known ? "its memory cannot be read"
			  : lock->held ? "not recorded"
				       : "nobody at the moment";
	struct xc_text where = {0};
	add_owner_place(l, lock, &where);
	const struct xc_cell row[] = {
		xc_cell_text(lock->name),
		xc_cell_text(xc_lock_kind_text(lock)),
		xc_cell_address(lock->addr),
		owner_cell(l, lock, why),
		xc_cell_count(lock->readers),
		xc_cell_count(lock->waiters),
		where.len ? xc_cell_text(where.bytes) : xc_cell_null(why),
	};
	xc_table_row(s, table, row);
	xc_text_fini(&where);
}

static const char *name_of(const struct xc_lock *lock, bool held, struct xc_text *text)
{
	text->len = 0;
	if (!lock)
		return NULL;
	bool others = held && lock->is_shared_name;
	const char *name = others ? lock->held_name : lock->name;
	if (name)
		xc_text_name(text, name);
	else
		xc_text_printf(text, "0x%llx", (unsigned long long)lock->addr);
	if (name && lock->is_local)
		xc_text_printf(text, " (0x%llx)", (unsigned long long)lock->addr);
	return text->bytes;
}

/* The table of deadlocks while it is written. */
struct cycles {
	struct xc_section *section;
	struct xc_table *table;
	const struct xc_process *process;
	const struct xc_locks *locks;
	struct xc_unwinder *unwinder;
};

static void member_row(const struct cycles *to, size_t cycle, size_t k)
{
	const struct xc_cycle *c = &to->locks->cycles[cycle];
	size_t thread = c->members[k];
	const struct xc_wait *wait = &to->locks->waits->items[thread];
	struct xc_text held = {0}, wanted = {0}, stack = {0};
	const char *holds = name_of(xc_lock_awaited(to->locks, c->members[k ? k - 1 : c->count - 1]), true, &held),
		   *wants = name_of(xc_lock_awaited(to->locks, thread), false, &wanted);
	if (!wants)
		xc_text_printf(&wanted, "the end of thread %d", (int)wait->target);
	xc_wait_callers(to->process, wait, to->unwinder, &stack);
	const struct xc_cell row[] = {
		xc_cell_count(cycle + 1),
		xc_cell_integer(wait->thread->tid),
		holds ? xc_cell_text(holds) : xc_cell_null("its end is awaited"),
		xc_cell_text(wanted.bytes),
		xc_cell_text(stack.bytes),
	};
	xc_table_row(to->section, to->table, row);
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
	struct cycles to = {.section = s, .process = p, .locks = l, .unwinder = xc_unwinder_new(p)};
	to.table = xc_section_table(s, "deadlocks", columns, XC_COUNT(columns));
	size_t members = 0, listed = 0;
	for (size_t i = 0; i < l->cycle_count; members += l->cycles[i].count, i++)
		for (size_t k = 0; k < l->cycles[i].count && listed < ROWS; k++, listed++)
			member_row(&to, i, k);
	xc_unwinder_free(to.unwinder);
	if (listed < members)
		xc_section_message(s, XC_INFO, NULL, "%zu more thread%s in a circle", members - listed,
				   members - listed == 1 ? " waits" : "s wait");
}

static int by_weight(const void *a, const void *b)
{
	const struct xc_lock *x = *(const struct xc_lock *const *)a, *y = *(const struct xc_lock *const *)b;
	if (x->in_cycle != y->in_cycle)
		return x->in_cycle ? -1 : 1;
	if (x->waiters != y->waiters)
		return x->waiters > y->waiters ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void lock_table(struct xc_section *s, const struct xc_locks *l)
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
	if (!l->lock_count)
		return;
	struct xc_table *table = xc_section_table(s, "locks", columns, XC_COUNT(columns));
	const struct xc_lock **sorted = xc_alloc(l->lock_count * sizeof *sorted);
	size_t waiters = 0;
	for (size_t i = 0; i < l->lock_count; i++)
		sorted[i] = &l->locks[i];
	qsort(sorted, l->lock_count, sizeof *sorted, by_weight);
	for (size_t i = 0; i < l->lock_count; i++)
		if (i < ROWS)
			lock_row(s, table, l, sorted[i]);
		else
			waiters += sorted[i]->waiters;
	free(sorted);
	if (l->lock_count > ROWS)
		xc_section_message(s, XC_INFO, NULL, "%zu more lock%s, which %zu thread%s for", l->lock_count - ROWS,
				   l->lock_count - ROWS == 1 ? "" : "s", waiters, waiters == 1 ? " waits" : "s wait");
}

static void report_orphans(struct xc_section *s, const struct xc_process *p, const struct xc_locks *l)
{
	struct xc_text text = {0};
	size_t found = 0;
	for (size_t i = 0; i < l->lock_count; i++) {
		if (!xc_lock_is_orphan(p, l, &l->locks[i]) || ++found > ORPHANS)
			continue;
		text.len = 0;
		xc_deadlock_describe_orphan(p, l, &l->locks[i], &text);
		xc_section_message(s, XC_PROBLEM, NULL, "%s", text.bytes);
	}
	xc_text_fini(&text);
	if (found > ORPHANS)
		xc_section_message(s, XC_PROBLEM, NULL, "%zu more lock%s by threads that do not exist", found - ORPHANS,
				   found - ORPHANS == 1 ? " was taken" : "s were taken");
}

void xc_deadlock_report(struct xc_report *report, struct xc_process *process)
{
	const struct xc_locks *l = xc_locks_of(process);
	if (!l->lock_count && !l->cycle_count)
		return;
	struct xc_section *s = xc_report_section(report, "locks", "Locks");
	cycle_table(s, process, l);
	lock_table(s, l);
	report_orphans(s, process, l);
}

/* locktable: the section of a report about locks. */
#include "deadlock.h"

static void lock_row(struct xc_section *s, struct xc_table *table, const struct xc_locks *l, const struct xc_lock *lock)
{
	const char *why = !lock->known ? "its memory cannot be read" : lock->held ? "not recorded" : "nobody, just now";
	pid_t owner = lock->holder == XC_LOCK_NOBODY ? lock->owner : l->waits->items[lock->holder].thread->tid;
	struct xc_text where = {0};
	if (lock->holder != XC_LOCK_NOBODY) {
		if (lock->why)
			xc_text_printf(&where, "likely, %s: ", lock->why);
		xc_wait_where(&l->waits->items[lock->holder], &where);
	} else if (lock->owner)
		xc_text_add(&where, lock->shared ? "a thread of another process" : "no such thread any more");
	const struct xc_cell row[] = {
		xc_cell_text(lock->name),
		xc_cell_text(xc_lock_kind_text(lock)),
		xc_cell_address(lock->addr),
		owner ? xc_cell_integer(owner) : xc_cell_null(why),
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

static const struct xc_lock *awaited(const struct xc_locks *l, size_t thread)
{
	return l->lock_of[thread] == XC_LOCK_NOBODY ? NULL : &l->locks[l->lock_of[thread]];
}

static void member_row(struct xc_section *s, struct xc_table *table, const struct xc_process *p,
		       const struct xc_locks *l, size_t cycle, size_t k)
{
	const struct xc_cycle *c = &l->cycles[cycle];
	size_t thread = c->members[k];
	const struct xc_wait *wait = &l->waits->items[thread];
	struct xc_text held = {0}, wanted = {0}, stack = {0};
	const char *holds = name_of(awaited(l, c->members[k ? k - 1 : c->count - 1]), &held),
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
		if (xc_deadlock_orphan(process, &l->locks[i])) {
			text.len = 0;
			xc_deadlock_orphan_words(l, &l->locks[i], &text);
			xc_section_message(s, XC_PROBLEM, NULL, "%s", text.bytes);
		}
	xc_text_fini(&text);
}

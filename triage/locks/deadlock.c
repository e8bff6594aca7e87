/* deadlock: verdicts and evidence about locks.
 *
 * In a core, and for threads that have not run between two reads, a cycle is proof: only the owner writes its id
 * into a lock, after locking and before unlocking, and the owner sleeps in another lock. A missing owner is only
 * likely: the list of threads may be truncated, and ids are reused. */
#include "triage/locks/deadlock.h"

#include <string.h>

#include "core/live/live.h"
#include "core/text/threadlabel.h"
#include "triage/util/sourceline.h"
#include "triage/locks/locks.h"
#include "triage/waits/namespace_tid.h"
#include "triage/waits/wait_kind.h"
#include "triage/waits/waits.h"
#include "triage/locks/wait_report.h"

enum { MEMBERS = 8, CONVOY = 2, CONVOYS = 4, INVOLVED = 16 };

static const struct xc_wait *wait_of(const struct xc_locks *l, size_t thread)
{
	return &l->waits->items[thread];
}

static void add_thread(const struct xc_locks *l, size_t index, struct xc_text *text)
{
	const struct xc_thread *thread = wait_of(l, index)->thread;
	xc_threadlabel(text, (int)thread->tid, thread->name);
}

/* " holds mutex `a`", " likely holds mutex `a` (its variable `b` is a guard of it)", " runs one-time initialization
 * `c`" */
static void add_held(const struct xc_lock *lock, struct xc_text *text)
{
	xc_text_add(text, lock->why ? " likely" : "");
	xc_text_add(text, lock->kind == XC_LOCK_ONCE ? " runs " : " holds ");
	xc_lock_describe_held(lock, text);
	if (!lock->why)
		return;
	xc_text_add(text, " (");
	xc_text_name(text, lock->why);
	xc_text_add(text, ")");
}

/* ", called by f in a signal handler, which interrupted g" */
static void add_handler(const struct xc_wait *wait, struct xc_text *text)
{
	const char *interrupted = wait->interrupted_own ? wait->interrupted_own : wait->interrupted;
	const char *function = xc_wait_function(wait);
	if (!wait->handler)
		return;
	if (function && strcmp(function, wait->handler) == 0) {
		xc_text_add(text, ", in a signal handler"); /* which may have called it last, by a jump */
	} else {
		xc_text_add(text, ", called by ");
		xc_text_name(text, wait->handler);
		xc_text_add(text, " in a signal handler");
	}
	xc_text_add(text, interrupted ? ", which interrupted " : "");
	xc_text_name(text, interrupted);
}

/* "thread 12 holds mutex `a` and waits for mutex `b` in f (x.c:4)". `before` waits for it. */
static void add_member(const struct xc_locks *l, size_t before, size_t index, struct xc_text *text)
{
	const struct xc_lock *held = xc_lock_awaited(l, before), *wanted = xc_lock_awaited(l, index);
	const struct xc_wait *wait = wait_of(l, index);
	add_thread(l, index, text);
	if (held) {
		add_held(held, text);
		xc_text_add(text, " and");
	}
	xc_text_add(text, " waits for ");
	if (wanted && before == index)
		xc_text_add(text, "it again");
	else if (wanted)
		xc_lock_describe(wanted, text);
	else
		xc_text_printf(text, "thread %d to end", (int)wait->target);
	xc_text_add(text, " in ");
	xc_wait_where(wait, text);
	add_handler(wait, text);
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
		xc_text_add(text, "; these are mutexes by their bytes alone: the stacks name no locking function");
}

/* ---- owners that are not there ---- */

static const struct xc_lock *orphan(const struct xc_process *p, const struct xc_locks *l)
{
	for (size_t i = 0; i < l->lock_count; i++)
		if (xc_lock_is_orphan(p, l, &l->locks[i]) && !wait_of(l, l->locks[i].first)->timed)
			return &l->locks[i];
	return NULL;
}

/* ---- the verdict ---- */

bool xc_deadlock_exists(struct xc_process *process)
{
	const struct xc_locks *l = xc_locks_of(process);
	return l->cycle_count || orphan(process, l);
}

/* The lock of the program with a known holder that most threads wait for. malloc and the C library hold theirs for
 * moments. */
static const struct xc_lock *held(const struct xc_process *p, const struct xc_locks *l)
{
	const struct xc_lock *best = NULL;
	for (size_t i = 0; i < l->lock_count; i++) {
		const struct xc_lock *lock = &l->locks[i];
		if (lock->holder == XC_LOCK_NOBODY || lock->kind == XC_LOCK_ARENA || lock->kind == XC_LOCK_LIBRARY ||
		    wait_of(l, lock->first)->timed ||
		    (p->live && !xc_live_thread_slept(p, wait_of(l, lock->first)->thread)))
			continue;
		if (!best || lock->waiters > best->waiters)
			best = lock;
	}
	return best;
}

bool xc_deadlock_is_held(struct xc_process *process)
{
	return held(process, xc_locks_of(process)) != NULL;
}

/* The process did not die by itself: a signal asked for it. */
static bool was_asked_for(const struct xc_crash_context *crash)
{
	return xc_crash_context_is(crash, "killed") || xc_crash_context_is(crash, "dump-request");
}

/* Did it end for no reason of its own, so that the hang is the reason? */
static bool explains(const struct xc_crash_context *crash)
{
	return !crash->verdict->class_name || was_asked_for(crash) ||
	       (xc_crash_context_is(crash, "abort") && !crash->verdict->message);
}

static void blame(struct xc_crash_context *crash, const struct xc_wait *wait)
{
	crash->thread = wait->thread;
	crash->blame = (struct xc_blame){.place = wait->place, .level = wait->level, .frame = wait->frame};
}

static void take_headline(struct xc_crash_context *crash, struct xc_text *text)
{
	crash->verdict->headline = xc_arena_strdup(&crash->report->arena, xc_text_string(text));
	text->len = 0;
}

/* The threads that wait are blamed. The function that called abort() is reported as well: it may have had another
 * reason. */
static void report_aborter(const struct xc_crash_context *crash)
{
	struct xc_text text = {0};
	if (!crash->blame.place)
		return;
	xc_text_add(&text, xc_crash_context_culprit(crash));
	xc_sourceline(crash->blame.place, crash->blame.level, ", ", &text);
	xc_verdict_evidence(crash->report, "the abort came from %s: a watchdog, or for another reason",
			    xc_text_string(&text));
	xc_text_fini(&text);
}

static void add_headline(const struct xc_locks *l, const struct xc_cycle *cycle, struct xc_text *text)
{
	const struct xc_lock *lock = xc_lock_awaited(l, cycle->members[0]);
	const struct xc_wait *wait = wait_of(l, cycle->members[0]);
	xc_text_add(text, "deadlock: ");
	if (cycle->count > 1)
		xc_text_printf(text, "%zu threads wait for each other", cycle->count);
	else if (!lock)
		xc_text_add(text, "a thread waits for its own end");
	else if (lock->kind == XC_LOCK_ARENA && wait->handler)
		xc_text_add(text,
			    "a signal handler calls malloc and interrupted malloc, which is not async-signal-safe");
	else if (lock->kind == XC_LOCK_ONCE)
		xc_text_add(text, "a one-time initialization waits for itself");
	else
		xc_text_printf(text, "a thread waits for a lock that it %s itself",
			       lock->why ? "likely holds" : "holds");
}

/* Some members of a large cycle: their stacks must fit into a record. */
static void involve(const struct xc_crash_context *crash, const struct xc_locks *l, const struct xc_cycle *cycle)
{
	for (size_t i = 0; i < cycle->count && i < INVOLVED; i++)
		xc_verdict_involve(crash->report, wait_of(l, cycle->members[i])->thread->tid);
}

static void classify_cycle(struct xc_crash_context *crash, const struct xc_locks *l, const struct xc_cycle *cycle)
{
	struct xc_text text = {0};
	bool aborted =
		xc_crash_context_is(crash, "abort"); /* likely by the program's own watchdog: there are other reasons */
	bool likely = cycle->timed || cycle->guessed || cycle->likely || aborted;
	add_headline(l, cycle, &text);
	take_headline(crash, &text);
	add_cycle(l, cycle, &text);
	xc_crash_context_classify(crash, "deadlock", cycle->count == 1 ? "self" : "cycle", "medium",
				  likely ? "likely" : "certain", xc_text_string(&text));
	xc_text_fini(&text);
	if (aborted)
		report_aborter(crash);
	blame(crash, wait_of(l, cycle->members[0]));
	involve(crash, l, cycle);
}

/* Is the id older than the process? Ids are assigned in order, and start again at the lowest when all were used. */
static bool is_older(const struct xc_process *p, const struct xc_locks *l, pid_t owner)
{
	return l->waits->ids_are == XC_IDS_SAME && owner < p->pid;
}

void xc_deadlock_describe_orphan(const struct xc_process *p, const struct xc_locks *l, const struct xc_lock *lock,
				 struct xc_text *text)
{
	add_thread(l, lock->first, text);
	xc_text_add(text, " waits for ");
	xc_lock_describe(lock, text);
	xc_text_add(text, " in ");
	xc_wait_where(wait_of(l, lock->first), text);
	xc_text_add(text, "; ");
	xc_namespace_tid_describe(l->waits, lock->owner, text);
	xc_text_add(text, ", which took it, does not exist");
	xc_text_add(text, is_older(p, l, lock->owner)
				  ? ": its id is older than the process, so it likely took the lock before fork(), "
				    "which copies only the calling thread"
				  : " any more: it ended without unlocking it, or fork() did not copy it");
}

static void involve_waiters(const struct xc_crash_context *crash, const struct xc_locks *l, const struct xc_lock *lock)
{
	size_t involved = 0;
	for (size_t i = 0; i < l->waits->count && involved < INVOLVED; i++)
		if (xc_lock_awaited(l, i) == lock) {
			xc_verdict_involve(crash->report, wait_of(l, i)->thread->tid);
			involved++;
		}
}

static void classify_orphan(struct xc_crash_context *crash, const struct xc_locks *l, const struct xc_lock *lock)
{
	struct xc_text text = {0};
	xc_text_add(&text, "deadlock: a thread waits for a lock whose owner does not exist");
	take_headline(crash, &text);
	xc_deadlock_describe_orphan(crash->process, l, lock, &text);
	xc_crash_context_classify(crash, "deadlock", "dead owner", "medium", "likely", xc_text_string(&text));
	xc_text_fini(&text);
	blame(crash, wait_of(l, lock->first));
	involve_waiters(crash, l, lock);
}

/* ---- who keeps others waiting ---- */

/* A process that was asked to end, or to dump core, is blamed where its thread waits, not in the library around
 * that. */
static void blame_waiter(struct xc_crash_context *crash, const struct xc_locks *l)
{
	const struct xc_wait *wait = crash->thread ? xc_waits_thread(l->waits, crash->thread->tid) : NULL;
	if (was_asked_for(crash) && wait && wait->has_place)
		blame(crash, wait);
}

/* "write to descriptor 4, in journalist (x.c:4)", "it runs, in counter (x.c:9)". Only the function is known for a
 * call that the dump interrupted after a partial transfer. */
static void add_deed(struct xc_process *p, const struct xc_wait *wait, bool paths, struct xc_text *text)
{
	size_t before = text->len;
	xc_wait_report_describe(p, wait, paths, text);
	if (text->len == before && wait->through)
		xc_text_printf(text, "in %s()", xc_wait_kind_plain(wait->through));
	else if (text->len == before)
		xc_text_add(text, "it runs");
	if (!wait->place) /* of a live process: no stack of what runs */
		return;
	xc_text_add(text, ", in ");
	xc_wait_where(wait, text);
}

/* "5 threads wait for mutex `journal`, which thread 12 holds: sleep, 59.794 s left, in die_convoy (lock.c:155)" */
static void add_queue(struct xc_process *p, const struct xc_locks *l, const struct xc_lock *lock, bool paths,
		      struct xc_text *text)
{
	if (lock->waiters == 1)
		add_thread(l, lock->first, text);
	else
		xc_text_printf(text, "%zu threads", lock->waiters);
	xc_text_add(text, lock->waiters == 1 ? " waits for " : " wait for ");
	xc_lock_describe(lock, text);
	if (lock->waiters == 1) {
		xc_text_add(text, " in ");
		xc_wait_where(wait_of(l, lock->first), text);
	}
	if (lock->in_cycle) {
		xc_text_add(text, ", which the deadlock keeps");
		return;
	}
	if (lock->holder == XC_LOCK_NOBODY) {
		if (lock->readers)
			xc_text_printf(text, ", which %u reader%s not recorded", (unsigned)lock->readers,
				       lock->readers == 1 ? " holds; its thread is" : "s hold; their threads are");
		else if (lock->owner) {
			xc_text_add(text, ", which ");
			xc_lock_describe_owner(l, lock, text);
			xc_text_add(text, " holds");
		} else {
			xc_text_add(text, "; its holder is not recorded");
		}
		return;
	}
	xc_text_add(text, ", which ");
	add_thread(l, lock->holder, text);
	xc_text_printf(text, "%s %s", lock->why ? " likely" : "", lock->kind == XC_LOCK_ONCE ? "runs" : "holds");
	if (lock->why) {
		xc_text_add(text, " (");
		xc_text_name(text, lock->why);
		xc_text_add(text, ")");
	}
	xc_text_add(text, ": ");
	add_deed(p, wait_of(l, lock->holder), paths, text);
}

/* A lock outside of any cycle that several threads wait for; or one thread, when the process was hung. */
static bool is_queue(const struct xc_crash_context *crash, const struct xc_locks *l, const struct xc_lock *lock)
{
	bool hung = xc_crash_context_is(crash, "deadlock") || xc_crash_context_is(crash, "hang");
	size_t least = explains(crash) || hung ? 1 : CONVOY;
	if (lock->waiters < least || xc_lock_is_orphan(crash->process, l, lock))
		return false;
	if (lock->in_cycle && lock->waiters < CONVOY)
		return false;
	return lock->holder != XC_LOCK_NOBODY || lock->readers || (lock->known && lock->held && lock->ownerless) ||
	       (lock->owner && (lock->shared || l->waits->ids_are == XC_IDS_UNKNOWN));
}

/* Sorted by the number of waiting threads. */
static const struct xc_lock *next_queue(const struct xc_crash_context *crash, const struct xc_locks *l,
					const struct xc_lock *after)
{
	const struct xc_lock *best = NULL;
	for (size_t i = 0; i < l->lock_count; i++) {
		const struct xc_lock *lock = &l->locks[i];
		bool later = !after || lock->waiters < after->waiters ||
			     (lock->waiters == after->waiters && lock->addr > after->addr);
		if (later && is_queue(crash, l, lock) && (!best || lock->waiters > best->waiters))
			best = lock;
	}
	return best;
}

/* The process was killed while it was hung, or seemed so: blame the owner of the lock. */
static void blame_owner(struct xc_crash_context *crash, const struct xc_locks *l, const struct xc_lock *lock)
{
	if (lock->holder != XC_LOCK_NOBODY && wait_of(l, lock->holder)->has_place)
		blame(crash, wait_of(l, lock->holder));
}

/* The cause has no targets of descriptors. */
static void report_queue(struct xc_crash_context *crash, const struct xc_locks *l, const struct xc_lock *lock,
			 bool cause)
{
	struct xc_text text = {0}, bare = {0};
	bool secret = lock->holder != XC_LOCK_NOBODY && wait_of(l, lock->holder)->thread->call_file;
	add_queue(crash->process, l, lock, true, &text);
	add_queue(crash->process, l, lock, false, &bare);
	if (cause)
		crash->verdict->cause =
			xc_arena_printf(&crash->report->arena, "%s; %s", crash->verdict->cause, bare.bytes);
	if (!cause || secret)
		xc_verdict_evidence(crash->report, "%s", text.bytes);
	if (secret)
		xc_verdict_redact(crash->report, bare.bytes);
	xc_text_fini(&text);
	xc_text_fini(&bare);
}

static void report_queues(struct xc_crash_context *crash, const struct xc_locks *l)
{
	const struct xc_lock *lock = next_queue(crash, l, NULL);
	bool asked = was_asked_for(crash) && crash->verdict->cause;
	if (lock && asked)
		blame_owner(crash, l, lock);
	for (size_t told = 0; lock && told < CONVOYS; told++, lock = next_queue(crash, l, lock))
		report_queue(crash, l, lock, !told && asked);
}

static void report_inherited(struct xc_crash_context *crash, const struct xc_locks *l)
{
	struct xc_text text = {0};
	for (size_t i = 0, told = 0; i < l->lock_count && told < CONVOYS; i++) {
		const struct xc_lock *lock = &l->locks[i];
		if (!lock->inherited && !lock->died)
			continue;
		text.len = 0;
		xc_lock_describe(lock, &text);
		xc_text_add(&text, lock->died ? ": its owner ended while holding it, and nobody has taken it since"
					      : ": a former owner ended while holding it; the new owner has not called "
						"pthread_mutex_consistent()");
		xc_verdict_evidence(crash->report, "%s", text.bytes);
		told++;
	}
	xc_text_fini(&text);
}

static void add_evidence(struct xc_crash_context *crash, const struct xc_locks *l, size_t from)
{
	struct xc_text text = {0};
	for (size_t i = from; i < l->cycle_count && i < from + CONVOYS; i++) {
		text.len = 0;
		add_cycle(l, &l->cycles[i], &text);
		xc_verdict_evidence(crash->report, "%s%s",
				    from ? "also: " : "threads wait for each other: ", text.bytes);
	}
	xc_text_fini(&text);
	report_queues(crash, l);
	report_inherited(crash, l);
	if (l->limits)
		xc_verdict_evidence(crash->report,
				    "missing: holders of locks that record no owner were searched for only %s",
				    l->limits);
}

/* The table of locks has the others. */
static void classify_held(struct xc_crash_context *crash, const struct xc_locks *l, const struct xc_lock *lock)
{
	struct xc_text text = {0};
	xc_text_printf(&text, "%zu thread%s for a lock that another one keeps: perhaps a hang", lock->waiters,
		       lock->waiters == 1 ? " waits" : "s wait");
	take_headline(crash, &text);
	add_queue(crash->process, l, lock, false, &text);
	xc_crash_context_classify(crash, "hang", "lock held", "low", "guess", text.bytes);
	xc_text_fini(&text);
	blame(crash, wait_of(l, lock->holder));
	xc_verdict_involve(crash->report, crash->thread->tid);
	involve_waiters(crash, l, lock);
}

void xc_deadlock_classify(struct xc_crash_context *crash)
{
	const struct xc_locks *l = xc_locks_of(crash->process);
	const struct xc_lock *lost = orphan(crash->process, l);
	const struct xc_lock *kept = crash->verdict->class_name ? NULL : held(crash->process, l);
	bool judged = explains(crash) && (l->cycle_count || lost);
	if (judged && l->cycle_count)
		classify_cycle(crash, l, &l->cycles[0]);
	else if (judged)
		classify_orphan(crash, l, lost);
	else if (kept)
		classify_held(crash, l, kept);
	else
		blame_waiter(crash, l);
	if (judged || (crash->verdict->class_name && !kept))
		add_evidence(crash, l, judged && l->cycle_count ? 1 : 0);
}

/* hang: see hang.h. A condition has no owner, so there is no cycle to find; but when no thread is left that could
 * signal it, none will. A semaphore may be posted by a signal handler, and the other end of a descriptor may be in
 * another process, too: with them, a hang is a guess. Memory shared with other processes does not count. */
#include "triage/hang/hang.h"

#include <string.h>

#include "core/live/live.h"
#include "core/text/threadlabel.h"
#include "triage/hang/channel.h"
#include "triage/hang/hang_suspect.h"
#include "triage/hang/lost_wakeup.h"
#include "triage/hang/queued.h"
#include "triage/hang/unwoken.h"
#include "triage/locks/locks.h"
#include "triage/locks/wait_report.h"
#include "triage/waits/waits.h"
#include "triage/util/imports.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { GROUPS = 4, INVOLVED = 16, QUEUES = 3, CHANNELS = 2, PIPES = 4 };

/* Memory that other processes may have, too: a file or /dev/zero, not a module's data. */
static bool is_shared(const struct xc_process *process, xc_addr addr)
{
	const struct xc_mapping *m = addr ? xc_process_mapping(process, addr) : NULL;
	return m && (m->shared || (m->path && m->path[0] != '[' && !xc_process_module(process, addr)));
}

/* Who can end a wait, from the widest choice to the narrowest. */
enum waker {
	BY_ANYTHING, /* time, a signal, another process; or it does not wait */
	BY_PEER,     /* whatever has the other end of a descriptor */
	BY_PIPE,     /* the same, and a thread of this process, which has the other end of the pipe */
	BY_POST,     /* a thread of this process, or a signal handler, if it can have one */
	BY_THREAD,   /* only a thread of this process */
};

/* A call that moves data through one descriptor, or a channel of Go's: not one that waits for new clients. */
static bool is_transfer(const struct xc_wait *wait)
{
	static const char *const calls[] = {"read",   "readv",  "recvfrom", "recvmsg", "write",
					    "writev", "sendto", "sendmsg",  NULL};
	return wait->call && xc_names_find(calls, wait->call);
}

static enum waker waker_of(struct xc_process *process, size_t index)
{
	const struct xc_locks *locks = xc_locks_of(process);
	const struct xc_wait *wait = &locks->waits->items[index];
	const struct xc_lock *lock = xc_lock_awaited(locks, index);
	/* An owner that is no thread of this process, as far as can be told, may be one of another. */
	if (lock && lock->held && lock->owner && lock->holder == XC_LOCK_NOBODY && !lock->died)
		return BY_ANYTHING;
	if (is_shared(process, wait->word) || is_shared(process, wait->object) || (lock && lock->shared))
		return BY_ANYTHING;
	if (process->live && !xc_live_thread_slept(process, wait->thread))
		return BY_ANYTHING; /* the waits were read one after the other */
	if (wait->timed || wait->guessed || wait->handler)
		return BY_ANYTHING;
	switch (wait->kind) {
	case XC_WAIT_MUTEX:
	case XC_WAIT_READ_LOCK:
	case XC_WAIT_WRITE_LOCK:
	case XC_WAIT_CONDITION:
	case XC_WAIT_BARRIER:
	case XC_WAIT_ONCE:
	case XC_WAIT_RUST_MUTEX:
	case XC_WAIT_RUST_READ:
	case XC_WAIT_RUST_WRITE:
	case XC_WAIT_RUST_CONDITION:
	case XC_WAIT_CHANNEL:
	case XC_WAIT_FUTURE:
	case XC_WAIT_ATOMIC:
	case XC_WAIT_THREAD:
	case XC_WAIT_LIBRARY_LOCK:
		return BY_THREAD;
	case XC_WAIT_SEMAPHORE:
	case XC_WAIT_PARKED:
		return BY_POST;
	case XC_WAIT_CALL:
		return !is_transfer(wait) ? BY_ANYTHING : wait->thread->has_other_end ? BY_PIPE : BY_PEER;
	default:
		return BY_ANYTHING;
	}
}

/* The widest choice among all threads. BY_ANYTHING also where none waits for a thread or a post, unless several
 * wait for pipes of their own: that is a program that waits for its input. A lone thread may wait for a signal handler,
 * which writes to its pipe. `except`: a thread that does not count; NULL: none. */
static enum waker all_wait(struct xc_process *process, const struct xc_thread *except)
{
	const struct xc_waits *waits = xc_waits_of(process);
	enum waker widest = BY_THREAD, narrowest = BY_ANYTHING;
	size_t count = 0;
	for (size_t i = 0; i < waits->count && widest != BY_ANYTHING; i++) {
		if (waits->items[i].thread == except)
			continue;
		enum waker waker = waker_of(process, i);
		count++;
		widest = waker < widest ? waker : widest;
		narrowest = waker > narrowest ? waker : narrowest;
	}
	if (widest == BY_POST && !xc_imports_handlers(process))
		widest = BY_THREAD;
	return narrowest > BY_PIPE || (widest == BY_PIPE && count > 1) ? widest : BY_ANYTHING;
}

enum xc_hang xc_hang_of(struct xc_process *process)
{
	return xc_hang_without(process, NULL);
}

enum xc_hang xc_hang_without(struct xc_process *process, const struct xc_thread *except)
{
	enum waker waker = all_wait(process, except);
	return waker == BY_THREAD ? XC_HANG_LIKELY : waker == BY_ANYTHING ? XC_HANG_NONE : XC_HANG_GUESS;
}

/* ---- in words ---- */

/* "thread 17 "worker" and 2 more, waiting for the result of a future in render (pool.cc:17)" */
static void add_group(struct xc_process *process, const struct xc_waits *waits, size_t first,
		      const struct xc_thread *except, struct xc_text *text)
{
	const struct xc_wait *wait = &waits->items[first];
	size_t more = 0;
	for (size_t i = first + 1; i < waits->count; i++)
		more += waits->items[i].thread != except && xc_hang_suspect_same(wait, &waits->items[i]);
	xc_threadlabel(text, (int)wait->thread->tid, wait->thread->name);
	if (more)
		xc_text_printf(text, " and %zu more", more);
	xc_text_add(text, ", ");
	xc_wait_report_describe(process, wait, false, text);
	xc_text_add(text, " in ");
	xc_wait_where(wait, text);
}

static const char *conclusion(enum waker waker, size_t count)
{
	if (waker == BY_PEER)
		return "every thread waits: it hangs if no other process has the other ends of the descriptors: ";
	if (waker == BY_PIPE)
		return "this process has both ends of the pipes: it hangs if no other process has them, too, and no "
		       "signal handler uses them: ";
	if (waker == BY_POST && count == 1)
		return "it waits, and only a signal handler could still wake it: ";
	if (waker == BY_POST)
		return "every thread waits, and only a signal handler could still wake one: ";
	return count == 1 ? "it waits, and there is no other thread that could wake it: "
			  : "every thread waits, and none is left that could wake another: ";
}

static void add_cause(struct xc_process *process, const struct xc_thread *except, enum waker waker,
		      struct xc_text *text)
{
	const struct xc_waits *waits = xc_waits_of(process);
	size_t told = 0;
	xc_text_add(text, conclusion(waker, waits->count - (except != NULL)));
	for (size_t i = 0; i < waits->count; i++) {
		if (!xc_hang_suspect_is_first(waits, i, except))
			continue;
		if (told++ < GROUPS) {
			xc_text_add(text, told > 1 ? "; " : "");
			add_group(process, waits, i, except, text);
		}
	}
	if (told > GROUPS)
		xc_text_printf(text, "; and %zu other groups of threads", told - GROUPS);
}

/* "the write end of descriptor 5, from which thread 17 reads, is descriptor 6 of this process" */
static void report_pipe(struct xc_crash_context *crash, const struct xc_wait *wait)
{
	const struct xc_thread *thread = wait->thread;
	bool writes = wait->call && strncmp(wait->call, "write", strlen("write")) == 0;
	if (wait->kind != XC_WAIT_CALL || !is_transfer(wait) || !thread->has_other_end)
		return;
	xc_verdict_evidence(crash->report,
			    "the %s end of the pipe at descriptor %d, %s which thread %d %s, is descriptor %d "
			    "of this process",
			    writes ? "read" : "write", (int)thread->call_args[0], writes ? "to" : "from",
			    (int)thread->tid, writes ? "writes" : "reads", thread->other_end);
}

/* ---- */

/* Does the name speak of what watches for hangs? "exchanged" has no "hang", "install" no "stall". */
static bool watches(const char *name)
{
	static const char *const words[] = {"watchdog", "hang", "stall", "heartbeat", NULL};
	char word[XC_NAMES_WORD];
	bool watch = false, found = false;
	while (name && !found && xc_names_next_word(&name, word)) {
		found = xc_names_find(words, word) || (watch && strcmp(word, "dog") == 0);
		watch = strcmp(word, "watch") == 0;
	}
	return found;
}

/* A thread whose task is to end a program that hangs. */
static bool is_watchdog(const struct xc_crash_context *crash)
{
	return watches(crash->blame.place ? xc_place_function(crash->blame.place, crash->blame.level) : NULL) ||
	       watches(crash->thread->name);
}

static const char *headline(struct xc_arena *arena, size_t count, bool guess, bool lost)
{
	if (lost && !guess)
		return count == 1 ? "hang: the only thread waits for a wake-up that was lost"
				  : xc_arena_printf(arena, "hang: a wake-up was lost: all %zu threads wait", count);
	if (count == 1)
		return guess ? "the only thread waits: perhaps a hang" : "hang: the only thread waits for another one";
	return xc_arena_printf(
		arena, guess ? "no thread runs, all %zu wait: perhaps a hang" : "hang: no thread runs: all %zu wait",
		count);
}

/* What those test that wait alone: workers that rest wait alike. */
static void report_lone(const struct xc_crash_context *crash, const struct xc_hang_suspects *suspects)
{
	struct xc_hang_suspects lone = {.count = 0};
	for (size_t i = 0; i < suspects->count; i++)
		if (suspects->items[i].threads == 1)
			lone.items[lone.count++] = suspects->items[i];
	xc_hang_suspect_report(crash, &lone);
}

/* Not all wait for each other: what the thread tests that took the signal. One that runs may be about to wake it. */
static void report_own(struct xc_crash_context *crash)
{
	const struct xc_waits *waits = xc_waits_of(crash->process);
	struct xc_hang_suspects one = {.count = 0};
	bool runs = false;
	for (size_t i = 0; i < waits->count; i++) {
		runs |= waits->items[i].kind == XC_WAIT_NONE;
		if (waits->items[i].thread == crash->thread && !crash->off_thread)
			one.items[one.count++] =
				(struct xc_hang_suspect){.wait = &waits->items[i],
							 .threads = 1,
							 .predicate = xc_predicate_look(crash, &waits->items[i])};
	}
	if (one.count && one.items[0].predicate.state != XC_PREDICATE_NO_LOOP &&
	    (!runs || one.items[0].predicate.state != XC_PREDICATE_TRUE))
		xc_hang_suspect_report(crash, &one);
}

/* What each thread waits with: queues, channels and pipes. */
static void report_threads(struct xc_crash_context *crash, const struct xc_thread *except, const struct xc_wait *wait)
{
	const struct xc_waits *waits = xc_waits_of(crash->process);
	struct xc_queued queued = {.left = QUEUES};
	size_t channels = 0, pipes = 0;
	for (size_t i = 0; i < waits->count && i < INVOLVED; i++) {
		if (&waits->items[i] != wait && waits->items[i].thread != except)
			xc_verdict_involve(crash->report, waits->items[i].thread->tid);
		if (channels < CHANNELS && xc_hang_suspect_is_first(waits, i, except) &&
		    waits->items[i].kind == XC_WAIT_CHANNEL) {
			xc_channel_report(crash, &waits->items[i]);
			channels++;
		}
		if (pipes < PIPES && waits->items[i].thread != except && waits->items[i].thread->has_other_end) {
			report_pipe(crash, &waits->items[i]);
			pipes++;
		}
		if (xc_hang_suspect_is_first(waits, i, except))
			xc_queued_report(crash, &waits->items[i], &queued);
	}
}

void xc_hang_classify(struct xc_crash_context *crash)
{
	const struct xc_thread *except = NULL;
	const struct xc_verdict *v = crash->verdict;
	bool aborted = v->class_name && xc_crash_context_is(crash, "abort");
	bool sent = v->class_name && xc_crash_context_is_signalled(crash);
	if (aborted && is_watchdog(crash))
		except = crash->thread;
	else if (v->class_name && !(sent && xc_crash_context_sent_by_other(crash)))
		return;
	enum waker waker = all_wait(crash->process, except);
	if (waker == BY_ANYTHING) {
		report_own(crash);
		return;
	}
	const struct xc_waits *waits = xc_waits_of(crash->process);
	struct xc_hang_suspects suspects;
	const struct xc_wait *wait = xc_hang_suspect_find(crash, except, &suspects);
	if (!wait)
		return;
	struct xc_text text = {0};
	bool guess = waker != BY_THREAD;
	add_cause(crash->process, except, waker, &text);
	if (guess && v->class_name) {
		xc_verdict_evidence(crash->report, "perhaps it hung: %s", text.bytes);
		xc_verdict_redact(crash->report, "perhaps it hung: every thread waits");
		xc_text_fini(&text);
		report_lone(crash, &suspects);
		xc_unwoken_report(crash, except);
		return;
	}
	if (except)
		xc_verdict_evidence(crash->report, "the abort came from %s", xc_crash_context_culprit(crash));
	crash->verdict->headline =
		headline(&crash->report->arena, waits->count - (except != NULL), guess, suspects.lost);
	xc_crash_context_classify(crash, "deadlock", "all wait", "medium", guess ? "guess" : "likely", text.bytes);
	xc_text_fini(&text);
	crash->thread = wait->thread;
	crash->blame = (struct xc_blame){.place = wait->place, .level = wait->level, .frame = wait->frame};
	xc_verdict_involve(crash->report, wait->thread->tid);
	xc_hang_suspect_report(crash, &suspects);
	if (waits->count == 1 && wait->kind == XC_WAIT_LIBRARY_LOCK)
		xc_verdict_evidence(crash->report,
				    "perhaps fork() made this process while another thread had that lock: only the "
				    "thread that calls fork() is copied, and nobody is left to unlock it");
	xc_lost_wakeup_report(crash, except);
	xc_unwoken_report(crash, except);
	report_threads(crash, except, wait);
}

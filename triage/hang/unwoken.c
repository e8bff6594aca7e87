/* unwoken: see unwoken.h. What is not recorded is told as "perhaps": who took a semaphore, or reads. */
#include "triage/hang/unwoken.h"

#include <string.h>

#include "dwarf/stack/frame_walk.h"
#include "triage/hang/hang_suspect.h"
#include "triage/locks/lock_name.h"
#include "triage/locks/locks.h"
#include "triage/waits/waits.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { FRAMES = 48, MEMBERS = 64, GROUPS = 4, TOLD = 2, LARGEST_FLAG = 8 };

static bool waits_for_end(const struct xc_wait *wait)
{
	return wait->kind == XC_WAIT_THREAD;
}

/* Do all threads that do not wait for another's end wait for this? */
static bool is_only(const struct xc_waits *waits, const struct xc_wait *wait, const struct xc_thread *except)
{
	for (size_t i = 0; i < waits->count; i++) {
		const struct xc_wait *w = &waits->items[i];
		if (w->thread != except && !waits_for_end(w) && (w->kind != wait->kind || w->object != wait->object))
			return false;
	}
	return true;
}

static void add_name(struct xc_process *process, const struct xc_wait *wait, struct xc_text *text)
{
	const char *name = xc_lock_name_expression(process, wait);
	if (!name)
		return;
	xc_text_add(text, " `");
	xc_text_name(text, name);
	xc_text_add(text, "`");
}

static void report_semaphore(const struct xc_crash_context *crash, const struct xc_wait *wait)
{
	struct xc_text text = {0};
	xc_text_add(&text, "whoever could post the semaphore");
	add_name(crash->process, wait, &text);
	xc_text_add(&text,
		    " waits for it, too: perhaps it was taken on a path, as that of an error, that does not call "
		    "sem_post()");
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

static bool report_barrier(const struct xc_crash_context *crash, const struct xc_wait *wait)
{
	struct xc_text text = {0};
	xc_text_add(&text, "no thread is left that could still come to the barrier");
	add_name(crash->process, wait, &text);
	xc_text_add(&text, ": perhaps one ended early, or was never started, or the barrier was made for too many");
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
	return true;
}

/* libstdc++ and libc++: the destructor of a promise that was not set stores the error "broken promise". */
static bool report_promise(const struct xc_crash_context *crash)
{
	xc_verdict_evidence(
		crash->report,
		"the promise or task that would give the result still exists, else the wait would have ended with "
		"an error: no thread runs it, or its thread waits itself");
	return true;
}

static bool report_readers(const struct xc_crash_context *crash, const struct xc_wait *wait)
{
	const struct xc_locks *locks = xc_locks_of(crash->process);
	const struct xc_lock *lock = xc_lock_awaited(locks, (size_t)(wait - locks->waits->items));
	struct xc_text text = {0};
	if (!lock || !lock->readers || lock->holder != XC_LOCK_NOBODY)
		return false;
	xc_text_add(&text, "all possible readers of");
	add_name(crash->process, wait, &text);
	xc_text_add(&text, " wait to write to it: perhaps they have it to read, and wait for themselves and each other "
			   "(an upgrade), or one ended without unlocking it");
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
	return true;
}

/* ---- a flag that ends a loop ---- */

/* Does another thread wait for the end of one that waits for this? */
static const struct xc_wait *joiner_of(const struct xc_waits *waits, const struct xc_wait *wait)
{
	for (size_t i = 0; i < waits->count; i++) {
		const struct xc_wait *w = &waits->items[i], *target;
		if (!waits_for_end(w) || !w->target)
			continue;
		target = xc_waits_thread(waits, w->target);
		if (target && target->kind == wait->kind && xc_hang_suspect_same(target, wait))
			return w;
	}
	return NULL;
}

static bool is_flag_name(const char *name)
{
	static const char *const words[] = {"stop",      "stopped",   "stopping",   "close",    "closed",  "closing",
					    "done",      "quit",      "shutdown",   "exit",     "exiting", "finish",
					    "finished",  "terminate", "terminated", "end",      "ended",   "cancel",
					    "cancelled", "canceled",  "draining",   "shutting", "eof",     NULL};
	char word[XC_NAMES_WORD];
	while (name && xc_names_next_word(&name, word))
		if (xc_names_find(words, word))
			return true;
	return false;
}

/* A whole number, an enumerator or an atomic one, by its size. */
static bool is_unset(const struct xc_value *member)
{
	uint8_t bytes[LARGEST_FLAG], zero[LARGEST_FLAG] = {0};
	uint64_t size = xc_value_size(member);
	return size && size <= LARGEST_FLAG && !xc_type_is_pointer(member->type) &&
	       xc_value_peek(member, 0, bytes, size) && memcmp(bytes, zero, size) == 0;
}

static bool has(const struct xc_value *object, xc_addr addr)
{
	return object->kind == XC_VALUE_MEMORY && addr >= object->addr && addr - object->addr < xc_value_size(object);
}

/* A thread that waits for a condition, and the one that waits for its end. */
struct joined {
	const struct xc_crash_context *crash;
	const struct xc_wait *wait, *joiner;
};

/* The flags of an object that has the condition. */
static bool report_flags(void *user, const struct xc_value *object)
{
	const struct joined *j = user;
	size_t count = 0, told = 0;
	const struct xc_type *type = xc_type_complete(xc_type_strip(object->type));
	const struct xc_member *members = xc_type_is_record(type) ? xc_type_members(type, &count) : NULL;
	if (!members || !has(object, j->wait->word))
		return false;
	for (size_t i = 0; i < count && i < MEMBERS && told < TOLD; i++) {
		struct xc_value member;
		if (!members[i].name || members[i].base || !is_flag_name(members[i].name))
			continue;
		xc_value_field(object, &members[i], &member);
		if (!is_unset(&member))
			continue;
		xc_verdict_evidence(
			j->crash->report,
			"`%s` of %s is not set: perhaps thread %d had to set it, and to wake all that wait, "
			"before it waited for their end",
			members[i].name, xc_type_name(type), (int)j->joiner->thread->tid);
		told++;
	}
	return told;
}

static void report_end(const struct xc_crash_context *crash, const struct xc_wait *wait, const struct xc_wait *joiner)
{
	struct joined joined = {crash, wait, joiner};
	struct xc_unwinder *u = xc_unwinder_new(crash->process);
	struct xc_frame_walk walk;
	bool told = false;
	xc_frame_walk_begin(&walk, crash->process, u, wait->thread, FRAMES);
	while (!told && xc_frame_walk_next(&walk))
		told = xc_user_code_passed(&walk.context, &crash->report->arena, report_flags, &joined);
	xc_unwinder_free(u);
}

/* ---- */

void xc_unwoken_report(struct xc_crash_context *crash, const struct xc_thread *except)
{
	const struct xc_waits *waits = xc_waits_of(crash->process);
	size_t groups = 0;
	bool read = false, barrier = false, promise = false;
	for (size_t i = 0; i < waits->count && groups < GROUPS; i++) {
		const struct xc_wait *wait = &waits->items[i], *joiner;
		if (!xc_hang_suspect_is_first(waits, i, except) || waits_for_end(wait) || !wait->word)
			continue;
		promise = promise || (wait->kind == XC_WAIT_FUTURE && report_promise(crash));
		groups++;
		bool only = is_only(waits, wait, except);
		if (only && wait->kind == XC_WAIT_SEMAPHORE)
			report_semaphore(crash, wait);
		else if (only && wait->kind == XC_WAIT_BARRIER && !barrier)
			barrier = report_barrier(crash, wait);
		else if (only && wait->kind == XC_WAIT_WRITE_LOCK && !read)
			read = report_readers(crash, wait);
		else if (wait->kind == XC_WAIT_CONDITION && (joiner = joiner_of(waits, wait)) != NULL)
			report_end(crash, wait, joiner);
	}
}

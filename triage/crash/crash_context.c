#include "triage/crash/crash_context.h"

#include <stdlib.h>
#include <string.h>

#include "core/process/module.h"
#include "dwarf/line/source_lines.h"
#include "triage/code/body_cache.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { PASSES = 40 };

/* The crashed stack; only its inner end for a deep recursion. */
static void collect(struct xc_crash_context *crash)
{
	struct xc_frame *frames = xc_realloc(NULL, XC_CRASH_FRAMES * sizeof *frames);
	size_t count = 0;
	if (crash->fault.frame_known)
		frames[count++] = crash->fault.frame;
	while (count && count < XC_CRASH_FRAMES &&
	       xc_unwind_step(crash->unwinder, &frames[count - 1], &frames[count], &crash->stop))
		count++;
	if (count) {
		crash->frames = xc_arena_alloc(&crash->report->arena, count * sizeof *frames);
		memcpy(crash->frames, frames, count * sizeof *frames);
	}
	crash->frame_count = count;
	free(frames);
}

/* After a jump out of code: the frame that jumped. */
static size_t first_in_code(const struct xc_crash_context *crash)
{
	const struct xc_mapping *m = xc_process_mapping(crash->process, crash->frames[0].pc);
	return crash->frame_count > 1 && !(m && m->executable) ? 1 : 0;
}

/* Frames of a language's library in between (std::copy) count as the program's. */
static void note_caller(struct xc_crash_context *crash)
{
	if (!crash->blame.through)
		return;
	crash->blame.caller = xc_crash_context_culprit(crash);
	crash->blame.caller_frame = crash->blame.frame.index;
}

static void blame(struct xc_crash_context *crash)
{
	if (!crash->frame_count)
		return;
	crash->blame = xc_blame_find(crash->process, crash->unwinder, &crash->frames[first_in_code(crash)]);
	while (crash->blamed + 1 < crash->frame_count && crash->frames[crash->blamed].index != crash->blame.frame.index)
		crash->blamed++;
	if (!crash->blame.place)
		return;
	xc_crash_context_blame(crash, crash->blamed);
	note_caller(crash);
}

static const char *called(const struct xc_place *place, const char *const *names)
{
	const char *found = NULL;
	for (size_t l = 0; l < place->level_count && !found; l++)
		found = xc_names_find(names, place->levels[l].function);
	return found ? found : xc_names_find(names, place->symbol);
}

/* The innermost frame of a thread, if that is in the call that sends a signal. */
static bool sends_signal(const struct xc_crash_context *crash, const struct xc_thread *thread, struct xc_frame *frame)
{
	static const char *const names[] = {"kill",
					    "__kill",
					    "__GI_kill",
					    "killpg",
					    "tgkill",
					    "raise",
					    "pthread_kill",
					    "__pthread_kill_implementation",
					    "sigqueue",
					    "__sigqueue",
					    NULL};
	if (!crash->process->arch->unwinds || !xc_unwind_first(crash->unwinder, thread, frame))
		return false;
	const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(frame));
	return place->module && xc_module_is_runtime(place->module) && called(place, names);
}

/* kill() sends a signal to the process, and any thread may take it. The one to look at is the one that sent it, if just
 * one is in such a call. */
static void find_sender(struct xc_crash_context *crash)
{
	const struct xc_process *p = crash->process;
	const struct xc_thread *sender = NULL;
	struct xc_frame frame, found;
	if (!crash->fault.sent || crash->fault.in_handler || !p->pid || p->signal.sender_pid != p->pid ||
	    sends_signal(crash, &p->threads[0], &frame))
		return;
	for (size_t i = 1; i < p->thread_count; i++) {
		if (!sends_signal(crash, &p->threads[i], &frame))
			continue;
		if (sender)
			return;
		sender = &p->threads[i];
		found = frame;
	}
	if (!sender)
		return;
	crash->thread = sender;
	crash->fault.frame = found;
	crash->fault.frame_known = true;
}

bool xc_crash_context_init(struct xc_crash_context *crash, struct xc_report *report, struct xc_process *process,
			   struct xc_heap *heap)
{
	*crash = (struct xc_crash_context){.report = report, .process = process, .heap = heap};
	crash->unwinder = xc_unwinder_new(process);
	if (!xc_fault_find(process, crash->unwinder, &crash->fault)) {
		xc_crash_context_fini(crash);
		return false;
	}
	crash->thread = crash->faulted = &process->threads[0];
	crash->verdict = xc_report_verdict(report);
	crash->source = xc_source_reader_new(process);
	crash->bodies = xc_body_cache_new(process, &report->arena);
	find_sender(crash);
	if (crash->thread != crash->faulted)
		xc_verdict_evidence(report, "thread %d sent the signal, and thread %d took it", (int)crash->thread->tid,
				    (int)crash->faulted->tid);
	collect(crash);
	blame(crash);
	return true;
}

void xc_crash_context_fini(struct xc_crash_context *crash)
{
	xc_unwinder_free(crash->unwinder);
	crash->unwinder = NULL;
	xc_source_reader_free(crash->source);
	crash->source = NULL;
}

void xc_crash_context_classify(struct xc_crash_context *crash, const char *class_name, const char *kind,
			       const char *severity, const char *confidence, const char *cause)
{
	struct xc_arena *arena = &crash->report->arena;
	crash->verdict->class_name = xc_arena_strdup(arena, class_name);
	crash->verdict->kind = xc_arena_strdup(arena, kind);
	crash->verdict->severity = xc_arena_strdup(arena, severity);
	crash->verdict->confidence = xc_arena_strdup(arena, confidence);
	crash->verdict->cause = xc_arena_strdup(arena, cause);
}

bool xc_crash_context_sent_by_other(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	return f->sent && (crash->process->signal.sender_pid != crash->process->pid ||
			   (f->resent && f->first_sender && f->first_sender != crash->process->pid));
}

bool xc_crash_context_is(const struct xc_crash_context *crash, const char *class_name)
{
	return crash->verdict->class_name && strcmp(crash->verdict->class_name, class_name) == 0;
}

bool xc_crash_context_is_access(const struct xc_crash_context *crash)
{
	static const char *const names[] = {
		"wild-read",     "wild-write",       "wild-access",  "null-read",    "null-write", "null-access",
		"memory-access", "protected-access", "write-rodata", "heap-overrun", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

bool xc_crash_context_is_null(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"null-read", "null-write", "null-access", "call-null", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

bool xc_crash_context_is_signalled(const struct xc_crash_context *crash)
{
	return xc_crash_context_is(crash, "killed") || xc_crash_context_is(crash, "dump-request") ||
	       xc_crash_context_is(crash, "sent-by-user");
}

const struct xc_place *xc_crash_context_place(const struct xc_crash_context *crash, size_t index)
{
	return xc_debuginfo_place(crash->process, xc_frame_lookup(&crash->frames[index]));
}

const char *xc_crash_context_culprit(const struct xc_crash_context *crash)
{
	const char *name = crash->blame.place ? xc_place_function(crash->blame.place, crash->blame.level) : NULL;
	return name ? name : "a function without a name";
}

const char *xc_crash_context_find_name(const struct xc_crash_context *crash, const char *const *names)
{
	size_t index = xc_crash_context_find_frame(crash, names);
	return index < crash->frame_count ? called(xc_crash_context_place(crash, index), names) : NULL;
}

size_t xc_crash_context_find_frame(const struct xc_crash_context *crash, const char *const *names)
{
	for (size_t i = 0; i < crash->frame_count && i < PASSES; i++)
		if (called(xc_crash_context_place(crash, i), names))
			return i;
	return crash->frame_count;
}

void xc_crash_context_blame(struct xc_crash_context *crash, size_t index)
{
	for (; index < crash->frame_count; index++) {
		const struct xc_place *place = xc_crash_context_place(crash, index);
		size_t level;
		if (crash->frames[index].signal || !xc_user_code_level(place, &level))
			continue;
		crash->blame.place = place;
		crash->blame.level = level;
		crash->blame.frame = crash->frames[index];
		crash->blamed = index;
		return;
	}
}

struct xc_frame_context xc_crash_context_frame(const struct xc_crash_context *crash, size_t index)
{
	const struct xc_frame *frame = &crash->frames[index];
	return (struct xc_frame_context){.process = crash->process,
					 .thread = crash->thread,
					 .unwinder = crash->unwinder,
					 .frame = frame,
					 .place = xc_crash_context_place(crash, index)};
}

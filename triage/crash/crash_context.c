#include "triage/crash/crash_context.h"

#include <stdlib.h>
#include <string.h>

#include "triage/code/body_cache.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { PASSES = 40 };

/* The crashed stack; of a deep recursion its inner end. */
static void collect(struct xc_crash_context *q)
{
	struct xc_frame *frames = xc_realloc(NULL, XC_CRASH_FRAMES * sizeof *frames);
	size_t count = 0;
	if (q->fault.frame_known)
		frames[count++] = q->fault.frame;
	while (count && count < XC_CRASH_FRAMES &&
	       xc_unwind_step(q->unwinder, &frames[count - 1], &frames[count], &q->stop))
		count++;
	if (count) {
		q->frames = xc_arena_alloc(&q->report->arena, count * sizeof *frames);
		memcpy(q->frames, frames, count * sizeof *frames);
	}
	q->frame_count = count;
	free(frames);
}

/* A jump to what is no code: who jumped? */
static size_t first_in_code(const struct xc_crash_context *q)
{
	const struct xc_mapping *m = xc_process_mapping(q->process, q->frames[0].pc);
	return q->frame_count > 1 && !(m && m->executable) ? 1 : 0;
}

static void blame(struct xc_crash_context *q)
{
	if (!q->frame_count)
		return;
	q->blame = xc_blame_find(q->process, q->unwinder, &q->frames[first_in_code(q)]);
	while (q->blamed + 1 < q->frame_count && q->frames[q->blamed].index != q->blame.frame.index)
		q->blamed++;
	if (q->blame.place)
		xc_crash_context_blame(q, q->blamed);
}

bool xc_crash_context_init(struct xc_crash_context *q, struct xc_report *report, struct xc_process *process, struct xc_heap *heap)
{
	*q = (struct xc_crash_context){.report = report, .process = process, .heap = heap};
	q->unwinder = xc_unwinder_new(process);
	if (!xc_fault_find(process, q->unwinder, &q->fault)) {
		xc_crash_context_fini(q);
		return false;
	}
	q->thread = q->faulted = &process->threads[0];
	q->verdict = xc_report_verdict(report);
	q->bodies = xc_body_cache_new(process, &report->arena);
	collect(q);
	blame(q);
	return true;
}

void xc_crash_context_fini(struct xc_crash_context *q)
{
	xc_unwinder_free(q->unwinder);
	q->unwinder = NULL;
}

void xc_crash_context_classify(struct xc_crash_context *q, const char *class_name, const char *kind, const char *severity,
		      const char *confidence, const char *cause)
{
	struct xc_arena *arena = &q->report->arena;
	q->verdict->class_name = xc_arena_strdup(arena, class_name);
	q->verdict->kind = xc_arena_strdup(arena, kind);
	q->verdict->severity = xc_arena_strdup(arena, severity);
	q->verdict->confidence = xc_arena_strdup(arena, confidence);
	q->verdict->cause = xc_arena_strdup(arena, cause);
}

bool xc_crash_context_sent_by_other(const struct xc_crash_context *q)
{
	return q->fault.sent && q->process->signal.sender_pid != q->process->pid;
}

bool xc_crash_context_is(const struct xc_crash_context *q, const char *class_name)
{
	return q->verdict->class_name && strcmp(q->verdict->class_name, class_name) == 0;
}

const struct xc_place *xc_crash_context_place(const struct xc_crash_context *q, size_t index)
{
	return xc_debuginfo_place(q->process, xc_frame_lookup(&q->frames[index]));
}

const char *xc_crash_context_culprit(const struct xc_crash_context *q)
{
	const char *name = q->blame.place ? xc_place_function(q->blame.place, q->blame.level) : NULL;
	return name ? name : "a function without a name";
}

static const char *called(const struct xc_crash_context *q, size_t index, const char *const *names)
{
	const struct xc_place *place = xc_crash_context_place(q, index);
	const char *found = NULL;
	for (size_t l = 0; l < place->level_count && !found; l++)
		found = xc_names_find(names, place->levels[l].function);
	return found ? found : xc_names_find(names, place->symbol);
}

const char *xc_crash_context_find_name(const struct xc_crash_context *q, const char *const *names)
{
	size_t index = xc_crash_context_find_frame(q, names);
	return index < q->frame_count ? called(q, index, names) : NULL;
}

size_t xc_crash_context_find_frame(const struct xc_crash_context *q, const char *const *names)
{
	for (size_t i = 0; i < q->frame_count && i < PASSES; i++)
		if (called(q, i, names))
			return i;
	return q->frame_count;
}

void xc_crash_context_blame(struct xc_crash_context *q, size_t index)
{
	for (; index < q->frame_count; index++) {
		const struct xc_place *place = xc_crash_context_place(q, index);
		size_t level;
		if (q->frames[index].signal || !xc_user_code_level(place, &level))
			continue;
		q->blame.place = place;
		q->blame.level = level;
		q->blame.frame = q->frames[index];
		q->blamed = index;
		return;
	}
}

struct xc_frame_context xc_crash_context_frame(const struct xc_crash_context *q, size_t index)
{
	const struct xc_frame *frame = &q->frames[index];
	return (struct xc_frame_context){.process = q->process,
					 .thread = q->thread,
					 .unwinder = q->unwinder,
					 .frame = frame,
					 .place = xc_crash_context_place(q, index)};
}

#include "inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "../core/module.h"

enum { PASSES = 40 };

/* The crashed stack; of a deep recursion its inner end. */
static void collect(struct xc_inquiry *q)
{
	struct xc_frame *frames = xc_realloc(NULL, XC_INQUIRY_FRAMES * sizeof *frames);
	size_t count = 0;
	if (q->fault.frame_known)
		frames[count++] = q->fault.frame;
	while (count && count < XC_INQUIRY_FRAMES &&
	       xc_unwind_step(q->unwinder, &frames[count - 1], &frames[count], &q->stop))
		count++;
	if (count) {
		q->frames = xc_arena_alloc(&q->report->arena, count * sizeof *frames);
		memcpy(q->frames, frames, count * sizeof *frames);
		q->bodies = xc_arena_alloc(&q->report->arena, count * sizeof(struct xc_body *));
	}
	q->frame_count = count;
	free(frames);
}

/* A jump to what is no code: who jumped? */
static size_t first_in_code(const struct xc_inquiry *q)
{
	const struct xc_mapping *m = xc_process_mapping(q->process, q->frames[0].pc);
	return q->frame_count > 1 && !(m && m->executable) ? 1 : 0;
}

static void blame(struct xc_inquiry *q)
{
	if (!q->frame_count)
		return;
	q->blame = xc_blame_find(q->process, q->unwinder, &q->frames[first_in_code(q)]);
	while (q->blamed + 1 < q->frame_count && q->frames[q->blamed].index != q->blame.frame.index)
		q->blamed++;
	if (q->blame.place)
		xc_inquiry_blame(q, q->blamed);
}

bool xc_inquiry_begin(struct xc_inquiry *q, struct xc_report *report, struct xc_process *process, struct xc_heap *heap)
{
	*q = (struct xc_inquiry){.report = report, .process = process, .heap = heap};
	q->unwinder = xc_unwinder_new(process);
	if (!xc_fault_find(process, q->unwinder, &q->fault)) {
		xc_inquiry_end(q);
		return false;
	}
	q->thread = &process->threads[0];
	q->verdict = xc_report_verdict(report);
	collect(q);
	blame(q);
	return true;
}

void xc_inquiry_end(struct xc_inquiry *q)
{
	xc_unwinder_free(q->unwinder);
	q->unwinder = NULL;
}

void xc_inquiry_class(struct xc_inquiry *q, const char *class_name, const char *kind, const char *severity,
		      const char *confidence, const char *cause)
{
	struct xc_arena *arena = &q->report->arena;
	q->verdict->class_name = xc_arena_strdup(arena, class_name);
	q->verdict->kind = xc_arena_strdup(arena, kind);
	q->verdict->severity = xc_arena_strdup(arena, severity);
	q->verdict->confidence = xc_arena_strdup(arena, confidence);
	q->verdict->cause = xc_arena_strdup(arena, cause);
}

bool xc_inquiry_is(const struct xc_inquiry *q, const char *class_name)
{
	return q->verdict->class_name && strcmp(q->verdict->class_name, class_name) == 0;
}

static const char *among(const char *const *names, const char *name)
{
	for (; name && *names; names++)
		if (strcmp(*names, name) == 0)
			return *names;
	return NULL;
}

const struct xc_place *xc_inquiry_place(const struct xc_inquiry *q, size_t index)
{
	return xc_debuginfo_place(q->process, xc_frame_lookup(&q->frames[index]));
}

const char *xc_inquiry_culprit(const struct xc_inquiry *q)
{
	const char *name = q->blame.place ? xc_place_function(q->blame.place, q->blame.level) : NULL;
	return name ? name : "a function without a name";
}

static const char *called(const struct xc_inquiry *q, size_t index, const char *const *names)
{
	const struct xc_place *place = xc_inquiry_place(q, index);
	const char *found = NULL;
	for (size_t l = 0; l < place->level_count && !found; l++)
		found = among(names, place->levels[l].function);
	return found ? found : among(names, place->symbol);
}

const char *xc_inquiry_passes(const struct xc_inquiry *q, const char *const *names)
{
	size_t index = xc_inquiry_frame_called(q, names);
	return index < q->frame_count ? called(q, index, names) : NULL;
}

size_t xc_inquiry_frame_called(const struct xc_inquiry *q, const char *const *names)
{
	for (size_t i = 0; i < q->frame_count && i < PASSES; i++)
		if (called(q, i, names))
			return i;
	return q->frame_count;
}

/* Names that templates, inlined functions and linked-in run-times keep in the program's own code. */
static bool library_name(const char *function)
{
	static const char *const names[] = {
		"std::",   "__gnu_cxx::", "__cxxabiv1::", "core::",         "alloc::",
		"<core::", "<alloc::",    "<std::",       "__rustc::",      "__clang_call_terminate",
		"__asan",  "__sanitizer", "__ubsan",      "__interceptor_", "__cxa_",
		"__gxx_",  "_Unwind_",    "operator new"};
	for (size_t i = 0; function && i < XC_COUNT(names); i++)
		if (strncmp(function, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool among_parts(const char *const *parts, const char *text)
{
	for (; text && *parts; parts++)
		if (strstr(text, *parts))
			return true;
	return false;
}

/* By its name, or by where its source is. What stands in a header and is no inlined call is the program's own: compilers give lines of
 * what they inlined to the function round it. */
static bool of_library(const char *function, const char *file, bool inlined)
{
	static const char *const headers[] = {"/usr/include/", "/include/c++/", NULL};
	static const char *const sources[] = {"/rustlib/src/", "/rustc/", NULL};
	return library_name(function) || among_parts(sources, file) || (inlined && among_parts(headers, file));
}

bool xc_inquiry_own_level(const struct xc_place *place, size_t *level_out)
{
	if (!place->module || xc_module_is_runtime(place->module))
		return false;
	*level_out = 0;
	if (!place->level_count)
		return !library_name(place->symbol);
	for (size_t l = 0; l < place->level_count; l++) {
		*level_out = l;
		if (!of_library(xc_place_function(place, l), place->levels[l].file, l + 1 < place->level_count))
			return true;
	}
	return false;
}

void xc_inquiry_blame(struct xc_inquiry *q, size_t index)
{
	for (; index < q->frame_count; index++) {
		const struct xc_place *place = xc_inquiry_place(q, index);
		size_t level;
		if (q->frames[index].signal || !xc_inquiry_own_level(place, &level))
			continue;
		q->blame.place = place;
		q->blame.level = level;
		q->blame.frame = q->frames[index];
		q->blamed = index;
		return;
	}
}

struct xc_frame_context xc_inquiry_context(const struct xc_inquiry *q, size_t index)
{
	const struct xc_frame *frame = &q->frames[index];
	return (struct xc_frame_context){.process = q->process,
					 .thread = q->thread,
					 .unwinder = q->unwinder,
					 .frame = frame,
					 .place = xc_inquiry_place(q, index)};
}

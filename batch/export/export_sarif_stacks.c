/* export_sarif_stacks: the stacks of a result, and a flow of the frames that count, because GitHub shows flows but no
 * stacks.
 *
 * A record may have the stacks of several threads, one after the other (record.h). Each becomes a stack and a thread
 * flow. Excess frames are dropped from the outer end of each, so that the inner ends of all remain. */
#include "batch/export/export_sarif_stacks.h"

#include "core/text/jsonvalue.h"
#include "batch/export/export_sarif_parts.h"

enum { FRAMES_MAX = 64 };

/* ---- stacks ---- */

static json_t *frame_of(const struct xc_export_cluster *c, size_t index, const struct xc_export_options *options)
{
	const struct xc_record_frame *frame = &c->record->frames[index];
	json_t *object = json_object();
	xc_auto(xc_freep) char *path = xc_export_path(options, frame->file);
	xc_jsonvalue_set(object, "location",
			 xc_sarif_location(xc_sarif_physical(path, frame->line, xc_export_is_own(c, index, options)),
					   frame->function));
	if (frame->module)
		xc_jsonvalue_set(object, "module", xc_sarif_name(frame->module));
	return object;
}

/* "core.1, thread 12 "worker"": the thread is named only if it is not the crashed one. */
static json_t *stack_words(const struct xc_record *record, const char *thread)
{
	struct xc_text text = {0};
	xc_export_name(&text, record->path);
	if (thread) {
		xc_text_add(&text, ", ");
		xc_export_name(&text, thread);
	}
	return xc_sarif_message(&text);
}

/* The stack of one thread, with the frames [from, end). */
static json_t *stack_of(const struct xc_export_cluster *c, size_t from, size_t end,
			const struct xc_export_options *options)
{
	json_t *stack = json_object(), *frames = json_array();
	for (size_t i = from; i < end; i++)
		json_array_append_new(frames, frame_of(c, i, options));
	xc_jsonvalue_set(stack, "message", stack_words(c->record, from < end ? c->record->frames[from].thread : NULL));
	xc_jsonvalue_set(stack, "frames", frames);
	return stack;
}

/* The number of frames per thread, so that the total stays within the limit. */
static size_t share_of(const struct xc_record *record)
{
	const size_t stacks = xc_record_stack_count(record);
	return stacks > FRAMES_MAX ? 1 : FRAMES_MAX / (stacks ? stacks : 1);
}

static size_t at_most(size_t count, size_t limit)
{
	return count < limit ? count : limit;
}

/* Adds a value unless an equal one is there: elements must be unique (3.27.21), and those of a hostile core may not
 * be. */
static void add_unlike(json_t *array, json_t *value)
{
	size_t i = 0;
	while (i < json_array_size(array) && !json_equal(json_array_get(array, i), value))
		i++;
	if (i == json_array_size(array))
		json_array_append(array, value);
	json_decref(value);
}

json_t *xc_sarif_stacks(const struct xc_export_cluster *c, const struct xc_export_options *options)
{
	const struct xc_record *record = c->record;
	const size_t share = share_of(record);
	json_t *stacks = json_array();
	size_t from = 0, end;
	do {
		end = xc_record_stack_end(record, from);
		add_unlike(stacks, stack_of(c, from, at_most(end, from + share), options));
		from = end;
	} while (from < record->frame_count && json_array_size(stacks) < FRAMES_MAX);
	return stacks;
}

/* ---- flows ---- */

/* The location of a frame of the program's own code; NULL for others. */
static json_t *location_inside(const struct xc_export_cluster *c, size_t index, const struct xc_export_options *options)
{
	const struct xc_record_frame *frame = &c->record->frames[index];
	if (!xc_export_is_own(c, index, options))
		return NULL;
	xc_auto(xc_freep) char *path = xc_export_path(options, frame->file);
	return xc_sarif_location(xc_sarif_physical(path, frame->line, true), frame->function);
}

static json_t *step_of(const struct xc_export_cluster *c, size_t index, const struct xc_export_options *options)
{
	json_t *where = location_inside(c, index, options), *step;
	if (!where)
		return NULL;
	xc_jsonvalue_set(where, "message", xc_sarif_words(c->signature->frames[index].shown));
	step = json_object();
	xc_jsonvalue_set(step, "location", where);
	return step;
}

/* The flow of one thread through rows[0 .. count) of the shown frames. NULL without steps. */
static json_t *thread_of(const struct xc_export_cluster *c, const size_t *rows, size_t count,
			 const struct xc_export_options *options)
{
	json_t *thread = json_object(), *steps = json_array();
	const char *words = xc_export_thread(c, rows[0]);
	for (size_t i = count; i-- > 0;) {
		json_t *step = step_of(c, c->signature->shown[rows[i]], options);
		if (step)
			json_array_append_new(steps, step);
	}
	if (words)
		xc_jsonvalue_set(thread, "message", xc_sarif_words(words));
	xc_jsonvalue_set(thread, "locations", steps);
	return thread;
}

static size_t thread_end(const struct xc_export_cluster *c, const size_t *rows, size_t count, size_t from)
{
	size_t end = from + 1;
	while (end < count && !xc_export_thread(c, rows[end]))
		end++;
	return end;
}

json_t *xc_sarif_flow(const struct xc_export_cluster *c, const struct xc_export_options *options)
{
	json_t *threads = json_array(), *flow = json_object();
	size_t rows[FRAMES_MAX], steps = 0;
	const size_t count = xc_export_rows(c, FRAMES_MAX, rows);
	for (size_t from = 0, end; from < count; from = end) {
		end = thread_end(c, rows, count, from);
		json_t *thread = thread_of(c, rows + from, end - from, options);
		const size_t told = json_array_size(json_object_get(thread, "locations"));
		if (told)
			json_array_append(threads, thread);
		json_decref(thread);
		steps += told;
	}
	xc_jsonvalue_set(flow, "threadFlows", threads);
	if (steps > 1)
		return flow;
	json_decref(flow);
	return NULL;
}

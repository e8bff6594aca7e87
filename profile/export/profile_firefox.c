/* profile_firefox: the processed profile format, version 48 (docs-developer/CHANGELOG-formats.md and
 * src/types/profile.js of github.com/firefox-devtools/profiler; its readers upgrade older versions). docs/formats.md
 * has what is used of it.
 *
 * Each thread has tables of its own, of columns; numbers are rows of them. A wait is a frame below its stack. A sample
 * is what one stack got in one slice of the time, with its number as weight: its time is that of the slice. */
#include "profile/export/profile_firefox.h"

#include <stdlib.h>

#include "core/text/intern.h"
#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"
#include "profile/export/thread_tables.h"

enum { FORMAT = 48, GECKO = 28, LIBRARY = 1 /* a type of resource */ };

enum category { OTHER, NATIVE, KERNEL, INTERPRETED, COMPILED, WAITING, CATEGORIES };

static const struct {
	const char *name, *color;
} categories[CATEGORIES] = {
	[OTHER] = {"Other", "grey"},        [NATIVE] = {"Native", "blue"},
	[KERNEL] = {"Kernel", "orange"},    [INTERPRETED] = {"Interpreted", "yellow"},
	[COMPILED] = {"Compiled", "green"}, [WAITING] = {"Waiting", "transparent"},
};

struct sample {
	uint32_t thread, slice, sum;
	uint64_t weight;
	double part; /* of the slice, that is over */
};

struct writing {
	const struct xc_profile_data *data;
	struct xc_jsonstream *out;
	struct sample *samples; /* by thread, then slice */
	size_t sample_count;
	uint32_t *function_files;       /* of each function, the file of one of its frames; 0: unknown */
	struct xc_thread_tables tables; /* of one thread, and the rest too */
	struct xc_intern texts;
	const struct sample *first;
	size_t own_count;
};

/* ---- columns ---- */

typedef json_t *column_fn(struct writing *w, size_t row);

struct column {
	const char *key;
	column_fn *value;
};

static json_t *null_value(struct writing *w, size_t row)
{
	(void)w;
	(void)row;
	return json_null();
}

static json_t *zero(struct writing *w, size_t row)
{
	(void)w;
	(void)row;
	return json_integer(0);
}

static json_t *no_address(struct writing *w, size_t row)
{
	(void)w;
	(void)row;
	return json_integer(-1);
}

static json_t *text_number(struct writing *w, const char *text)
{
	return json_integer(xc_intern(&w->texts, text ? text : ""));
}

static enum category category_of(const struct xc_profile_frame *frame)
{
	if (!frame)
		return WAITING;
	switch ((enum xc_profile_frame_kind)frame->kind) {
	case XC_PROFILE_KERNEL:
		return KERNEL;
	case XC_PROFILE_INTERPRETED:
		return INTERPRETED;
	case XC_PROFILE_JIT:
		return COMPILED;
	case XC_PROFILE_NATIVE:
	case XC_PROFILE_INLINED:
		return NATIVE;
	default:
		return OTHER;
	}
}

static json_t *frame_category(struct writing *w, size_t row)
{
	return json_integer(category_of(xc_thread_tables_frame(&w->tables, row)));
}

static json_t *frame_function(struct writing *w, size_t row)
{
	return json_integer(xc_thread_tables_function_of(&w->tables, row));
}

static json_t *frame_line(struct writing *w, size_t row)
{
	const struct xc_profile_frame *frame = xc_thread_tables_frame(&w->tables, row);
	return frame && frame->line ? json_integer(frame->line) : json_null();
}

static json_t *function_name(struct writing *w, size_t row)
{
	uint32_t wait;
	const struct xc_profile_function *function = xc_thread_tables_function(&w->tables, row, &wait);
	const char *name = xc_profile_data_text(w->data, function ? function->name : w->data->waits[wait].text);
	xc_auto(xc_freep) char *waits = wait ? xc_asprintf("[waits: %s]", name ? name : "?") : NULL;
	return text_number(w, waits ? waits : !function ? "[no stack]" : name ? name : "??");
}

static json_t *function_resource(struct writing *w, size_t row)
{
	return json_integer(xc_thread_tables_module_of(&w->tables, row));
}

static json_t *function_file(struct writing *w, size_t row)
{
	const uint32_t file = w->function_files[w->tables.functions.items[row]];
	return file ? text_number(w, xc_profile_data_text(w->data, file)) : json_null();
}

static json_t *no(struct writing *w, size_t row)
{
	(void)w;
	(void)row;
	return json_false();
}

static json_t *module_name(struct writing *w, size_t row)
{
	return text_number(w, xc_profile_data_text(w->data, w->tables.modules.items[row]));
}

static json_t *module_type(struct writing *w, size_t row)
{
	(void)w;
	(void)row;
	return json_integer(LIBRARY);
}

static json_t *stack_prefix(struct writing *w, size_t row)
{
	const uint32_t caller = w->tables.stacks[row].caller;
	return caller ? json_integer(caller - 1) : json_null();
}

static json_t *stack_frame(struct writing *w, size_t row)
{
	return json_integer(w->tables.stacks[row].frame);
}

static json_t *stack_category(struct writing *w, size_t row)
{
	return frame_category(w, w->tables.stacks[row].frame);
}

static json_t *sample_stack(struct writing *w, size_t row)
{
	return json_integer(xc_thread_tables_stack(&w->tables, &w->data->sums[w->first[row].sum]));
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* Those of one slice one after the other, in its time. */
static json_t *sample_time(struct writing *w, size_t row)
{
	const struct sample *sample = &w->first[row];
	return json_real(ms(w->data->head->slice_ns) * (sample->slice + sample->part));
}

static json_t *sample_cpu(struct writing *w, size_t row)
{
	const struct sample *sample = &w->first[row];
	const bool runs = w->data->head->unit == XC_PROFILE_NS && !w->data->sums[sample->sum].wait;
	return json_real(runs ? (double)sample->weight * (double)w->data->head->period / 1e3 : 0);
}

static json_t *sample_weight(struct writing *w, size_t row)
{
	return json_integer((json_int_t)w->first[row].weight);
}

/* weights: what they count; NULL: there are none. */
static void put_weighted(struct writing *w, const char *key, const struct column *columns, size_t count,
			 const char *weights)
{
	xc_jsonstream_line(w->out);
	xc_jsonstream_open(w->out, key, '{');
	xc_jsonstream_member(w->out, "length", json_integer((json_int_t)count));
	if (weights)
		xc_jsonstream_member(w->out, "weightType", json_string(weights));
	for (; columns->key; columns++) {
		xc_jsonstream_open(w->out, columns->key, '[');
		for (size_t i = 0; i < count; i++)
			xc_jsonstream_element(w->out, columns->value(w, i));
		xc_jsonstream_close(w->out, ']');
	}
	xc_jsonstream_close(w->out, '}');
}

static const struct column frame_columns[] = {
	{"address", no_address},
	{"inlineDepth", zero},
	{"category", frame_category},
	{"subcategory", zero},
	{"func", frame_function},
	{"nativeSymbol", null_value},
	{"innerWindowID", zero},
	{"implementation", null_value},
	{"line", frame_line},
	{"column", null_value},
	{NULL, NULL},
};

static const struct column function_columns[] = {
	{"name", function_name},      {"isJS", no},
	{"relevantForJS", no},        {"resource", function_resource},
	{"fileName", function_file},  {"lineNumber", null_value},
	{"columnNumber", null_value}, {NULL, NULL},
};

static const struct column module_columns[] = {
	{"lib", null_value}, {"name", module_name}, {"host", null_value}, {"type", module_type}, {NULL, NULL}};

static const struct column stack_columns[] = {{"frame", stack_frame},
					      {"prefix", stack_prefix},
					      {"category", stack_category},
					      {"subcategory", zero},
					      {NULL, NULL}};

static const struct column symbol_columns[] = {
	{"libIndex", zero}, {"address", zero}, {"name", zero}, {"functionSize", null_value}, {NULL, NULL}};

static const struct column marker_columns[] = {{"data", null_value}, {"name", zero},  {"startTime", zero},
					       {"endTime", zero},    {"phase", zero}, {"category", zero},
					       {NULL, NULL}};

static const struct column sample_columns[] = {{"stack", sample_stack},
					       {"time", sample_time},
					       {"weight", sample_weight},
					       {"threadCPUDelta", sample_cpu},
					       {NULL, NULL}};

static void put_table(struct writing *w, const char *key, const struct column *columns, size_t count)
{
	put_weighted(w, key, columns, count, NULL);
}

/* ---- threads ---- */

static const char *process_name(const struct xc_profile_data *d, uint64_t pid)
{
	for (size_t i = 0; i < d->thread_count; i++)
		if (d->threads[i].pid == pid && d->threads[i].tid == pid)
			return xc_profile_data_text(d, d->threads[i].name);
	return NULL;
}

static void put_number_text(struct writing *w, const char *key, uint64_t number)
{
	xc_auto(xc_freep) char *text = xc_asprintf("%llu", (unsigned long long)number);
	xc_jsonstream_member(w->out, key, json_string(text));
}

static void put_identity(struct writing *w, const struct xc_profile_thread *t)
{
	const char *name = xc_profile_data_text(w->data, t->name), *process = process_name(w->data, t->pid);
	xc_jsonstream_member(w->out, "name", xc_jsonvalue_text(name ? name : "thread"));
	xc_jsonstream_member(w->out, "processName", xc_jsonvalue_text(process ? process : "process"));
	xc_jsonstream_member(w->out, "processType", json_string("default"));
	xc_jsonstream_member(w->out, "isMainThread", json_boolean(t->tid == t->pid));
	put_number_text(w, "pid", t->pid);
	put_number_text(w, "tid", t->tid);
	for (size_t i = 0; i < 2; i++) {
		xc_jsonstream_member(w->out, i ? "registerTime" : "processStartupTime", json_integer(0));
		xc_jsonstream_member(w->out, i ? "unregisterTime" : "processShutdownTime", json_null());
	}
	xc_jsonstream_member(w->out, "pausedRanges", json_array());
}

static const char *weights_of(const struct xc_profile_data *d)
{
	const char *events = d->head->unit == XC_PROFILE_EVENTS ? xc_profile_data_text(d, d->head->events) : NULL;
	return events && xc_begins_with(events, "bytes") ? "bytes" : "samples";
}

/* All that its samples need gets its number before it is written. */
static void begin_thread(struct writing *w, const struct sample *first, size_t count)
{
	xc_thread_tables_next(&w->tables);
	w->first = first;
	w->own_count = count;
	for (size_t i = 0; i < count; i++)
		(void)xc_thread_tables_stack(&w->tables, &w->data->sums[first[i].sum]);
}

static void put_thread(struct writing *w, uint32_t thread, const struct sample *first, size_t count)
{
	begin_thread(w, first, count);
	xc_jsonstream_line(w->out);
	xc_jsonstream_open(w->out, NULL, '{');
	put_identity(w, &w->data->threads[thread]);
	put_weighted(w, "samples", sample_columns, count, weights_of(w->data));
	put_table(w, "stackTable", stack_columns, w->tables.stack_count);
	put_table(w, "frameTable", frame_columns, w->tables.frames.count);
	put_table(w, "funcTable", function_columns, w->tables.functions.count);
	put_table(w, "resourceTable", module_columns, w->tables.modules.count);
	put_table(w, "nativeSymbols", symbol_columns, 0);
	put_table(w, "markers", marker_columns, 0);
	xc_jsonstream_line(w->out);
	xc_jsonstream_open(w->out, "stringArray", '[');
	for (size_t i = 0; i < w->texts.count; i++)
		xc_jsonstream_element(w->out, xc_jsonvalue_text(w->texts.texts[i]));
	xc_jsonstream_close(w->out, ']');
	xc_jsonstream_close(w->out, '}');
	xc_intern_fini(&w->texts);
}

static int by_thread(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return x->sum < y->sum ? -1 : x->sum > y->sum;
}

/* Over the time of their slice. */
static void spread(struct sample *samples, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i;
		     end < count && samples[end].thread == samples[i].thread && samples[end].slice == samples[i].slice;)
			end++;
		for (size_t k = i; k < end; k++)
			samples[k].part = (double)(k - i) / (double)(end - i);
	}
}

/* Parts of sums; without slices the sums. */
static void list_samples(struct writing *w)
{
	const struct xc_profile_data *d = w->data;
	w->samples = xc_alloc((d->part_count + d->sum_count + 1) * sizeof *w->samples);
	for (size_t i = 0; i < d->part_count; i++) {
		const struct xc_profile_part *part = &d->parts[i];
		w->samples[w->sample_count++] =
			(struct sample){d->sums[part->sum].thread, part->slice, part->sum, part->samples, 0};
	}
	for (uint32_t i = 0; i < d->sum_count && !d->part_count; i++)
		w->samples[w->sample_count++] = (struct sample){d->sums[i].thread, 0, i, d->sums[i].samples, 0};
	if (w->sample_count)
		qsort(w->samples, w->sample_count, sizeof *w->samples, by_thread);
	spread(w->samples, w->sample_count);
}

static void put_threads(struct writing *w)
{
	size_t end;
	xc_jsonstream_open(w->out, "threads", '[');
	for (size_t i = 0; i < w->sample_count; i = end) {
		for (end = i; end < w->sample_count && w->samples[end].thread == w->samples[i].thread;)
			end++;
		put_thread(w, w->samples[i].thread, &w->samples[i], end - i);
	}
	xc_jsonstream_close(w->out, ']');
}

/* ---- the whole ---- */

static json_t *all_categories(void)
{
	json_t *list = json_array();
	for (size_t i = 0; i < CATEGORIES; i++)
		json_array_append_new(list, json_pack("{s:s,s:s,s:[s]}", "name", categories[i].name, "color",
						      categories[i].color, "subcategories", "Other"));
	return list;
}

static void put_meta(struct writing *w)
{
	const struct xc_profile_head *head = w->data->head;
	const char *title = xc_profile_data_text(w->data, head->title),
		   *account = xc_profile_data_text(w->data, head->account);
	xc_jsonstream_open(w->out, "meta", '{');
	xc_jsonstream_member(w->out, "version", json_integer(GECKO));
	xc_jsonstream_member(w->out, "preprocessedProfileVersion", json_integer(FORMAT));
	xc_jsonstream_member(w->out, "interval",
			     json_real(ms(head->unit == XC_PROFILE_NS && head->period ? head->period : 1000000)));
	xc_jsonstream_member(w->out, "startTime", json_real(ms(head->begun_ns)));
	xc_jsonstream_member(w->out, "processType", json_integer(0));
	xc_jsonstream_member(w->out, "stackwalk", json_integer(1));
	xc_jsonstream_member(w->out, "product", xc_jsonvalue_text(title ? title : "xcore"));
	xc_jsonstream_member(w->out, "misc", xc_jsonvalue_text(account ? account : ""));
	xc_jsonstream_member(w->out, "importedFrom", json_string("xcore"));
	xc_jsonstream_member(w->out, "sampleUnits",
			     json_pack("{s:s,s:s,s:s}", "time", "ms", "eventDelay", "ms", "threadCPUDelta", "\u00b5s"));
	xc_jsonstream_member(w->out, "categories", all_categories());
	xc_jsonstream_member(w->out, "markerSchema", json_array());
	static const char *const set[] = {"symbolicated", "symbolicationNotSupported", "usesOnlyOneStackType",
					  "doesNotUseFrameImplementation", "sourceCodeIsNotOnSearchfox"};
	for (size_t i = 0; i < XC_COUNT(set); i++)
		xc_jsonstream_member(w->out, set[i], json_true());
	xc_jsonstream_close(w->out, '}');
}

static uint32_t *files_of(const struct xc_profile_data *d)
{
	uint32_t *files = xc_alloc((d->function_count + d->wait_count + 1) * sizeof *files);
	for (size_t i = d->frame_count; i-- > 0;)
		if (d->frames[i].file)
			files[d->frames[i].function] = d->frames[i].file;
	return files;
}

struct xc_error *xc_profile_firefox(const struct xc_profile_data *d, FILE *out)
{
	struct xc_jsonstream stream = xc_jsonstream_start(out);
	struct writing w = {.data = d, .out = &stream, .function_files = files_of(d)};
	xc_thread_tables_init(&w.tables, d);
	list_samples(&w);
	xc_jsonstream_open(&stream, NULL, '{');
	put_meta(&w);
	xc_jsonstream_member(&stream, "libs", json_array());
	put_threads(&w);
	xc_jsonstream_close(&stream, '}');
	xc_thread_tables_fini(&w.tables);
	free(w.samples);
	free(w.function_files);
	return xc_jsonstream_finish(&stream);
}

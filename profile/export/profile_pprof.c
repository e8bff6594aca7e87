/* profile_pprof: proto/profile.proto of github.com/google/pprof. Numbers of things count from 1: location = frame,
 * function = function, mapping = module, in the order of the data. Texts are those of the data, then some words.
 *
 *  Profile   1 sample_type, 2 sample, 3 mapping, 4 location, 5 function, 6 string_table ("" first), 10 duration_nanos,
 *            11 period_type, 12 period, 13 comment, 14 default_sample_type
 *  ValueType 1 type, 2 unit · Sample 1 location_id (innermost first), 2 value, 3 label · Label 1 key, 2 str, 3 num
 *  Mapping   1 id, 5 filename, 7 has_functions, 8 has_filenames, 9 has_line_numbers, 10 has_inline_frames
 *  Location  1 id, 2 mapping_id, 4 line · Line 1 function_id, 2 line · Function 1 id, 2 name, 4 filename */
#include "profile/export/profile_pprof.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/say.h"
#include "core/render/protobuf.h"
#include "profile/data/profile_tables.h"

enum word { SAMPLES, COUNT, WEIGHT, UNIT, THREAD, TID, WAITS, WORDS };

struct writing {
	const struct xc_profile_data *data;
	struct xc_text *out;
	struct xc_hashtable mappings; /* text of a module → its number */
	uint64_t mapping_count;
};

static uint64_t word(const struct writing *w, enum word which)
{
	return w->data->texts.count + which;
}

static void put_type(const struct writing *w, unsigned field, uint64_t type, uint64_t unit)
{
	struct xc_text message = {0};
	xc_protobuf_field(&message, 1, type);
	xc_protobuf_field(&message, 2, unit);
	xc_protobuf_message(w->out, field, &message);
}

static void put_label(struct xc_text *sample, uint64_t key, uint64_t text, uint64_t number)
{
	struct xc_text label = {0};
	xc_protobuf_field(&label, 1, key);
	xc_protobuf_field(&label, text ? 2 : 3, text ? text : number);
	xc_protobuf_message(sample, 3, &label);
}

/* pprof reads 64 bits with a sign. */
static uint64_t weight_of(const struct xc_profile_data *d, uint64_t samples)
{
	int64_t weight;
	return __builtin_mul_overflow(samples, d->head->period, &weight) ? INT64_MAX : (uint64_t)weight;
}

static void put_sample(const struct writing *w, const struct xc_profile_sum *sum)
{
	const struct xc_profile_data *d = w->data;
	const struct xc_profile_thread *thread = &d->threads[sum->thread];
	struct xc_text sample = {0}, ids = {0}, values = {0};
	for (uint32_t node = sum->stack; node; node = d->nodes[node].parent)
		xc_protobuf_number(&ids, d->nodes[node].frame + UINT64_C(1));
	xc_protobuf_number(&values, sum->samples);
	xc_protobuf_number(&values, weight_of(d, sum->samples));
	xc_protobuf_message(&sample, 1, &ids);
	xc_protobuf_message(&sample, 2, &values);
	put_label(&sample, word(w, TID), 0, thread->tid);
	if (thread->name)
		put_label(&sample, word(w, THREAD), thread->name, 0);
	if (sum->value && d->head->by)
		put_label(&sample, d->head->by, sum->value, 0);
	if (sum->wait && d->waits[sum->wait].text)
		put_label(&sample, word(w, WAITS), d->waits[sum->wait].text, 0);
	xc_protobuf_message(w->out, 2, &sample);
}

/* The number of a module; it is written when it is new. 0: none. */
static uint64_t mapping_of(struct writing *w, uint32_t module)
{
	union xc_hashtable_value *found = module ? xc_hashtable_at(&w->mappings, NULL, module, 1) : NULL;
	if (!found || found->number)
		return found ? found->number : 0;
	struct xc_text mapping = {0};
	found->number = ++w->mapping_count;
	xc_protobuf_field(&mapping, 1, found->number);
	xc_protobuf_field(&mapping, 5, module);
	for (unsigned has = 7; has <= 10; has++) /* names are resolved: pprof looks for none */
		xc_protobuf_field(&mapping, has, 1);
	xc_protobuf_message(w->out, 3, &mapping);
	return found->number;
}

static void put_location(struct writing *w, size_t i)
{
	const struct xc_profile_frame *frame = &w->data->frames[i];
	const struct xc_profile_function *function = &w->data->functions[frame->function];
	const uint64_t mapping = function->language ? 0 : mapping_of(w, function->module);
	struct xc_text location = {0}, line = {0};
	xc_protobuf_field(&line, 1, frame->function + UINT64_C(1));
	xc_protobuf_field(&line, 2, frame->line);
	xc_protobuf_field(&location, 1, i + 1);
	if (mapping)
		xc_protobuf_field(&location, 2, mapping);
	xc_protobuf_message(&location, 4, &line);
	xc_protobuf_message(w->out, 4, &location);
}

/* A function has one file here: that of its first frame that tells one. */
static void put_functions(const struct writing *w)
{
	const struct xc_profile_data *d = w->data;
	xc_auto(xc_freep) uint32_t *files = xc_alloc((d->function_count + 1) * sizeof *files);
	for (size_t i = d->frame_count; i-- > 0;)
		if (d->frames[i].file)
			files[d->frames[i].function] = d->frames[i].file;
	for (size_t i = 0; i < d->function_count; i++) {
		struct xc_text function = {0};
		xc_protobuf_field(&function, 1, i + 1);
		xc_protobuf_field(&function, 2, d->functions[i].name);
		xc_protobuf_field(&function, 4, files[i]);
		xc_protobuf_message(w->out, 5, &function);
	}
}

static void put_text(const struct writing *w, const char *text)
{
	xc_auto(xc_text_fini) struct xc_text clean = {0};
	xc_say_clean(&clean, text, XC_SAY_NAME);
	xc_protobuf_bytes(w->out, 6, xc_text_string(&clean), clean.len);
}

static void put_texts(const struct writing *w)
{
	const struct xc_profile_head *head = w->data->head;
	const bool time = head->unit == XC_PROFILE_NS;
	const char *events = xc_profile_data_text(w->data, head->events);
	const char *const words[WORDS] = {
		[SAMPLES] = "samples",
		[COUNT] = "count",
		[WEIGHT] = !time          ? (events ? events : "events")
			   : !head->waits ? "cpu"
			   : head->runs   ? "wall"
					  : "off",
		[UNIT] = time ? "nanoseconds" : "count",
		[THREAD] = "thread",
		[TID] = "tid",
		[WAITS] = "waits for",
	};
	xc_auto(xc_freep) bool *wanted = xc_profile_texts_of_views(w->data);
	for (size_t i = 0; i < w->data->texts.count; i++)
		put_text(w, wanted[i] ? w->data->texts.texts[i] : "");
	for (size_t i = 0; i < WORDS; i++)
		put_text(w, words[i]);
}

static void put_profile(struct writing *w)
{
	const struct xc_profile_data *d = w->data;
	put_type(w, 1, word(w, SAMPLES), word(w, COUNT));
	put_type(w, 1, word(w, WEIGHT), word(w, UNIT));
	for (size_t i = 0; i < d->sum_count; i++)
		put_sample(w, &d->sums[i]);
	for (size_t i = 0; i < d->frame_count; i++)
		put_location(w, i);
	put_functions(w);
	put_texts(w);
	xc_protobuf_field(w->out, 10, d->head->length_ns);
	put_type(w, 11, word(w, WEIGHT), word(w, UNIT));
	xc_protobuf_field(w->out, 12, d->head->period);
	xc_protobuf_field(w->out, 13, d->head->title);
	xc_protobuf_field(w->out, 13, d->head->account);
	xc_protobuf_field(w->out, 14, word(w, WEIGHT));
}

struct xc_error *xc_profile_pprof(const struct xc_profile_data *d, FILE *out)
{
	struct xc_text text = {0};
	struct writing w = {.data = d, .out = &text};
	put_profile(&w);
	struct xc_error *err = xc_protobuf_write_gzip(&text, out);
	xc_hashtable_fini(&w.mappings);
	xc_text_fini(&text);
	return err;
}

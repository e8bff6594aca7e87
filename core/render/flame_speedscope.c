/* flame_speedscope: a stack tree in the file format of speedscope (https://www.speedscope.app/file-format-schema.json,
 * src/lib/file-format-spec.ts of speedscope 1.25): shared frames, and one profile of samples with weights. */
#include "core/render/flame_frames.h"
#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"

struct writing {
	struct xc_jsonstream *to;
	uint64_t scale; /* a weight's worth of the tree's unit */
};

static void write_stack(void *ctx, const uint32_t *numbers, size_t count, uint64_t weight)
{
	const struct writing *w = ctx;
	json_t *stack = json_array();
	(void)weight;
	for (size_t i = 0; i < count; i++)
		json_array_append_new(stack, json_integer(numbers[i]));
	xc_jsonstream_line(w->to);
	xc_jsonstream_element(w->to, stack);
}

static void write_weight(void *ctx, const uint32_t *numbers, size_t count, uint64_t weight)
{
	const struct writing *w = ctx;
	(void)numbers;
	(void)count;
	xc_jsonstream_element(w->to, json_integer((json_int_t)(weight * w->scale)));
}

static void write_frames(struct xc_jsonstream *s, const struct xc_flame_frames *f)
{
	xc_jsonstream_open(s, "shared", '{');
	xc_jsonstream_open(s, "frames", '[');
	for (size_t i = 0; i < f->names.count; i++) {
		json_t *frame = json_object();
		json_object_set_new(frame, "name", xc_jsonvalue_text(f->names.texts[i]));
		xc_jsonstream_element(s, frame);
	}
	xc_jsonstream_close(s, ']');
	xc_jsonstream_close(s, '}');
}

static void write_profile(struct xc_jsonstream *s, struct xc_flame_frames *f, const struct xc_stacktree *tree)
{
	const bool bytes = xc_begins_with(tree->unit, "bytes");
	struct writing writing = {s, tree->unit_ns ? tree->unit_ns : 1};
	xc_jsonstream_open(s, NULL, '{');
	xc_jsonstream_member(s, "type", json_string("sampled"));
	xc_jsonstream_member(s, "name", xc_jsonvalue_text(f->title));
	xc_jsonstream_member(s, "unit", json_string(tree->unit_ns ? "nanoseconds" : bytes ? "bytes" : "none"));
	xc_jsonstream_member(s, "startValue", json_integer(0));
	xc_jsonstream_member(s, "endValue", json_integer((json_int_t)(tree->root.total * writing.scale)));
	xc_jsonstream_open(s, "samples", '[');
	xc_flame_frames_each(f, tree, write_stack, &writing);
	xc_jsonstream_close(s, ']');
	xc_jsonstream_open(s, "weights", '[');
	xc_flame_frames_each(f, tree, write_weight, &writing);
	xc_jsonstream_close(s, ']');
	xc_jsonstream_close(s, '}');
}

struct xc_error *xc_flame_speedscope(const struct xc_stacktree *tree, FILE *out)
{
	struct xc_jsonstream s = xc_jsonstream_start(out);
	struct xc_flame_frames frames;
	xc_flame_frames_init(&frames, tree);
	xc_jsonstream_open(&s, NULL, '{');
	xc_jsonstream_member(&s, "$schema", json_string("https://www.speedscope.app/file-format-schema.json"));
	xc_jsonstream_member(&s, "exporter", json_string("xcore"));
	xc_jsonstream_member(&s, "name", xc_jsonvalue_text(frames.title));
	write_frames(&s, &frames);
	xc_jsonstream_open(&s, "profiles", '[');
	write_profile(&s, &frames, tree);
	xc_jsonstream_close(&s, ']');
	xc_jsonstream_close(&s, '}');
	xc_flame_frames_fini(&frames);
	return xc_jsonstream_finish(&s);
}

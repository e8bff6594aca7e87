/* flame_pprof: a stack tree as a pprof profile: protocol buffers, compressed by gzip (proto/profile.proto of
 * github.com/google/pprof). A location for each function; numbers of both, and of samples' frames, count from 1.
 *
 *  Profile   1 sample_type, 2 sample, 4 location, 5 function, 6 string_table ("" first), 13 comment, 14 default type
 *  ValueType 1 type, 2 unit · Sample 1 location_id (innermost first), 2 value
 *  Location  1 id, 4 line · Line 1 function_id · Function 1 id, 2 name, 3 system_name */
#include <string.h>

#include "core/base/text.h"
#include "core/render/flame_frames.h"
#include "core/render/protobuf.h"

/* The string table: "", the type, the unit, the title, then the names. */
enum { TYPE = 1, UNIT, TITLE, NAMES };

static void put_sample(void *ctx, const uint32_t *numbers, size_t count, uint64_t weight)
{
	struct xc_text sample = {0}, ids = {0};
	for (size_t i = count; i > 0; i--)
		xc_protobuf_number(&ids, numbers[i - 1] + UINT64_C(1));
	xc_protobuf_message(&sample, 1, &ids);
	xc_protobuf_field(&sample, 2, weight);
	xc_protobuf_message(ctx, 2, &sample);
}

static void put_type(struct xc_text *t)
{
	struct xc_text type = {0};
	xc_protobuf_field(&type, 1, TYPE);
	xc_protobuf_field(&type, 2, UNIT);
	xc_protobuf_message(t, 1, &type);
}

static void put_frame(struct xc_text *t, size_t i)
{
	struct xc_text line = {0}, location = {0}, function = {0};
	xc_protobuf_field(&line, 1, i + 1);
	xc_protobuf_field(&location, 1, i + 1);
	xc_protobuf_message(&location, 4, &line);
	xc_protobuf_message(t, 4, &location);
	xc_protobuf_field(&function, 1, i + 1);
	xc_protobuf_field(&function, 2, NAMES + i);
	xc_protobuf_field(&function, 3, NAMES + i);
	xc_protobuf_message(t, 5, &function);
}

static void put_string(struct xc_text *t, const char *string)
{
	xc_protobuf_bytes(t, 6, string, strlen(string));
}

static void put_profile(struct xc_text *t, struct xc_flame_frames *f, const struct xc_stacktree *tree)
{
	put_type(t);
	xc_flame_frames_each(f, tree, put_sample, t);
	for (size_t i = 0; i < f->names.count; i++)
		put_frame(t, i);
	put_string(t, "");
	put_string(t, tree->unit);
	put_string(t, xc_begins_with(tree->unit, "bytes") ? "bytes" : "count");
	put_string(t, f->title);
	for (size_t i = 0; i < f->names.count; i++)
		put_string(t, f->names.texts[i]);
	xc_protobuf_field(t, 13, TITLE);
	xc_protobuf_field(t, 14, TYPE);
}

struct xc_error *xc_flame_pprof(const struct xc_stacktree *tree, FILE *out)
{
	struct xc_flame_frames frames;
	struct xc_text text = {0};
	xc_flame_frames_init(&frames, tree);
	put_profile(&text, &frames, tree);
	xc_flame_frames_fini(&frames);
	struct xc_error *err = xc_protobuf_write_gzip(&text, out);
	xc_text_fini(&text);
	return err;
}

/* flame_pprof: a stack tree as a pprof profile: protocol buffers, compressed by gzip (proto/profile.proto of
 * github.com/google/pprof). A location for each function; numbers of both, and of samples' frames, count from 1.
 *
 *	Profile   1 sample_type, 2 sample, 4 location, 5 function, 6 string_table ("" first), 13 comment, 14 default_sample_type
 *	ValueType 1 type, 2 unit · Sample 1 location_id (innermost first), 2 value
 *	Location  1 id, 4 line · Line 1 function_id · Function 1 id, 2 name, 3 system_name */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "core/base/text.h"
#include "core/render/flame_frames.h"

enum { VARINT = 0, BYTES = 2 };

/* The string table: "", the type, the unit, the title, then the names. */
enum { TYPE = 1, UNIT, TITLE, NAMES };

static void put_number(struct xc_text *t, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		xc_text_char(t, (char)(n | 0x80));
	xc_text_char(t, (char)n);
}

static void put_field(struct xc_text *t, unsigned field, uint64_t n)
{
	put_number(t, field << 3 | VARINT);
	put_number(t, n);
}

static void put_bytes(struct xc_text *t, unsigned field, const char *bytes, size_t len)
{
	put_number(t, field << 3 | BYTES);
	put_number(t, len);
	xc_text_addn(t, bytes, len);
}

static void put_message(struct xc_text *t, unsigned field, struct xc_text *message)
{
	put_bytes(t, field, message->bytes, message->len);
	xc_text_fini(message);
}

static void put_sample(void *ctx, const uint32_t *numbers, size_t count, uint64_t weight)
{
	struct xc_text sample = {0}, ids = {0};
	for (size_t i = count; i > 0; i--)
		put_number(&ids, numbers[i - 1] + UINT64_C(1));
	put_message(&sample, 1, &ids);
	put_field(&sample, 2, weight);
	put_message(ctx, 2, &sample);
}

static void put_type(struct xc_text *t)
{
	struct xc_text type = {0};
	put_field(&type, 1, TYPE);
	put_field(&type, 2, UNIT);
	put_message(t, 1, &type);
}

static void put_frame(struct xc_text *t, size_t i)
{
	struct xc_text line = {0}, location = {0}, function = {0};
	put_field(&line, 1, i + 1);
	put_field(&location, 1, i + 1);
	put_message(&location, 4, &line);
	put_message(t, 4, &location);
	put_field(&function, 1, i + 1);
	put_field(&function, 2, NAMES + i);
	put_field(&function, 3, NAMES + i);
	put_message(t, 5, &function);
}

static void put_string(struct xc_text *t, const char *string)
{
	put_bytes(t, 6, string, strlen(string));
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
	put_field(t, 13, TITLE);
	put_field(t, 14, TYPE);
}

static struct xc_error *write_gzip(const struct xc_text *t, FILE *out)
{
	enum { GZIP = 15 + 16, ROOM = 1 << 16 };
	static unsigned char room[ROOM];
	z_stream z = {.next_in = (unsigned char *)t->bytes, .avail_in = 0};
	size_t left = t->len;
	int state = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY);
	while (state == Z_OK) {
		const size_t some = left < UINT32_MAX / 2 ? left : UINT32_MAX / 2;
		if (!z.avail_in) {
			z.avail_in = (unsigned)some;
			left -= some;
		}
		z.next_out = room;
		z.avail_out = ROOM;
		state = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		fwrite(room, 1, ROOM - z.avail_out, out);
	}
	deflateEnd(&z);
	if (state != Z_STREAM_END)
		return xc_error_new(XC_ERR_LIMIT, "no memory to compress the profile");
	return fflush(out) || ferror(out) ? xc_error_errno(errno ? errno : EIO, "writing the profile") : NULL;
}

struct xc_error *xc_flame_pprof(const struct xc_stacktree *tree, FILE *out)
{
	struct xc_flame_frames frames;
	struct xc_text text = {0};
	xc_flame_frames_init(&frames, tree);
	put_profile(&text, &frames, tree);
	xc_flame_frames_fini(&frames);
	struct xc_error *err = write_gzip(&text, out);
	xc_text_fini(&text);
	return err;
}

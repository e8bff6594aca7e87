/* jsonstream: the only state is whether a comma is due. JSON_EMBED writes the members of an open object: it omits the
 * braces of the outermost value. */
#include "core/text/jsonstream.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/text/jsonvalue.h"

/* Seventeen digits identify any double: values of the program keep their exact value. */
enum { FLAGS = JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17) };

struct xc_jsonstream xc_jsonstream_start(FILE *out)
{
	json_set_alloc_funcs(xc_alloc, free);
	return (struct xc_jsonstream){.out = out};
}

struct xc_error *xc_jsonstream_finish(struct xc_jsonstream *stream)
{
	assert(stream->depth == 0);
	errno = 0;
	putc('\n', stream->out);
	if (fflush(stream->out) == 0 && !ferror(stream->out) && !stream->failure)
		return NULL;
	int number = stream->failure ? stream->failure : errno;
	return xc_error_errno(number ? number : EIO, "writing JSON");
}

static void separate(struct xc_jsonstream *stream)
{
	if (stream->comma)
		putc(',', stream->out);
	stream->comma = true;
}

typedef int sink(const char *bytes, size_t len, void *user);

static int file_sink(const char *bytes, size_t len, void *user)
{
	return fwrite(bytes, 1, len, user) == len ? 0 : -1;
}

static int text_sink(const char *bytes, size_t len, void *user)
{
	xc_text_addn(user, bytes, len);
	return 0;
}

/* '#' occurs in strings only. The second of two is escaped, because CI systems execute "##[error]". */
static int put_inert(const char *bytes, size_t len, sink *put, void *user)
{
	const char *end = bytes + len;
	for (const char *at = bytes, *next; at < end; at = next) {
		next = memmem(at, (size_t)(end - at), "##", 2);
		next = next ? next + 1 : end;
		if (put(at, (size_t)(next - at), user) || (next < end && put("\\u0023", 6, user)))
			return -1;
		next += next < end;
	}
	return 0;
}

static int write_inert(const char *bytes, size_t len, void *user)
{
	return put_inert(bytes, len, file_sink, user);
}

static int add_inert(const char *bytes, size_t len, void *user)
{
	return put_inert(bytes, len, text_sink, user);
}

char *xc_jsonstream_text(json_t *value)
{
	struct xc_text text = {0};
	json_dump_callback(value, add_inert, &text, FLAGS);
	json_decref(value);
	return xc_text_take(&text);
}

/* Takes value. */
static void dump(struct xc_jsonstream *stream, json_t *value, size_t flags)
{
	errno = 0;
	if (!stream->failure && json_dump_callback(value, write_inert, stream->out, FLAGS | flags))
		stream->failure = errno ? errno : EIO;
	json_decref(value);
}

void xc_jsonstream_open(struct xc_jsonstream *stream, const char *key, char bracket)
{
	separate(stream);
	if (key) {
		dump(stream, xc_jsonvalue_text(key), 0);
		putc(':', stream->out);
	}
	putc(bracket, stream->out);
	stream->depth++;
	stream->comma = false;
}

void xc_jsonstream_close(struct xc_jsonstream *stream, char bracket)
{
	assert(stream->depth > 0);
	putc(bracket, stream->out);
	stream->depth--;
	stream->comma = true;
}

void xc_jsonstream_element(struct xc_jsonstream *stream, json_t *value)
{
	separate(stream);
	dump(stream, value, 0);
}

void xc_jsonstream_members(struct xc_jsonstream *stream, json_t *object)
{
	if (json_object_size(object))
		separate(stream);
	dump(stream, object, JSON_EMBED);
}

void xc_jsonstream_member(struct xc_jsonstream *stream, const char *key, json_t *value)
{
	json_t *object = json_object();
	xc_jsonvalue_set(object, key, value);
	xc_jsonstream_members(stream, object);
}

void xc_jsonstream_line(struct xc_jsonstream *stream)
{
	/* The comma belongs before the end of the line, so it is written now. */
	if (stream->comma)
		putc(',', stream->out);
	putc('\n', stream->out);
	stream->comma = false;
}

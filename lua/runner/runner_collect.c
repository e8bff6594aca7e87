/* runner_collect: the parent's end of the pipe: frames are parsed as they arrive, and lines are written at once.
 * Memory is bounded. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/say.h"
#include "core/render/render.h"
#include "lua/runner/runner_impl.h"

enum { READ = 64 << 10, REPORT_MOST = 512 << 20, PRINTED_MOST = 256 << 20 };

static void fail(struct xc_collected *c, enum xc_error_code code, const char *what)
{
	if (!c->err)
		c->err = xc_error_new(code, "%s: %s", c->run->name, what);
}

/* ---- lines ---- */

static void stream_line(struct xc_collected *c, const char *line, size_t len)
{
	struct xc_text text = {0};
	xc_render_printed(&text, line, len);
	xc_text_disarm(&text, 0);
	xc_text_char(&text, '\n');
	fwrite(text.bytes, 1, text.len, c->run->stream);
	c->streamed = true;
	xc_text_fini(&text);
}

static void take_line(struct xc_collected *c, const char *line, size_t len)
{
	if (c->run->stream) {
		stream_line(c, line, len);
		return;
	}
	if (len + sizeof(struct xc_output_line) > PRINTED_MOST - c->printed) {
		fail(c, XC_ERR_LIMIT, "more than 256 MiB of printed lines (as --format text they are not kept)");
		return;
	}
	c->printed += len + sizeof(struct xc_output_line);
	if (c->run->what != XC_RUN_ANALYZE) {
		xc_report_print(c->run->report, line, len);
		return;
	}
	xc_text_addn(&c->lines, line, strnlen(line, len));
	xc_text_char(&c->lines, '\n');
}

void xc_runner_line(void *collected, const char *line, size_t len)
{
	xc_auto(xc_text_fini) struct xc_text without = {0};
	if (!xc_say_redacts()) {
		take_line(collected, line, len);
		return;
	}
	xc_say_redacted_line(&without, line, len);
	take_line(collected, xc_text_string(&without), without.len);
}

/* ---- frames ---- */

static void take_ending(struct xc_collected *c, const char *bytes, size_t len)
{
	struct xc_error *err = xc_runner_read_ending(bytes, len, &c->ending);
	c->ended = !err;
	if (err && c->err)
		xc_error_free(err);
	else if (err)
		c->err = xc_error_wrap(err, "%s", c->run->name);
}

static void take_frame(struct xc_collected *c, int kind, const char *bytes, size_t len)
{
	if (c->ended)
		fail(c, XC_ERR_FORMAT, "its results continue after their end");
	else if (kind == XC_FRAME_LINE)
		xc_runner_line(c, bytes, len);
	else if (kind == XC_FRAME_ENDED)
		take_ending(c, bytes, len);
	else if (kind != XC_FRAME_REPORT)
		fail(c, XC_ERR_FORMAT, "its results are damaged");
	else if (len > REPORT_MOST - c->report.len)
		fail(c, XC_ERR_LIMIT, "its report takes more than 512 MiB");
	else
		xc_text_addn(&c->report, bytes, len);
}

/* Process the complete frames. */
static void take_frames(struct xc_collected *c)
{
	size_t at = 0;
	while (!c->err && c->bytes.len - at >= XC_FRAME_HEAD) {
		const unsigned char *head = (const unsigned char *)c->bytes.bytes + at;
		size_t len = head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 | (size_t)head[4] << 24;
		if (len > XC_FRAME_MOST)
			fail(c, XC_ERR_FORMAT, "its results are damaged");
		if (c->err || len > c->bytes.len - at - XC_FRAME_HEAD)
			break;
		take_frame(c, head[0], c->bytes.bytes + at + XC_FRAME_HEAD, len);
		at += XC_FRAME_HEAD + len;
	}
	c->bytes.len -= at;
	if (at && c->bytes.len)
		memmove(c->bytes.bytes, c->bytes.bytes + at, c->bytes.len);
}

void xc_runner_collect(struct xc_collected *c, int fd)
{
	static char piece[READ];
	ssize_t got;
	while (!c->err && !c->unread) {
		got = read(fd, piece, sizeof piece);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		xc_text_addn(&c->bytes, piece, (size_t)got);
		take_frames(c);
		if (c->run->stream && (fflush(c->run->stream) || ferror(c->run->stream)))
			c->unread = true;
	}
}

void xc_runner_collected_fini(struct xc_collected *c)
{
	xc_text_fini(&c->bytes);
	xc_text_fini(&c->report);
	xc_text_fini(&c->lines);
	xc_error_free(c->ending.err);
	xc_error_free(c->err);
}

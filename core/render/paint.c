/* paint: a page buffer. When a line ends, commands of CI systems in it are escaped. The column is computed on demand
 * from the bytes added since the last computation, without colour codes, so adding text counts nothing. */
#include "core/render/paint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FLUSH_AT = 64 << 10, DEFAULT_WIDTH = 100, LEAST_WIDTH = 40, LEAST_ROOM = 24 };

static const char *const codes[] = {
	[XC_PLAIN] = "",          [XC_BOLD] = "\033[1m",        [XC_DIM] = "\033[2m",    [XC_RED] = "\033[1;31m",
	[XC_YELLOW] = "\033[33m", [XC_FUNCTION] = "\033[1;36m", [XC_PLACE] = "\033[32m",
};

struct xc_paint xc_paint_start(FILE *out, const struct xc_render_options *options)
{
	size_t width = options->width ? options->width : DEFAULT_WIDTH;
	return (struct xc_paint){.out = out, .options = options, .width = width < LEAST_WIDTH ? LEAST_WIDTH : width};
}

static void flush(struct xc_paint *p)
{
	if (p->page.len)
		fwrite(p->page.bytes, 1, p->page.len, p->out); /* failure is kept by the stream: ferror in finish */
	p->page.len = p->line_start = p->counted = 0;
}

size_t xc_paint_column(struct xc_paint *p)
{
	if (p->page.len > p->counted)
		p->column += xc_render_columns(p->page.bytes + p->counted, p->page.len - p->counted);
	p->counted = p->page.len;
	return p->column;
}

static void put_code(struct xc_paint *p, const char *code)
{
	xc_paint_column(p);
	xc_text_add(&p->page, code);
	p->counted = p->page.len;
}

void xc_paint_putn(struct xc_paint *p, enum xc_style style, const char *text, size_t len)
{
	bool colored = p->options->color && style != XC_PLAIN && len;
	if (colored)
		put_code(p, codes[style]);
	xc_text_addn(&p->page, text, len);
	if (colored)
		put_code(p, "\033[0m");
}

void xc_paint_put(struct xc_paint *p, enum xc_style style, const char *text)
{
	xc_paint_putn(p, style, text, strlen(text));
}

void xc_paint_pad(struct xc_paint *p, size_t column)
{
	static const char spaces[] = "                                ";
	for (size_t at = xc_paint_column(p); at < column;) {
		size_t n = column - at < sizeof spaces - 1 ? column - at : sizeof spaces - 1;
		xc_text_addn(&p->page, spaces, n);
		at += n;
	}
}

/* The first command of a CI system: "##[error]" or "##vso[" anywhere, "::error::" in front of a line; NULL: none. */
static char *command_in(char *lines)
{
	for (char *at = lines; at; at = strchr(at, '\n')) {
		at += strspn(at, " \t\n");
		while (*at == '\033') /* an escape sequence of a colour */
			at += strcspn(at, "m") + 1;
		at += strspn(at, " \t");
		if (at[0] == ':' && at[1] == ':')
			return at;
	}
	for (char *at = lines; (at = strstr(at, "##")); at++)
		if (at[2] == '[' || strncasecmp(at + 2, "vso[", 4) == 0)
			return at;
	return NULL;
}

static void make_inert(struct xc_paint *p)
{
	char *at;
	while (p->page.len > p->line_start && (at = command_in(p->page.bytes + p->line_start))) {
		const char first = *at;
		xc_auto(xc_freep) char *rest = xc_strdup(at + 1);
		p->page.len = (size_t)(at - p->page.bytes);
		xc_text_printf(&p->page, "\\x%02x%s", first, rest);
	}
}

struct xc_error *xc_paint_finish(struct xc_paint *p)
{
	make_inert(p);
	flush(p);
	xc_text_fini(&p->page);
	xc_text_fini(&p->scratch);
	if (fflush(p->out) || ferror(p->out))
		return xc_error_errno(errno ? errno : EIO, "writing the report");
	return NULL;
}

void xc_paint_line(struct xc_paint *p)
{
	make_inert(p);
	while (p->page.len > p->line_start && p->page.bytes[p->page.len - 1] == ' ')
		p->page.len--;
	xc_text_char(&p->page, '\n');
	if (p->page.len >= FLUSH_AT) {
		/* Keep the last two bytes for xc_paint_blank. */
		char end[2] = {p->page.bytes[p->page.len - 2], '\n'};
		p->page.len -= 2;
		flush(p);
		xc_text_addn(&p->page, end, 2);
	}
	p->line_start = p->counted = p->page.len;
	p->column = 0;
}

void xc_paint_blank(struct xc_paint *p)
{
	size_t len = p->page.len;
	bool blank_above = len >= 2 && p->page.bytes[len - 1] == '\n' && p->page.bytes[len - 2] == '\n';
	if (len && !blank_above)
		xc_paint_line(p);
}

/* May a name or path be broken behind this byte: behind "::", or a separator? */
static bool is_joint(const char *text, size_t at)
{
	return strchr("/_.,)>=", text[at]) || (text[at] == ':' && at && text[at - 1] == ':');
}

/* Does the word that begins at text[at] fit in a line of its own? */
static bool word_fits(const char *text, size_t len, size_t at, size_t columns)
{
	size_t end = at;
	while (end < len && text[end] != ' ')
		end++;
	return xc_render_columns(text + at, end - at) <= columns;
}

/* The bytes of text for a line of `columns`: up to the last space that fits; in a word that is longer than a line,
 * behind the last joint; else as many as fit. */
static size_t line_length(const char *text, size_t len, size_t columns)
{
	size_t fit = xc_render_fit(text, len, columns);
	if (fit == len)
		return len;
	for (size_t i = fit; i > 0; i--)
		if (text[i] == ' ' && (i > fit / 2 || word_fits(text, len, i + 1, columns)))
			return i;
	for (size_t i = fit; i > fit / 3; i--)
		if (is_joint(text, i - 1))
			return i;
	return fit;
}

void xc_paint_wrapped(struct xc_paint *p, enum xc_style style, const char *text, size_t indent, size_t max_lines)
{
	size_t left = strlen(text);
	if (xc_paint_column(p) + left <= p->width) { /* a column takes at least a byte */
		xc_paint_putn(p, style, text, left);
		return;
	}
	for (size_t line = 1; left; line++) {
		size_t at = xc_paint_column(p), room = at + 1 < p->width ? p->width - at : 1;
		size_t n = line_length(text, left, room);
		if (n < left && line == max_lines) {
			xc_paint_cut(p, style, text, room);
			return;
		}
		xc_paint_putn(p, style, text, n ? n : 1);
		text += n ? n : 1;
		left -= n ? n : 1;
		for (; left && *text == ' '; left--)
			text++;
		if (!left)
			return;
		xc_paint_line(p);
		xc_paint_pad(p, indent + LEAST_ROOM < p->width ? indent : p->width - LEAST_ROOM);
	}
}

void xc_paint_cut(struct xc_paint *p, enum xc_style style, const char *text, size_t columns)
{
	size_t len = strlen(text), wide = len > columns ? xc_render_columns(text, len) : len;
	if (wide <= columns) {
		xc_paint_putn(p, style, text, len);
	} else if (columns < 2 || text[0] != '/') {
		size_t n = xc_render_fit(text, len, columns ? columns - 1 : 0);
		xc_paint_putn(p, style, text, n);
		xc_paint_put(p, style, "…");
	} else {
		/* The end of a path is more informative. */
		xc_paint_put(p, style, "…");
		xc_paint_put(p, style, text + xc_render_fit(text, len, wide - (columns - 1)));
	}
}

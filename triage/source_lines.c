/* source_lines: see source_lines.h. The path comes from debug information and is opened like any other named file. */
#include "source_lines.h"

#include <string.h>

#include "../core/text.h"

enum { MAX_FILE = 64 << 20, MAX_LINE = 240, MAX_AROUND = 10 };

/* One line with its tabs as spaces. */
struct line {
	unsigned number;
	size_t indent; /* spaces at its start; SIZE_MAX when there is nothing else */
	char text[MAX_LINE + 1];
};

static void read_line(struct line *line, unsigned number, const char *bytes, size_t len)
{
	size_t column = 0;
	for (size_t i = 0; i < len && column < MAX_LINE; i++) {
		if (bytes[i] != '\t') {
			line->text[column++] = bytes[i];
			continue;
		}
		do
			line->text[column++] = ' ';
		while (column % 8 && column < MAX_LINE);
	}
	line->text[column] = '\0';
	line->number = number;
	line->indent = strspn(line->text, " ");
	if (line->indent == column)
		line->indent = SIZE_MAX;
}

/* What all lines are indented by is left out: it only pushes the code to the right. */
static void write_lines(struct xc_text *text, const struct line *lines, size_t count, unsigned marked)
{
	size_t common = SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		common = lines[i].indent < common ? lines[i].indent : common;
	for (size_t i = 0; i < count; i++) {
		xc_text_printf(text, "%s%5u  ", lines[i].number == marked ? "→ " : "  ", lines[i].number);
		if (lines[i].indent != SIZE_MAX)
			xc_text_name(text, lines[i].text + common);
		xc_text_char(text, '\n');
	}
}

char *xc_source_lines(const char *root, const char *path, unsigned line, unsigned around)
{
	xc_auto(xc_source_closep) struct xc_source *file = NULL;
	struct xc_error *err = path && *path == '/' && line ? xc_finder_open(root, path, &file) : NULL;
	xc_error_free(err);
	if (!file || file->size > MAX_FILE)
		return NULL;
	around = around < MAX_AROUND ? around : MAX_AROUND;
	struct line lines[2 * MAX_AROUND + 1];
	size_t count = 0;
	const char *at = (const char *)file->bytes, *end = at + file->size;
	for (unsigned number = 1; at < end && number <= line + around; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		if (number + around >= line)
			read_line(&lines[count++], number, at, (size_t)(stop - at));
		at = stop + 1;
	}
	if (!count || lines[count - 1].number < line)
		return NULL;
	struct xc_text text = {0};
	write_lines(&text, lines, count, line);
	return xc_text_take(&text);
}

/* source_lines: see source_lines.h. The path comes from debug information and is opened like any other named file. */
#include "source_lines.h"

#include <string.h>

#include "../core/text.h"

enum { MAX_FILE = 64 << 20, MAX_LINE = 160 };

/* The bytes of one line as text: tabs become spaces, the rest is escaped, long lines are cut. */
static void add_line(struct xc_text *text, const char *bytes, size_t len)
{
	char line[MAX_LINE + 1];
	size_t column = 0;
	for (size_t i = 0; i < len && column < MAX_LINE; i++) {
		if (bytes[i] != '\t') {
			line[column++] = bytes[i];
			continue;
		}
		do
			line[column++] = ' ';
		while (column % 8 && column < MAX_LINE);
	}
	line[column] = '\0';
	xc_text_name(text, line);
}

char *xc_source_lines(const char *root, const char *path, unsigned line, unsigned around)
{
	xc_auto(xc_source_closep) struct xc_source *file = NULL;
	struct xc_error *err = path && *path == '/' && line ? xc_finder_open(root, path, &file) : NULL;
	xc_error_free(err);
	if (!file || file->size > MAX_FILE)
		return NULL;
	struct xc_text text = {0};
	const char *at = (const char *)file->bytes, *end = at + file->size;
	bool found = false;
	for (unsigned number = 1; at < end && number <= line + around; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		if (number + around >= line) {
			xc_text_printf(&text, "%s%5u    ", number == line ? "→ " : "  ", number);
			add_line(&text, at, (size_t)(stop - at));
			xc_text_char(&text, '\n');
			found |= number == line;
		}
		at = stop + 1;
	}
	if (!found)
		xc_text_fini(&text);
	return found ? xc_text_take(&text) : NULL;
}

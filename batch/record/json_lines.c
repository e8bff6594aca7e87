#include "batch/record/json_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "batch/record/record.h"
#include "batch/util/textfile.h"

struct xc_error *xc_json_lines_open(struct xc_json_lines *lines, const char *path)
{
	*lines = (struct xc_json_lines){.file = NULL};
	return xc_textfile_open(path, &lines->file);
}

void xc_json_lines_close(struct xc_json_lines *lines)
{
	xc_textfile_close(lines->file);
	free(lines->text);
}

/* getline with a limit. */
bool xc_json_lines_next(struct xc_json_lines *lines)
{
	int c;
	lines->number++;
	lines->len = 0;
	flockfile(lines->file);
	while ((c = getc_unlocked(lines->file)) != EOF && c != '\n' && lines->len < XC_JSON_LINES_MAX) {
		if (lines->len == lines->capacity)
			lines->text = xc_grow(lines->text, lines->len, &lines->capacity, 1);
		lines->text[lines->len++] = (char)c;
	}
	funlockfile(lines->file);
	lines->too_long = c != EOF && c != '\n';
	lines->whole += c == '\n' ? lines->len + 1 : 0;
	return c == '\n';
}

bool xc_json_lines_skip(struct xc_json_lines *lines)
{
	uint64_t size = lines->len + 1; /* with the byte that exceeded the limit */
	int c;
	flockfile(lines->file);
	while ((c = getc_unlocked(lines->file)) != EOF && c != '\n')
		size++;
	funlockfile(lines->file);
	lines->whole += c == '\n' ? size + 1 : 0;
	lines->too_long = false;
	return c == '\n';
}

struct xc_error *xc_json_lines_wrong(const struct xc_json_lines *lines, const char *what)
{
	if (ferror(lines->file))
		return xc_error_errno(errno, "reading it");
	if (lines->too_long)
		return xc_error_new(XC_ERR_FORMAT, "line %u has more than %d bytes", lines->number,
				    (int)XC_JSON_LINES_MAX);
	return xc_error_new(XC_ERR_FORMAT, "line %u: %s", lines->number, what);
}

bool xc_json_lines_at_end(struct xc_json_lines *lines)
{
	return getc(lines->file) == EOF;
}

json_t *xc_json_lines_json(struct xc_json_lines *lines)
{
	return xc_json_lines_next(lines) ? json_loadb(lines->text, lines->len, 0, NULL) : NULL;
}

bool xc_json_lines_write(json_t *object, FILE *out)
{
	bool good = json_dumpf(object, out, JSON_COMPACT) == 0 && putc('\n', out) != EOF;
	json_decref(object);
	return good;
}

bool xc_json_lines_text(const json_t *object, const char *key, struct xc_arena *arena, const char **text_out)
{
	const char *text = json_string_value(json_object_get(object, key));
	*text_out = text ? xc_arena_strndup(arena, text, XC_RECORD_TEXT) : NULL;
	return text != NULL;
}

bool xc_json_lines_number(const json_t *object, const char *key, json_int_t most, json_int_t *number_out)
{
	const json_t *value = json_object_get(object, key);
	*number_out = json_integer_value(value);
	return json_is_integer(value) && *number_out >= 0 && *number_out <= most;
}

/* source_lines: the path comes from debug information, so it is opened in folders that the user trusts only. */
#include "dwarf/line/source_lines.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/process/source_roots.h"

enum { MAX_FILE = 64 << 20, MAX_LINE = 240, MAX_AROUND = 10, MAX_FILES = 64, MAX_LINES = 1 << 22 };

/* One line, with tabs expanded to spaces. */
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

/* Leaves out the indentation that all lines share. */
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

/* NULL when it is not a source file of a sensible size. */
static struct xc_source *open_file(const struct xc_process *process, const char *path)
{
	struct xc_source *file = NULL;
	xc_error_free(xc_source_roots_open(process, path, &file));
	if (file && file->size > MAX_FILE) {
		xc_source_close(file);
		file = NULL;
	}
	return file;
}

char *xc_source_lines(const struct xc_process *process, const char *path, unsigned line, unsigned around)
{
	xc_auto(xc_source_closep) struct xc_source *file = line ? open_file(process, path) : NULL;
	if (!file)
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

/* A file and the offsets of its lines. */
struct numbered {
	char *path;
	struct xc_source *file; /* NULL when it cannot be read */
	uint32_t *starts;
	size_t count, capacity;
};

struct xc_source_reader {
	const struct xc_process *process;
	char *hint;
	struct numbered files[MAX_FILES];
	size_t count;
	struct line line;
};

struct xc_source_reader *xc_source_reader_new(const struct xc_process *process)
{
	struct xc_source_reader *reader = xc_alloc(sizeof *reader);
	reader->process = process;
	return reader;
}

void xc_source_reader_free(struct xc_source_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->count; i++) {
		xc_source_close(reader->files[i].file);
		free(reader->files[i].path);
		free(reader->files[i].starts);
	}
	free(reader->hint);
	free(reader);
}

static void find_lines(struct numbered *one)
{
	const char *bytes = (const char *)one->file->bytes, *newline;
	for (size_t at = 0; at < one->file->size && one->count < MAX_LINES; at = (size_t)(newline - bytes) + 1) {
		one->starts = xc_grow(one->starts, one->count, &one->capacity, sizeof *one->starts);
		one->starts[one->count++] = (uint32_t)at;
		newline = memchr(bytes + at, '\n', one->file->size - at);
		if (!newline)
			break;
	}
}

static const struct numbered *file_named(struct xc_source_reader *reader, const char *path)
{
	for (size_t i = 0; i < reader->count; i++)
		if (strcmp(reader->files[i].path, path) == 0)
			return &reader->files[i];
	if (reader->count >= MAX_FILES)
		return NULL;
	struct numbered *one = &reader->files[reader->count++];
	one->path = xc_strdup(path);
	one->file = open_file(reader->process, path);
	if (one->file)
		find_lines(one);
	else if (!reader->hint)
		reader->hint = xc_source_roots_hint(reader->process, path);
	return one;
}

const char *xc_source_reader_line(struct xc_source_reader *reader, const char *path, unsigned line)
{
	const struct numbered *one = reader && path && line ? file_named(reader, path) : NULL;
	if (!one || !one->file || line > one->count)
		return NULL;
	const char *bytes = (const char *)one->file->bytes + one->starts[line - 1];
	size_t left = one->file->size - one->starts[line - 1];
	const char *newline = memchr(bytes, '\n', left);
	read_line(&reader->line, line, bytes, newline ? (size_t)(newline - bytes) : left);
	return reader->line.text + strspn(reader->line.text, " ");
}

const char *xc_source_reader_hint(struct xc_source_reader *reader)
{
	return reader->hint;
}

#include "core/perf/jitdump.h"

#include <string.h>

#include "core/base/cursor.h"

enum { HEADER = 40, RECORD = 16, LOAD = 0, MOVE = 1, LINES = 2, LEAST_LINE = 17 /* bytes */ };

static const uint32_t MAGIC = 0x4A695444; /* in the byte order of the writer */

/* Lines come before the function that they are of. */
struct reading {
	struct xc_code_names *names;
	bool big_endian;
	xc_addr lines_of;
	struct xc_code_line *lines;
	size_t line_count;
};

static bool take_uint(struct xc_cursor *c, size_t size, uint64_t *out)
{
	struct xc_error *err = xc_cursor_uint(c, size, out);
	xc_error_free(err);
	return !err;
}

static bool take_string(struct xc_cursor *c, const char **out)
{
	struct xc_error *err = xc_cursor_string(c, out);
	xc_error_free(err);
	return !err;
}

static bool skip(struct xc_cursor *c, size_t len)
{
	struct xc_error *err = xc_cursor_skip(c, len);
	xc_error_free(err);
	return !err;
}

static void read_load(struct reading *r, struct xc_cursor c)
{
	uint64_t address, size;
	const char *name;
	if (!skip(&c, 16) || !take_uint(&c, 8, &address) || !take_uint(&c, 8, &size) || !skip(&c, 8) ||
	    !take_string(&c, &name))
		return;
	const bool own = r->line_count && r->lines_of == address;
	xc_code_names_add(r->names, address, size, name, own ? r->lines : NULL, own ? r->line_count : 0);
	r->line_count = 0;
}

/* Lines of what was moved are not known any more. */
static void read_move(struct reading *r, struct xc_cursor c)
{
	uint64_t old, address, size;
	if (!skip(&c, 16) || !take_uint(&c, 8, &old) || !take_uint(&c, 8, &address) || !take_uint(&c, 8, &size))
		return;
	const struct xc_code_name *moved = xc_code_names_find(r->names, old);
	if (moved && moved->lo == old)
		xc_code_names_add(r->names, address, size, moved->name, NULL, 0);
}

static bool read_line(struct reading *r, struct xc_cursor *c, struct xc_code_line *line)
{
	uint64_t number, discriminator;
	const char *file;
	if (!take_uint(c, 8, &line->at) || !take_uint(c, 4, &number) || !take_uint(c, 4, &discriminator) ||
	    !take_string(c, &file))
		return false;
	line->line = number <= INT32_MAX ? (uint32_t)number : 0;
	line->file = strcmp(file, "\xff") != 0 ? xc_code_names_file(r->names, file)
		     : line > r->lines         ? line[-1].file
					       : xc_code_names_file(r->names, "");
	return line == r->lines || line->at >= line[-1].at;
}

static void read_lines(struct reading *r, struct xc_cursor c)
{
	uint64_t count;
	r->line_count = 0;
	if (!take_uint(&c, 8, &r->lines_of) || !take_uint(&c, 8, &count) || count > xc_cursor_left(&c) / LEAST_LINE ||
	    !(r->lines = xc_code_names_lines(r->names, count)))
		return;
	while (r->line_count < count && read_line(r, &c, &r->lines[r->line_count]))
		r->line_count++;
}

/* False: the rest is cut, or no record. */
static bool read_record(struct reading *r, struct xc_cursor *c)
{
	uint64_t id, size;
	const void *bytes;
	if (!take_uint(c, 4, &id) || !take_uint(c, 4, &size) || size < RECORD || !skip(c, 8))
		return false;
	struct xc_error *err = xc_cursor_take(c, size - RECORD, &bytes);
	xc_error_free(err);
	if (err)
		return false;
	struct xc_cursor body = xc_cursor(bytes, size - RECORD, "a record");
	body.big_endian = r->big_endian;
	if (id == LOAD)
		read_load(r, body);
	else if (id == MOVE)
		read_move(r, body);
	else if (id == LINES)
		read_lines(r, body);
	return true;
}

bool xc_jitdump_read(struct xc_code_names *names, const void *bytes, size_t len)
{
	struct reading r = {.names = names};
	struct xc_cursor c = xc_cursor(bytes, len, "jitdump");
	uint64_t version, size;
	if (len < HEADER)
		return false;
	r.big_endian = c.big_endian = xc_load_uint(bytes, 4, true) == MAGIC;
	if (xc_load_uint(bytes, 4, c.big_endian) != MAGIC)
		return false;
	if (!skip(&c, 4) || !take_uint(&c, 4, &version) || !take_uint(&c, 4, &size) || version != 1 || size < HEADER ||
	    !skip(&c, size - 12))
		return false;
	while (read_record(&r, &c))
		;
	return true;
}

/* json_lines: reads and writes files of JSON lines; reading treats them as hostile. Also reads members of such
 * objects. */
#ifndef XC_JSON_LINES_H
#define XC_JSON_LINES_H

#include <jansson.h>
#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/error.h"

enum { XC_JSON_LINES_MAX = 2 << 20 }; /* bytes per line: more than any that we write (record.h) */

struct xc_json_lines {
	FILE *file;
	char *text; /* of the last line, without its end */
	size_t len, capacity;
	unsigned number; /* of the last line, from 1 */
	bool too_long;   /* the last line is */
	uint64_t whole;  /* bytes of the lines read or skipped, with their ends */
};

/* Errors: those of xc_textfile_open. */
XC_MUST_CHECK struct xc_error *xc_json_lines_open(struct xc_json_lines *lines, const char *path);
void xc_json_lines_close(struct xc_json_lines *lines);

/* Reads the next line. False at the end of the file, at an incomplete line (the file was truncated), and at a line of
 * more than XC_JSON_LINES_MAX bytes, which is not read further. */
bool xc_json_lines_next(struct xc_json_lines *lines);

/* Skips the rest of a line that was too long; its text remains what was read of it. False if the line has no end. */
bool xc_json_lines_skip(struct xc_json_lines *lines);

/* The reason why there was no next line, or it was not as expected: XC_ERR_FORMAT with the line number and `what`, or
 * that it is too long; XC_ERR_IO if it cannot be read. */
XC_MUST_CHECK struct xc_error *xc_json_lines_wrong(const struct xc_json_lines *lines, const char *what);

/* Is the last line at the end of the file? */
bool xc_json_lines_at_end(struct xc_json_lines *lines);

/* The next line as JSON, new; NULL if there is none or it is not JSON. */
json_t *xc_json_lines_json(struct xc_json_lines *lines);

/* Writes a line; takes the object. False with errno set on failure. */
bool xc_json_lines_write(json_t *object, FILE *out);

/* A text member, copied to the arena; false if it is missing or of another type. Longer texts are cut to XC_RECORD_TEXT
 * bytes. */
bool xc_json_lines_text(const json_t *object, const char *key, struct xc_arena *arena, const char **text_out);

/* A number member from 0 to `most`; false likewise. */
bool xc_json_lines_number(const json_t *object, const char *key, json_int_t most, json_int_t *number_out);

#endif

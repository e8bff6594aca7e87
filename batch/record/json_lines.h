/* json_lines: a file of JSON lines, one after the other, read as hostile text; and the members of such lines. */
#ifndef XC_JSON_LINES_H
#define XC_JSON_LINES_H

#include <jansson.h>
#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/error.h"

enum { XC_JSON_LINES_MAX = 2 << 20 }; /* bytes of a line: more than any that we write (record.h) */

struct xc_json_lines {
	FILE *file;
	char *text; /* of the last line, without its end */
	size_t len, capacity;
	unsigned number; /* of the last line, from 1 */
	bool too_long;   /* the last one */
	uint64_t whole;  /* bytes of the lines that were read or skipped, with their ends */
};

/* Errors: those of xc_textfile_open. */
XC_MUST_CHECK struct xc_error *xc_json_lines_open(struct xc_json_lines *lines, const char *path);
void xc_json_lines_close(struct xc_json_lines *lines);

/* Go to the next line. False at the end, at a line that does not end: it was cut; and at one of more than XC_JSON_LINES_MAX bytes, of which no
 * more is read. */
bool xc_json_lines_next(struct xc_json_lines *lines);

/* Go behind the end of one that was too long; its text stays what was read of it. False when it has none. */
bool xc_json_lines_skip(struct xc_json_lines *lines);

/* Why there was no next line or it was not what it is to be: XC_ERR_FORMAT with the number of the line and `what`, or that it is too
 * long; XC_ERR_IO when it cannot be read. */
XC_MUST_CHECK struct xc_error *xc_json_lines_wrong(const struct xc_json_lines *lines, const char *what);

/* True when nothing stands behind the last line. */
bool xc_json_lines_at_end(struct xc_json_lines *lines);

/* The next line as JSON, new; NULL when there is none or it is no JSON. */
json_t *xc_json_lines_json(struct xc_json_lines *lines);

/* Write a line; takes the object. False when it could not be written, with errno. */
bool xc_json_lines_write(json_t *object, FILE *out);

/* A member, put into the arena; false when it is missing or of another kind. At most XC_RECORD_TEXT bytes are kept. */
bool xc_json_lines_text(const json_t *object, const char *key, struct xc_arena *arena, const char **text_out);

/* A number from 0 to most; false likewise. */
bool xc_json_lines_number(const json_t *object, const char *key, json_int_t most, json_int_t *number_out);

#endif

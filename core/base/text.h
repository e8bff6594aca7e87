/* text: a growing string, and the escaping every string of the target goes through. */
#ifndef XC_TEXT_H
#define XC_TEXT_H

#include "core/base/base.h"

struct xc_text {
	char *bytes; /* always NUL-terminated once something was added; NULL before */
	size_t len, capacity;
};

void xc_text_add(struct xc_text *text, const char *string);
void xc_text_addn(struct xc_text *text, const char *bytes, size_t len);
void xc_text_char(struct xc_text *text, char c);
void xc_text_printf(struct xc_text *text, const char *format, ...) XC_PRINTF(2, 3);
const char *xc_text_string(const struct xc_text *text); /* "" when nothing was added; borrowed */
char *xc_text_take(struct xc_text *text);               /* malloc'ed; text is empty afterwards */
void xc_text_fini(struct xc_text *text);

/* A line without blanks, tabs and carriage returns at its ends; cut in place. */
char *xc_text_trim(char *line);

/* For qsort of strings: byte by byte. */
int xc_text_order(const void *a, const void *b);

/* Add len bytes as the inside of a C string: printable ASCII and well-formed UTF-8 as they are,
 * \n \t \r \\ \" by letter, everything else (control characters, the C1 range, malformed bytes) as
 * \NNN in octal with three digits, as gdb prints it. Terminal escapes of a hostile core so never
 * reach a terminal. */
void xc_text_escaped(struct xc_text *text, const char *bytes, size_t len);

/* For a name or path shown without quotes: double quotes and backslashes stay as they are; control characters,
 * malformed bytes and what reorders text become \xNN; so does the first of two '#', since "##[error]" is a command to CI systems that print it. */
void xc_text_name(struct xc_text *text, const char *string);

/* How many of the first bytes are printable ASCII. */
size_t xc_text_ascii_run(const char *bytes, size_t len);

/* Bytes of the character at `bytes` (left >= 1 are there) when it may be shown as it is; 0 for control characters,
 * malformed UTF-8 and what reorders text (bidirectional overrides, line separators). */
size_t xc_text_plain_length(const char *bytes, size_t left);

/* Bytes at the front that read as text: such characters, and white space from tab to carriage return. */
size_t xc_text_readable_length(const char *bytes, size_t len);

/* "1.5 MiB": a byte count with a binary unit, three significant digits. */
void xc_text_size(struct xc_text *text, uint64_t bytes);

#endif

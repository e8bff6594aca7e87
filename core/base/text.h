/* text: a growing string, and the escaping that every string of the target passes through. */
#ifndef XC_TEXT_H
#define XC_TEXT_H

#include "core/base/base.h"

struct xc_text {
	char *bytes; /* NUL-terminated; NULL until something is added */
	size_t len, capacity;
};

void xc_text_add(struct xc_text *text, const char *string);
void xc_text_addn(struct xc_text *text, const char *bytes, size_t len);
void xc_text_char(struct xc_text *text, char c);
void xc_text_printf(struct xc_text *text, const char *format, ...) XC_PRINTF(2, 3);
const char *xc_text_string(const struct xc_text *text); /* "" when nothing was added; borrowed */
char *xc_text_take(struct xc_text *text);               /* malloc'ed; text is empty afterwards */
void xc_text_fini(struct xc_text *text);

/* Strip blanks, tabs and carriage returns from both ends of a line, in place. */
char *xc_text_trim(char *line);

/* For qsort of strings: compares byte by byte. */
int xc_text_order(const void *a, const void *b);

/* Add len bytes as the inside of a C string: printable ASCII and well-formed UTF-8 verbatim,
 * \n \t \r \\ \" by letter, everything else (control characters, the C1 range, malformed bytes) as
 * \NNN in octal with three digits, as gdb prints it. So terminal escapes of a hostile core never
 * reach a terminal. */
void xc_text_escaped(struct xc_text *text, const char *bytes, size_t len);

/* Add a name or path shown without quotes: double quotes and backslashes are verbatim. Control characters, malformed
 * bytes and characters that reorder text become \xNN. So does the first of two '#', because CI systems execute
 * "##[error]" when they print it. */
void xc_text_name(struct xc_text *text, const char *string);

/* In the lines from byte `from` on: at the front of a line, also after blanks, "::" starts a command of GitHub
 * Actions; its first colon becomes \x3a. */
void xc_text_disarm(struct xc_text *text, size_t from);

/* The number of printable ASCII bytes at the front. */
size_t xc_text_ascii_run(const char *bytes, size_t len);

/* The bytes of the character at `bytes`, of which left >= 1 are valid, if it may be shown verbatim. 0 for control
 * characters, malformed UTF-8 and characters that reorder text (bidirectional overrides, line separators). */
size_t xc_text_plain_length(const char *bytes, size_t left);

/* The bytes at the front that are text: such characters, and white space from tab to carriage return. */
size_t xc_text_readable_length(const char *bytes, size_t len);

/* The text that has bytes[at] or ends right before it: its length, and where it begins. 0: there is none. */
size_t xc_text_readable_around(const char *bytes, size_t len, size_t at, size_t *begin_out);

/* Add a byte count with a binary unit and three significant digits: "1.5 MiB". */
void xc_text_size(struct xc_text *text, uint64_t bytes);

#endif

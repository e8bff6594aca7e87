/* source_code: lines of C++ source as tokens: names, numbers and operators, without comments, texts and directives. */
#ifndef XC_SOURCE_CODE_H
#define XC_SOURCE_CODE_H

#include "triage/crash/crash_context.h"

struct xc_source_token {
	const char *text; /* "std", "::", "->", "=="; "\"" for a text or character; in the report's arena */
	unsigned line;
};

struct xc_source_code {
	const char *file;
	struct xc_source_token *tokens;
	size_t count;
};

/* Read the lines `first` to `last` of a file, the last some hundred of them. False when the last one is not available
 * (source_lines.h). */
bool xc_source_code_read(const struct xc_crash_context *crash, const char *file, unsigned first, unsigned last,
			 struct xc_source_code *out);

/* Is the token at an index (which may be past the end) this one? */
bool xc_source_code_is(const struct xc_source_code *code, size_t at, const char *text);

/* Is it a name or keyword? */
bool xc_source_code_is_name(const struct xc_source_code *code, size_t at);

/* The index of the bracket that closes the one at `open`, at most `end`: "(", "[" or "{". */
size_t xc_source_code_close(const struct xc_source_code *code, size_t open, size_t end);

/* The tokens [begin, end) as one text, with blanks between words only; in the report's arena. */
const char *xc_source_code_text(const struct xc_crash_context *crash, const struct xc_source_code *code, size_t begin,
				size_t end);

#endif

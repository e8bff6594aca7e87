/* say: the lines on standard error, and the redaction in force.
 *
 * Whatever a message quotes may come from the target: names of files and threads, values in errors. So every line
 * passes one redaction and one escaping here, and nothing else writes to standard error (tests/printing checks that).
 * A line never begins with a command of a CI system ("::error::"). */
#ifndef XC_SAY_H
#define XC_SAY_H

#include "core/base/text.h"

enum xc_say_kind {
	XC_SAY_PROSE,
	XC_SAY_JSON, /* stays JSON */
	XC_SAY_NAME, /* of a function, a type, … */
};

/* Add `text` without the user's data to out. False, with out unchanged, when there is nothing to remove. */
typedef bool xc_say_scrub(const void *user, const char *text, enum xc_say_kind kind, struct xc_text *out);

/* From now on redact by `scrub`; user is borrowed. NULL, the default: hide nothing. Call it while there is one
 * thread. */
void xc_say_redact(xc_say_scrub *scrub, const void *user);

/* Is redaction in force? */
bool xc_say_redacts(void);

/* Add `text` to out, redacted but not escaped: for output whose writer escapes in its own way. */
void xc_say_redacted(struct xc_text *out, const char *text, enum xc_say_kind kind);

/* Add `text` to out, redacted and then escaped as a name (xc_text_name). */
void xc_say_clean(struct xc_text *out, const char *text, enum xc_say_kind kind);

/* The same for a line that a script printed, which may hold NULs; JSON stays JSON. */
void xc_say_redacted_line(struct xc_text *out, const char *line, size_t len);

/* Write "xcore: MESSAGE" as one line. */
void xc_say(const char *format, ...) XC_PRINTF(1, 2);

/* Write BEFORE and the text as one line; `before` is a literal. */
void xc_say_line(const char *before, const char *text);

#endif

/* scrub: redaction of texts: removes the user's data from what is shown: paths, names of threads, messages.
 *
 * Known words are removed wherever they occur. Other secrets are recognised by their form: NAME=VALUE with a secret
 * name (TOKEN SECRET PASS KEY AUTH COOKIE CRED), headers of that kind, Bearer and Basic, user and password of a URL,
 * PEM blocks, keys of AWS, GitHub and Slack, JSON web tokens, home directories ("~"), and numbers whose bytes are
 * letters (hexadecimal, and decimal from seven letters on). */
#ifndef XC_SCRUB_H
#define XC_SCRUB_H

#include "core/base/arena.h"
#include "core/base/text.h"

/* Shown in place of redacted data. */
#define XC_REDACTED "(redacted)"

enum { XC_SCRUB_WORDS = 64 }; /* at most the bits of a uint64_t */

struct xc_scrub_word {
	const char *text, *shown;
	size_t len;
	size_t least; /* a prefix of this length counts as the word: the kernel keeps 15 bytes of a thread's name */
	bool whole;   /* do not match it inside a longer word or path */
};

/* A zeroed one has no words. */
struct xc_scrub {
	struct xc_arena arena;
	struct xc_scrub_word words[XC_SCRUB_WORDS];
	size_t count, left;   /* left: the number of words beyond XC_SCRUB_WORDS */
	uint64_t starts[256]; /* by first byte: a bit for each word that begins with it */
};

void xc_scrub_fini(struct xc_scrub *scrub);

/* Add a name of len bytes, which is copied: as a whole word it is replaced by `shown` (a literal). Duplicates are
 * ignored; a word beyond the limit is counted in `left`. */
void xc_scrub_name(struct xc_scrub *scrub, const char *text, size_t len, const char *shown);

/* Add a secret of len bytes, likewise. It is removed wherever it occurs, also when truncated after eight bytes or more.
 * Without a digit it may be a common word: then only as a whole word, or truncated after 15 bytes or more. A path is
 * matched only in full. */
void xc_scrub_secret(struct xc_scrub *scrub, const char *text, size_t len);

/* Does a variable or header with this name (len bytes) hold a secret? */
bool xc_scrub_names_secret(const char *name, size_t len);

/* Do the bytes of the address look like text, and not like an address of a program? At least the five upper bytes,
 * below any NULs, must be letters; lower ones may differ, because an offset of a field may have been added. On x86-64,
 * position-independent programs lie where the uppermost of six letters is U or V, and libraries may lie at '~': those
 * are addresses, the latter unless all bytes are letters. */
bool xc_scrub_is_letters(uint64_t address);

/* Add `text` to out without the user's data. False, with out unchanged, when there is nothing to remove. `code`: text
 * is a line of source code, in which NAME=VALUE is an assignment and no secret. */
bool xc_scrub_text(const struct xc_scrub *scrub, const char *text, bool code, struct xc_text *out);

/* The same for a name of a function, type or variable. A secret without a digit may be a common word, so it stays here,
 * as do names of users and hosts. */
bool xc_scrub_symbol(const struct xc_scrub *scrub, const char *text, struct xc_text *out);

/* The same for lines of source code: also removes literals, which are values: strings, and numbers after a name of a
 * secret. Linear in the length of the text. */
bool xc_scrub_source(const struct xc_scrub *scrub, const char *text, struct xc_text *out);

#endif

/* scrub: what is the user's in texts that redaction shows all the same: paths, names of threads, messages.
 *
 * Known words are left out wherever they stand; the rest is told by its shape: NAME=VALUE where the name speaks of a secret
 * (TOKEN SECRET PASS KEY AUTH COOKIE CRED), headers of that kind, Bearer and Basic, a URL's user and password, PEM blocks, the keys of AWS,
 * GitHub and Slack, JSON web tokens, home directories ("~"), and addresses whose bytes are letters. */
#ifndef XC_SCRUB_H
#define XC_SCRUB_H

#include "core/base/arena.h"
#include "core/base/text.h"

/* Shown in place of what redaction leaves out. */
#define XC_REDACTED "(redacted)"

enum { XC_SCRUB_WORDS = 64 }; /* no more than a uint64_t has bits */

struct xc_scrub_word {
	const char *text, *shown;
	size_t len;
	size_t least; /* as many letters of its beginning are taken for it: the kernel keeps 15 of a thread's name */
	bool whole;   /* not as a part of a longer word or path */
};

/* Zeroed is one that knows no word. */
struct xc_scrub {
	struct xc_arena arena;
	struct xc_scrub_word words[XC_SCRUB_WORDS];
	size_t count, left;   /* left: words that there was no room for */
	uint64_t starts[256]; /* by a letter: a bit for each word that begins with it */
};

void xc_scrub_fini(struct xc_scrub *scrub);

/* Both copy the word of len bytes; one that is known already is not kept twice, and one beyond the limit is counted in `left`.
 * Of a name `shown` (a literal) is shown, where it stands alone. */
void xc_scrub_name(struct xc_scrub *scrub, const char *text, size_t len, const char *shown);

/* A secret is left out wherever it stands, and where it is cut behind its eighth letter or later; without a digit it may be a common word:
 * then where it stands alone, and cut behind the 15th at the earliest. A path stands whole, or is none. */
void xc_scrub_secret(struct xc_scrub *scrub, const char *text, size_t len);

/* Does a variable or header of this name (len bytes) hold a secret? */
bool xc_scrub_names_secret(const char *name, size_t len);

/* Is the address letters, and no address that programs have? At least five, with NULs above them; what is below five may have been
 * counted on from letters, as where a field lies of what they were taken for the address of. x86-64's position-independent programs lie
 * where the uppermost of six letters would be U or V, and its libraries may lie at '~': those are none, the latter unless it is letters to
 * the last. */
bool xc_scrub_is_letters(uint64_t address);

/* Add `text` to out without what is the user's. False, and out as it was, when nothing is to be left out. `code`: a line of a
 * program, where NAME=VALUE is an assignment and no secret. */
bool xc_scrub_text(const struct xc_scrub *scrub, const char *text, bool code, struct xc_text *out);

#endif

/* scrub_word: the known words of scrub.h, and what a word's letters are; for scrub.c alone. */
#ifndef XC_SCRUB_IMPL_H
#define XC_SCRUB_IMPL_H

#include <ctype.h>
#include <string.h>

#include "core/report/scrub.h"

static inline bool xc_scrub_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static inline bool xc_scrub_is_path(char c)
{
	return xc_scrub_is_word(c) || (c && strchr("./-+~@%", c));
}

/* That a word is no key is most often seen by its having none. */
static inline bool xc_scrub_has_digit(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isdigit((unsigned char)at[i]))
			return true;
	return false;
}

/* How many bytes at `at`, in the text from `start` on, are a known word; what is shown for it is added to out. 0 when none stands there; of
 * several that one of which most does. */
size_t xc_scrub_known(const struct xc_scrub *scrub, const char *start, const char *at, struct xc_text *out);

#endif

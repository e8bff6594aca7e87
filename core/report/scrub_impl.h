/* scrub_impl: shared by scrub*.c: the characters of words, and the search for known words. */
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

/* Most words that are not keys have no digit. */
static inline bool xc_scrub_has_digit(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isdigit((unsigned char)at[i]))
			return true;
	return false;
}

/* The number of bytes at `at`, in the text from `start` on, that are a known word; 0 when there is none. Adds its
 * replacement to out. If several words match, the longest match wins. `symbol`: words that are matched whole only do
 * not count. */
size_t xc_scrub_known(const struct xc_scrub *scrub, const char *start, const char *at, bool symbol,
		      struct xc_text *out);

#endif

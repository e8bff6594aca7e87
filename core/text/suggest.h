/* suggest: the known word that is nearest to a mistyped one. */
#ifndef XC_SUGGEST_H
#define XC_SUGGEST_H

#include "core/base/base.h"

struct xc_suggestion {
	const char *wrong; /* the mistyped word; borrowed */
	const char *best;  /* the nearest word so far; NULL when none is near */
	size_t distance;
};

struct xc_suggestion xc_suggest(const char *wrong);

/* The edit distance between the two words. SIZE_MAX when they are not near: when more than a third of the letters (and
 * more than one) must change. */
size_t xc_suggest_distance(const char *wrong, const char *word);

/* Consider a word as a suggestion. It is near when at most a third of its letters, or one, must change. */
void xc_suggest_consider(struct xc_suggestion *suggestion, const char *word);

#endif

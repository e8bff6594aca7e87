/* suggest: the word a person meant when they wrote another one. */
#ifndef XC_SUGGEST_H
#define XC_SUGGEST_H

#include "core/base/base.h"

struct xc_suggestion {
	const char *wrong; /* what was written; borrowed */
	const char *best;  /* the nearest word so far, or NULL when none is near */
	size_t distance;
};

struct xc_suggestion xc_suggest(const char *wrong);

/* How far a word is from what was written, in letters to change; SIZE_MAX when it is not near: when more than a third of its
 * letters (and more than one) must change. */
size_t xc_suggest_distance(const char *wrong, const char *word);

/* Consider a word. It counts when at most a third of its letters (and at least one) must change. */
void xc_suggest_consider(struct xc_suggestion *suggestion, const char *word);

#endif

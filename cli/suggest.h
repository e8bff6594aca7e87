/* suggest: the word a person meant when they wrote another one. */
#ifndef XC_SUGGEST_H
#define XC_SUGGEST_H

#include "../core/base.h"

struct xc_suggestion {
	const char *wrong; /* what was written; borrowed */
	const char *best;  /* the nearest word so far, or NULL when none is near */
	size_t distance;
};

struct xc_suggestion xc_suggest(const char *wrong);

/* Consider a word. It counts when at most a third of its letters (and at least one) must change. */
void xc_suggest_consider(struct xc_suggestion *suggestion, const char *word);

#endif

/* steady_word: may a return address on a stack be believed that was read after the sample?
 *
 * The word is steady when it and the function that returns to it were the same for 8 samples in a row; after each
 * change, for four times as many as before. So one strange sample costs some stacks, and a word that changes again and
 * again is never believed. */
#ifndef XC_STEADY_WORD_H
#define XC_STEADY_WORD_H

#include <stdbool.h>

#include "core/base/base.h"

/* Zero: not seen yet. */
struct xc_steady_word {
	xc_addr ret, callee; /* as last seen; callee: where the function begins that will return to it */
	unsigned same;       /* for so many samples in a row */
	unsigned needed;
};

/* Note what a sample has there. True: it is steady. */
bool xc_steady_word_see(struct xc_steady_word *word, xc_addr ret, xc_addr callee);

#endif

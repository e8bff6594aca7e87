/* random: numbers that spread well; not for secrets. */
#ifndef XC_RANDOM_H
#define XC_RANDOM_H

#include <stdint.h>

/* The next of a sequence; *state is not 0. xorshift64 (G. Marsaglia, Xorshift RNGs, 2003). */
static inline uint64_t xc_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif

/* function_sums: the samples of each function of a profile: its own, and with what it calls. */
#ifndef XC_FUNCTION_SUMS_H
#define XC_FUNCTION_SUMS_H

#include "profile/data/profile_data.h"

struct xc_function_sum {
	uint32_t function;
	uint64_t self, total;               /* samples; where it calls itself, total counts once */
	double self_squares, total_squares; /* sums of squares of the observations */
	uint32_t file, line;                /* the line with most samples of its own; line 0: unknown */
};

/* One for each function, in the order of the data, of the sums [from, to). Malloc'ed. O(nodes + sums). */
struct xc_function_sum *xc_function_sums(const struct xc_profile_data *data, size_t from, size_t to);

/* Those with most samples of their own first. */
void xc_function_sums_sort(struct xc_function_sum *sums, size_t count);

#endif

/* sample_values: the values of a dimension that samples are told apart by, besides their stacks: the location of a
 * request, a processor. What is sampled decides what there is, so their number is bounded. */
#ifndef XC_SAMPLE_VALUES_H
#define XC_SAMPLE_VALUES_H

#include "core/text/intern.h"

/* Numbers of values; those of texts follow. */
enum {
	XC_SAMPLED_NONE,     /* nothing told one */
	XC_SAMPLED_NOT_READ, /* there is one, but what would tell it had changed by then */
	XC_SAMPLED_OTHERS,   /* one of those that came when there was no room for more */
	XC_SAMPLED_TEXTS,
};

enum { XC_SAMPLED_MOST = 200, XC_SAMPLED_BYTES = 200 /* of a text; longer ones are cut */ };

/* Zeroed, it is empty. */
struct xc_sample_values {
	struct xc_intern texts;
};

void xc_sample_values_fini(struct xc_sample_values *values);

/* The number of a text of `len` bytes, which may hold NULs (it ends there). O(len). */
uint32_t xc_sample_values_add(struct xc_sample_values *values, const char *text, size_t len);

/* "(none)", "(not read)", "(others)", or the text. Valid until the fini. */
const char *xc_sample_values_text(const struct xc_sample_values *values, uint32_t number);

#endif

/* baseline_impl: the parts of baseline, for its own files. */
#ifndef XC_BASELINE_IMPL_H
#define XC_BASELINE_IMPL_H

#include "core/base/text.h"
#include "batch/problems/baseline.h"
#include "batch/signature/signature.h"

enum { XC_BASELINE_ID = 12 }; /* hex digits of an id */

/* What a member's sig may begin with, and whose it is. */
struct xc_baseline_prefix {
	const char *hex;
	size_t entry;
};

/* The first line. */
#define XC_BASELINE_NAME  "# xcore baseline "
#define XC_BASELINE_MAGIC XC_BASELINE_NAME XC_SIGNATURE_VERSION

/* For qsort of entries: patterns first, then by id; then as they stand in the file. */
int xc_baseline_by_name(const void *a, const void *b);

/* What a text or pattern is in the file, so that reading it gives the same bytes again. A NUL byte ends the string;
 * "\x00" is no escape. */
void xc_baseline_write_text(struct xc_text *text, const char *string);
void xc_baseline_decode_text(char *text); /* in place */

/* The same of a word in a list with commas: without blanks, too. */
void xc_baseline_write_word(struct xc_text *text, const char *string);

#endif

/* baseline_impl: shared by the files of baseline. */
#ifndef XC_BASELINE_IMPL_H
#define XC_BASELINE_IMPL_H

#include "core/base/text.h"
#include "batch/problems/baseline.h"
#include "batch/signature/signature.h"

enum { XC_BASELINE_ID = 12 }; /* hex digits of an id */

/* A prefix of a sig, and its entry. */
struct xc_baseline_prefix {
	const char *hex;
	size_t entry;
};

/* The first line of the file. */
#define XC_BASELINE_NAME  "# xcore baseline "
#define XC_BASELINE_MAGIC XC_BASELINE_NAME XC_SIGNATURE_VERSION

/* For qsort of entries: patterns first, then by id, then by position in the file. */
int xc_baseline_by_name(const void *a, const void *b);

/* The file's representation of a text or pattern; reading it gives the same bytes. A NUL byte ends the string; "\x00"
 * is no escape. */
void xc_baseline_write_text(struct xc_text *text, const char *string);
void xc_baseline_decode_text(char *text); /* in place */

/* The same for a word in a list with commas: blanks are escaped, too. */
void xc_baseline_write_word(struct xc_text *text, const char *string);

#endif

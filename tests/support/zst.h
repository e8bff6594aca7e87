/* zst: zstd frames of a test's making. */
#ifndef XC_TEST_ZST_H
#define XC_TEST_ZST_H

#include "core/base/text.h"

/* Append one frame that holds these bytes. */
void zst_frame(struct xc_text *out, const void *bytes, size_t len, int level, bool checksum);

/* Append a skippable frame of len arbitrary bytes (RFC 8878, 3.1.2). */
void zst_skippable(struct xc_text *out, size_t len);

/* How many bytes of the front of `packed` zstd can decode when it is fed byte by byte; they go to out. */
size_t zst_reference(const char *packed, size_t len, struct xc_text *out);

#endif

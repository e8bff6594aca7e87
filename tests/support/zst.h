/* zst: zstd frames built by a test. */
#ifndef XC_TEST_ZST_H
#define XC_TEST_ZST_H

#include "core/base/text.h"

/* Append one frame that holds these bytes. */
void zst_frame(struct xc_text *out, const void *bytes, size_t len, int level, bool checksum);

/* Append a skippable frame of len arbitrary bytes (RFC 8878, 3.1.2). */
void zst_skippable(struct xc_text *out, size_t len);

/* Number of bytes at the start of `packed` that zstd decodes when fed byte by byte. They go to out. */
size_t zst_reference(const char *packed, size_t len, struct xc_text *out);

#endif

/* digest: hashes of several texts, each with its NUL, so that no list of texts can imitate another one. */
#ifndef XC_DIGEST_H
#define XC_DIGEST_H

#include <sha2.h>

/* Adds a text; NULL counts as "". */
void xc_digest_text(SHA2_CTX *hash, const char *text);

#endif

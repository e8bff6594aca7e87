/* digest: hashes of several texts that none of them can imitate: each with its NUL. */
#ifndef XC_DIGEST_H
#define XC_DIGEST_H

#include <sha2.h>

/* Add a text; NULL is added as "". */
void xc_digest_text(SHA2_CTX *hash, const char *text);

#endif

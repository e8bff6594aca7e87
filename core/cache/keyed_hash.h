/* keyed_hash: a hash of large sections at the speed of memory, which nobody can aim at without its secret.
 *
 * A hash without a secret that is this fast (CRC-32C) can be forged, and SHA-256 takes longer than the look-up that
 * needs it. This one is a universal hash: whoever does not know the secret, and never sees a result, finds two texts
 * of one size with equal results with a probability of at most 2^-62 for each try (sizes up to 2^39 bytes). It is no
 * cryptographic hash for those who know the secret: results must stay in files that only the user can read.
 *
 * Blocks of 2048 bytes go through NH (Black et al., UMAC, 1999) with words of 64 bits. Its sums of 128 bits are the
 * coefficients of two polynomials modulo 2^61 - 1. Results depend on nothing but the secret and the bytes; the last
 * block is padded with zeros, so the caller must compare sizes too. */
#ifndef XC_KEYED_HASH_H
#define XC_KEYED_HASH_H

#include "core/base/base.h"

enum { XC_KEYED_HASH_SECRET = 32, XC_KEYED_HASH_BLOCK = 2048 };

struct xc_keyed_hash {
	uint64_t words[XC_KEYED_HASH_BLOCK / sizeof(uint64_t)]; /* added to those of a block */
	uint64_t points[2];                                     /* of the polynomials; below 2^61 - 1 */
};

/* Expand a secret, by SHA-256. */
void xc_keyed_hash_init(struct xc_keyed_hash *hash, const uint8_t secret[XC_KEYED_HASH_SECRET]);

/* The hash of `size` bytes; bytes may be NULL when size is 0. */
void xc_keyed_hash_of(const struct xc_keyed_hash *hash, const void *bytes, size_t size, uint64_t out[2]);

#endif

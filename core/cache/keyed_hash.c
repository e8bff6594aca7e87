/* keyed_hash: NH, then two polynomials. */
#include "core/cache/keyed_hash.h"

#include <sha2.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { BLOCK_WORDS = XC_KEYED_HASH_BLOCK / sizeof(uint64_t), PART_BITS = 43 };
static const uint64_t prime = (UINT64_C(1) << 61) - 1;

/* SHA-256(secret, number of the piece), piece after piece. */
static void expand(const uint8_t secret[XC_KEYED_HASH_SECRET], void *out, size_t size)
{
	uint8_t *at = out;
	for (uint64_t number = 0; size; number++) {
		uint8_t piece[SHA256_DIGEST_LENGTH];
		const size_t take = size < sizeof piece ? size : sizeof piece;
		SHA2_CTX context;
		SHA256Init(&context);
		SHA256Update(&context, secret, XC_KEYED_HASH_SECRET);
		SHA256Update(&context, (const uint8_t *)&number, sizeof number);
		SHA256Final(piece, &context);
		memcpy(at, piece, take);
		at += take;
		size -= take;
	}
}

void xc_keyed_hash_init(struct xc_keyed_hash *hash, const uint8_t secret[XC_KEYED_HASH_SECRET])
{
	expand(secret, hash, sizeof *hash);
	for (size_t i = 0; i < XC_COUNT(hash->points); i++)
		hash->points[i] %= prime;
}

/* Two sums, so that one multiplication need not wait for the last. */
static wide sum_block(const struct xc_keyed_hash *hash, const uint8_t *bytes)
{
	wide even = 0, odd = 0;
	for (size_t i = 0; i < BLOCK_WORDS; i += 4) {
		uint64_t m[4];
		memcpy(m, bytes + i * sizeof *m, sizeof m);
		even += (wide)(m[0] + hash->words[i]) * (m[1] + hash->words[i + 1]);
		odd += (wide)(m[2] + hash->words[i + 2]) * (m[3] + hash->words[i + 3]);
	}
	return even + odd;
}

/* value * point + part modulo 2^61 - 1; all below 2^61. */
static uint64_t step(uint64_t value, uint64_t point, uint64_t part)
{
	const wide product = (wide)value * point + part;
	uint64_t sum = (uint64_t)(product & prime) + (uint64_t)(product >> 61);
	sum = (sum & prime) + (sum >> 61);
	return sum >= prime ? sum - prime : sum;
}

static void add_block(const struct xc_keyed_hash *hash, const uint8_t *bytes, uint64_t values[2])
{
	const uint64_t mask = (UINT64_C(1) << PART_BITS) - 1;
	const wide sum = sum_block(hash, bytes);
	const uint64_t parts[] = {(uint64_t)sum & mask, (uint64_t)(sum >> PART_BITS) & mask,
				  (uint64_t)(sum >> 2 * PART_BITS)};
	for (size_t i = 0; i < XC_COUNT(parts); i++) {
		values[0] = step(values[0], hash->points[0], parts[i]);
		values[1] = step(values[1], hash->points[1], parts[i]);
	}
}

void xc_keyed_hash_of(const struct xc_keyed_hash *hash, const void *bytes, size_t size, uint64_t out[2])
{
	const uint8_t *at = bytes;
	uint64_t values[2] = {1, 1};
	for (; size >= XC_KEYED_HASH_BLOCK; at += XC_KEYED_HASH_BLOCK, size -= XC_KEYED_HASH_BLOCK)
		add_block(hash, at, values);
	if (size) {
		uint8_t last[XC_KEYED_HASH_BLOCK] = {0};
		memcpy(last, at, size);
		add_block(hash, last, values);
	}
	out[0] = values[0];
	out[1] = values[1];
}

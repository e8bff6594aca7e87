/* layer: core */
/* keyed_hash: equals a slow computation by the definition; every bit counts. */
#include "tests/support/check.h"

#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "core/cache/keyed_hash.h"

__extension__ typedef unsigned __int128 wide;

static const uint8_t secret[XC_KEYED_HASH_SECRET] = "thirty-two bytes of some secret";
static struct xc_keyed_hash hash;
static uint8_t text[3 * XC_KEYED_HASH_BLOCK];

static int prepare(void **state)
{
	(void)state;
	xc_keyed_hash_init(&hash, secret);
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (uint8_t)(i * 131 + (i >> 8) * 17);
	return 0;
}

/* By the definition, with the remainder operator. */
static uint64_t defined(const uint8_t *bytes, size_t size, uint64_t point)
{
	const uint64_t prime = (UINT64_C(1) << 61) - 1;
	wide value = 1;
	for (size_t at = 0; at < size; at += XC_KEYED_HASH_BLOCK) {
		uint8_t block[XC_KEYED_HASH_BLOCK] = {0};
		wide sum = 0;
		memcpy(block, bytes + at, size - at < sizeof block ? size - at : sizeof block);
		for (size_t i = 0; i < XC_COUNT(hash.words); i += 2) {
			uint64_t a, b;
			memcpy(&a, block + i * sizeof a, sizeof a);
			memcpy(&b, block + (i + 1) * sizeof b, sizeof b);
			sum += (wide)(a + hash.words[i]) * (b + hash.words[i + 1]);
		}
		const uint64_t part = (UINT64_C(1) << 43) - 1;
		value = (value * point + ((uint64_t)sum & part)) % prime;
		value = (value * point + ((uint64_t)(sum >> 43) & part)) % prime;
		value = (value * point + (uint64_t)(sum >> 86)) % prime;
	}
	return (uint64_t)value;
}

static void it_is_what_is_defined(void **state)
{
	(void)state;
	for (size_t size = 0; size <= sizeof text; size += size < 40 ? 1 : 509) {
		uint64_t out[2];
		xc_keyed_hash_of(&hash, text, size, out);
		assert_int_equal(out[0], defined(text, size, hash.points[0]));
		assert_int_equal(out[1], defined(text, size, hash.points[1]));
	}
}

static void the_secret_is_expanded_by_sha256(void **state)
{
	uint8_t piece[SHA256_DIGEST_LENGTH];
	const uint64_t number = 1;
	SHA2_CTX context;
	(void)state;
	SHA256Init(&context);
	SHA256Update(&context, secret, sizeof secret);
	SHA256Update(&context, (const uint8_t *)&number, sizeof number);
	SHA256Final(piece, &context);
	assert_memory_equal((const uint8_t *)&hash + sizeof piece, piece, sizeof piece);
}

static void every_bit_and_every_order_counts(void **state)
{
	uint64_t whole[2], changed[2];
	(void)state;
	xc_keyed_hash_of(&hash, text, sizeof text, whole);
	for (size_t at = 0; at < sizeof text; at++) {
		text[at] ^= (uint8_t)(1u << at % 8);
		xc_keyed_hash_of(&hash, text, sizeof text, changed);
		text[at] ^= (uint8_t)(1u << at % 8);
		assert_true(whole[0] != changed[0] && whole[1] != changed[1]);
	}
	for (size_t at = 0; at + 16 <= sizeof text; at += 8) { /* two words change places, as in F3 */
		uint8_t word[8];
		memcpy(word, text + at, 8);
		memcpy(text + at, text + at + 8, 8);
		memcpy(text + at + 8, word, 8);
		xc_keyed_hash_of(&hash, text, sizeof text, changed);
		memcpy(text + at + 8, text + at, 8);
		memcpy(text + at, word, 8);
		assert_true(whole[0] != changed[0] && whole[1] != changed[1]);
	}
}

static void another_secret_gives_another_result(void **state)
{
	struct xc_keyed_hash other;
	uint8_t bytes[XC_KEYED_HASH_SECRET];
	uint64_t a[2], b[2];
	(void)state;
	memcpy(bytes, secret, sizeof bytes);
	bytes[31] ^= 1;
	xc_keyed_hash_init(&other, bytes);
	xc_keyed_hash_of(&hash, text, sizeof text, a);
	xc_keyed_hash_of(&other, text, sizeof text, b);
	assert_true(a[0] != b[0] && a[1] != b[1]);
	assert_true(other.points[0] < (UINT64_C(1) << 61) - 1 && other.points[1] < (UINT64_C(1) << 61) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_is_defined),
		cmocka_unit_test(the_secret_is_expanded_by_sha256),
		cmocka_unit_test(every_bit_and_every_order_counts),
		cmocka_unit_test(another_secret_gives_another_result),
	};
	return cmocka_run_group_tests_name("keyed_hash", tests, prepare, NULL);
}

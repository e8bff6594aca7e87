/* layer: core
 *
 * Random data compressed at random levels into random frames, and truncated anywhere: the output is the longest prefix
 * that zstd itself can decode, and `cut` tells whether it is complete. */
#include "tests/support/property.h"

#include "core/io/source.h"
#include "tests/support/zst.h"

enum { MAX_DATA = 400000 };

/* Runs, noise and repetition alternately, so that blocks of every type occur. */
static void random_data(struct rng *rng, struct xc_text *data)
{
	size_t wanted = rng_below(rng, rng_below(rng, 4) ? 3000 : MAX_DATA);
	while (data->len < wanted) {
		size_t len = 1 + rng_below(rng, wanted / 3 + 1);
		char *piece = malloc(len);
		size_t kind = rng_below(rng, 3);
		if (kind == 0)
			memset(piece, (int)rng_below(rng, 256), len);
		else if (kind == 1)
			rng_fill(rng, piece, len);
		else
			for (size_t i = 0; i < len; i++)
				piece[i] = (char)("core dumped, "[i % 13] + (rng_below(rng, 50) == 0));
		xc_text_addn(data, piece, len);
		free(piece);
	}
}

static void pack(struct rng *rng, const struct xc_text *data, struct xc_text *packed)
{
	static const int levels[] = {1, 3, 6, -5};
	size_t at = 0, frames = 1 + rng_below(rng, 4);
	for (size_t i = 0; i < frames; i++) {
		size_t len = i + 1 == frames ? data->len - at : rng_below(rng, data->len - at + 1);
		if (rng_below(rng, 3) == 0)
			zst_skippable(packed, rng_below(rng, 40));
		zst_frame(packed, data->bytes ? data->bytes + at : "", len, levels[rng_below(rng, XC_COUNT(levels))],
			  rng_below(rng, 2) != 0);
		at += len;
	}
}

PROPERTY(inflated_bytes_are_the_longest_prefix, 60, 250)
{
	struct xc_text data = {0}, packed = {0}, reference = {0};
	struct xc_source *source = NULL;
	random_data(rng, &data);
	pack(rng, &data, &packed);
	size_t len = rng_below(rng, 4) ? rng_below(rng, packed.len + 1) : packed.len;
	size_t wanted = zst_reference(packed.bytes, len, &reference);
	struct xc_error *err = xc_source_inflate(packed.bytes, len, "packed", NULL, &source);
	PROPERTY_CHECK(rng, !err && source->size == wanted);
	PROPERTY_CHECK(rng, wanted <= data.len && (!wanted || !memcmp(source->bytes, data.bytes, wanted)));
	PROPERTY_CHECK(rng, len < packed.len || (!source->cut && wanted == data.len));
	PROPERTY_CHECK(rng, source->cut || wanted == data.len || len < packed.len);
	xc_source_close(source);
	xc_text_fini(&data);
	xc_text_fini(&packed);
	xc_text_fini(&reference);
}

/* One flipped bit never causes a crash, and never changes the output before its block. */
PROPERTY(a_flipped_bit_is_an_error_or_a_shorter_file, 60, 250)
{
	struct xc_text data = {0}, packed = {0};
	struct xc_source *source = NULL;
	struct xc_source_options options = {.max_size = 4 * MAX_DATA};
	random_data(rng, &data);
	pack(rng, &data, &packed);
	size_t at = rng_below(rng, packed.len), before;
	struct xc_text reference = {0};
	before = zst_reference(packed.bytes, at, &reference);
	packed.bytes[at] = (char)(packed.bytes[at] ^ (1 << rng_below(rng, 8)));
	struct xc_error *err = xc_source_inflate(packed.bytes, packed.len, "packed", &options, &source);
	PROPERTY_CHECK(rng, err || source->size >= before);
	PROPERTY_CHECK(rng, err || !before || !memcmp(source->bytes, data.bytes, before));
	PROPERTY_CHECK(rng, !err || before == 0 || err->code == XC_ERR_LIMIT);
	xc_error_free(err);
	xc_source_close(source);
	xc_text_fini(&data);
	xc_text_fini(&packed);
	xc_text_fini(&reference);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inflated_bytes_are_the_longest_prefix),
		cmocka_unit_test(a_flipped_bit_is_an_error_or_a_shorter_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

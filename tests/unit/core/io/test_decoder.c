/* layer: core tier: test */
/* decoder: reads the output of zstd, lz4, xz and gzip, whole, truncated and damaged, as those programs do. */
#include "tests/support/check.h"

#include <stdio.h>

#include "core/io/source.h"
#include "core/base/text.h"
#include "tests/support/scratch.h"

enum { SIZE = 3 << 19 };

static char data[SIZE]; /* noise, text and zeros alternately, in pieces of 64 KiB */

static const struct format {
	const char *name, *pack, *unpack;
} formats[] = {
	{"zstd", "zstd -q -3 --check", "zstd -q -d"},
	{"zstd", "zstd -q -1 --check --long=27", "zstd -q -d --long=27"},
	{"lz4", "lz4 -q -1", "lz4 -q -d"},
	{"lz4", "lz4 -q -9 -B4 -BD", "lz4 -q -d"},
	{"lz4", "lz4 -q -B5 -BX --no-frame-crc", "lz4 -q -d"},
	{"xz", "xz -q -1", "xz -q -d"},
	{"xz", "xz -q -0 --block-size=300000 --check=sha256", "xz -q -d"},
	{"gzip", "gzip -q -1", "gzip -q -d"},
	{"gzip", "gzip -q -9", "gzip -q -d"},
};
#define EACH(f) (const struct format *f = formats; f < formats + XC_COUNT(formats); f++)

static int make_data(void **state)
{
	uint32_t x = 12345;
	(void)state;
	for (size_t i = 0; i < SIZE; i++) {
		x = x * 1664525 + 1013904223;
		const char noise = (char)(x >> 24), text = "a core, dumped "[x >> 28];
		data[i] = i >> 16 & 1 ? noise : i >> 17 & 1 ? text : '\0';
	}
	return 0;
}

/* A program's output for an input. */
static struct xc_text through(const char *program, const char *bytes, size_t len)
{
	char block[1 << 16];
	struct xc_text out = {0};
	char *line = xc_asprintf("%s <%s 2>/dev/null", program, scratch_word(scratch_file("in", bytes, len)));
	FILE *pipe = popen(line, "re");
	assert_non_null(pipe);
	for (size_t n; (n = fread(block, 1, sizeof block, pipe)) > 0;)
		xc_text_addn(&out, block, n);
	pclose(pipe);
	free(line);
	return out;
}

static struct xc_source *opened(const struct xc_text *packed, size_t len)
{
	struct xc_source *source = NULL;
	CHECK_OK(xc_source_open(scratch_file("packed", packed->bytes, len), NULL, &source));
	return source;
}

static void what_the_programs_write_is_read(void **state)
{
	(void)state;
	for
		EACH(f)
		{
			struct xc_text packed = through(f->pack, data, SIZE);
			struct xc_source *source = opened(&packed, packed.len);
			assert_string_equal(source->compression, f->name);
			assert_false(source->cut);
			assert_int_equal(source->size, SIZE);
			assert_memory_equal(source->bytes, data, SIZE);
			xc_source_close(source);
			xc_text_fini(&packed);
		}
}

static void nothing_is_a_file_without_bytes(void **state)
{
	(void)state;
	for
		EACH(f)
		{
			struct xc_text packed = through(f->pack, "", 0);
			struct xc_source *source = opened(&packed, packed.len);
			assert_true(source->size == 0 && !source->cut && source->compressed);
			xc_source_close(source);
			xc_text_fini(&packed);
		}
}

static void streams_follow_each_other(void **state)
{
	(void)state;
	for
		EACH(f)
		{
			struct xc_text packed = through(f->pack, data, 100000),
				       more = through(f->pack, data + 100000, 7);
			xc_text_addn(&packed, more.bytes, more.len);
			struct xc_source *source = opened(&packed, packed.len);
			assert_int_equal(source->size, 100007);
			assert_false(source->cut);
			assert_memory_equal(source->bytes, data, 100007);
			xc_source_close(source);
			xc_text_fini(&packed);
			xc_text_fini(&more);
		}
}

static void zeros_behind_gzip_and_xz_are_no_part_of_it(void **state)
{
	(void)state;
	for
		EACH(f)
		{
			static const char zeros[40];
			struct xc_text packed = through(f->pack, data, 1000);
			xc_text_addn(&packed, zeros, sizeof zeros);
			struct xc_source *source = opened(&packed, packed.len);
			assert_int_equal(source->size, 1000);
			assert_int_equal(source->cut, *f->name == 'z' || *f->name == 'l');
			xc_source_close(source);
			xc_text_fini(&packed);
		}
}

static void a_cut_stream_gives_at_least_what_its_program_gives(void **state)
{
	(void)state;
	for
		EACH(f)
		{
			struct xc_text packed = through(f->pack, data, SIZE);
			for (size_t part = 1; part < 5; part++) {
				const size_t len = packed.len / 5 * part + part;
				struct xc_text reference = through(f->unpack, packed.bytes, len);
				struct xc_source *source = opened(&packed, len);
				assert_true(source->cut);
				if (source->size < reference.len)
					fail_msg("%s cut at %zu: %zu bytes, the program %zu", f->pack, len,
						 (size_t)source->size, reference.len);
				assert_memory_equal(source->bytes, data, source->size);
				xc_source_close(source);
				xc_text_fini(&reference);
			}
			xc_text_fini(&packed);
		}
}

static void damage_ends_it_and_what_was_before_is_right(void **state)
{
	(void)state;
	for
		EACH(f)
		{
			struct xc_text packed = through(f->pack, data, SIZE);
			struct xc_source *whole = opened(&packed, packed.len / 2);
			const size_t before = whole->size;
			xc_source_close(whole);
			for (size_t i = 0; i < 64; i++)
				packed.bytes[packed.len / 2 + i] ^= (char)0x5a;
			struct xc_source *source = opened(&packed, packed.len);
			if (!source->cut)
				fail_msg("%s: damage was not seen", f->pack);
			assert_true(source->size >= before);
			assert_memory_equal(source->bytes, data, before);
			xc_source_close(source);
			xc_text_fini(&packed);
		}
}

static void a_wrong_checksum_is_told(void **state)
{
	(void)state;
	static const char *const checked[] = {"zstd -q --check", "lz4 -q", "xz -q --check=crc32", "gzip -q"};
	for (size_t i = 0; i < XC_COUNT(checked); i++) {
		struct xc_text packed = through(checked[i], "hello, world", 12);
		packed.bytes[packed.len - (i == 2 ? 40 : 5)] ^= 1; /* xz has its index after it */
		struct xc_source *source = NULL;
		xc_auto(xc_error_freep) struct xc_error *err =
			xc_source_open(scratch_file("sum", packed.bytes, packed.len), NULL, &source);
		if (!err && !source->cut)
			fail_msg("%s: not seen", checked[i]);
		xc_source_close(source);
		xc_text_fini(&packed);
	}
}

static void bombs_stop_at_the_limit(void **state)
{
	(void)state;
	char *zeros = xc_alloc(16 << 20);
	for
		EACH(f)
		{
			struct xc_source *source = NULL;
			struct xc_text packed = through(f->pack, zeros, 16 << 20);
			const char *path = scratch_file("bomb", packed.bytes, packed.len);
			CHECK_ERROR(xc_source_open(path, &(struct xc_source_options){.max_size = 3 << 20}, &source),
				    XC_ERR_LIMIT, "inflates to more than 3145728 bytes");
			CHECK_OK(xc_source_open(path, &(struct xc_source_options){.max_size = 16 << 20}, &source));
			xc_source_close(source);
			xc_text_fini(&packed);
		}
	free(zeros);
}

static void a_large_dictionary_is_refused_with_a_way_out(void **state)
{
	(void)state;
	struct xc_source *source = NULL;
	struct xc_text packed = through("xz -q --lzma2=preset=0,dict=256MiB", "hello", 5);
	struct xc_error *err = xc_source_open(scratch_file("large", packed.bytes, packed.len), NULL, &source);
	assert_non_null(err);
	assert_string_equal(err->hint, "unpack it first (xz -d)");
	check_error(err, XC_ERR_LIMIT, "xz: compressed with a dictionary of more than 128 MiB", "open");
	xc_text_fini(&packed);
	packed = through("xz -q --lzma2=preset=0,dict=128MiB", "hello", 5);
	source = opened(&packed, packed.len);
	assert_int_equal(source->size, 5);
	xc_source_close(source);
	xc_text_fini(&packed);
}

static void check_damaged(const char *name, const char *bytes, size_t len)
{
	struct xc_source *source = NULL;
	CHECK_ERROR(xc_source_open(scratch_file(name, bytes, len), NULL, &source), XC_ERR_FORMAT, name);
}
#define CHECK_DAMAGED(name, bytes) check_damaged(name ": ", bytes, sizeof(bytes) - 1)

static void first_bytes_alone_are_an_error(void **state)
{
	(void)state;
	CHECK_DAMAGED("gzip", "\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff\xff");
	CHECK_DAMAGED("xz", "\xfd\x37zXZ\0\0\4junk junk junk");
	CHECK_DAMAGED("lz4", "\x04\x22\x4d\x18\xff\xff\xff\xff\xff");
	CHECK_DAMAGED("zstd", "\x28\xb5\x2f\xfd\xff\xff\xff\xff, and more, and more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_programs_write_is_read),
		cmocka_unit_test(nothing_is_a_file_without_bytes),
		cmocka_unit_test(streams_follow_each_other),
		cmocka_unit_test(zeros_behind_gzip_and_xz_are_no_part_of_it),
		cmocka_unit_test(a_cut_stream_gives_at_least_what_its_program_gives),
		cmocka_unit_test(damage_ends_it_and_what_was_before_is_right),
		cmocka_unit_test(a_wrong_checksum_is_told),
		cmocka_unit_test(bombs_stop_at_the_limit),
		cmocka_unit_test(a_large_dictionary_is_refused_with_a_way_out),
		cmocka_unit_test(first_bytes_alone_are_an_error),
	};
	return cmocka_run_group_tests(tests, make_data, NULL);
}

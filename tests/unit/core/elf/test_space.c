/* layer: core */
#include "tests/support/check.h"

#include "core/elf/space.h"

static uint8_t low[64], high[64];

static int fill(void **state)
{
	(void)state;
	for (int i = 0; i < 64; i++) {
		low[i] = (uint8_t)i;
		high[i] = (uint8_t)(100 + i);
	}
	return 0;
}

static void lay(struct xc_space *space, xc_addr lo, xc_addr hi, enum xc_provenance provenance, const void *bytes)
{
	struct xc_segment s = {.lo = lo, .hi = hi, .provenance = provenance, .bytes = bytes};
	xc_space_add(space, &s);
}

/* 0x1000…0x103f low, 0x1040…0x107f high, 0x1080…0x10ff not dumped. */
static struct xc_space *two_and_a_gap(void)
{
	struct xc_space *space = xc_space_new();
	lay(space, 0x1080, 0x10ff, XC_NOT_DUMPED, NULL);
	lay(space, 0x1040, 0x107f, XC_FROM_CORE, high);
	lay(space, 0x1000, 0x103f, XC_FROM_CORE, low);
	xc_space_seal(space);
	return space;
}

static void check_fault(const struct xc_space *space, xc_addr addr, size_t len, xc_addr at, const char *why)
{
	uint8_t buf[512];
	struct xc_error *err = xc_space_read(space, addr, buf, len);
	assert_non_null(err);
	assert_true(err->addr == at);
	check_error(err, XC_ERR_FAULT, why, "xc_space_read");
	assert_int_equal(xc_space_peek(space, addr, buf, len), at - addr);
}

static void read_straddling_two_segments_is_contiguous(void **state)
{
	(void)state;
	struct xc_space *space = two_and_a_gap();
	uint8_t buf[20];
	CHECK_OK(xc_space_read(space, 0x1036, buf, 20));
	assert_memory_equal(buf, low + 0x36, 10);
	assert_memory_equal(buf + 10, high, 10);
	xc_space_free(space);
}

static void a_fault_names_the_first_missing_byte_and_why(void **state)
{
	(void)state;
	struct xc_space *space = two_and_a_gap();
	check_fault(space, 0x1070, 40, 0x1080, "not dumped into the core");
	check_fault(space, 0x10ff, 2, 0x10ff, "not dumped into the core");
	check_fault(space, 0x1100, 1, 0x1100, "not mapped");
	check_fault(space, 0xfff, 2, 0xfff, "not mapped");
	xc_space_free(space);
}

static void missing_bytes_are_left_alone_and_not_zeroed(void **state)
{
	(void)state;
	struct xc_space *space = two_and_a_gap();
	uint8_t buf[16];
	memset(buf, 0xee, sizeof buf);
	assert_int_equal(xc_space_peek(space, 0x1078, buf, 16), 8);
	for (size_t i = 8; i < 16; i++)
		assert_int_equal(buf[i], 0xee);
	uint64_t value = 77;
	assert_false(xc_space_peek_uint(space, 0x107c, 8, &value));
	CHECK_ERROR(xc_space_uint(space, 0x107c, 8, &value), XC_ERR_FAULT, "0x1080");
	assert_int_equal(value, 77);
	xc_space_free(space);
}

static void the_last_segment_laid_wins(void **state)
{
	(void)state;
	struct xc_space *space = xc_space_new();
	uint8_t buf[64];
	lay(space, 0x1000, 0x103f, XC_FROM_CORE, low);
	lay(space, 0x1010, 0x101f, XC_FROM_CORE, high);
	lay(space, 0x1018, 0x1018, XC_CUT_SHORT, NULL);
	xc_space_seal(space);
	assert_int_equal(xc_space_peek(space, 0x1000, buf, 64), 0x18);
	assert_memory_equal(buf, low, 16);
	assert_memory_equal(buf + 16, high, 8);
	assert_int_equal(xc_space_peek(space, 0x1019, buf, 64), 0x27);
	assert_memory_equal(buf, high + 9, 7);
	assert_memory_equal(buf + 7, low + 0x20, 0x20);
	check_fault(space, 0x1018, 1, 0x1018, "cut short");
	xc_space_free(space);
}

static void a_later_seal_sees_what_was_laid_since(void **state)
{
	(void)state;
	struct xc_space *space = two_and_a_gap();
	uint8_t byte;
	lay(space, 0x1080, 0x10bf, XC_FROM_FILE, low);
	assert_int_equal(xc_space_peek(space, 0x1081, &byte, 1), 0);
	xc_space_seal(space);
	assert_int_equal(xc_space_peek(space, 0x1081, &byte, 1), 1);
	assert_int_equal(byte, 1);
	check_fault(space, 0x10b0, 0x20, 0x10c0, "not dumped");
	xc_space_free(space);
}

static void a_segment_over_others_stays_one_piece(void **state)
{
	(void)state;
	struct xc_space *space = xc_space_new();
	for (xc_addr at = 0x1008; at < 0x1040; at += 8)
		lay(space, at, at + 3, XC_NOT_DUMPED, NULL);
	lay(space, 0x1000, 0x103f, XC_FROM_CORE, low);
	xc_space_seal(space);
	assert_int_equal(xc_space_count(space), 1);
	assert_ptr_equal(xc_space_view(space, 0x1000, 64), low);
	xc_space_free(space);
}

static void the_top_of_the_address_space_reads_and_ends(void **state)
{
	(void)state;
	struct xc_space *space = xc_space_new();
	uint8_t buf[80];
	lay(space, UINT64_MAX - 63, UINT64_MAX, XC_FROM_CORE, low);
	lay(space, 0, 63, XC_FROM_CORE, high);
	xc_space_seal(space);
	CHECK_OK(xc_space_read(space, UINT64_MAX - 63, buf, 64));
	assert_memory_equal(buf, low, 64);
	assert_int_equal(xc_space_peek(space, UINT64_MAX, buf, 2), 1);
	check_fault(space, UINT64_MAX, 2, 0, "not mapped");
	assert_ptr_equal(xc_space_view(space, UINT64_MAX, 1), low + 63);
	assert_null(xc_space_view(space, UINT64_MAX, 2));
	xc_space_free(space);
}

static void one_segment_may_be_everything(void **state)
{
	(void)state;
	struct xc_space *space = xc_space_new();
	lay(space, 0, UINT64_MAX, XC_NOT_READABLE, NULL);
	lay(space, 5, 4, XC_FROM_CORE, low); /* upside down: not added */
	xc_space_seal(space);
	assert_int_equal(xc_space_count(space), 1);
	check_fault(space, 0, 1, 0, "without read permission");
	check_fault(space, UINT64_MAX, 1, UINT64_MAX, "without read permission");
	xc_space_free(space);
}

static void an_empty_space_faults_and_reading_nothing_succeeds(void **state)
{
	(void)state;
	struct xc_space *space = xc_space_new();
	char c;
	CHECK_ERROR(xc_space_read(space, 0, &c, 1), XC_ERR_FAULT, "0x0: not mapped"); /* not even sealed */
	xc_space_seal(space);
	CHECK_ERROR(xc_space_read(space, 0x10, &c, 1), XC_ERR_FAULT, "0x10: not mapped");
	CHECK_OK(xc_space_read(space, 0x10, &c, 0));
	assert_int_equal(xc_space_peek(space, 0x10, &c, 0), 0);
	assert_null(xc_space_find(space, 0));
	assert_null(xc_space_at(space, 0));
	xc_space_free(space);
	xc_space_free(NULL);
}

static void a_view_lies_in_one_mapped_segment_or_is_null(void **state)
{
	(void)state;
	struct xc_space *space = two_and_a_gap();
	assert_ptr_equal(xc_space_view(space, 0x1004, 60), low + 4);
	assert_null(xc_space_view(space, 0x1004, 61)); /* the neighbour's bytes are elsewhere */
	assert_null(xc_space_view(space, 0x1004, SIZE_MAX));
	assert_null(xc_space_view(space, 0x1004, 0));
	assert_null(xc_space_view(space, 0x1080, 1));
	assert_null(xc_space_view(space, 0x2000, 1));
	xc_space_free(space);
}

static void integers_follow_the_order_of_the_space(void **state)
{
	(void)state;
	struct xc_space *space = two_and_a_gap();
	uint64_t value;
	CHECK_OK(xc_space_uint(space, 0x103e, 4, &value)); /* across the boundary */
	assert_true(value == 0x65643f3e);
	xc_space_set_big_endian(space, true);
	assert_true(xc_space_peek_uint(space, 0x103e, 4, &value));
	assert_true(value == 0x3e3f6465);
	assert_false(xc_space_peek_uint(space, 0x1000, 9, &value));
	CHECK_ERROR(xc_space_uint(space, 0x1000, 16, &value), XC_ERR_UNSUPPORTED, "16 bytes");
	xc_space_free(space);
}

static void a_string_says_whether_it_goes_on(void **state)
{
	(void)state;
	static const char text[] = "abc\0defgh"; /* without its own end below */
	struct xc_space *space = xc_space_new();
	char buf[16];
	bool cut;
	lay(space, 0x100, 0x108, XC_FROM_CORE, text);
	xc_space_seal(space);
	assert_int_equal(xc_space_peek_string(space, 0x100, buf, 15, &cut), 3);
	assert_string_equal(buf, "abc");
	assert_false(cut);
	assert_int_equal(xc_space_peek_string(space, 0x100, buf, 3, &cut), 3);
	assert_false(cut); /* it ends right after max */
	assert_int_equal(xc_space_peek_string(space, 0x100, buf, 2, &cut), 2);
	assert_string_equal(buf, "ab");
	assert_true(cut);
	assert_int_equal(xc_space_peek_string(space, 0x104, buf, 15, &cut), 5); /* runs into unmapped memory */
	assert_string_equal(buf, "defgh");
	assert_true(cut);
	assert_int_equal(xc_space_peek_string(space, 0x104, buf, 5, &cut), 5);
	assert_true(cut);
	assert_int_equal(xc_space_peek_string(space, 0x103, buf, 15, NULL), 0);
	assert_int_equal(xc_space_peek_string(space, 0x200, buf, 15, &cut), -1);
	xc_space_free(space);
}

/* ---- backings ---- */

struct half {
	const uint8_t *bytes;
	uint64_t readable; /* bytes from offset 0 on */
};

static size_t read_half(void *ctx, uint64_t offset, void *buf, size_t len)
{
	const struct half *h = ctx;
	size_t there = offset < h->readable ? (size_t)(h->readable - offset) : 0;
	size_t got = len < there ? len : there;
	memcpy(buf, h->bytes + offset, got);
	return got;
}

static const char *why_half(void *ctx, uint64_t offset)
{
	const struct half *h = ctx;
	return offset == h->readable ? "swapped out" : NULL;
}

static void a_backing_gets_its_own_offsets_and_may_say_why(void **state)
{
	(void)state;
	static const struct xc_backing backing = {read_half, why_half};
	struct half h = {high, 40};
	struct xc_segment s = {
		.lo = 0x2000, .hi = 0x203f, .provenance = XC_NOT_PRESENT, .backing = &backing, .ctx = &h};
	struct xc_space *space = xc_space_new();
	uint8_t buf[64];
	xc_space_add(space, &s);
	lay(space, 0x2008, 0x200b, XC_FROM_CORE, low);
	xc_space_seal(space);
	CHECK_OK(xc_space_read(space, 0x2004, buf, 12));
	assert_memory_equal(buf, high + 4, 4);
	assert_memory_equal(buf + 4, low, 4);
	assert_memory_equal(buf + 8, high + 12, 4);
	check_fault(space, 0x2000, 64, 0x2028, "swapped out");
	check_fault(space, 0x2029, 1, 0x2029, "page not present");
	assert_null(xc_space_view(space, 0x2000, 4));
	xc_space_free(space);
}

static void sealed_segments_are_sorted_and_disjoint(void **state)
{
	(void)state;
	struct xc_space *space = two_and_a_gap();
	assert_int_equal(xc_space_count(space), 3);
	for (size_t i = 1; i < 3; i++)
		assert_true(xc_space_at(space, i - 1)->hi < xc_space_at(space, i)->lo);
	assert_null(xc_space_at(space, 3));
	for (xc_addr at = 0x1000; at <= 0x10ff; at++) {
		const struct xc_segment *s = xc_space_find(space, at);
		assert_true(s && s->lo <= at && at <= s->hi);
	}
	assert_null(xc_space_find(space, 0xfff));
	assert_null(xc_space_find(space, 0x1100));
	xc_space_free(space);
}

/* Quadratic sealing would take minutes. */
static void a_quarter_million_nested_segments_seal_quickly(void **state)
{
	(void)state;
	enum { COUNT = 250000 };
	struct xc_space *space = xc_space_new();
	for (xc_addr i = 0; i < COUNT; i++)
		lay(space, i, UINT64_MAX - i, i & 1 ? XC_CUT_SHORT : XC_NOT_DUMPED, NULL);
	xc_space_seal(space);
	assert_int_equal(xc_space_count(space), 2 * COUNT - 1);
	xc_space_free(space);
}

static void every_provenance_has_words(void **state)
{
	(void)state;
	for (int p = XC_FROM_CORE; p <= XC_UNMAPPED; p++)
		assert_true(strlen(xc_provenance_text((enum xc_provenance)p)) > 5);
	assert_string_equal(xc_provenance_text(XC_UNMAPPED), "not mapped");
}

static void pieces_are_what_has_bytes(void **state)
{
	struct xc_space *space = xc_space_new();
	xc_addr lo = 0x1010, end;
	(void)state;
	lay(space, 0x1000, 0x7fffffffffff, XC_NOT_DUMPED, NULL);
	lay(space, 0x1000, 0x103f, XC_FROM_CORE, low);
	lay(space, 0x700000000000, 0x70000000003f, XC_FROM_CORE, high);
	xc_space_seal(space);
	assert_true(xc_space_next_readable(space, &lo, 0x7fffffffffff, &end));
	assert_int_equal(lo, 0x1010);
	assert_int_equal(end, 0x103f);
	lo = end + 1;
	assert_true(xc_space_next_readable(space, &lo, 0x70000000001f, &end));
	assert_int_equal(lo, 0x700000000000);
	assert_int_equal(end, 0x70000000001f);
	lo = 0x700000000040;
	assert_false(xc_space_next_readable(space, &lo, UINT64_MAX, &end));
	lo = 0x1020;
	assert_false(xc_space_next_readable(space, &lo, 0x101f, &end)); /* nothing is requested */
	xc_space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_straddling_two_segments_is_contiguous),
		cmocka_unit_test(a_fault_names_the_first_missing_byte_and_why),
		cmocka_unit_test(missing_bytes_are_left_alone_and_not_zeroed),
		cmocka_unit_test(the_last_segment_laid_wins),
		cmocka_unit_test(a_later_seal_sees_what_was_laid_since),
		cmocka_unit_test(a_segment_over_others_stays_one_piece),
		cmocka_unit_test(the_top_of_the_address_space_reads_and_ends),
		cmocka_unit_test(one_segment_may_be_everything),
		cmocka_unit_test(an_empty_space_faults_and_reading_nothing_succeeds),
		cmocka_unit_test(a_view_lies_in_one_mapped_segment_or_is_null),
		cmocka_unit_test(integers_follow_the_order_of_the_space),
		cmocka_unit_test(a_string_says_whether_it_goes_on),
		cmocka_unit_test(a_backing_gets_its_own_offsets_and_may_say_why),
		cmocka_unit_test(sealed_segments_are_sorted_and_disjoint),
		cmocka_unit_test(a_quarter_million_nested_segments_seal_quickly),
		cmocka_unit_test(every_provenance_has_words),
		cmocka_unit_test(pieces_are_what_has_bytes),
	};
	return cmocka_run_group_tests(tests, fill, NULL);
}

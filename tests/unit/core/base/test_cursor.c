/* layer: core */
#include "tests/support/check.h"

#include "core/base/cursor.h"

static struct xc_cursor over(const char *bytes, size_t len)
{
	return xc_cursor(bytes, len, "test");
}

#define OVER(literal) over(literal, sizeof(literal) - 1)

static void a_failed_take_does_not_advance(void **state)
{
	(void)state;
	struct xc_cursor c = OVER("abc");
	const void *bytes = "untouched";
	const void *before = bytes;
	CHECK_ERROR(xc_cursor_take(&c, 4, &bytes), XC_ERR_FORMAT, "test: cut short");
	CHECK_ERROR(xc_cursor_take(&c, SIZE_MAX, &bytes), XC_ERR_FORMAT, "cut short");
	assert_ptr_equal(bytes, before);
	assert_int_equal(xc_cursor_left(&c), 3);
	CHECK_OK(xc_cursor_take(&c, 3, &bytes));
	assert_memory_equal(bytes, "abc", 3);
	assert_int_equal(xc_cursor_left(&c), 0);
	CHECK_OK(xc_cursor_take(&c, 0, &bytes));
	CHECK_ERROR(xc_cursor_skip(&c, 1), XC_ERR_FORMAT, "0 left");
}

static void integers_follow_the_byte_order(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 2, 4, 8};
	static const uint64_t little[] = {1, 0x0201, 0x04030201, 0x0807060504030201},
			      big[] = {1, 0x0102, 0x01020304, 0x0102030405060708};
	for (size_t i = 0; i < XC_COUNT(sizes); i++) {
		struct xc_cursor c = OVER("\1\2\3\4\5\6\7\10");
		uint64_t value;
		CHECK_OK(xc_cursor_uint(&c, sizes[i], &value));
		assert_true(value == little[i]);
		c = OVER("\1\2\3\4\5\6\7\10");
		c.big_endian = true;
		CHECK_OK(xc_cursor_uint(&c, sizes[i], &value));
		assert_true(value == big[i]);
	}
}

static void an_integer_cut_short_is_an_error_and_no_zero(void **state)
{
	(void)state;
	struct xc_cursor c = OVER("\1\2\3");
	uint64_t value = 77;
	CHECK_ERROR(xc_cursor_uint(&c, 4, &value), XC_ERR_FORMAT, "cut short");
	assert_int_equal(value, 77);
	assert_int_equal(xc_cursor_left(&c), 3);
}

static void check_uleb(const char *bytes, size_t len, uint64_t wanted)
{
	struct xc_cursor c = over(bytes, len);
	uint64_t value;
	CHECK_OK(xc_cursor_uleb(&c, &value));
	assert_true(value == wanted);
	assert_int_equal(xc_cursor_left(&c), 0);
}

static void check_sleb(const char *bytes, size_t len, int64_t wanted)
{
	struct xc_cursor c = over(bytes, len);
	int64_t value;
	CHECK_OK(xc_cursor_sleb(&c, &value));
	assert_true(value == wanted);
	assert_int_equal(xc_cursor_left(&c), 0);
}

#define ULEB(literal, wanted) check_uleb(literal, sizeof(literal) - 1, wanted)
#define SLEB(literal, wanted) check_sleb(literal, sizeof(literal) - 1, wanted)

static void leb128_reads_the_examples_of_dwarf_5(void **state)
{
	(void)state;
	ULEB("\x02", 2);
	ULEB("\x7f", 127);
	ULEB("\x80\x01", 128);
	ULEB("\xb9\x64", 12857);
	SLEB("\x02", 2);
	SLEB("\x7e", -2);
	SLEB("\xff\x00", 127);
	SLEB("\x81\x7f", -127);
	SLEB("\x80\x01", 128);
	SLEB("\x80\x7f", -128);
}

static void leb128_reaches_its_limits(void **state)
{
	(void)state;
	ULEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", UINT64_MAX);
	SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", INT64_MAX);
	SLEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", INT64_MIN);
	SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", -1);
}

static void leb128_may_be_padded(void **state)
{
	(void)state;
	ULEB("\x85\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 5);
	SLEB("\x85\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 5);
	SLEB("\xfb\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", -5);
}

static void leb128_of_more_than_64_bits_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
		bool is_signed;
	} cases[] = {{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, false},
		     {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, false},
		     {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, false},
		     {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true},
		     {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7e", 10, true},
		     {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 11, true},
		     {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 11, true}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_cursor c = over(cases[i].bytes, cases[i].len);
		uint64_t u = 7;
		int64_t s = 7;
		if (cases[i].is_signed)
			CHECK_ERROR(xc_cursor_sleb(&c, &s), XC_ERR_FORMAT, "more than 64 bits");
		else
			CHECK_ERROR(xc_cursor_uleb(&c, &u), XC_ERR_FORMAT, "more than 64 bits");
		assert_int_equal(xc_cursor_left(&c), cases[i].len);
		assert_true(u == 7 && s == 7);
	}
}

static void leb128_without_an_end_is_cut_short(void **state)
{
	(void)state;
	struct xc_cursor c = OVER("\x80\x80");
	uint64_t value;
	CHECK_ERROR(xc_cursor_uleb(&c, &value), XC_ERR_FORMAT, "cut short");
	assert_int_equal(xc_cursor_left(&c), 2);
}

static void a_string_must_end_inside(void **state)
{
	(void)state;
	struct xc_cursor c = over("ab\0cd", 5);
	const char *text = NULL;
	CHECK_OK(xc_cursor_string(&c, &text));
	assert_string_equal(text, "ab");
	CHECK_ERROR(xc_cursor_string(&c, &text), XC_ERR_FORMAT, "without an end");
	assert_int_equal(xc_cursor_left(&c), 2);
	assert_string_equal(text, "ab");
}

static void nothing_to_read_is_no_trap(void **state)
{
	(void)state;
	struct xc_cursor c = xc_cursor(NULL, 0, "nothing");
	const void *bytes;
	const char *text;
	uint64_t value;
	assert_int_equal(xc_cursor_left(&c), 0);
	CHECK_OK(xc_cursor_take(&c, 0, &bytes));
	CHECK_OK(xc_cursor_skip(&c, 0));
	CHECK_ERROR(xc_cursor_uint(&c, 1, &value), XC_ERR_FORMAT, "nothing: ");
	CHECK_ERROR(xc_cursor_uleb(&c, &value), XC_ERR_FORMAT, "nothing: ");
	CHECK_ERROR(xc_cursor_string(&c, &text), XC_ERR_FORMAT, "nothing: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_take_does_not_advance),
		cmocka_unit_test(integers_follow_the_byte_order),
		cmocka_unit_test(an_integer_cut_short_is_an_error_and_no_zero),
		cmocka_unit_test(leb128_reads_the_examples_of_dwarf_5),
		cmocka_unit_test(leb128_reaches_its_limits),
		cmocka_unit_test(leb128_may_be_padded),
		cmocka_unit_test(leb128_of_more_than_64_bits_is_refused),
		cmocka_unit_test(leb128_without_an_end_is_cut_short),
		cmocka_unit_test(a_string_must_end_inside),
		cmocka_unit_test(nothing_to_read_is_no_trap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

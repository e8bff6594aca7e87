/* layer: core */
#include "tests/support/check.h"

#include <errno.h>

static void wrap_reads_from_what_was_asked_to_the_cause(void **state)
{
	(void)state;
	struct xc_error *err = xc_error_fault(0x4141414141414141, "not mapped");
	xc_error_hint(err, "look at %s", "maps");
	err = xc_error_wrap(xc_error_wrap(err, "link_map %d", 3), "modules");
	assert_string_equal(err->message, "modules: link_map 3: 0x4141414141414141: not mapped");
	assert_int_equal(err->code, XC_ERR_FAULT);
	assert_true(err->addr == 0x4141414141414141);
	assert_string_equal(err->hint, "look at maps");
	xc_error_free(err);
}

static void text_of_the_target_is_never_a_format(void **state)
{
	(void)state;
	struct xc_error *err = xc_error_wrap(xc_error_new(XC_ERR_FORMAT, "%s", "%n%s%d"), "%s", "100%");
	assert_string_equal(err->message, "100%: %n%s%d");
	xc_error_free(err);
}

static void errno_becomes_a_code(void **state)
{
	(void)state;
	CHECK_ERROR(xc_error_errno(EACCES, "%s", "f"), XC_ERR_PERMISSION, "f: Permission denied");
	CHECK_ERROR(xc_error_errno(EPERM, "f"), XC_ERR_PERMISSION, "f: ");
	CHECK_ERROR(xc_error_errno(ENOENT, "f"), XC_ERR_NOT_FOUND, "f: No such file");
	CHECK_ERROR(xc_error_errno(ENOTDIR, "f"), XC_ERR_NOT_FOUND, "f: ");
	CHECK_ERROR(xc_error_errno(EIO, "f"), XC_ERR_IO, "f: ");
}

static void a_later_hint_replaces_the_first(void **state)
{
	(void)state;
	struct xc_error *err = xc_error_hint(xc_error_new(XC_ERR_USAGE, "x"), "one");
	assert_string_equal(xc_error_hint(err, "two")->hint, "two");
	xc_error_free(err);
}

static void a_message_of_any_length_is_whole(void **state)
{
	(void)state;
	char longer[9000];
	memset(longer, 'p', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	struct xc_error *err = xc_error_wrap(xc_error_new(XC_ERR_IO, "%s", longer), "%s", longer);
	assert_int_equal(strlen(err->message), 2 * (sizeof longer - 1) + 2);
	xc_error_free(err);
}

static void freeing_no_error_is_fine(void **state)
{
	(void)state;
	xc_auto(xc_error_freep) struct xc_error *none = NULL;
	xc_error_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrap_reads_from_what_was_asked_to_the_cause),
		cmocka_unit_test(text_of_the_target_is_never_a_format),
		cmocka_unit_test(errno_becomes_a_code),
		cmocka_unit_test(a_later_hint_replaces_the_first),
		cmocka_unit_test(a_message_of_any_length_is_whole),
		cmocka_unit_test(freeing_no_error_is_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

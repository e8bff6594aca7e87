/* layer: dwarf */
/* address: addresses as typed by a user. The process here has no modules; names in real modules are tested in
 * tests/cli. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/cexpr/address.h"

static struct xc_process *process;

static int setup(void **state)
{
	(void)state;
	process = xc_process_new("core", false);
	process->threads = xc_alloc(2 * sizeof *process->threads);
	process->thread_count = 2;
	process->threads[1].crashed = true;
	xc_regs_set(&process->threads[0].regs, process->arch->sp, 0x1111);
	xc_regs_set(&process->threads[1].regs, process->arch->sp, 0x7ffe0000);
	xc_regs_set(&process->threads[1].regs, process->arch->pc, 0x401000);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	xc_process_close(process);
	return 0;
}

static xc_addr address(const char *text)
{
	xc_addr addr = 0;
	struct xc_error *err = xc_address_parse(process, NULL, 0, text, &addr);
	if (err)
		fail_msg("%s: %s", text, err->message);
	return addr;
}

static void refuse(const char *text, const char *message)
{
	xc_addr addr = 77;
	struct xc_error *err = xc_address_parse(process, NULL, 0, text, &addr);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_NOT_FOUND);
	assert_string_equal(err->message, message);
	assert_true(addr == 77);
	xc_error_free(err);
}

static void numbers_are_decimal_or_hexadecimal_after_0x(void **state)
{
	(void)state;
	assert_true(address("4096") == 4096);
	assert_true(address("0x1000") == 0x1000);
	assert_true(address("0XffffffffffffffFF") == UINT64_MAX);
	refuse("18446744073709551616", "no symbol '18446744073709551616' in core");
	refuse("0x", "no symbol '0x' in core");
	refuse("7ffe0000", "no symbol '7ffe0000' in core");
}

static void offsets_are_added_and_wrap_as_addresses_do(void **state)
{
	(void)state;
	assert_true(address("0x1000+0x10") == 0x1010);
	assert_true(address("0x1000-16") == 0xff0);
	assert_true(address("0-1") == UINT64_MAX);
}

static void a_sign_without_a_number_belongs_to_the_name(void **state)
{
	(void)state;
	refuse("operator+", "no symbol 'operator+' in core");
	refuse("operator-+8", "no symbol 'operator-' in core");
	refuse("", "no symbol '' in core");
}

static void registers_are_those_of_the_crashed_thread(void **state)
{
	(void)state;
	assert_true(address("$sp") == 0x7ffe0000);
	assert_true(address("$sp+8") == 0x7ffe0008);
	assert_true(address("$pc") == 0x401000);
	refuse("$fp", "$fp: its value is not known");
	refuse("$wombat", "$wombat: x86-64 has no such register");
}

static void a_module_that_is_not_there_is_named(void **state)
{
	(void)state;
	refuse("libc.so.6!malloc+8", "no module 'libc.so.6' in core");
}

static void expressions_are_computed_and_say_what_is_wrong(void **state)
{
	(void)state;
	assert_true(address("+8") == 8);
	assert_true(address("0x1000 + 2 * 8") == 0x1010);
	assert_true(address("(long)0x1234 & ~0xfffL") == 0x1000);
	refuse("&nothing[3]", "no `nothing` in the target");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers_are_decimal_or_hexadecimal_after_0x, setup, teardown),
		cmocka_unit_test_setup_teardown(offsets_are_added_and_wrap_as_addresses_do, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sign_without_a_number_belongs_to_the_name, setup, teardown),
		cmocka_unit_test_setup_teardown(registers_are_those_of_the_crashed_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(a_module_that_is_not_there_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(expressions_are_computed_and_say_what_is_wrong, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* layer: dwarf tier: long */
/* The compiler prints the list of variables; variables on the stack, in registers or in a class must not be among
 * them. */
#include "dwarf/lookup/function_static.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/text.h"
#include "dwarf/module/die.h"
#include "tests/support/opened.h"

static const char source[] =
	"#include <stdlib.h>\n"
	"int global = 1; static int file_static = 2; volatile int sink;\n"
	"namespace n { int in_namespace = 3;\n"
	"int counted(int by) { static int count[4]; int local = by; sink = local; { static int deep; deep += by;\n"
	"sink = deep; } return count[by & 3] += local; } }\n"
	"struct with { static int of_class; int member; };\nint with::of_class;\n"
	"static inline int twice(int by) { static int memory; memory += by; return memory * 2; }\n"
	"int plain(int by) { return by + file_static + global + n::in_namespace; }\n"
	"int main(int argc, char **) { sink = n::counted(argc) + twice(argc) + plain(argc); with::of_class = 1; "
	"abort(); }\n";

static void note(void *context, Dwarf_Die *variable, Dwarf_Die *function)
{
	xc_text_printf(context, "%s of %s, ", xc_die_name(variable), xc_die_name(function));
}

static char *found(struct xc_process *process, uint64_t most)
{
	struct xc_text text = {0};
	xc_text_add(&text, "");
	xc_function_static_each(xc_debugfile_of(process, process->modules[0]), most, note, &text);
	return xc_text_take(&text);
}

static void expect(const char *compiler)
{
	struct xc_process *process = died(compiler, source);
	xc_auto(xc_freep) char *text = found(process, 1 << 20);
	assert_non_null(strstr(text, "count of counted, deep of counted, "));
	assert_non_null(strstr(text, "memory of twice, "));
	assert_int_equal(strlen(text), strlen("count of counted, deep of counted, memory of twice, "));
	close_process(process);
}

static void statics_of_functions_and_their_blocks_are_found(void **state)
{
	(void)state;
	expect("g++ -g -gdwarf-5 -O0 -x c++");
	expect("g++ -g -gdwarf-4 -O0 -x c++");
}

static void what_clang_places_by_index_is_found(void **state)
{
	(void)state;
	expect("clang++ -g -gdwarf-5 -O0 -x c++");
	expect("clang++ -g -gdwarf-4 -O0 -x c++");
}

static void what_the_optimiser_left_is_found(void **state)
{
	struct xc_process *process = died("g++ -g -O2 -x c++", source);
	xc_auto(xc_freep) char *text = found(process, 1 << 20);
	(void)state;
	assert_non_null(strstr(text, "count of counted, "));
	assert_null(strstr(text, "local"));
	assert_null(strstr(text, "argc"));
	close_process(process);
}

static void nothing_is_read_where_there_is_too_much(void **state)
{
	struct xc_process *process = died("g++ -g -O0 -x c++", source);
	xc_auto(xc_freep) char *text = found(process, 100);
	(void)state;
	assert_string_equal(text, "");
	close_process(process);
}

static void a_file_without_debug_information_has_none(void **state)
{
	struct xc_process *process = died("g++ -O0 -x c++", source);
	xc_auto(xc_freep) char *text = found(process, 1 << 20);
	(void)state;
	assert_string_equal(text, "");
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statics_of_functions_and_their_blocks_are_found),
		cmocka_unit_test(what_clang_places_by_index_is_found),
		cmocka_unit_test(what_the_optimiser_left_is_found),
		cmocka_unit_test(nothing_is_read_where_there_is_too_much),
		cmocka_unit_test(a_file_without_debug_information_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

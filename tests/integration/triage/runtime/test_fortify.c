/* layer: triage */
/* Checked calls of the C library that would have written too much. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nvolatile int sink; volatile size_t many = "     \
	"65;\n"                                                                                                        \
	"static const char words[] = \"some words that are too many for the place they go to\"; const char *volatile " \
	"from = words;\n"                                                                                              \
	"struct item { int id; char name[8]; };\n"
#define NOINLINE "__attribute__((noinline)) "

static const char *const compilers[] = {"gcc -g -O2 -D_FORTIFY_SOURCE=2 -x c", "gcc -g -O3 -D_FORTIFY_SOURCE=2 -x c",
					"clang -g -O2 -D_FORTIFY_SOURCE=2 -x c"};

static void destination_and_sizes_are_told(void **state)
{
	(void)state;
	static const char source[] = HEAD "char title[24];\n" NOINLINE
					  "void fill(size_t size) { memcpy(title, from, size); sink = title[0]; }\n"
					  "int main(void) { fill(many); return sink; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(
			compilers[i], source, false,
			&(struct wanted){.class_name = "fortify",
					 .function = "fill",
					 .expression = "title",
					 .says = "memcpy() was to write 65 bytes into title, which has room for 24"});
}

static void a_local_array_is_named(void **state)
{
	(void)state;
	static const char source[] = HEAD NOINLINE
		"void fill(const char *text) { char local[16]; sprintf(local, \"<%s>\", text); sink = local[3]; }\n"
		"int main(void) { fill(from); return sink; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, false,
			      &(struct wanted){
				      .class_name = "fortify",
				      .function = "fill",
				      .expression = "local",
				      .says = "sprintf() was to write past the end of local, which has room for 16"});
}

static void a_member_behind_a_pointer_is_named(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "struct item *volatile kept;\n" NOINLINE "void fill(void) { struct item *to = malloc(sizeof *to); "
		     "kept = to; strcpy(to->name, from); sink = to->id; }\n"
		     "int main(void) { fill(); return sink; }\n";
	judged_expect(compilers[0], source, false,
		      &(struct wanted){.class_name = "fortify",
				       .function = "fill",
				       .says = "strcpy() was to write 54 bytes",
				       .also = "which has room for 8"});
}

static void without_debug_information_the_call_remains(void **state)
{
	(void)state;
	static const char source[] = HEAD NOINLINE
		"void fill(const char *text) { char local[16]; sprintf(local, \"<%s>\", text); sink = local[3]; }\n"
		"int main(void) { fill(from); return sink; }\n";
	judged_expect("gcc -O2 -D_FORTIFY_SOURCE=2 -x c", source, false,
		      &(struct wanted){.class_name = "fortify",
				       .function = "fill",
				       .expression = "",
				       .says = "sprintf() was to write past the end of its destination"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destination_and_sizes_are_told),
		cmocka_unit_test(a_local_array_is_named),
		cmocka_unit_test(a_member_behind_a_pointer_is_named),
		cmocka_unit_test(without_debug_information_the_call_remains),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

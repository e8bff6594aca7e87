/* layer: triage */
/* What a sanitizer reported, over programs that one stops. Those of AddressSanitizer map terabytes of shadow: corpora/deaths has them. */
#include "judged.h"

#define WORK(body)                                                                                                     \
	"#include <stdlib.h>\nvolatile int zero, seven = 7, most = 2147483647; int table[4];\n"                        \
	"__attribute__((noinline)) int work(int a) { " body " }\nint main(void) { return work(1); }\n"

static void handlers_of_undefined_behaviour_name_the_kind(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O0 -fsanitize=undefined -fno-sanitize-recover=all -x c",
						"clang -g -O1 -fsanitize=undefined -fno-sanitize-recover=all -x c"};
	static const struct {
		const char *source, *kind;
	} cases[] = {
		{WORK("return most + a;"), "add-overflow"},
		{WORK("return a << (seven * 9);"), "shift-out-of-bounds"},
		{WORK("return table[seven];"), "out-of-bounds"},
		{WORK("return a / zero;"), "divrem-overflow"},
	};
	setenv("UBSAN_OPTIONS", "abort_on_error=1:disable_coredump=0:log_path=/dev/null", 1);
	for (size_t c = 0; c < XC_COUNT(compilers); c++)
		for (size_t i = 0; i < XC_COUNT(cases); i++) {
			const struct wanted want = {
				.class_name = "sanitizer", .kind = cases[i].kind, .function = "work"};
			judged_expect(compilers[c], cases[i].source, false, &want);
		}
}

static void an_abort_beside_a_sanitizer_is_the_programs_own(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "abort", .function = "work"};
	judged_expect("gcc -g -O0 -fsanitize=undefined -x c", WORK("abort(); return a;"), false, &want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_of_undefined_behaviour_name_the_kind),
		cmocka_unit_test(an_abort_beside_a_sanitizer_is_the_programs_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

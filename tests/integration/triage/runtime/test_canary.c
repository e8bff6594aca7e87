/* layer: triage */
/* Writes past the end of local arrays, detected by the stack protector. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <string.h>\nvolatile int count = 40;\n"                                                              \
	"__attribute__((noinline)) void fill(volatile char *to, char c, int n) { for (int i = 0; i < n; i++) to[i] = " \
	"c; }\n"

static const char *const compilers[] = {
	"gcc -g -O0 -fstack-protector-strong -x c", "gcc -g -O2 -fstack-protector-strong -x c",
	"clang -g -O0 -fstack-protector-strong -x c", "clang -g -O2 -fstack-protector-strong -x c"};

static void the_array_its_function_and_what_was_written_are_told(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"__attribute__((noinline)) int name_it(int n) { char name[16]; fill(name, 'N', n); return name[3]; }\n"
		"int main(void) { return name_it(count) + count; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, false,
			      &(struct wanted){.class_name = "stack-smash",
					       .function = "name_it",
					       .expression = "name",
					       .says = "overwritten with text: \"NNNNNNNN",
					       .also = "name (16 bytes at 0x"});
}

static void how_far_it_went_is_told(void **state)
{
	(void)state;
	static const char source[] = HEAD "struct pair { int id; char text[12]; };\n"
					  "__attribute__((noinline)) int two(int n) { struct pair pair = {1}; "
					  "fill(pair.text, 3, n); return pair.id; }\n"
					  "int main(void) { return two(LENGTH) + count; }\n";
	judged_expect("gcc -g -O0 -fstack-protector-all -DLENGTH=64 -x c", source, false,
		      &(struct wanted){.class_name = "stack-smash",
				       .expression = "pair.text",
				       .says = "was overwritten as well"});
	judged_expect("gcc -g -O0 -fstack-protector-all -DLENGTH=24 -x c", source, false,
		      &(struct wanted){
			      .class_name = "stack-smash", .expression = "pair.text", .says = "still leads to code"});
}

static void of_several_arrays_none_is_named_for_sure(void **state)
{
	(void)state;
	static const char source[] = HEAD "__attribute__((noinline)) int both(int n) { char one[16], two[16]; "
					  "fill(one, 'a', 16); fill(two, 'b', 16);\n"
					  " fill(one > two ? one : two, 'c', n); return one[1] + two[2]; }\n"
					  "int main(void) { return both(count) + count; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(
			compilers[i], source, false,
			&(struct wanted){
				.class_name = "stack-smash", .function = "both", .expression = "", .says = "likely"});
}

static void without_debug_information_the_function_remains(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"__attribute__((noinline)) int name_it(int n) { char name[16]; fill(name, 'N', n); return name[3]; }\n"
		"int main(void) { return name_it(count) + count; }\n";
	judged_expect("gcc -O2 -fstack-protector-strong -x c", source, false,
		      &(struct wanted){.class_name = "stack-smash",
				       .function = "name_it",
				       .expression = "",
				       .says = "the array is not known"});
}

static void what_was_written_is_redacted(void **state)
{
	(void)state;
	struct judged j = judge(
		compilers[0],
		HEAD
		"__attribute__((noinline)) int name_it(int n) { char name[16]; fill(name, 'N', n); return name[3]; }\n"
		"int main(void) { return name_it(count) + count; }\n",
		false);
	for (size_t i = 0; i < j.verdict->evidence_count; i++)
		assert_null(strstr(j.verdict->redacted[i] ? j.verdict->redacted[i] : j.verdict->evidence[i], "NNNN"));
	judged_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_array_its_function_and_what_was_written_are_told),
		cmocka_unit_test(how_far_it_went_is_told),
		cmocka_unit_test(of_several_arrays_none_is_named_for_sure),
		cmocka_unit_test(without_debug_information_the_function_remains),
		cmocka_unit_test(what_was_written_is_redacted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

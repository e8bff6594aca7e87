/* layer: triage */
/* Panics of Rust, over programs that panic; skipped without rustc. */
#include "tests/support/run_verdict.h"

static const char *const levels[] = {"-C opt-level=0", "-C opt-level=2"};

#define HEAD       "#![allow(unused)]\nuse std::alloc::*; use std::hint::black_box;\n"
#define MAIN(call) "fn main() { println!(\"{:?}\", work(black_box(" call "))); }\n"

/* rustc with panics that abort, so that the stack is there. */
static const char *compiler_of(const char *flags, char line[300])
{
	snprintf(line, 300,
		 "sh -c 'rustc --crate-name program -g -C panic=abort %s -A warnings -o \"$3\" - 2>/dev/null' sh",
		 flags);
	return line;
}

static void expect(const char *source, const struct wanted *want)
{
	char line[300];
	check_needs("rustc");
	for (size_t i = 0; i < XC_COUNT(levels); i++)
		judged_expect(compiler_of(levels[i], line), source, false, want);
}

static void what_was_found_missing_is_told(void **state)
{
	(void)state;
	static const struct wanted unwrap = {.class_name = "panic", .kind = "unwrap", .function = "program::work"};
	static const struct wanted expected = {.class_name = "panic", .kind = "expect", .function = "program::work"};
	expect(HEAD "#[inline(never)] fn work(a: Option<u32>) -> u32 { a.unwrap() }\n" MAIN("None"), &unwrap);
	expect(HEAD "#[inline(never)] fn work(a: Option<u32>) -> u32 { a.expect(\"a number\") }\n" MAIN("None"),
	       &expected);
}

/* What was passed is told where the code keeps it. */
static void an_index_is_told_with_the_length(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "#[inline(never)] fn work(i: usize) -> u32 { let a = black_box(&[1u32, 2, 3][..]); a[i] }\n" MAIN(
			"9usize");
	static const struct wanted index = {.class_name = "panic", .kind = "index", .function = "program::work"};
	static const struct wanted both = {.class_name = "panic", .says = "the index is 9, the length 3"};
	char line[300];
	expect(source, &index);
	judged_expect(compiler_of(levels[0], line), source, false, &both);
}

static void what_a_program_says_itself_is_its_own(void **state)
{
	(void)state;
	static const struct wanted explicit = {.class_name = "panic", .kind = "explicit", .function = "program::work"};
	expect(HEAD "#[inline(never)] fn work(i: usize) -> u32 { if i > 2 { panic!(\"too many: {}\", i) } 1 }\n" MAIN(
		       "9usize"),
	       &explicit);
}

/* Of local functions without names it is not known which are the library's: what called panic may have been one of those. */
static void what_has_lost_its_names_is_told_by_those_that_are_left(void **state)
{
	(void)state;
	static const char stripped[] = "-C strip=debuginfo -C link-arg=-Wl,--discard-all";
	static const struct wanted index = {
		.class_name = "panic", .kind = "index", .says = "the index is 9, the length 3"};
	static const struct wanted unknown = {.class_name = "panic", .kind = "", .says = "panicked"};
	char line[300];
	check_needs("rustc");
	judged_expect(compiler_of(stripped, line),
		      HEAD
		      "#[inline(never)] fn work(i: usize) -> u32 { let a = black_box(&[1u32, 2, 3][..]); a[i] }\n" MAIN(
			      "9usize"),
		      false, &index);
	judged_expect(compiler_of(stripped, line),
		      HEAD
		      "#[inline(never)] fn work(i: usize) -> u32 { if i > 2 { panic!(\"{}\", i) } 1 }\n" MAIN("9usize"),
		      false, &unknown);
}

#define ASKS(size, align)                                                                                              \
	HEAD "#[inline(never)] fn work(a: usize) -> u32 { handle_alloc_error(Layout::from_size_align(" size            \
	     " * a, " align " * a).unwrap()) }\n" MAIN("1usize")

/* The alignment is no size, also where it is the larger one of the two. */
static void memory_that_cannot_be_had_is_told_by_its_size(void **state)
{
	(void)state;
	static const struct {
		const char *source, *size, *wrong;
	} cases[] = {
		{ASKS("3000", "64"), "3000 bytes", "64 bytes"},
		{ASKS("3000", "8192"), "3000 bytes", "8192 bytes"},
		{ASKS("4096", "65536"), "4096", "for 65536 bytes that"},
	};
	char line[300];
	check_needs("rustc");
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct judged j = judge(compiler_of(levels[0], line), cases[i].source, false);
		assert_string_equal(j.verdict->class_name, "out-of-memory");
		assert_string_equal(j.verdict->function, "program::work");
		if (!strstr(j.verdict->cause, cases[i].size) || strstr(j.verdict->cause, cases[i].wrong))
			judged_fail(&j, line, cases[i].size);
		judged_free(&j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_found_missing_is_told),
		cmocka_unit_test(an_index_is_told_with_the_length),
		cmocka_unit_test(what_a_program_says_itself_is_its_own),
		cmocka_unit_test(what_has_lost_its_names_is_told_by_those_that_are_left),
		cmocka_unit_test(memory_that_cannot_be_had_is_told_by_its_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

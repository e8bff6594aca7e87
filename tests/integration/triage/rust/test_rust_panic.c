/* layer: triage tier: long */
/* Rust panics, on programs that panic; skipped without rustc. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

static const char *const levels[] = {"-C opt-level=0", "-C opt-level=2"};

/* Its argument selects the cause of death. The arguments of an allocation are the size, then the alignment. */
static const char program[] =
	"#![allow(unused)]\nuse std::alloc::*;\n"
	"#[inline(never)] fn black_box<T>(value: T) -> T { // std has one since 1.66\n"
	"  let seen = unsafe { std::ptr::read_volatile(&value) }; std::mem::forget(value); seen }\n"
	"#[inline(never)] fn none(a: Option<u32>) -> u32 { a.unwrap() }\n"
	"#[inline(never)] fn number(a: Option<u32>) -> u32 { a.expect(\"a number\") }\n"
	"#[inline(never)] fn index(i: usize) -> u32 { let a = black_box(&[1u32, 2, 3][..]); a[i] }\n"
	"#[inline(never)] fn many(i: usize) -> u32 { if i > 2 { panic!(\"too many: {}\", i) } 1 }\n"
	"#[inline(never)] fn small(a: usize) -> u32 { handle_alloc_error(Layout::from_size_align(3000 * a, 64 * "
	"a).unwrap()) }\n"
	"#[inline(never)] fn wide(a: usize) -> u32 { handle_alloc_error(Layout::from_size_align(3000 * a, 8192 * "
	"a).unwrap()) }\n"
	"#[inline(never)] fn page(a: usize) -> u32 { handle_alloc_error(Layout::from_size_align(4096 * a, 65536 * "
	"a).unwrap()) }\n"
	"#[inline(never)] fn grow(n: usize) -> u32 { let mut v: Vec<u64> = Vec::new(); v.reserve_exact(n);\n"
	"  black_box(v).len() as u32 }\n"
	"fn main() { println!(\"{:?}\", match std::env::args().nth(1).unwrap().as_str() {\n"
	" \"none\" => none(black_box(None)), \"number\" => number(black_box(None)), \"index\" => index(black_box(9)),\n"
	" \"many\" => many(black_box(9)), \"small\" => small(black_box(1)), \"wide\" => wide(black_box(1)),\n"
	" \"grow\" => grow(black_box(1 << 48)),\n"
	" _ => page(black_box(1)) }) }\n";

/* rustc with panics that abort, so that the stack is there. The command contains no path, so that the program is cached
 * (kept.h). */
static const char *compiler_of(const char *flags, char line[300])
{
	snprintf(line, 300, "sh -c 'rustc --crate-name program -g -C panic=abort %s -A warnings -o \"$3\" -' sh",
		 flags);
	return line;
}

static void expect(const struct wanted *want)
{
	char line[300];
	check_needs("rustc");
	GRID(i, XC_COUNT(levels))
		judged_expect(compiler_of(levels[i], line), program, false, want);
}

static void what_was_found_missing_is_told(void **state)
{
	(void)state;
	expect(&(struct wanted){
		.argument = "none", .class_name = "panic", .kind = "unwrap", .function = "program::none"});
	expect(&(struct wanted){
		.argument = "number", .class_name = "panic", .kind = "expect", .function = "program::number"});
}

/* The argument is reported where the code keeps it. */
static void an_index_is_told_with_the_length(void **state)
{
	(void)state;
	static const struct wanted both = {
		.argument = "index", .class_name = "panic", .says = "the index is 9, the length 3"};
	char line[300];
	expect(&(struct wanted){
		.argument = "index", .class_name = "panic", .kind = "index", .function = "program::index"});
	judged_expect(compiler_of(levels[0], line), program, false, &both);
}

static void what_a_program_says_itself_is_its_own(void **state)
{
	(void)state;
	expect(&(struct wanted){
		.argument = "many", .class_name = "panic", .kind = "explicit", .function = "program::many"});
}

static void what_a_collection_was_to_grow_by_is_told(void **state)
{
	char line[300];
	(void)state;
	check_needs("rustc");
	struct judged j = judge_of(compiler_of(levels[0], line), program, "grow", false);
	/* older versions pass the size on, newer ones only the number of elements */
	if (!judged_same(j.verdict->class_name, "out-of-memory") ||
	    !judged_same(j.verdict->function, "program::grow") ||
	    (!judged_says(&j, "2251799813685248 bytes") && !judged_says(&j, "281474976710656 more elements")))
		judged_fail(&j, line, "the size, or the elements");
	judged_free(&j);
}

/* Since 1.81 a panic does not leave an extern "C" function. */
static bool stops_panics(void)
{
	unsigned minor = 0;
	FILE *version = popen("rustc --version", "r");
	bool read = version && fscanf(version, "rustc 1.%u", &minor) == 1;
	if (version)
		pclose(version);
	return read && minor >= 81;
}

/* The payload of the panic that a function stops which must not unwind: a text of the program, or one that was made. */
static void the_first_panic_has_the_reason(void **state)
{
	static const char source[] = "extern \"C\" fn stop(odd: u32) { if odd > 1 { panic!(\"odd number {}\", odd) } "
				     "else { panic!(\"plain\") } }\n"
				     "fn main() { stop(std::env::args().nth(1).unwrap().parse().unwrap()) }\n";
	static const char compiler[] =
		"sh -c 'rustc --crate-name program -g -C opt-level=0 -A warnings -o \"$3\" -' sh";
	static const struct wanted made = {.argument = "7",
					   .class_name = "panic",
					   .kind = "no unwind",
					   .message = "odd number 7",
					   .says = "the panic that unwound the stack before: \"odd number 7\""};
	static const struct wanted plain = {
		.argument = "1", .class_name = "panic", .kind = "no unwind", .message = "plain"};
	(void)state;
	check_needs("rustc");
	if (!stops_panics())
		check_skip("this rustc lets panics leave extern \"C\" functions");
	judged_expect(compiler, source, true, &made);
	judged_expect(compiler, source, true, &plain);
}

/* Nameless local functions may belong to the library: one of them may have called panic. */
static void what_has_lost_its_names_is_told_by_those_that_are_left(void **state)
{
	(void)state;
	static const char stripped[] = "-C strip=debuginfo -C link-arg=-Wl,--discard-all";
	static const struct wanted index = {
		.argument = "index", .class_name = "panic", .kind = "index", .says = "the index is 9, the length 3"};
	static const struct wanted unknown = {
		.argument = "many", .class_name = "panic", .kind = "", .says = "panicked"};
	char line[300];
	check_needs("rustc");
	judged_expect(compiler_of(stripped, line), program, false, &index);
	judged_expect(compiler_of(stripped, line), program, false, &unknown);
}

/* The alignment is not a size, even if it is the larger one of the two. */
static void memory_that_cannot_be_had_is_told_by_its_size(void **state)
{
	(void)state;
	static const struct {
		const char *argument, *function, *size, *wrong;
	} cases[] = {
		{"small", "program::small", "3000 bytes", "64 bytes"},
		{"wide", "program::wide", "3000 bytes", "8192 bytes"},
		{"page", "program::page", "4096", "for 65536 bytes that"},
	};
	char line[300];
	check_needs("rustc");
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct judged j = judge_of(compiler_of(levels[0], line), program, cases[i].argument, false);
		assert_string_equal(j.verdict->class_name, "out-of-memory");
		assert_string_equal(j.verdict->function, cases[i].function);
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
		cmocka_unit_test(what_a_collection_was_to_grow_by_is_told),
		cmocka_unit_test(the_first_panic_has_the_reason),
		cmocka_unit_test(what_a_program_says_itself_is_its_own),
		cmocka_unit_test(what_has_lost_its_names_is_told_by_those_that_are_left),
		cmocka_unit_test(memory_that_cannot_be_had_is_told_by_its_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

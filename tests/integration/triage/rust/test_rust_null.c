/* layer: triage */
/* References, boxes and NonNull that unsafe code made NULL; skipped without rustc. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

static const char compiler[] =
	"sh -c 'rustc --crate-name program -g -C panic=abort -C opt-level=2 -A warnings -o \"$3\" -' sh";

static const char program[] =
	"use std::ptr::NonNull;\n"
	"#[inline(never)] fn black_box<T>(value: T) -> T {\n"
	"  let seen = unsafe { std::ptr::read_volatile(&value) }; std::mem::forget(value); seen }\n"
	"pub struct Node { pub value: i64, pub more: i64 }\n"
	"#[inline(never)] fn of_reference(node: &Node) -> i64 { node.value }\n"
	"#[inline(never)] fn of_non_null(at: NonNull<Node>) -> i64 { unsafe { at.as_ref().value } }\n"
	"#[inline(never)] fn of_pointer(at: *const Node) -> i64 { unsafe { (*at).value } }\n"
	"fn main() {\n"
	"  println!(\"{}\", match std::env::args().nth(1).unwrap().as_str() {\n"
	"    \"reference\" => of_reference(unsafe { std::mem::transmute::<usize, &Node>(black_box(0usize)) }),\n"
	"    \"non-null\" => of_non_null(unsafe { NonNull::new_unchecked(black_box(0usize) as *mut Node) }),\n"
	"    _ => of_pointer(black_box(0usize) as *const Node) }) }\n";

static void what_unsafe_code_made_null_is_told(void **state)
{
	(void)state;
	check_needs("rustc");
	judged_expect(compiler, program, false,
		      &(struct wanted){.argument = "reference",
				       .class_name = "null-read",
				       .function = "program::of_reference",
				       .says = "`node` is a &program::Node, which safe Rust never makes NULL"});
	judged_expect(compiler, program, false,
		      &(struct wanted){.argument = "non-null",
				       .class_name = "null-read",
				       .function = "program::of_non_null",
				       .says = "which safe Rust never makes NULL: unsafe code did"});
}

static void a_raw_pointer_may_be_null(void **state)
{
	(void)state;
	check_needs("rustc");
	judged_expect(compiler, program, false,
		      &(struct wanted){.argument = "pointer",
				       .class_name = "null-read",
				       .function = "program::of_pointer",
				       .without = "safe Rust"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_unsafe_code_made_null_is_told),
		cmocka_unit_test(a_raw_pointer_may_be_null),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

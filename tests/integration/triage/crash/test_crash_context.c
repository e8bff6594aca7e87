/* layer: triage */
/* Queries of rules about the crashed stack and its functions. */
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "triage/crash/crash_context.h"
#include "triage/dataflow/local.h"
#include "triage/dataflow/symbolic_value.h"
#include "triage/dataflow/access_path.h"

struct inquired {
	struct xc_process *process;
	struct xc_report *report;
	struct xc_crash_context q;
};

static void begin(struct inquired *i, const char *compiler, const char *source)
{
	i->process = died(compiler, source);
	i->report = xc_report_new("analyze");
	assert_true(xc_crash_context_init(&i->q, i->report, i->process, NULL));
}

static void done(struct inquired *i)
{
	xc_crash_context_fini(&i->q);
	xc_report_free(i->report);
	close_process(i->process);
}

static void functions_on_the_crashed_stack_are_told(void **state)
{
	(void)state;
	static const char *const names[] = {"nobody", "outer", NULL}, *const none[] = {"nobody", NULL};
	struct inquired i;
	begin(&i, "gcc -g -O0 -x c",
	      "int inner(void) { *(volatile int *)0 = 1; return 0; } int middle(void) { return inner(); }\n"
	      "int outer(void) { return middle(); } int main(void) { return outer(); }");
	const char *found = xc_crash_context_find_name(&i.q, names);
	assert_non_null(found);
	assert_string_equal(found, "outer");
	assert_null(xc_crash_context_find_name(&i.q, none));
	done(&i);
}

static void inlined_functions_are_passed_as_well(void **state)
{
	(void)state;
	static const char *const names[] = {"inlined", NULL};
	struct inquired i;
	begin(&i, "gcc -g -O2 -x c",
	      "int *volatile null; static inline __attribute__((always_inline)) int inlined(int a) { *null = a; "
	      "return a; }\n__attribute__((noinline, noclone)) int work(int a) { return inlined(a) + 1; }\n"
	      "int main(int c, char **v) { (void)v; return work(c) + 1; }");
	assert_non_null(xc_crash_context_find_name(&i.q, names));
	done(&i);
}

static void the_stack_of_a_recursion_is_kept_by_its_inner_end(void **state)
{
	(void)state;
	struct inquired i;
	begin(&i, "gcc -g -O0 -x c",
	      "int deep(int n) { if (!n) *(volatile int *)0 = 1; return n ? deep(n - 1) + 1 : 0; }\n"
	      "int main(void) { return deep(1000); }");
	assert_int_equal(i.q.frame_count, XC_CRASH_FRAMES);
	assert_null(i.q.stop);
	assert_int_equal(i.q.frames[0].pc, i.q.fault.frame.pc);
	done(&i);
}

static void the_frame_to_blame_is_one_of_the_stack(void **state)
{
	(void)state;
	struct inquired i;
	begin(&i, "gcc -g -O0 -x c",
	      "#include <stdlib.h>\nint work(int a) { abort(); return a; } int main(void) { return work(1) + 1; }");
	assert_true(i.q.blamed > 0 && i.q.blamed < i.q.frame_count);
	assert_string_equal(function_of(i.process, &i.q.frames[i.q.blamed]), "work");
	assert_non_null(i.q.stop);
	done(&i);
}

/* Eight levels of forty members each: a walk over all of them would be too slow. */
static void pyramids_of_members_are_not_walked_to_the_end(void **state)
{
	(void)state;
	struct xc_text source = {0}, name = {0};
	struct inquired i;
	xc_addr at, sp = 0;
	uint64_t size;
	xc_text_add(&source, "struct L0 {};\n");
	for (unsigned level = 1; level <= 8; level++) {
		xc_text_printf(&source, "struct L%u { struct L%u m0", level, level - 1);
		for (unsigned m = 1; m < 40; m++)
			xc_text_printf(&source, ", m%u", m);
		xc_text_add(&source, "; };\n");
	}
	xc_text_add(&source,
		    "struct top { struct L8 x; int i; };\n"
		    "int main(void) { volatile struct top t; t.i = 1; *(volatile int *)0 = t.i; return 0; }\n");
	begin(&i, "clang -g -O0 -fno-stack-protector -x c", xc_text_string(&source));
	assert_true(xc_regs_get(&i.q.frames[0].regs, i.process->arch->fp, &sp));
	assert_true(xc_local_array_below(&i.q, 0, sp, &name, &at, &size) == SIZE_MAX);
	xc_text_fini(&name);
	xc_text_fini(&source);
	done(&i);
}

static void offsets_at_the_end_of_numbers_are_written(void **state)
{
	(void)state;
	const struct xc_type three = {.kind = XC_TYPE_STRUCT, .size = 3, .size_known = true},
			     pointer = {.kind = XC_TYPE_POINTER, .target = &three};
	struct xc_access_path blind = {.size = 0}, path = {.size = 0};
	assert_true(xc_access_path_pointer(&blind, "p", NULL, INT64_MIN));
	assert_string_equal(xc_text_string(&blind.text), "*(p - 9223372036854775808)");
	xc_access_path_pointer(&path, "p", &pointer, INT64_MIN);
	assert_int_equal(path.offset, 1);
	xc_text_fini(&blind.text);
	xc_text_fini(&path.text);
}

static void the_code_of_a_frame_is_read_once(void **state)
{
	(void)state;
	struct inquired i;
	struct xc_frame_code first, second;
	unsigned budget = XC_SYMBOLIC_BUDGET;
	begin(&i, "gcc -g -O0 -x c", "int main(void) { *(volatile int *)0 = 1; return 0; }");
	assert_true(xc_frame_code_init(&i.q, 0, &budget, &first) && xc_frame_code_init(&i.q, 0, &budget, &second));
	assert_ptr_equal(first.body, second.body);
	assert_false(xc_frame_code_init(&i.q, i.q.frame_count, &budget, &second));
	done(&i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_on_the_crashed_stack_are_told),
		cmocka_unit_test(inlined_functions_are_passed_as_well),
		cmocka_unit_test(the_stack_of_a_recursion_is_kept_by_its_inner_end),
		cmocka_unit_test(the_frame_to_blame_is_one_of_the_stack),
		cmocka_unit_test(pyramids_of_members_are_not_walked_to_the_end),
		cmocka_unit_test(offsets_at_the_end_of_numbers_are_written),
		cmocka_unit_test(the_code_of_a_frame_is_read_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

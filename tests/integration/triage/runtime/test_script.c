/* layer: triage */
/* A program dies in code that it generated, as a JIT does; a plugin has described that code and the running script. */
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "dwarf/cfi/foreign_frame.h"
#include "triage/cause.h"

/* mov (%rdi), %eax; ret */
static const char source[] =
	"#include <string.h>\n#include <sys/mman.h>\n"
	"int main(void) { unsigned char *page = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
	"memcpy(page, \"\\x8b\\x07\\xc3\", 3); int (*volatile made)(int *) = (int (*)(int *))page; return made(NULL) + "
	"1; }\n";

static void tell(struct xc_process *p, xc_addr pc, xc_addr sp)
{
	const struct xc_foreign_saved saved = {.reg = p->arch->pc, .from = -1, .offset = -8};
	const struct xc_foreign_code code = {.lo = pc,
					     .hi = pc + 2,
					     .cfa_reg = p->arch->sp,
					     .cfa_offset = 8,
					     .saved = &saved,
					     .saved_count = 1,
					     .name = "TRACE 7"};
	struct xc_stack_row rows[] = {{.function = "print", .language = "toy", .kind = "builtin"},
				      {.function = "sum", .language = "toy", .file = "/srv/app/shop.toy", .line = 12}};
	const struct xc_foreign_frames frames = {.tid = p->threads[0].tid, .at = sp, .rows = rows, .row_count = 2};
	CHECK_OK(xc_foreign_add_code(p, &code));
	CHECK_OK(xc_foreign_add_frames(p, &frames));
}

static bool says(const struct xc_verdict *v, const char *text)
{
	for (size_t i = 0; i < v->evidence_count; i++)
		if (strstr(v->evidence[i], text))
			return true;
	return false;
}

static void what_died_is_the_code_that_was_made_and_its_script(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -O1 -x c", source);
	struct xc_report *report = xc_report_new("analyze");
	uint64_t pc = 0, sp = 0;
	assert_true(xc_regs_get(&p->threads[0].regs, p->arch->pc, &pc));
	assert_true(xc_regs_get(&p->threads[0].regs, p->arch->sp, &sp));
	tell(p, pc, sp);
	xc_cause(report, p, NULL);
	assert_non_null(report->verdict);
	assert_string_equal(report->verdict->class_name, "null-read");
	assert_string_equal(report->verdict->function, "TRACE 7");
	assert_null(report->verdict->module);
	assert_true(says(report->verdict, "in toy: sum, shop.toy:12"));
	assert_false(says(report->verdict, "missing: debug information"));
	xc_report_free(report);
	close_process(p);
}

/* Without a description: the caller is the first known function. */
static void code_that_nobody_knows_is_not_blamed(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -O1 -x c", source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, p, NULL);
	assert_false(says(report->verdict, "in toy"));
	assert_true(!report->verdict->function || strcmp(report->verdict->function, "TRACE 7") != 0);
	xc_report_free(report);
	close_process(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_died_is_the_code_that_was_made_and_its_script),
		cmocka_unit_test(code_that_nobody_knows_is_not_blamed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

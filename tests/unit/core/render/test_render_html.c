/* layer: core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/report_fixture.h"

static char *render(struct xc_render_options options)
{
	struct fixture f = fixture_new(HOSTILE);
	char *text = render_to_string(xc_render_html, f.report, options);
	assert_non_null(text);
	fixture_free(&f);
	return text;
}

static void the_page_has_a_policy_and_no_outside_reference(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){.stats = true});
	assert_non_null(
		strstr(text, "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'"));
	assert_null(strstr(text, "http://"));
	assert_null(strstr(text, "https://"));
	assert_null(strstr(text, "url("));
	assert_null(strstr(text, "<script"));
	free(text);
}

static void hostile_strings_stay_text(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){.stats = true});
	assert_false(has_control(text));
	assert_null(strstr(text, "</script>"));
	assert_null(strstr(text, "<b>"));
	assert_non_null(strstr(text, "&lt;/script&gt;&lt;b&gt;&quot;&#39;&amp;"));
	free(text);
}

/* Every opened element is closed, in order: a hostile string that escaped its context would break this. */
static void elements_are_balanced(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){.stats = true}), open[64][16];
	size_t depth = 0;
	for (const char *at = strstr(text, "<html"); (at = strchr(at, '<')); at++) {
		bool closes = at[1] == '/';
		char tag[16] = "";
		assert_int_equal(sscanf(at + 1 + closes, "%15[a-z0-9]", tag), 1);
		if (!strcmp(tag, "meta"))
			continue;
		if (!closes) {
			assert_true(depth < 64);
			strcpy(open[depth++], tag);
			continue;
		}
		assert_true(depth > 0);
		assert_string_equal(open[--depth], tag);
	}
	assert_int_equal(depth, 0);
	free(text);
}

static void threads_fold_and_the_crashed_one_is_open(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){0});
	assert_non_null(strstr(
		text, "<details class=\"thread crashed\" open><summary>thread 100 &quot;crasher&quot;, crashed"));
	assert_non_null(strstr(text, "<details class=\"thread\"><summary>2 × thread 101 &quot;worker&quot;"));
	assert_non_null(strstr(text, "and threads 102</div>"));
	assert_non_null(strstr(text, "897 frames left out; in all 448 × [parse_value → parse_array]"));
	assert_non_null(strstr(text, "<span class=\"tag doubt\">guess: found by stack scan, module unverified</span>"));
	free(text);
}

static void brief_stacks_and_lost_locals_are_short_as_in_text(void **state)
{
	(void)state;
	static struct xc_variable_text locals[] = {{.name = "<a>", .type = "int", .why = "optimized out"},
						   {.name = "n", .type = "int", .value = "7"}};
	static struct xc_stack_row rows[] = {
		{.pc = 1, .trust = "cfi", .function = "work", .locals = locals, .local_count = 2},
		{.index = 1,
		 .pc = 2,
		 .trust = "cfi",
		 .function = "_start",
		 .locals = locals,
		 .local_count = 2,
		 .startup = true}};
	static struct xc_stack stack = {.tid = 5, .crashed = true, .rows = rows, .row_count = 2};
	struct xc_report *report = xc_report_new("bt");
	struct xc_stacks *stacks = xc_section_stacks(xc_report_section(report, "stacks", "Threads"), "stacks");
	*stacks = (struct xc_stacks){.stacks = &stack, .stack_count = 1, .full = true, .brief = true};
	char *text = render_to_string(xc_render_html, report, (struct xc_render_options){0});
	const char *lost = strstr(text, "<div class=\"none\">optimized out: &lt;a&gt;</div>");
	assert_non_null(lost);
	assert_null(strstr(lost + strlen("<div class=\"none\">optimized"), "optimized out"));
	free(text);
	xc_report_free(report);
}

static void redaction_leaves_no_secret(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){.redact = true});
	assert_null(strstr(text, "hunter2"));
	assert_null(strstr(text, "0x55d0c1a2b3c0"));
	assert_non_null(strstr(text, "(redacted)"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_has_a_policy_and_no_outside_reference),
		cmocka_unit_test(hostile_strings_stay_text),
		cmocka_unit_test(elements_are_balanced),
		cmocka_unit_test(threads_fold_and_the_crashed_one_is_open),
		cmocka_unit_test(brief_stacks_and_lost_locals_are_short_as_in_text),
		cmocka_unit_test(redaction_leaves_no_secret),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

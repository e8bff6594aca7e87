/* layer: core */
/* A report as text: the verdict, fields, tables, messages, colours, redaction; numbers, widths and long names. */
#include "tests/unit/core/render/text_of_report.h"

/* Except lines that end in a path, which stays whole. */
static size_t longest_line(const char *text)
{
	size_t longest = 0;
	while (*text) {
		size_t n = strcspn(text, "\n");
		bool path = n > 10 && memcmp(text + n - 10, "/libc.so.6", 10) == 0;
		size_t columns = path ? 0 : xc_render_columns(text, n);
		longest = columns > longest ? columns : longest;
		text += text[n] ? n + 1 : n;
	}
	return longest;
}

static void the_verdict_comes_first_with_its_source(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){0});
	const char *verdict = strstr(text, "SIGSEGV: wrote 8 bytes"), *stacks = strstr(text, "\nThreads\n");
	assert_non_null(verdict);
	assert_true(verdict < stacks);
	assert_contains(text, "severity low, certain\n");
	assert_contains(text, "  in    handle_request   /src/server.c:42   thread 100 \"crasher\"\n");
	assert_contains(text, "        →  42   r->value = n;\n");
	free(text);
}

static void a_suggested_option_is_never_broken(void **state)
{
	(void)state;
	static char hint[] =
		"--source-root '/srv/a folder with blanks/and more/of them/until no line of a terminal has room/src'";
	struct fixture f = fixture_new("core.1");
	xc_report_verdict(f.report)->source = NULL;
	xc_report_verdict(f.report)->source_hint = hint;
	for (unsigned width = 40; width < 100; width += 7) {
		char *text = render_to_string(xc_render_text, f.report, (struct xc_render_options){.width = width});
		assert_contains(
			text,
			"        source lines: --source-root '/srv/a folder with blanks/and more/of them/until no line "
			"of a terminal has room/src'\n");
		free(text);
	}
	fixture_free(&f);
}

static void every_line_fits_the_width(void **state)
{
	(void)state;
	for (unsigned width = 60; width <= 160; width += 20) {
		char *text = render((struct xc_render_options){.width = width});
		assert_in_range(longest_line(text), 50, width);
		free(text);
	}
	char *text = render((struct xc_render_options){0});
	assert_in_range(longest_line(text), 60, 100);
	free(text);
}

static void numbers_are_readable_and_right_aligned(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){.width = 250});
	assert_contains(text, "loaded    1,204,331\n");
	assert_contains(text, "unknown   its page was not dumped\n");
	assert_contains(text, "  NAME ");
	assert_contains(text, "  1.00 MiB  not looked for  /usr/lib/x86_64-linux-gnu/libc.so.6\n");
	free(text);
}

static void verbose_columns_go_first_and_the_last_column_stays_whole(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){0});
	assert_null(strstr(text, "NOTE"));
	char *joined = calloc(1, strlen(text) + 1);
	for (size_t i = 0, n = 0; text[i]; i++)
		if (text[i] != ' ' && text[i] != '\n')
			joined[n++] = text[i];
	assert_contains(joined, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	free(joined);
	free(text);
}

static void columns_without_any_fact_are_left_out(void **state)
{
	(void)state;
	static const struct xc_column columns[] = {
		{"a", "A", XC_FIELD_TEXT, false}, {"b", "B", XC_FIELD_TEXT, false}, {"c", "C", XC_FIELD_TEXT, false}};
	struct xc_report *report = xc_report_new("info");
	struct xc_section *s = xc_report_section(report, "x", "X");
	struct xc_table *table = xc_section_table(s, "t", columns, XC_COUNT(columns));
	const struct xc_cell row[] = {xc_cell_text("one"), xc_cell_null(NULL), xc_cell_null("lost")};
	xc_table_row(s, table, row);
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_string_equal(text, "A    C\none  lost\n");
	free(text);
	xc_report_free(report);
}

static void a_column_without_a_label_has_an_empty_head(void **state)
{
	(void)state;
	static const struct xc_column columns[] = {{"a", "LONG", XC_FIELD_TEXT, false},
						   {"b", "", XC_FIELD_TEXT, false}};
	struct xc_report *report = xc_report_new("info");
	struct xc_section *s = xc_report_section(report, "x", "X");
	struct xc_table *table = xc_section_table(s, "t", columns, XC_COUNT(columns));
	const struct xc_cell row[] = {xc_cell_text("one"), xc_cell_text("=>")};
	xc_table_row(s, table, row);
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_string_equal(text, "LONG\none   =>\n");
	free(text);
	xc_report_free(report);
}

static void messages_carry_their_hint(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){0});
	assert_contains(text, "warning: the core is cut: ");
	assert_contains(text, "\n  hint: copy it again\n");
	free(text);
}

static void colours_appear_only_when_asked_for(void **state)
{
	(void)state;
	char *plain = render((struct xc_render_options){.stats = true});
	char *colored = render((struct xc_render_options){.stats = true, .color = true});
	assert_false(has_control(plain));
	assert_contains(colored, "\033[1;31m");
	/* without its colour codes the text is the same */
	size_t n = 0;
	for (size_t i = 0; colored[i]; i++) {
		if (colored[i] == '\033')
			i += strcspn(colored + i, "m");
		else
			colored[n++] = colored[i];
	}
	colored[n] = '\0';
	assert_string_equal(plain, colored);
	free(plain);
	free(colored);
}

static void redaction_leaves_no_secret(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){.redact = true});
	assert_null(strstr(text, "hunter2"));
	assert_null(strstr(text, "0x55d0c1a2b3c0"));
	assert_contains(text, "r=(redacted)");
	free(text);
}

static void of_a_secret_what_can_be_told_stays(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("info");
	struct xc_cell cell = xc_cell_text("reading from file 3 (/home/hunter2)");
	cell.secret = true;
	cell.redacted = "reading from file 3";
	xc_section_cell(xc_report_section(report, "x", "Title"), "what", "what", cell);
	for (int redact = 0; redact < 2; redact++) {
		const struct xc_render_options options = {.redact = redact};
		char *text = render_to_string(xc_render_text, report, options);
		char *json = render_to_string(xc_render_json, report, options);
		assert_contains(text, "reading from file 3");
		assert_contains(json, "\"reading from file 3");
		assert_int_equal(strstr(text, "hunter2") == NULL, redact);
		assert_int_equal(strstr(json, "hunter2") == NULL, redact);
		free(text);
		free(json);
	}
	xc_report_free(report);
}

static void a_single_section_needs_no_title(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("info");
	xc_section_count(xc_report_section(report, "x", "Title"), "n", "n", 3);
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_string_equal(text, "n  3\n");
	free(text);
	xc_report_free(report);
}

static void a_brief_target_is_one_line_and_its_warnings(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("maps");
	struct xc_section *target = xc_report_target(report);
	target->headline = "core.1   prog";
	target->brief = true;
	xc_section_text(target, "exe", "exe", "/usr/bin/prog");
	xc_section_message(target, XC_WARNING, NULL, "it is cut");
	xc_section_count(xc_report_section(report, "x", "Title"), "n", "n", 3);
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_string_equal(text, "core.1   prog\nwarning: it is cut\n\nn  3\n");
	free(text);
	xc_report_free(report);
}

static void a_field_that_is_unknown_without_a_reason_is_left_out(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("info");
	struct xc_section *s = xc_report_section(report, "x", "Title");
	xc_section_text(s, "maker", "core made by", NULL);
	xc_section_unknown(s, "pid", "pid", "lost");
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_string_equal(text, "pid  lost\n");
	free(text);
	xc_report_free(report);
}

static void paths_of_the_last_column_stay_whole(void **state)
{
	(void)state;
	static const struct xc_column columns[] = {{"a", "A", XC_FIELD_TEXT, false}, {"b", "B", XC_FIELD_TEXT, false}};
	struct xc_report *report = xc_report_new("maps");
	struct xc_section *s = xc_report_section(report, "x", "X");
	struct xc_table *table = xc_section_table(s, "t", columns, XC_COUNT(columns));
	const struct xc_cell row[] = {xc_cell_text("0123456789"), xc_cell_text("/usr/lib/x86_64-linux-gnu/libc.so.6")};
	const struct xc_cell reason[] = {xc_cell_text("reason"), xc_cell_text("no file; it was looked for in vain")};
	xc_table_row(s, table, row);
	xc_table_row(s, table, reason);
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){.width = 40});
	assert_string_equal(text, "A           B\n0123456789  /usr/lib/x86_64-linux-gnu/libc.so.6\n"
				  "reason      no file; it was looked for\n            in vain\n");
	free(text);
	xc_report_free(report);
}

static void a_verdicts_thread_is_never_broken(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("analyze");
	struct xc_verdict *verdict = xc_report_verdict(report);
	verdict->headline = "SIGSEGV";
	verdict->function = "work";
	verdict->file = "/a/rather/long/path/to/a/source.c";
	verdict->tid = 4711;
	verdict->thread_name = "worker";
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){.width = 60});
	assert_contains(text, "  in    work   /a/rather/long/path/to/a/source.c\n        thread 4711 \"worker\"\n");
	free(text);
	xc_report_free(report);
}

static void check_long_name(const char *name, size_t columns, const char *expected)
{
	struct xc_text text = {0};
	xc_render_long_name(&text, name, columns);
	assert_string_equal(xc_text_string(&text), expected);
	xc_text_fini(&text);
}

static void long_names_lose_their_arguments_and_keep_their_ends(void **state)
{
	(void)state;
	const char *tree = "std::_Rb_tree<int, std::pair<int const, A<B<long> > >, std::less<int> >::_M_insert";
	check_long_name(tree, 100, tree);
	check_long_name(tree, 75, "std::_Rb_tree<int, std::pair<int const, A<…> >, std::less<int> >::_M_insert");
	check_long_name(tree, 60, "std::_Rb_tree<int, std::pair<…>, std::less<…> >::_M_insert");
	check_long_name(tree, 40, "std::_Rb_tree<…>::_M_insert");
	check_long_name(tree, 5, "std::_Rb_tree<…>::_M_insert");
	check_long_name("a::C<int>::operator<<", 3, "a::C<…>::operator<<");
	check_long_name("a::C<int>::operator->", 3, "a::C<…>::operator->");
	check_long_name("f<&A<int>::operator-><long> >::g", 3, "f<…>::g");
	check_long_name("D<(E)1>::f(std::F<int ()>)::{lambda()#1}::operator()", 3,
			"D<…>::f(std::F<…>)::{lambda()#1}::operator()");
	check_long_name("my_operator<int>", 3, "my_operator<…>");
	check_long_name("unbalanced<int", 3, "unbalanced<…");
	check_long_name("unbalanced>int", 3, "unbalanced>int");
	check_long_name("plain", 3, "plain");
	check_long_name("", 3, "");
}

static void seconds_are_in_the_units_that_people_use(void **state)
{
	(void)state;
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{0, "0 s"},
		     {-5, "-5 s"},
		     {12e-6, "12 µs"},
		     {0.0297, "29.7 ms"},
		     {2.44, "2.44 s"},
		     {119.4, "119 s"},
		     {120, "2 min"},
		     {754, "12 min 34 s"},
		     {7199, "119 min 59 s"},
		     {7200, "2 h"},
		     {86398.2, "23 h 59 min"},
		     {172799, "47 h 59 min"},
		     {2e6, "23 d 3 h"},
		     {-90000, "-25 h"},
		     {1e300, "11574074074 d 1 h"}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		const struct xc_cell cell = xc_cell_seconds(cases[i].seconds);
		struct xc_text text = {0};
		xc_render_cell(&text, &cell, false);
		assert_string_equal(xc_text_string(&text), cases[i].text);
		xc_text_fini(&text);
	}
}

static void ratios_differ_from_0_and_100(void **state)
{
	static const struct {
		double fraction;
		const char *text;
	} cases[] = {{0, "0%"},      {2.8e-9, "<0.001%"}, {-2.8e-9, ">-0.001%"}, {2e-5, "0.002%"},
		     {0.5, "50.0%"}, {1, "100%"},         {0.9995, "99.95%"}};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		const struct xc_cell cell = xc_cell_ratio(cases[i].fraction);
		struct xc_text text = {0};
		xc_render_cell(&text, &cell, false);
		assert_string_equal(xc_text_string(&text), cases[i].text);
		xc_text_fini(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_are_in_the_units_that_people_use),
		cmocka_unit_test(ratios_differ_from_0_and_100),
		cmocka_unit_test(the_verdict_comes_first_with_its_source),
		cmocka_unit_test(a_suggested_option_is_never_broken),
		cmocka_unit_test(every_line_fits_the_width),
		cmocka_unit_test(long_names_lose_their_arguments_and_keep_their_ends),
		cmocka_unit_test(numbers_are_readable_and_right_aligned),
		cmocka_unit_test(verbose_columns_go_first_and_the_last_column_stays_whole),
		cmocka_unit_test(columns_without_any_fact_are_left_out),
		cmocka_unit_test(a_column_without_a_label_has_an_empty_head),
		cmocka_unit_test(messages_carry_their_hint),
		cmocka_unit_test(colours_appear_only_when_asked_for),
		cmocka_unit_test(redaction_leaves_no_secret),
		cmocka_unit_test(of_a_secret_what_can_be_told_stays),
		cmocka_unit_test(a_single_section_needs_no_title),
		cmocka_unit_test(a_brief_target_is_one_line_and_its_warnings),
		cmocka_unit_test(a_field_that_is_unknown_without_a_reason_is_left_out),
		cmocka_unit_test(paths_of_the_last_column_stay_whole),
		cmocka_unit_test(a_verdicts_thread_is_never_broken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

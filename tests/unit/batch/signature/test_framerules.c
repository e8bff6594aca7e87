/* layer: batch */
/* The rules of a user's file: their form, their conditions, and which of several decides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/signature/framerules.h"
#include "tests/support/check.h"
#include "tests/unit/batch/signature/framed.h"

static void a_path_may_be_told_that_is_not_meant(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	add(rules, "# xcore frames 3\n[SKIP path!=/opt/*|*/mine/*]\nlog_*\ntrace path!=/srv/*\n");
	assert_string_equal(found(rules, "log_it", "server", "/src/log.c"), "SKIP log_*");
	assert_string_equal(found(rules, "log_it", "server", "/opt/log.c"), "- ");
	assert_string_equal(found(rules, "log_it", "server", "/src/mine/log.c"), "- ");
	assert_string_equal(found(rules, "log_it", "server", NULL), "- ");
	assert_string_equal(found(rules, "trace", "server", "/opt/log.c"), "SKIP trace");
	assert_string_equal(found(rules, "trace", "server", "/srv/log.c"), "- ");
	xc_framerules_free(rules);
}

static void a_version_that_we_do_not_know_is_refused(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	add(rules, "# xcore frames 1\n[SKIP]\nmine\n");
	assert_string_equal(found(rules, "mine", "server", NULL), "SKIP mine");
	add(rules, "# xcore frames 2\n[SKIP language=go|rust]\nyours\ntheirs language=c++\n");
	assert_string_equal(found(rules, "yours", "server", NULL), "- ");
	language = XC_LANGUAGE_RUST;
	assert_string_equal(found(rules, "yours", "server", NULL), "SKIP yours");
	assert_string_equal(found(rules, "theirs", "server", NULL), "- ");
	language = XC_LANGUAGE_CXX;
	assert_string_equal(found(rules, "theirs", "server", NULL), "SKIP theirs");
	language = XC_LANGUAGE_UNKNOWN;
	xc_framerules_free(rules);
}

static void conditions_are_of_module_and_path(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	assert_string_equal(found(rules, "weird::Thing::go", "server", "/rustc/59807616/library/std/src/x.rs"),
			    "SKIP *");
	assert_string_equal(found(rules, NULL, "libc.so.6", NULL), "SKIP *");
	assert_string_equal(found(rules, NULL, "server", NULL), "- ");
	add(rules, "[SKIP module=libmine.so*|other]\n* path=*/glue/*\nlog message  module=server\n? module=plugin\n");
	assert_string_equal(found(rules, "x", "libmine.so.1", "/src/glue/x.c"), "SKIP *");
	assert_string_equal(found(rules, "x", "libmine.so.1", "/src/x.c"), "- ");
	assert_string_equal(found(rules, "x", NULL, "/src/glue/x.c"), "- ");
	assert_string_equal(found(rules, "log message", "server", NULL), "SKIP log message");
	assert_string_equal(found(rules, "log message", "other", NULL), "- ");
	assert_string_equal(found(rules, NULL, "plugin", NULL), "SKIP ?");
	assert_string_equal(found(rules, "f", "plugin", NULL), "- ");
	xc_framerules_free(rules);
}

static void the_last_rule_decides_so_that_a_users_file_wins(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	assert_string_equal(found(rules, "g_log", "libglib-2.0.so.0", NULL), "SKIP-ABOVE g_log");
	add(rules, "# ours\n[APP]\n* module=@glib\n[SKIP]\ng_free\n");
	assert_string_equal(found(rules, "g_log", "libglib-2.0.so.0", NULL), "APP *");
	assert_string_equal(found(rules, "g_free", "libglib-2.0.so.0", NULL), "SKIP g_free");
	const struct xc_framerule *rule = match(rules, ALL, "g_log", "libglib-2.0.so.0", NULL);
	assert_string_equal(rule->where, "mine.txt:3");
	assert_null(match(rules, 1u << XC_FRAMES_STOP, "g_log", "libglib-2.0.so.0", NULL));
	xc_framerules_free(rules);
}

static void others_code_is_told_from_the_programs(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	const unsigned whose = 1u << XC_FRAMES_NOT_APP;
	assert_non_null(match(rules, whose, "poll", "libc.so.6", "./io/poll.c"));
	assert_non_null(match(rules, whose, "std::sort<T>", "server", "/usr/include/c++/12/bits/stl_algo.h"));
	assert_null(match(rules, whose, "parse", "server", "/src/parse.c"));
	assert_null(match(rules, whose, "parse", NULL, NULL));
	xc_framerules_free(rules);
}

static void tabs_separate_and_comments_end_lines(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	add(rules,
	    "[MODULES] # names\n@our\tliba.so* # ours\n[APP\tmodule=@our]\t# mine\nload\tmodule=app\nsave # all\n"
	    "send \t path=*.c\t language=c|c++ \t# #\n");
	assert_string_equal(found(rules, "load", "app", NULL), "APP load");
	assert_string_equal(found(rules, "load", "liba.so.1", NULL), "- ");
	assert_string_equal(found(rules, "save", "liba.so.1", NULL), "APP save");
	language = XC_LANGUAGE_C;
	assert_string_equal(found(rules, "send", "liba.so.1", "/s/send.c"), "APP send");
	assert_string_equal(found(rules, "send", "liba.so.1", "/s/send.h"), "- ");
	language = XC_LANGUAGE_UNKNOWN;
	xc_framerules_free(rules);
}

/* As they are after normalising. */
static void brackets_of_names_are_no_parameters(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	add(rules, "[APP]\nmain.(*queue).Close\nmain.(*queue)*\n(anonymous "
		   "namespace)::go\nshop::Less::operator()\n<(T)>::put\n"
		   "<fn() as shop::Call>::call\n*::operator()\n*::(anonymous namespace)::*\nf{lambda#1}\n");
	assert_string_equal(found(rules, "main.(*queue).Close", "app", NULL), "APP main.(*queue)*");
	assert_string_equal(found(rules, "(anonymous namespace)::go", "app", NULL), "APP (anonymous namespace)::go");
	assert_string_equal(found(rules, "shop::More::operator()", "app", NULL), "APP *::operator()");
	assert_string_equal(found(rules, "f{lambda#1}", "app", NULL), "APP f{lambda#1}");
	xc_framerules_free(rules);
}

static void bad_lines_are_refused_with_their_number_and_nothing_is_added(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"free\n", "mine.txt:1: a rule before the first heading: free"},
		{"\n[SKIP\nfree\n", "mine.txt:2: a heading without its ']': [SKIP"},
		{"[SKIPS]\n", "mine.txt:1: no such section: SKIPS"},
		{"[SKIP]\nmine\nmodule=libc.so*\n", "mine.txt:3: conditions without a name: use * for all names"},
		{"[SKIP]\nmine module=@none\n", "mine.txt:2: no such set of modules: @none"},
		{"[SKIP]\nmine language=cobol\n", "mine.txt:2: no such language: cobol"},
		{"[SKIP language=]\nmine\n", "mine.txt:1: no such language: "},
		{"[SKIP]\nmine\n\nload(int)\n",
		 "mine.txt:4: names of functions are compared without parameters: leave them out: load(int)"},
		{"[SKIP]\nmine() module=a\n",
		 "mine.txt:2: names of functions are compared without parameters: leave them out: mine()"},
		{"[APP]\nshop::load(*) # mine\n",
		 "mine.txt:2: names of functions are compared without parameters: leave them out: shop::load(*)"},
		{"# xcore frames 99\n", "mine.txt:1: a later version of the rules than this xcore supports: 99"},
		{"# xcore frames two\n", "mine.txt:1: the version of the rules is not a number: two"},
		{"[MODULES]\nlibc libc.so\n", "mine.txt:2: not a set of modules: libc libc.so"},
	};
	for (size_t i = 0; i < XC_COUNT(bad); i++) {
		struct xc_framerules *rules = xc_framerules_builtin();
		char before[65];
		snprintf(before, sizeof before, "%s", xc_framerules_hash(rules));
		struct xc_error *err = xc_framerules_add(rules, bad[i].text, strlen(bad[i].text), "mine.txt");
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_FORMAT);
		assert_string_equal(err->message, bad[i].message);
		assert_string_equal(xc_framerules_hash(rules), before);
		assert_string_equal(found(rules, "mine", "server", NULL), "- ");
		xc_error_free(err);
		xc_framerules_free(rules);
	}
}

static void lines_that_are_no_text_are_refused(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	char *text = calloc(1, 10000);
	struct xc_error *err = xc_framerules_add(rules, text, 10, "mine.txt");
	assert_non_null(err);
	xc_error_free(err);
	memset(text, 'x', 9999);
	err = xc_framerules_add(rules, text, 9999, "mine.txt");
	assert_non_null(err);
	xc_error_free(err);
	free(text);
	CHECK_OK(xc_framerules_add(rules, "", 0, "mine.txt"));
	xc_framerules_free(rules);
}

static void the_hash_is_of_the_rules_alone(void **state)
{
	(void)state;
	struct xc_framerules *a = xc_framerules_builtin(), *b = xc_framerules_builtin();
	assert_int_equal(strlen(xc_framerules_hash(a)), 64);
	assert_string_equal(xc_framerules_hash(a), xc_framerules_hash(b));
	add(a, "[SKIP]\nmine\n");
	assert_string_not_equal(xc_framerules_hash(a), xc_framerules_hash(b));
	add(b, "# with a comment\n\n[SKIP]\r\n  mine  \n");
	assert_string_equal(xc_framerules_hash(a), xc_framerules_hash(b));
	add(a, "[SKIP]\nyours module=x\n");
	add(b, "[SKIP]\nyours path=x\n");
	assert_string_not_equal(xc_framerules_hash(a), xc_framerules_hash(b));
	xc_framerules_free(a);
	xc_framerules_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_may_be_told_that_is_not_meant),
		cmocka_unit_test(a_version_that_we_do_not_know_is_refused),
		cmocka_unit_test(conditions_are_of_module_and_path),
		cmocka_unit_test(the_last_rule_decides_so_that_a_users_file_wins),
		cmocka_unit_test(others_code_is_told_from_the_programs),
		cmocka_unit_test(tabs_separate_and_comments_end_lines),
		cmocka_unit_test(brackets_of_names_are_no_parameters),
		cmocka_unit_test(bad_lines_are_refused_with_their_number_and_nothing_is_added),
		cmocka_unit_test(lines_that_are_no_text_are_refused),
		cmocka_unit_test(the_hash_is_of_the_rules_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

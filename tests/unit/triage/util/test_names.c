/* layer: triage
 *
 * Names divide into words as a reader divides them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "triage/util/names.h"

/* Expects the words, joined by one blank each. */
static void expect(const char *name, const char *words)
{
	char word[XC_NAMES_WORD], all[256] = "";
	const char *at = name;
	while (xc_names_next_word(&at, word)) {
		strcat(all, *all ? " " : "");
		strcat(all, word);
	}
	assert_string_equal(all, words);
}

static void capitals_digits_and_marks_divide(void **state)
{
	(void)state;
	expect("check_failed", "check failed");
	expect("CheckFailed", "check failed");
	expect("checkFailed2", "check failed");
	expect("watchdog/0", "watchdog");
	expect("exchanged", "exchanged");
	expect("ns::Log4cxx::fatal(int)", "ns log cxx fatal int");
	expect("HTTPServer", "httpserver");
	expect("__die", "die");
	expect("", "");
	expect("_42_", "");
}

static void long_words_are_cut(void **state)
{
	(void)state;
	char word[XC_NAMES_WORD];
	const char *at = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz_next";
	assert_true(xc_names_next_word(&at, word));
	assert_string_equal(word, "abcdefghijklmnopqrstuvwxyzabcde");
	assert_true(xc_names_next_word(&at, word));
	assert_string_equal(word, "next");
	assert_false(xc_names_next_word(&at, word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capitals_digits_and_marks_divide),
		cmocka_unit_test(long_words_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

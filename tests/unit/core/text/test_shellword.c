/* layer: core */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/text/shellword.h"

static void check_word(const char *word, const char *wanted)
{
	xc_auto(xc_freep) char *made = xc_shellword(word);
	assert_string_equal(made, wanted);
}

static void check_file(const char *file, const char *wanted)
{
	xc_auto(xc_freep) char *made = xc_shellword_file(file);
	assert_string_equal(made, wanted);
}

static void what_a_shell_takes_as_it_is_stays(void **state)
{
	(void)state;
	check_word("/var/crash/core.1234", "/var/crash/core.1234");
	check_word("--exe=/opt/a+b@1%,:", "--exe=/opt/a+b@1%,:");
	check_word("a::b", "a::b");
}

static void the_rest_is_quoted(void **state)
{
	(void)state;
	check_word("", "''");
	check_word("a b", "'a b'");
	check_word("it's", "'it'\\''s'");
	check_word("~", "'~'");
	check_word("=ls", "'=ls'");
	check_word("$(id)`id`\\\"*?[x]{a,b};&|<>!", "'$(id)`id`\\\"*?[x]{a,b};&|<>!'");
	check_word("gr\xc3\xbc\xc3\x9f", "'gr\xc3\xbc\xc3\x9f'");
}

static void what_cannot_be_shown_is_told_by_number(void **state)
{
	(void)state;
	check_word("a\nb", "$'a\\x0ab'");
	check_word("\033[2J'", "$'\\x1b[2J\\x27'");
	check_word("\xff\xc3\xa4", "$'\\xff\\xc3\\xa4'");
	check_word("\xe2\x80\xae", "$'\\xe2\\x80\\xae'"); /* reverses the following text */
	check_word("##[error]", "$'\\x23\\x23[error]'");
	check_word("a ::error::", "$'a \\x3a\\x3aerror\\x3a\\x3a'");
}

static void a_file_is_no_option_list_or_process(void **state)
{
	(void)state;
	check_file("-x", "./-x");
	check_file("@x y", "'./@x y'");
	check_file("pid:1", "./pid:1");
	check_file("x-", "x-");
	check_file("/-x", "/-x");
	xc_auto(xc_freep) char *process = xc_shellword_target("pid:1"), *file = xc_shellword_target("-x");
	assert_string_equal(process, "pid:1");
	assert_string_equal(file, "./-x");
}

/* bash's interpretation. */
static void check_read(const char *word)
{
	xc_auto(xc_freep) char *quoted = xc_shellword(word);
	xc_auto(xc_freep) char *script = xc_asprintf("printf %%s.. %s", quoted);
	char got[1024] = "";
	setenv("SCRIPT", script, 1);
	FILE *shell = popen("bash -c \"$SCRIPT\"", "r");
	assert_non_null(shell);
	got[fread(got, 1, sizeof got - 1, shell)] = '\0';
	assert_int_equal(pclose(shell), 0);
	xc_auto(xc_freep) char *wanted = xc_asprintf("%s..", word);
	assert_string_equal(got, wanted);
}

static void bash_reads_every_byte_back(void **state)
{
	static const char *const hexadecimal[] = {"\x01"
						  "a",
						  "\x1b"
						  "00",
						  "\xff"
						  "ff"};
	char all[256];
	(void)state;
	for (unsigned i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = '\0';
	check_read(all);
	check_read(" '\"\\$HOME `id` *[a]~ ");
	check_read("");
	for (size_t i = 0; i < XC_COUNT(hexadecimal); i++)
		check_read(hexadecimal[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_shell_takes_as_it_is_stays),
		cmocka_unit_test(the_rest_is_quoted),
		cmocka_unit_test(what_cannot_be_shown_is_told_by_number),
		cmocka_unit_test(a_file_is_no_option_list_or_process),
		cmocka_unit_test(bash_reads_every_byte_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* layer: batch */
/* emit: every placeholder of a template is filled, words are quoted for the language of the file; text that cannot be
 * written is refused. tests/batch shows that the files work. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/shard/emit.h"

/* The file with these words as operands, malloc'ed; or the error. */
static char *emitted(const char *system, const char *const *words, size_t count, struct xc_error **err_out)
{
	static const char *const examine[] = {"--timeout=30"}, *const merge[] = {"--fail-on=high"};
	const struct xc_emit emit = {.operands = {words, count},
				     .examine = {examine, 1},
				     .merge = {merge, 1},
				     .suffix = ".txt",
				     .shards = 12,
				     .memory = 2048};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	*err_out = xc_emit_write(system, &emit, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static bool has_place(const char *text)
{
	for (const char *at = text; (at = strchr(at, '@')); at++)
		if (at[strspn(at + 1, "abcdefghijklmnopqrstuvwxyz") + 1] == '@' && at[1] != '@')
			return true;
	return false;
}

static void all_places_are_filled(void **state)
{
	static const char *const words[] = {"crashes/"};
	(void)state;
	for (const char *const *system = xc_emit_systems; *system; system++) {
		struct xc_error *err;
		xc_auto(xc_freep) char *text = emitted(*system, words, 1, &err);
		assert_null(err);
		assert_false(has_place(text));
		assert_non_null(strstr(text, "crashes/"));
		assert_non_null(strstr(text, "--timeout=30"));
		assert_non_null(strstr(text, "--fail-on=high"));
		assert_non_null(strstr(text, "12"));
		assert_non_null(strstr(text, "triage.txt"));
	}
}

static const struct {
	const char *system, *word, *written;
} quoted[] = {
	{"slurm", "a b", " -- 'a b'\n"},
	{"slurm", "it's", " -- 'it'\\''s'\n"},
	{"slurm", "$(reboot) `x` \"", " -- '$(reboot) `x` \"'\n"},
	{"slurm", "a\nb", " -- 'a\nb'\n"},
	{"slurm", "a\033[2J\r\xffz", " -- 'a'\"$(printf '\\033')\"'[2J'\"$(printf '\\015\\377')\"'z'\n"},
	{"slurm", "\xe2\x80\xae\xc3\xa4", " -- ''\"$(printf '\\342\\200\\256')\"'\xc3\xa4'\n"},
	{"make", "a\rb", " -- 'a'\"$$(printf '\\015')\"'b'\n"},
	{"slurm", "@shards@", " -- @shards@\n"},
	{"slurm", "~", " -- '~'\n"},
	{"slurm", "", " -- ''\n"},
	{"parallel", "{} {1} {=1=}", " -- '{} {1} {=1=}'\n"},
	{"make", "$(shell x) #", " -- '$$(shell x) #'\n"},
	{"slurm", "@a b", "/dev/null 'a b' | cksum"},
	{"slurm", "a b", "/dev/null | cksum"},
	{"make", "@$(shell x) #", "/dev/null '$$(shell x) #' | cksum"},
	{"make", "it's", " -- 'it'\\''s'\n"},
	{"k8s", "a \"b\" \\ $(HOME)", "\"--\", \"a \\\"b\\\" \\\\ $$(HOME)\"]"},
	{"k8s", "a\nb\x7f\xc3\xa4", "\"a\\x0Ab\\x7F\xc3\xa4\"]"},
	{"k8s", "yes", ", \"yes\"]"},
};

static void words_stay_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(quoted); i++) {
		struct xc_error *err;
		xc_auto(xc_freep) char *text = emitted(quoted[i].system, &quoted[i].word, 1, &err);
		assert_null(err);
		if (!strstr(text, quoted[i].written))
			fail_msg("%s: no %s in:\n%s", quoted[i].system, quoted[i].written, text);
	}
}

static void what_cannot_be_written_is_refused(void **state)
{
	static const struct {
		const char *system, *word;
	} cases[] = {{"make", "a\nb"}, {"k8s", "a\xff"}, {"k8s", "\xe2\x80\xae"}, {"slurm", "-"}, {"slurm", "@-"}};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_error *err;
		xc_auto(xc_freep) char *text = emitted(cases[i].system, &cases[i].word, 1, &err);
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_USAGE);
		assert_string_equal(text, "");
		xc_error_free(err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_places_are_filled),
		cmocka_unit_test(words_stay_words),
		cmocka_unit_test(what_cannot_be_written_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

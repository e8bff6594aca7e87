/* layer: cli */
/* The last fence: control characters do not leave, whoever wrote them. */
#include "cli/output.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/scratch.h"

/* What the file holds after `len` bytes were written, one at a time or all at once. */
static void fenced(const char *bytes, size_t len, bool colored, size_t step, const char *wanted)
{
	struct xc_output output;
	char got[200000];
	const char *path = scratch_path("out");
	xc_error_free(xc_output_open(&output, path, false));
	output.colored = colored;
	for (size_t at = 0; at < len; at += step) {
		fwrite(bytes + at, 1, len - at < step ? len - at : step, output.file);
		fflush(output.file);
	}
	assert_null(xc_output_commit(&output));
	FILE *file = fopen(path, "r");
	const size_t have = fread(got, 1, sizeof got - 1, file);
	fclose(file);
	got[have] = '\0';
	assert_string_equal(got, wanted);
}

static void text(const char *bytes, const char *wanted)
{
	fenced(bytes, strlen(bytes), false, strlen(bytes), wanted);
	fenced(bytes, strlen(bytes), false, 7, wanted);
}

static void control_characters_are_escaped(void **state)
{
	(void)state;
	text("plain\tüñ→ 漢\n", "plain\tüñ→ 漢\n");
	text("a\033[31mb\r\b\177\n", "a\\x1b[31mb\\x0d\\x08\\x7f\n");
	text("c1 \xc2\x9b end \xc2\xa0\n", "c1 \xc2\\x9b end \xc2\xa0\n");
	fenced("1234\xc2\x9b\xc2\x9b", 8, false, 5, "1234\xc2\\x9b\xc2\\x9b");
	fenced("a\0b", 3, false, 3, "a\\x00b");
}

static void colours_pass_where_they_are_wanted(void **state)
{
	(void)state;
	fenced("\033[1;31mx\033[0m\n", 13, true, 13, "\033[1;31mx\033[0m\n");
	fenced("\033[1;31mx\033[0m\n", 13, false, 13, "\\x1b[1;31mx\\x1b[0m\n");
	fenced("\033[2Jx\033]0;t\007\n", 12, true, 12, "\\x1b[2Jx\\x1b]0;t\\x07\n");
	fenced("\033c\n", 3, true, 3, "\\x1bc\n");
}

static void what_is_long_stays_whole(void **state)
{
	static char bytes[150001];
	(void)state;
	memset(bytes, 'x', sizeof bytes - 1);
	fenced(bytes, sizeof bytes - 1, false, sizeof bytes, bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_escaped),
		cmocka_unit_test(colours_pass_where_they_are_wanted),
		cmocka_unit_test(what_is_long_stays_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

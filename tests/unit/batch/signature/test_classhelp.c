/* layer: batch */
/* classhelp: every class in triage/README.md has a text. */
#include "tests/support/check.h"

#include <stdio.h>

#include "batch/signature/classhelp.h"

/* The words in backquotes in the first cell of a table row. Returns their number. */
static size_t check_row(char *row)
{
	size_t count = 0;
	char *end = strchr(row + 1, '|');
	if (row[0] != '|' || !end)
		return 0;
	*end = '\0';
	for (char *at = row; (at = strchr(at, '`'));) {
		char *name = at + 1, *close = strchr(name, '`');
		*close = '\0';
		if (!xc_classhelp(name)->name)
			fail_msg("no help for %s", name);
		count++;
		at = close + 1;
	}
	return count;
}

static void every_class_has_its_words(void **state)
{
	(void)state;
	char line[4096];
	size_t count = 0;
	FILE *readme = fopen("triage/README.md", "r");
	while (fgets(line, sizeof line, readme) && strncmp(line, "## Classes", 10) != 0)
		;
	while (fgets(line, sizeof line, readme) && strncmp(line, "## ", 3) != 0)
		count += check_row(line);
	fclose(readme);
	assert_in_range(count, 38, 60);
}

static void another_class_has_none(void **state)
{
	(void)state;
	assert_null(xc_classhelp("low-memory")->name);
	assert_null(xc_classhelp("")->title);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_class_has_its_words),
		cmocka_unit_test(another_class_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

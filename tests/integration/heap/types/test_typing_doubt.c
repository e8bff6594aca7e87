/* layer: heap */
/* Programs whose blocks resemble those of another type, or are told by doubtful pointers: a wrong type is worse than
 * none, and a guess makes nothing certain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/booked.h"

/* No block has another type than it has; `least` of them have one. */
static struct tally expect_none_wrong(const char *source, unsigned least)
{
	struct tally t = compared("gcc -g -O0 -x c", source);
	assert_int_equal(t.right, t.typed);
	assert_true(t.typed >= least);
	return t;
}

/* Nothing leads to the words but their texts: what lies in them is a guess, and so is what they point to. */
static void guess_makes_nothing_certain(void **state)
{
	(void)state;
	struct tally t = expect_none_wrong(
		"struct word { int kind; char *text; int len; struct word *next; };\n"
		"char *text(int i) { char t[40]; int n = sprintf(t, \"this is the text of word %d\", i);\n"
		"return memcpy(note(malloc(n + 1), \"char\"), t, n + 1); }\n"
		"void lose(void) { struct word *list = NULL; for (int i = 0; i < 50; i++) {\n"
		"struct word *w = NEW(struct word); w->text = text(i); w->kind = 1; w->next = list; list = w; } }\n"
		"int main(void) { lose(); scrub(); abort(); }\n",
		90);
	assert_int_equal(t.strong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guess_makes_nothing_certain),
	};
	return cmocka_run_group_tests_name("typing_doubt", tests, NULL, NULL);
}

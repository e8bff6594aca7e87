/* layer: dwarf
 *
 * A word that stays is believed, also after a strange sample; one that changes again and again is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf/sample/steady_word.h"

enum { RET = 0x1000, OTHER = 0x2000, CALLEE = 0x3000 };

/* See a word so often; how often was it believed? */
static unsigned see(struct xc_steady_word *word, xc_addr ret, xc_addr callee, unsigned times)
{
	unsigned believed = 0;
	for (unsigned i = 0; i < times; i++)
		believed += xc_steady_word_see(word, ret, callee);
	return believed;
}

static void a_word_that_stays_is_believed(void **state)
{
	(void)state;
	struct xc_steady_word word = {0};
	assert_int_equal(see(&word, RET, CALLEE, 7), 0);
	assert_int_equal(see(&word, RET, CALLEE, 100), 100);
}

static void one_strange_sample_costs_some(void **state)
{
	(void)state;
	struct xc_steady_word word = {0};
	see(&word, OTHER, CALLEE, 1);
	assert_int_equal(see(&word, RET, CALLEE, 1000), 1000 - 31);
	assert_false(xc_steady_word_see(&word, RET, CALLEE + 1));
	assert_int_equal(see(&word, RET, CALLEE, 1000), 1000 - 511);
}

static void a_word_that_changes_is_never_believed_again(void **state)
{
	(void)state;
	struct xc_steady_word word = {0};
	unsigned believed = 0;
	for (unsigned i = 0; i < 20; i++)
		see(&word, i % 2 ? OTHER : RET, CALLEE, 100);
	for (unsigned i = 0; i < 1000; i++)
		believed += see(&word, i % 2 ? OTHER : RET, CALLEE, 100);
	assert_int_equal(believed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_that_stays_is_believed),
		cmocka_unit_test(one_strange_sample_costs_some),
		cmocka_unit_test(a_word_that_changes_is_never_believed_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

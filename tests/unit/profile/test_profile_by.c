/* layer: profile
 *
 * A profile told apart by a dimension: every sum has its value, as the outermost frame of an otherwise equal stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/base/text.h"
#include "profile/data/profile_file.h"
#include "profile/view/profile_by.h"
#include "tests/unit/profile/random_profile.h"

enum { SUMS = 300 };

/* The names of a stack's frames, innermost first, and then `outer`; NULL: nothing. Malloc'ed. */
static char *stack_of(const struct xc_profile_data *d, const struct xc_profile_sum *sum, const char *outer)
{
	struct xc_text text = {0};
	for (uint32_t node = sum->stack; node; node = d->nodes[node].parent) {
		const struct xc_profile_frame *frame = &d->frames[d->nodes[node].frame];
		assert_true(d->nodes[node].parent < node);
		xc_text_printf(&text, "%s:%u;", xc_profile_data_text(d, d->functions[frame->function].name),
			       frame->line);
	}
	xc_text_printf(&text, "%s", outer ? outer : "");
	char *stack = xc_strdup(xc_text_string(&text));
	xc_text_fini(&text);
	return stack;
}

static void is_rooted(struct xc_profile_data *d)
{
	char *before[SUMS];
	const size_t count = d->sum_count;
	for (size_t i = 0; i < count; i++) {
		const char *value = xc_profile_data_text(d, d->sums[i].value);
		xc_auto(xc_freep) char *outer = xc_asprintf("%s:0;", value ? value : "(none)");
		before[i] = stack_of(d, &d->sums[i], outer);
	}
	xc_profile_root(d);
	assert_int_equal(d->sum_count, count);
	for (size_t i = 0; i < count; i++) {
		xc_auto(xc_freep) char *after = stack_of(d, &d->sums[i], NULL);
		assert_string_equal(after, before[i]);
		free(before[i]);
	}
}

static void values_are_the_outermost_frames(void **state)
{
	(void)state;
	srand(3);
	struct xc_profile_data *d = random_profile(SUMS), *again = NULL;
	struct xc_text bytes = {0};
	const uint64_t samples = xc_profile_data_samples(d);
	xc_profile_file_pack(d, &bytes);
	assert_null(xc_profile_by(d, "shop.path"));
	is_rooted(d);
	assert_int_equal(xc_profile_data_samples(d), samples);
	xc_profile_data_free(d);
	assert_null(xc_profile_file_unpack(bytes.bytes, bytes.len, &again)); /* what was read can be added to */
	is_rooted(again);
	xc_profile_data_free(again);
	xc_text_fini(&bytes);
}

static void threads_are_told_apart(void **state)
{
	(void)state;
	srand(4);
	struct xc_profile_data *d = random_profile(SUMS);
	assert_null(xc_profile_by(d, "thread"));
	assert_string_equal(xc_profile_data_text(d, d->head->by), "thread");
	for (size_t i = 0; i < d->sum_count; i++) {
		const struct xc_profile_thread *thread = &d->threads[d->sums[i].thread];
		xc_auto(xc_freep) char *label =
			xc_asprintf("%s %d", thread->name ? "worker" : "thread", (int)thread->tid);
		assert_string_equal(xc_profile_data_text(d, d->sums[i].value), label);
	}
	is_rooted(d);
	xc_profile_data_free(d);
}

static void another_dimension_is_refused(void **state)
{
	(void)state;
	struct xc_profile_data *d = random_profile(3);
	struct xc_error *err = xc_profile_by(d, "shop.colour");
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_USAGE);
	assert_non_null(strstr(err->hint, "shop.path"));
	xc_error_free(err);
	xc_profile_data_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_the_outermost_frames),
		cmocka_unit_test(threads_are_told_apart),
		cmocka_unit_test(another_dimension_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

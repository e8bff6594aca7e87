/* layer: profile
 *
 * Two profiles are compared by shares; what may be chance is not told as a change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/render/render.h"
#include "profile/view/profile_diff.h"
#include "tests/unit/profile/random_profile.h"

static void is_near(double value, double expected)
{
	if (fabs(value - expected) > 1e-9 * (1 + fabs(expected)))
		fail_msg("%.12g, not %.12g", value, expected);
}

/* Halves of a fair coin: 2 * sum over k of C(n, k) / 2^n. */
static void chance_is_that_of_the_binomial_test(void **state)
{
	(void)state;
	is_near(xc_profile_diff_chance(0, 100, 5, 100), 2.0 / 32);
	is_near(xc_profile_diff_chance(5, 100, 0, 100), 2.0 / 32);
	is_near(xc_profile_diff_chance(2, 50, 8, 50), 2 * (45 + 10 + 1) / 1024.0);
	is_near(xc_profile_diff_chance(3, 50, 3, 50), 1);
	is_near(xc_profile_diff_chance(0, 300, 2, 100), 2.0 / 16); /* a quarter, squared */
	is_near(xc_profile_diff_chance(0, 100, 0, 100), 1);
	is_near(xc_profile_diff_chance(4, 100, 0, 0), 1);
	assert_true(xc_profile_diff_chance(100000, 1000000, 110000, 1000000) < 1e-50);
	assert_true(xc_profile_diff_chance(100000, 1000000, 100100, 1000000) > 0.5);
}

/* Where the normal test takes over it agrees; of many samples each test is quick. */
static void chance_of_many_samples_is_that_of_the_normal_test(void **state)
{
	const uint64_t all = UINT64_C(1) << 45, part = UINT64_C(1) << 33;
	(void)state;
	for (uint64_t more = 0; more < 700; more += 50) { /* up to 3.5 standard deviations */
		const double exact = xc_profile_diff_chance(19980 - more / 2, 100000, 19980 + more / 2, 100000),
			     normal = xc_profile_diff_chance(20020 - more / 2, 100000, 20020 + more / 2, 100000);
		assert_true(fabs(exact - normal) < 0.01);
	}
	for (unsigned i = 0; i < 2000; i++)
		assert_true(xc_profile_diff_chance(part, all, part + i, all) > 0.98);
	assert_true(xc_profile_diff_chance(part, all, part + (1 << 20), all) < 1e-10);
}

/* Of 2,000 pairs of equal programs, at 5 % some hundred would be told without a correction for the ten functions. */
static struct xc_profile_data *program(const unsigned *shares, size_t functions, size_t samples, uint64_t weight)
{
	struct xc_profile_data *d = xc_profile_data_new();
	unsigned all = 0;
	for (size_t i = 0; i < functions; i++)
		all += shares[i];
	const uint32_t thread = xc_profile_data_add_thread(d, 1, 1, "it");
	for (size_t i = 0; i < samples; i++) {
		unsigned at = (unsigned)rand() % all, f = 0;
		char name[16];
		for (; at >= shares[f]; f++)
			at -= shares[f];
		snprintf(name, sizeof name, "f%u", f);
		const uint32_t frame = xc_profile_data_add_frame(
			d, xc_profile_data_add_function(d, name, "program", NULL), NULL, 0, XC_PROFILE_NATIVE);
		const struct xc_profile_sum sum = {.stack = xc_profile_data_add_node(d, 0, frame),
						   .thread = thread,
						   .samples = weight,
						   .squares = weight * weight};
		(void)xc_profile_data_add_sum(d, &sum);
	}
	return d;
}

/* What is told of a function: "more", "less", "may be chance"; NULL: no row. Malloc'ed. */
static char *told(const struct xc_profile_data *a, const struct xc_profile_data *b, const char *function)
{
	struct xc_profile_pair pair;
	struct xc_report *report = xc_report_new("diff");
	char *found = NULL;
	xc_profile_pair_init(&pair, a, b);
	xc_profile_diff(report, &pair, 1000);
	for (const struct xc_item *item = report->sections->items; item; item = item->next)
		for (size_t i = 0; item->kind == XC_ITEM_TABLE && i < item->table->row_count; i++) {
			const struct xc_cell *cells = &item->table->cells[i * item->table->column_count];
			if (!found && (!function ? strcmp(cells[6].text, "may be chance") != 0
						 : strcmp(cells[7].text, function) == 0))
				found = xc_strdup(cells[6].text);
		}
	xc_report_free(report);
	xc_profile_pair_fini(&pair);
	return found;
}

static unsigned false_alarms(uint64_t weight)
{
	static const unsigned shares[] = {40, 20, 10, 10, 5, 5, 4, 3, 2, 1};
	unsigned alarms = 0;
	for (unsigned turn = 0; turn < 200; turn++) {
		struct xc_profile_data *a = program(shares, XC_COUNT(shares), 300, weight),
				       *b = program(shares, XC_COUNT(shares), 500, weight);
		xc_auto(xc_freep) char *said = told(a, b, NULL);
		alarms += said != NULL;
		xc_profile_data_free(a);
		xc_profile_data_free(b);
	}
	return alarms;
}

static void equal_programs_are_rarely_told_apart(void **state)
{
	(void)state;
	srand(31); /* at 5 %: 10 of 200 */
	assert_in_range(false_alarms(1), 0, 20);
	assert_in_range(false_alarms(7), 0, 20); /* each observation counts seven samples: no more is known */
}

static void a_real_change_is_told(void **state)
{
	static const unsigned before[] = {50, 40, 10}, after[] = {50, 25, 25};
	(void)state;
	srand(32);
	struct xc_profile_data *a = program(before, 3, 2000, 1), *b = program(after, 3, 1000, 1);
	xc_auto(xc_freep) char *same = told(a, b, "f0"), *less = told(a, b, "f1"), *more = told(a, b, "f2");
	assert_string_equal(same, "may be chance");
	assert_string_equal(less, "less");
	assert_string_equal(more, "more");
	xc_profile_data_free(a);
	xc_profile_data_free(b);
}

/* One warning, and no table. */
static void without_samples_nothing_is_compared(void **state)
{
	static const unsigned shares[] = {50, 50};
	(void)state;
	struct xc_profile_data *a = program(shares, 2, 0, 1), *b = program(shares, 2, 100, 1);
	struct xc_report *report = xc_report_new("diff");
	struct xc_profile_pair pair;
	xc_profile_pair_init(&pair, a, b);
	xc_profile_diff(report, &pair, 1000);
	assert_null(report->sections->next);
	assert_int_equal(report->sections->items->kind, XC_ITEM_MESSAGE);
	assert_non_null(strstr(report->sections->items->message.text, "the earlier profile has no samples"));
	assert_null(report->sections->items->next);
	xc_report_free(report);
	xc_profile_pair_fini(&pair);
	xc_profile_data_free(a);
	xc_profile_data_free(b);
}

/* The sums of both columns are those of the two profiles, whichever gives the widths. */
static void folded_lines_have_both_weights(void **state)
{
	(void)state;
	srand(33);
	struct xc_profile_data *a = random_profile(150), *b = random_profile(250);
	struct xc_profile_pair pair;
	xc_profile_pair_init(&pair, a, b);
	char *texts[2] = {NULL};
	for (int by_earlier = 0; by_earlier < 2; by_earlier++) {
		size_t len;
		FILE *out = open_memstream(&texts[by_earlier], &len);
		assert_null(xc_profile_diff_write(&pair, "folded", by_earlier, out));
		fclose(out);
		uint64_t sums[2] = {0};
		for (const char *line = texts[by_earlier]; *line; line = strchr(line, '\n') + 1) {
			unsigned long long x, y;
			const char *end = strchr(line, '\n');
			while (end[-1] != ' ')
				end--;
			for (end--; end[-1] != ' ';)
				end--;
			assert_int_equal(sscanf(end, "%llu %llu", &x, &y), 2);
			sums[0] += x;
			sums[1] += y;
		}
		assert_int_equal(sums[0], xc_profile_data_samples(a));
		assert_int_equal(sums[1], xc_profile_data_samples(b));
	}
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
	xc_profile_pair_fini(&pair);
	xc_profile_data_free(a);
	xc_profile_data_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chance_is_that_of_the_binomial_test),
		cmocka_unit_test(chance_of_many_samples_is_that_of_the_normal_test),
		cmocka_unit_test(equal_programs_are_rarely_told_apart),
		cmocka_unit_test(a_real_change_is_told),
		cmocka_unit_test(without_samples_nothing_is_compared),
		cmocka_unit_test(folded_lines_have_both_weights),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* layer: profile
 *
 * Profiles of several processes as one: nothing is lost or counted twice, times are on one clock, accounts add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/report/report.h"
#include "profile/data/profile_merge.h"
#include "tests/unit/profile/random_profile.h"

static void account(struct xc_profile_data *d, uint64_t lost, double seconds, const char *warning)
{
	struct xc_report *report = xc_report_new("profile");
	struct xc_section *s = xc_report_section(report, "profile", "Profile");
	xc_section_text(s, "how", "sampled by", "a test");
	xc_section_seconds(s, "seconds", "for", seconds);
	xc_section_seconds(s, "cpu", "CPU time", seconds / 2);
	xc_section_count(s, "lost", "lost", lost)->quiet = !lost;
	xc_section_message(s, XC_INFO, NULL, "%s", "true of all");
	if (warning)
		xc_section_message(s, XC_WARNING, NULL, "%s", warning);
	xc_profile_facts_keep(&d->account, &d->texts, s);
	xc_report_free(report);
}

/* Samples of the parts by when they begin, in milliseconds. */
static void add_times(uint64_t *times, size_t most, const struct xc_profile_data *d, uint64_t begun_ns)
{
	for (size_t i = 0; i < d->part_count; i++) {
		const uint64_t ms = (begun_ns + d->parts[i].slice * d->head->slice_ns) / 1000000;
		assert_true(ms < most);
		assert_true(d->parts[i].slice < d->head->slices);
		times[ms] += d->parts[i].samples;
	}
}

static const struct xc_profile_fact *fact_of(const struct xc_profile_data *d, const char *key)
{
	for (size_t i = 0; i < d->account.count; i++)
		if (d->account.rows[i].key && strcmp(xc_profile_data_text(d, d->account.rows[i].key), key) == 0)
			return &d->account.rows[i];
	return NULL;
}

static unsigned notes(const struct xc_profile_data *d, const char *text)
{
	unsigned count = 0;
	for (size_t i = 0; i < d->account.count; i++)
		count += d->account.rows[i].note && strcmp(xc_profile_data_text(d, d->account.rows[i].text), text) == 0;
	return count;
}

static void all_is_there_once(void **state)
{
	enum { LATER_MS = 20, MOST_MS = 200 };
	uint64_t wanted[MOST_MS] = {0}, found[MOST_MS] = {0};
	(void)state;
	srand(11);
	struct xc_profile_data *of[] = {random_profile(200), random_profile(90)}, *d = NULL;
	for (size_t i = 0; i < 2; i++) {
		of[i]->head->begun_ns = UINT64_C(1000000000) + i * LATER_MS * 1000000;
		of[i]->head->length_ns = SLICES * 1000000;
		add_times(wanted, MOST_MS, of[i], of[i]->head->begun_ns - 1000000000);
	}
	account(of[0], 3, 2, NULL);
	account(of[1], 4, 5, "odd");
	assert_null(xc_profile_merge(of, 2, &d));
	assert_int_equal(xc_profile_data_samples(d), xc_profile_data_samples(of[0]) + xc_profile_data_samples(of[1]));
	assert_int_equal(xc_profile_data_waiting(d), xc_profile_data_waiting(of[0]) + xc_profile_data_waiting(of[1]));
	assert_int_equal(d->thread_count, of[0]->thread_count + of[1]->thread_count);
	assert_int_equal(d->head->length_ns, (SLICES + LATER_MS) * 1000000);
	add_times(found, MOST_MS, d, 0);
	assert_memory_equal(found, wanted, sizeof found);
	assert_int_equal(fact_of(d, "lost")->number, 7);
	assert_true(fact_of(d, "seconds")->real == 5 && fact_of(d, "cpu")->real == 3.5);
	assert_int_equal(notes(d, "true of all"), 1);
	assert_int_equal(notes(d, "odd"), 0); /* it has the name of its process */
	assert_string_equal(xc_profile_data_text(d, d->head->title), "CPU time of 2 processes");
	xc_profile_data_free(d);
	xc_profile_data_free(of[0]);
	xc_profile_data_free(of[1]);
}

/* One began long after another: slices get longer, and are no more than there may be. */
static void slices_have_an_end(void **state)
{
	(void)state;
	srand(12);
	struct xc_profile_data *of[] = {random_profile(20), random_profile(20)}, *d = NULL;
	of[1]->head->begun_ns = UINT64_C(86400000000000);
	assert_null(xc_profile_merge(of, 2, &d));
	assert_true(d->head->slices <= XC_PROFILE_SLICES);
	for (size_t i = 0; i < d->part_count; i++)
		assert_true(d->parts[i].slice < d->head->slices);
	xc_profile_data_free(d);
	of[1]->head->period++;
	struct xc_error *err = xc_profile_merge(of, 2, &d);
	assert_non_null(err);
	xc_error_free(err);
	xc_profile_data_free(of[0]);
	xc_profile_data_free(of[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_there_once), cmocka_unit_test(slices_have_an_end)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdlib.h>

#include "profile/view/profile_view_impl.h"

struct wait_sum {
	uint32_t wait;
	uint64_t samples;
};

static int by_length(const void *a, const void *b)
{
	const struct wait_sum *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->wait < y->wait ? -1 : x->wait > y->wait;
}

/* The longest first, and last the row of the data that is no wait. Malloc'ed. */
static struct wait_sum *sum_waits(const struct xc_profile_data *d)
{
	struct wait_sum *sums = xc_alloc(d->wait_count * sizeof *sums);
	for (size_t i = 0; i < d->wait_count; i++)
		sums[i].wait = (uint32_t)i;
	for (size_t i = 0; i < d->sum_count; i++)
		if (d->sums[i].wait)
			sums[d->sums[i].wait].samples += d->sums[i].samples;
	qsort(sums + 1, d->wait_count - 1, sizeof *sums, by_length);
	return sums;
}

struct xc_section *xc_profile_waits(struct xc_report *report, const struct xc_profile_data *d, size_t rows)
{
	const struct xc_column columns[] = {
		{.key = "share", .label = "share", .kind = XC_FIELD_RATIO},
		xc_profile_amount_column(d, "time", "time"),
		{.key = "what", .label = "what it waits for", .kind = XC_FIELD_TEXT},
		{.key = "event_loop", .label = "event loop", .kind = XC_FIELD_BOOL, .verbose = true},
	};
	struct xc_section *s = xc_report_section(report, "waits", "What it waits for");
	struct xc_table *table = xc_section_table(s, "waits", columns, XC_COUNT(columns));
	const uint64_t all = xc_profile_data_waiting(d);
	xc_auto(xc_freep) struct wait_sum *sums = sum_waits(d);
	for (size_t i = 1; i < d->wait_count && i <= rows; i++) {
		const struct xc_profile_wait *wait = &d->waits[sums[i].wait];
		const char *text = xc_profile_data_text(d, wait->text);
		const struct xc_cell cells[] = {
			xc_cell_ratio(xc_profile_share(sums[i].samples, all)),
			xc_profile_amount(d, sums[i].samples),
			xc_cell_text(text ? text : "not known"),
			xc_cell_bool(wait->event_loop),
		};
		xc_table_row(s, table, cells);
	}
	return s;
}

#include "profile/view/profile_report.h"

#include <stdlib.h>

#include "profile/view/profile_view_impl.h"

enum { ROWS = 20, STACKS = 10 };

struct xc_cell xc_profile_amount(const struct xc_profile_data *d, uint64_t samples)
{
	uint64_t units;
	if (d->head->unit == XC_PROFILE_NS)
		return xc_cell_seconds((double)samples * (double)d->head->period / 1e9);
	return xc_cell_count(__builtin_mul_overflow(samples, d->head->period, &units) ? UINT64_MAX : units);
}

struct xc_column xc_profile_amount_column(const struct xc_profile_data *d, const char *key, const char *label)
{
	const char *events = xc_profile_data_text(d, d->head->events);
	if (d->head->unit == XC_PROFILE_NS)
		return (struct xc_column){.key = key, .label = label, .kind = XC_FIELD_SECONDS};
	return (struct xc_column){.key = "events", .label = events ? events : "events", .kind = XC_FIELD_COUNT};
}

void xc_profile_more(struct xc_section *section, size_t count, size_t rows, const char *what)
{
	if (count > rows)
		xc_section_message(section, XC_INFO, NULL, "%zu more %s%s: --top shows them", count - rows, what,
				   count - rows > 1 ? "s" : "");
}

void xc_profile_report(struct xc_report *report, const struct xc_profile_data *d, const struct xc_stacktree *tree,
		       size_t rows)
{
	const size_t most = rows ? rows : ROWS;
	struct xc_section *s = xc_report_section(report, "profile", "Profile");
	const bool empty = !xc_profile_data_samples(d);
	xc_profile_facts_show(&d->account, &d->texts, s);
	if (empty && !d->account.count)
		xc_section_message(s, XC_INFO, NULL, "no samples");
	if (empty)
		return;
	if (d->head->by)
		xc_profile_values(report, d, most);
	if (d->head->waits)
		xc_profile_more(xc_profile_waits(report, d, most), d->wait_count - 1, most, "wait");
	xc_profile_more(xc_profile_functions(report, d, most), d->function_count, most, "function");
	xc_profile_stacks(report, tree, rows ? rows : STACKS);
	xc_profile_threads(report, d, most);
}

void xc_profile_report_hottest(struct xc_report *report, struct xc_profile_data *d, size_t rows)
{
	xc_auto(xc_freep) uint64_t *samples = xc_alloc((d->sum_count + 1) * sizeof *samples);
	for (size_t i = 0; i < d->sum_count; i++) {
		samples[i] = d->sums[i].samples;
		d->sums[i].samples = d->sums[i].wait ? 0 : samples[i];
	}
	xc_profile_functions(report, d, rows);
	for (size_t i = 0; i < d->sum_count; i++)
		d->sums[i].samples = samples[i];
	if (d->head->waits)
		xc_profile_waits(report, d, rows);
}

void xc_profile_report_target(struct xc_report *report, const struct xc_profile_data *d)
{
	struct xc_section *s = xc_report_target(report);
	const char *headline = xc_profile_data_text(d, d->head->target);
	xc_profile_facts_show(&d->target, &d->texts, s);
	s->headline = xc_arena_strdup(&report->arena, headline);
	s->brief = true;
}

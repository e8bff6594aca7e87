#include <stdlib.h>

#include "profile/view/profile_view_impl.h"

struct thread_sum {
	uint32_t thread;
	uint64_t running, waiting; /* samples */
};

static int by_samples(const void *a, const void *b)
{
	const struct thread_sum *x = a, *y = b;
	const uint64_t of_x = x->running + x->waiting, of_y = y->running + y->waiting;
	if (x->running != y->running)
		return x->running < y->running ? 1 : -1;
	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Those that ran most first. Malloc'ed. */
static struct thread_sum *sum_threads(const struct xc_profile_data *d)
{
	struct thread_sum *threads = xc_alloc((d->thread_count + 1) * sizeof *threads);
	for (size_t i = 0; i < d->thread_count; i++)
		threads[i].thread = (uint32_t)i;
	for (size_t i = 0; i < d->sum_count; i++) {
		struct thread_sum *of = &threads[d->sums[i].thread];
		*(d->sums[i].wait ? &of->waiting : &of->running) += d->sums[i].samples;
	}
	qsort(threads, d->thread_count, sizeof *threads, by_samples);
	return threads;
}

enum { WAIT_COLUMNS = 1 };

void xc_profile_threads(struct xc_report *report, const struct xc_profile_data *d, size_t rows)
{
	const struct xc_column columns[] = {
		{.key = "share", .label = "share", .kind = XC_FIELD_RATIO},
		{.key = "samples", .label = "samples", .kind = XC_FIELD_COUNT},
		{.key = "tid", .label = "thread", .kind = XC_FIELD_INTEGER},
		{.key = "name", .label = "name", .kind = XC_FIELD_TEXT},
		xc_profile_amount_column(d, "running", "running"),
		{.key = "waiting", .label = "waiting", .kind = XC_FIELD_SECONDS},
	};
	struct xc_section *s = xc_report_section(report, "threads", "Threads");
	const size_t column_count = XC_COUNT(columns) - (d->head->waits ? 0 : WAIT_COLUMNS);
	struct xc_table *table = xc_section_table(s, "threads", columns, column_count);
	const uint64_t all = xc_profile_data_samples(d);
	xc_auto(xc_freep) struct thread_sum *threads = sum_threads(d);
	for (size_t i = 0; i < d->thread_count && i < rows; i++) {
		const struct xc_profile_thread *thread = &d->threads[threads[i].thread];
		const char *name = xc_profile_data_text(d, thread->name);
		const uint64_t samples = threads[i].running + threads[i].waiting;
		const struct xc_cell cells[] = {
			xc_cell_ratio(xc_profile_share(samples, all)),
			xc_cell_count(samples),
			xc_cell_integer((int64_t)thread->tid),
			name ? xc_cell_text(name) : xc_cell_null("it began later"),
			d->head->runs ? xc_profile_amount(d, threads[i].running)
				      : xc_cell_null("only waits are sampled"),
			xc_profile_amount(d, threads[i].waiting),
		};
		xc_table_row(s, table, cells);
	}
	xc_profile_more(s, d->thread_count, rows, "thread");
}

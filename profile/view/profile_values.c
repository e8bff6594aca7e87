#include <stdlib.h>

#include "profile/view/profile_view_impl.h"

/* What runs and waits with one value of the dimension. */
struct value_sum {
	uint32_t value;
	uint64_t running, waiting; /* samples */
	uint64_t most;             /* those of the function with most of its own */
	uint32_t hottest;          /* that function; unset where most is 0 */
};

struct values {
	struct value_sum *sums;
	size_t count, room;
	struct xc_hashtable by_value;    /* text → index, plus one */
	struct xc_hashtable by_function; /* (text, function) → samples of its own */
};

static int by_samples(const void *a, const void *b)
{
	const struct value_sum *x = a, *y = b;
	const uint64_t of_x = x->running + x->waiting, of_y = y->running + y->waiting;
	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static struct value_sum *sum_of(struct values *v, uint32_t value)
{
	union xc_hashtable_value *found = xc_hashtable_at(&v->by_value, NULL, value, 1);
	if (!found->number) {
		v->sums = xc_grow(v->sums, v->count, &v->room, sizeof *v->sums);
		v->sums[v->count++] = (struct value_sum){.value = value};
		found->number = v->count;
	}
	return &v->sums[found->number - 1];
}

static void add_function(struct values *v, struct value_sum *to, uint32_t function, uint64_t samples)
{
	union xc_hashtable_value *found = xc_hashtable_at(&v->by_function, NULL, to->value, function + UINT64_C(1));
	found->number += samples;
	if (found->number <= to->most)
		return;
	to->most = found->number;
	to->hottest = function;
}

/* Those with most samples first. */
static void sum_values(struct values *v, const struct xc_profile_data *d)
{
	for (size_t i = 0; i < d->sum_count; i++) {
		const struct xc_profile_sum *sum = &d->sums[i];
		struct value_sum *to = sum_of(v, sum->value);
		const struct xc_profile_frame *frame = sum->stack ? &d->frames[d->nodes[sum->stack].frame] : NULL;
		*(sum->wait ? &to->waiting : &to->running) += sum->samples;
		if (!sum->wait && frame && frame->kind != XC_PROFILE_REMARK)
			add_function(v, to, frame->function, sum->samples);
	}
	if (v->count)
		qsort(v->sums, v->count, sizeof *v->sums, by_samples);
}

static void add_row(struct xc_section *s, struct xc_table *table, const struct xc_profile_data *d,
		    const struct value_sum *of, uint64_t all)
{
	const char *text = xc_profile_data_text(d, of->value),
		   *function = of->most ? xc_profile_data_text(d, d->functions[of->hottest].name) : NULL;
	const struct xc_cell cells[] = {
		xc_cell_ratio(xc_profile_share(of->running + of->waiting, all)),
		xc_cell_count(of->running + of->waiting),
		xc_cell_text(text ? text : "(none)"),
		d->head->runs ? xc_profile_amount(d, of->running) : xc_cell_null("only waits are sampled"),
		function ? xc_cell_text(function) : xc_cell_null(NULL),
		function ? xc_cell_ratio(xc_profile_share(of->most, of->running)) : xc_cell_null(NULL),
		xc_profile_amount(d, of->waiting),
	};
	xc_table_row(s, table, cells);
}

void xc_profile_values(struct xc_report *report, const struct xc_profile_data *d, size_t rows)
{
	enum { WAIT_COLUMNS = 1 };
	const char *by = xc_profile_data_text(d, d->head->by);
	const struct xc_column columns[] = {
		{.key = "share", .label = "share", .kind = XC_FIELD_RATIO},
		{.key = "samples", .label = "samples", .kind = XC_FIELD_COUNT},
		{.key = "value", .label = by, .kind = XC_FIELD_TEXT},
		xc_profile_amount_column(d, "running", "running"),
		{.key = "hottest", .label = "hottest function", .kind = XC_FIELD_TEXT},
		{.key = "self", .label = "its self", .kind = XC_FIELD_RATIO},
		{.key = "waiting", .label = "waiting", .kind = XC_FIELD_SECONDS},
	};
	xc_auto(xc_freep) char *title = xc_asprintf("By %s", by);
	struct xc_section *s = xc_report_section(report, "values", title);
	const size_t column_count = XC_COUNT(columns) - (d->head->waits ? 0 : WAIT_COLUMNS);
	struct xc_table *table = xc_section_table(s, "values", columns, column_count);
	struct values v = {0};
	sum_values(&v, d);
	xc_section_text(s, "by", "dimension", by)->quiet = true;
	for (size_t i = 0; i < v.count && i < rows; i++)
		add_row(s, table, d, &v.sums[i], xc_profile_data_samples(d));
	xc_profile_more(s, v.count, rows, "value");
	xc_hashtable_fini(&v.by_value);
	xc_hashtable_fini(&v.by_function);
	free(v.sums);
}

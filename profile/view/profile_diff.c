#include "profile/view/profile_diff.h"

#include <math.h>
#include <stdlib.h>

#include "profile/view/function_sums.h"

#define LEVEL 0.05

/* From this variance on the normal distribution is close, and the sum of the binomial one long. */
#define LARGE 1e4

/* Samples, and the sum of squares of what each observation added to them. */
struct count {
	uint64_t samples;
	double squares;
};

struct change {
	uint32_t function;
	struct count earlier, later;
	double before, after; /* shares */
	double chance;        /* of such a difference, or a larger one, without a cause */
	bool told;            /* it is more than chance */
};

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* ---- the test ---- */

/* The logarithm of the probability of k among n, each with probability p, strictly between 0 and 1. */
static double log_binomial(double n, double k, double p)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

/* The probability of k or more (step 1), or of k or less (-1). The terms fall from the mean on. */
static double tail(double n, double k, double p, int step)
{
	double sum = 0;
	for (double term = 1; k >= 0 && k <= n && term > 1e-18 * sum; k += step)
		sum += term = exp(log_binomial(n, k, p));
	return sum;
}

/* Of this deviation from the mean, in standard ones, or a larger one, on either side. */
static double normal_chance(double deviation)
{
	return erfc(fabs(deviation) / sqrt(2));
}

double xc_profile_diff_chance(uint64_t a, uint64_t all_a, uint64_t b, uint64_t all_b)
{
	const double n = (double)a + (double)b, p = (double)all_b / ((double)all_a + (double)all_b);
	if (!all_a || !all_b || n == 0)
		return 1;
	if (n * p * (1 - p) > LARGE)
		return normal_chance(((double)b - n * p) / sqrt(n * p * (1 - p)));
	/* At its end the tail on the far side of the mean is small and rises first; only the near one is asked for. */
	return fmin(1, 2 * tail(n, (double)b, p, (double)b >= n * p ? 1 : -1));
}

/* The variance of a share whose observations have these squares; for squares of 1 that of a binomial share. */
static double variance(double part, double squares, const struct count *all)
{
	const double p = part / (double)all->samples;
	return ((1 - p) * (1 - p) * squares + p * p * (all->squares - squares)) /
	       ((double)all->samples * (double)all->samples);
}

static bool each_is_one(const struct count *all)
{
	return all->squares <= (double)all->samples;
}

static double chance_of(const struct change *c, const struct count *before, const struct count *after)
{
	if (!before->samples || !after->samples)
		return 1;
	if (each_is_one(before) && each_is_one(after))
		return xc_profile_diff_chance(c->earlier.samples, before->samples, c->later.samples, after->samples);
	const double error = sqrt(variance((double)c->earlier.samples, c->earlier.squares, before) +
				  variance((double)c->later.samples, c->later.squares, after));
	return error > 0 ? normal_chance((c->after - c->before) / error) : c->after == c->before;
}

static int by_chance(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	return x->chance < y->chance ? -1 : x->chance > y->chance;
}

/* Holm: the smallest of n probabilities must be below LEVEL / n, the next below LEVEL / (n - 1), … */
static void tell(struct change *changes, size_t count)
{
	qsort(changes, count, sizeof *changes, by_chance);
	for (size_t i = 0; i < count && changes[i].chance <= LEVEL / (double)(count - i); i++)
		changes[i].told = true;
}

/* ---- the table ---- */

static int by_size(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	const double of_x = fabs(x->after - x->before), of_y = fabs(y->after - y->before);
	if (x->told != y->told)
		return x->told ? -1 : 1;
	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static struct count sum_up(const struct xc_profile_data *d, size_t from, size_t to)
{
	struct count all = {0};
	for (size_t i = from; i < to; i++) {
		all.samples += d->sums[i].samples;
		all.squares += (double)d->sums[i].squares;
	}
	return all;
}

static struct count count_of(const struct xc_function_sum *f, bool own)
{
	return own ? (struct count){f->self, f->self_squares} : (struct count){f->total, f->total_squares};
}

/* A table: of functions' own samples, or with what they call. */
struct comparison {
	const struct xc_profile_data *data;
	const struct xc_function_sum *earlier, *later; /* by function */
	struct count before, after;
	bool own;
	struct change *changes;
	size_t count;
};

/* Functions with samples in one of the two. */
static void compare(struct comparison *c)
{
	c->changes = xc_alloc((c->data->function_count + 1) * sizeof *c->changes);
	for (size_t i = 0; i < c->data->function_count; i++) {
		const struct count earlier = count_of(&c->earlier[i], c->own), later = count_of(&c->later[i], c->own);
		struct change *change = &c->changes[c->count];
		if (!earlier.samples && !later.samples)
			continue;
		*change = (struct change){.function = (uint32_t)i,
					  .earlier = earlier,
					  .later = later,
					  .before = share(earlier.samples, c->before.samples),
					  .after = share(later.samples, c->after.samples)};
		change->chance = chance_of(change, &c->before, &c->after);
		c->count++;
	}
	tell(c->changes, c->count);
	qsort(c->changes, c->count, sizeof *c->changes, by_size);
}

static void add_row(struct xc_section *s, struct xc_table *table, const struct xc_profile_data *d,
		    const struct change *c)
{
	const struct xc_profile_function *f = &d->functions[c->function];
	const char *name = xc_profile_data_text(d, f->name), *module = xc_profile_data_text(d, f->module);
	const struct xc_cell cells[] = {
		xc_cell_ratio(c->after - c->before),
		xc_cell_ratio(c->before),
		xc_cell_ratio(c->after),
		xc_cell_count(c->earlier.samples),
		xc_cell_count(c->later.samples),
		xc_cell_number(c->chance),
		xc_cell_text(!c->told               ? "may be chance"
			     : c->after > c->before ? "more"
						    : "less"),
		xc_cell_text(name ? name : "??"),
		module ? xc_cell_text(module) : xc_cell_null(NULL),
	};
	xc_table_row(s, table, cells);
}

static void add_table(struct xc_section *s, const struct comparison *c, size_t rows)
{
	static const struct xc_column columns[] = {
		{.key = "change", .label = "change", .kind = XC_FIELD_RATIO},
		{.key = "before", .label = "before", .kind = XC_FIELD_RATIO},
		{.key = "after", .label = "after", .kind = XC_FIELD_RATIO},
		{.key = "samples_before", .label = "samples before", .kind = XC_FIELD_COUNT, .verbose = true},
		{.key = "samples_after", .label = "after", .kind = XC_FIELD_COUNT, .verbose = true},
		{.key = "chance", .label = "chance", .kind = XC_FIELD_NUMBER, .verbose = true},
		{.key = "told", .label = "verdict", .kind = XC_FIELD_TEXT},
		{.key = "function", .label = "function", .kind = XC_FIELD_TEXT},
		{.key = "module", .label = "module", .kind = XC_FIELD_TEXT},
	};
	struct xc_table *table = xc_section_table(s, "functions", columns, XC_COUNT(columns));
	for (size_t i = 0; i < c->count && i < rows; i++)
		add_row(s, table, c->data, &c->changes[i]);
	if (c->count > rows)
		xc_section_message(s, XC_INFO, NULL, "%zu more function%s: --limit shows them", c->count - rows,
				   c->count - rows > 1 ? "s" : "");
}

static void explain(struct xc_section *s, const struct comparison *c)
{
	const bool exact = each_is_one(&c->before) && each_is_one(&c->after);
	xc_section_message(
		s, XC_INFO, NULL,
		"may be chance: by chance alone such a difference, or a larger one, is too frequent to tell "
		"(two-sided %s test at 5 %%; because %zu function%s compared, each must pass a stricter one, by "
		"Holm's method; samples are taken as independent of each other, so phases of a program are "
		"not chance)",
		exact ? "binomial" : "normal", c->count, c->count == 1 ? " is" : "s are");
}

/* Says so where a profile has no samples. */
static bool can_compare(struct xc_report *report, const struct comparison *c)
{
	if (c->before.samples && c->after.samples)
		return true;
	xc_section_message(xc_report_section(report, "own", "Functions by change of their own share"), XC_WARNING, NULL,
			   "%s no samples: there is nothing to compare",
			   c->before.samples  ? "the later profile has"
			   : c->after.samples ? "the earlier profile has"
					      : "both profiles have");
	return false;
}

void xc_profile_diff(struct xc_report *report, const struct xc_profile_pair *pair, size_t rows)
{
	const struct xc_profile_data *d = pair->data;
	xc_auto(xc_freep) struct xc_function_sum *earlier = xc_function_sums(d, 0, pair->sums);
	xc_auto(xc_freep) struct xc_function_sum *later = xc_function_sums(d, pair->sums, d->sum_count);
	struct comparison c = {.data = d,
			       .earlier = earlier,
			       .later = later,
			       .before = sum_up(d, 0, pair->sums),
			       .after = sum_up(d, pair->sums, d->sum_count)};
	for (int own = 1; own >= 0 && can_compare(report, &c); own--) {
		struct xc_section *s = own ? xc_report_section(report, "own", "Functions by change of their own share")
					   : xc_report_section(report, "total", "Functions with what they call");
		c.own = own;
		c.count = 0;
		compare(&c);
		add_table(s, &c, rows);
		explain(s, &c);
		free(c.changes);
	}
}

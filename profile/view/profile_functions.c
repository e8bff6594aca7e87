#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "profile/view/function_sums.h"
#include "profile/view/profile_view_impl.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void add_row(struct xc_section *s, struct xc_table *table, const struct xc_profile_data *d,
		    const struct xc_function_sum *f, uint64_t all)
{
	const struct xc_profile_function *function = &d->functions[f->function];
	const char *name = xc_profile_data_text(d, function->name), *module = xc_profile_data_text(d, function->module),
		   *file = f->line ? xc_profile_data_text(d, f->file) : NULL;
	xc_auto(xc_freep) char *line = file ? xc_asprintf("%s:%u", base_name(file), f->line) : NULL;
	const struct xc_cell cells[] = {
		xc_cell_ratio(xc_profile_share(f->self, all)),
		xc_cell_ratio(xc_profile_share(f->total, all)),
		xc_cell_count(f->self),
		xc_cell_text(name ? name : "??"),
		line ? xc_cell_text(line) : xc_cell_null(NULL),
		module ? xc_cell_text(module) : xc_cell_null(NULL),
	};
	xc_table_row(s, table, cells);
}

struct xc_section *xc_profile_functions(struct xc_report *report, const struct xc_profile_data *d, size_t rows)
{
	static const struct xc_column columns[] = {
		{.key = "self", .label = "self", .kind = XC_FIELD_RATIO},
		{.key = "total", .label = "total", .kind = XC_FIELD_RATIO},
		{.key = "samples", .label = "samples", .kind = XC_FIELD_COUNT, .verbose = true},
		{.key = "function", .label = "function", .kind = XC_FIELD_TEXT},
		{.key = "line", .label = "hottest line", .kind = XC_FIELD_TEXT},
		{.key = "module", .label = "module", .kind = XC_FIELD_TEXT},
	};
	struct xc_section *s = xc_report_section(report, "functions", "Hottest functions");
	struct xc_table *table = xc_section_table(s, "functions", columns, XC_COUNT(columns));
	const uint64_t all = xc_profile_data_samples(d);
	xc_auto(xc_freep) struct xc_function_sum *functions = xc_function_sums(d, 0, d->sum_count);
	xc_function_sums_sort(functions, d->function_count);
	for (size_t i = 0; i < d->function_count && i < rows && functions[i].total; i++)
		add_row(s, table, d, &functions[i], all);
	return s;
}

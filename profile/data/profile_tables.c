#include "profile/data/profile_tables.h"

#include <stddef.h>
#include <string.h>

/* Sums of all rows stay below 2^63: 2^22 rows of 2^40. */
#define MOST_SAMPLES (UINT64_C(1) << 40)
enum { MOST_ROWS = 1 << 22, MOST_PARTS = 1 << 23, MOST_FACTS = 1000, MOST_LINE = INT32_MAX };

#define SIZE_OF(row, member) sizeof(((const struct row *)NULL)->member)
#define COLUMN(row, member, ...)                                                                                       \
	{                                                                                                              \
#member, offsetof(struct row, member), SIZE_OF(row, member), __VA_ARGS__                               \
	}

static const struct xc_profile_column head_columns[] = {
	COLUMN(xc_profile_head, title, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_head, account, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_head, target, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_head, unit, XC_PROFILE_IS_NUMBER, XC_PROFILE_UNITS - 1),
	COLUMN(xc_profile_head, events, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_head, runs, XC_PROFILE_IS_NUMBER, 1),
	COLUMN(xc_profile_head, waits, XC_PROFILE_IS_NUMBER, 1),
	COLUMN(xc_profile_head, slices, XC_PROFILE_IS_NUMBER, XC_PROFILE_SLICES),
	COLUMN(xc_profile_head, period, XC_PROFILE_IS_NUMBER, UINT64_C(1) << 40),
	COLUMN(xc_profile_head, slice_ns, XC_PROFILE_IS_NUMBER, UINT64_C(1) << 60),
	COLUMN(xc_profile_head, length_ns, XC_PROFILE_IS_NUMBER, UINT64_C(1) << 60),
	COLUMN(xc_profile_head, by, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_head, begun_ns, XC_PROFILE_IS_NUMBER, UINT64_C(1) << 62),
};

static const struct xc_profile_column fact_columns[] = {
	COLUMN(xc_profile_fact, kind, XC_PROFILE_IS_NUMBER, XC_FIELD_NULL),
	COLUMN(xc_profile_fact, note, XC_PROFILE_IS_NUMBER, XC_PROBLEM + 1),
	COLUMN(xc_profile_fact, quiet, XC_PROFILE_IS_NUMBER, 1),
	COLUMN(xc_profile_fact, secret, XC_PROFILE_IS_NUMBER, 1),
	COLUMN(xc_profile_fact, key, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_fact, label, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_fact, text, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_fact, hint, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_fact, number, XC_PROFILE_IS_NUMBER, UINT64_MAX),
	COLUMN(xc_profile_fact, real, XC_PROFILE_IS_REAL, 0),
};

static const struct xc_profile_column function_columns[] = {
	COLUMN(xc_profile_function, name, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_function, module, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_function, language, XC_PROFILE_IS_TEXT, 0),
};

static const struct xc_profile_column frame_columns[] = {
	COLUMN(xc_profile_frame, function, XC_PROFILE_IS_FUNCTION, 0),
	COLUMN(xc_profile_frame, file, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_frame, line, XC_PROFILE_IS_NUMBER, MOST_LINE),
	COLUMN(xc_profile_frame, kind, XC_PROFILE_IS_NUMBER, XC_PROFILE_FRAME_KINDS - 1),
};

static const struct xc_profile_column node_columns[] = {
	COLUMN(xc_profile_node, parent, XC_PROFILE_IS_CALLER, 0),
	COLUMN(xc_profile_node, frame, XC_PROFILE_IS_FRAME, 0),
};

static const struct xc_profile_column thread_columns[] = {
	COLUMN(xc_profile_thread, pid, XC_PROFILE_IS_NUMBER, INT32_MAX),
	COLUMN(xc_profile_thread, tid, XC_PROFILE_IS_NUMBER, INT32_MAX),
	COLUMN(xc_profile_thread, name, XC_PROFILE_IS_TEXT, 0),
};

static const struct xc_profile_column wait_columns[] = {
	COLUMN(xc_profile_wait, text, XC_PROFILE_IS_TEXT, 0),
	COLUMN(xc_profile_wait, event_loop, XC_PROFILE_IS_NUMBER, 1),
};

static const struct xc_profile_column sum_columns[] = {
	COLUMN(xc_profile_sum, stack, XC_PROFILE_IS_NODE, 0),
	COLUMN(xc_profile_sum, wait, XC_PROFILE_IS_WAIT, 0),
	COLUMN(xc_profile_sum, thread, XC_PROFILE_IS_THREAD, 0),
	COLUMN(xc_profile_sum, samples, XC_PROFILE_IS_NUMBER, MOST_SAMPLES),
	COLUMN(xc_profile_sum, squares, XC_PROFILE_IS_NUMBER, UINT64_MAX),
	COLUMN(xc_profile_sum, value, XC_PROFILE_IS_TEXT, 0),
};

static const struct xc_profile_column part_columns[] = {
	COLUMN(xc_profile_part, sum, XC_PROFILE_IS_SUM, 0),
	COLUMN(xc_profile_part, slice, XC_PROFILE_IS_SLICE, 0),
	COLUMN(xc_profile_part, samples, XC_PROFILE_IS_NUMBER, MOST_SAMPLES),
};

#define TABLE(name, tag, rows, count, row, least, most, columns)                                                       \
	{                                                                                                              \
		name, tag, offsetof(struct xc_profile_data, rows), offsetof(struct xc_profile_data, count),            \
			sizeof(struct row), least, most, columns, XC_COUNT(columns)                                    \
	}

const struct xc_profile_table xc_profile_tables[] = {
	TABLE("head", 2, head, head_count, xc_profile_head, 1, 1, head_columns),
	TABLE("target", 3, target.rows, target.count, xc_profile_fact, 0, MOST_FACTS, fact_columns),
	TABLE("account", 4, account.rows, account.count, xc_profile_fact, 0, MOST_FACTS, fact_columns),
	TABLE("functions", 5, functions, function_count, xc_profile_function, 0, MOST_ROWS, function_columns),
	TABLE("frames", 6, frames, frame_count, xc_profile_frame, 0, MOST_ROWS, frame_columns),
	TABLE("nodes", 7, nodes, node_count, xc_profile_node, 1, MOST_ROWS, node_columns),
	TABLE("threads", 8, threads, thread_count, xc_profile_thread, 0, MOST_ROWS, thread_columns),
	TABLE("waits", 9, waits, wait_count, xc_profile_wait, 1, MOST_ROWS, wait_columns),
	TABLE("sums", 10, sums, sum_count, xc_profile_sum, 0, MOST_ROWS, sum_columns),
	TABLE("parts", 11, parts, part_count, xc_profile_part, 0, MOST_PARTS, part_columns),
};

const size_t xc_profile_table_count = XC_COUNT(xc_profile_tables);

uint64_t xc_profile_table_get(const struct xc_profile_table *table, const struct xc_profile_data *data, size_t row,
			      const struct xc_profile_column *column)
{
	const char *rows = *(char *const *)((const char *)data + table->rows);
	const char *at = rows + row * table->row_size + column->offset;
	uint32_t narrow;
	uint64_t wide;
	if (column->size == sizeof wide)
		return memcpy(&wide, at, sizeof wide), wide;
	return memcpy(&narrow, at, sizeof narrow), narrow;
}

static void mark_texts(bool *marked, const struct xc_profile_data *d, const struct xc_profile_table *table)
{
	for (size_t c = 0; c < table->column_count; c++)
		for (size_t row = 0;
		     table->columns[c].means == XC_PROFILE_IS_TEXT && row < xc_profile_table_rows(table, d); row++)
			marked[xc_profile_table_get(table, d, row, &table->columns[c])] = true;
}

bool *xc_profile_texts_of_views(const struct xc_profile_data *d)
{
	bool *marked = xc_alloc(d->texts.count * sizeof *marked);
	for (size_t t = 0; t < xc_profile_table_count; t++)
		if (!xc_profile_table_is_facts(&xc_profile_tables[t]))
			mark_texts(marked, d, &xc_profile_tables[t]);
	return marked;
}

uint64_t xc_profile_table_limit(const struct xc_profile_data *d, const struct xc_profile_column *column, size_t row)
{
	switch (column->means) {
	case XC_PROFILE_IS_NUMBER:
		return column->most + 1;
	case XC_PROFILE_IS_TEXT:
		return d->texts.count;
	case XC_PROFILE_IS_FUNCTION:
		return d->function_count;
	case XC_PROFILE_IS_FRAME:
		return row ? d->frame_count : 1; /* the root has none */
	case XC_PROFILE_IS_NODE:
		return d->node_count;
	case XC_PROFILE_IS_CALLER:
		return row ? row : 1;
	case XC_PROFILE_IS_THREAD:
		return d->thread_count;
	case XC_PROFILE_IS_WAIT:
		return d->wait_count;
	case XC_PROFILE_IS_SUM:
		return d->sum_count;
	case XC_PROFILE_IS_SLICE:
		return d->head->slices;
	case XC_PROFILE_IS_REAL:
		break;
	}
	return 0;
}

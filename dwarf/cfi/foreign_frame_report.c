/* foreign_frame_report: one table each for codes, saved registers, lists, rows and variables. A row refers to its
 * code, list or row by the index in that table; rows are in that order. */
#include "dwarf/cfi/foreign_frame_report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { CODE, SAVED, LIST, ROW, VARIABLE, TABLES };

static const struct xc_column code_columns[] = {
	{"lo", "lo", XC_FIELD_ADDRESS, false},          {"hi", "hi", XC_FIELD_ADDRESS, false},
	{"override", "override", XC_FIELD_BOOL, false}, {"register", "register", XC_FIELD_INTEGER, false},
	{"offset", "offset", XC_FIELD_INTEGER, false},  {"name", "name", XC_FIELD_TEXT, false},
	{"file", "file", XC_FIELD_TEXT, false},         {"line", "line", XC_FIELD_COUNT, false},
	{"language", "language", XC_FIELD_TEXT, false},
};
static const struct xc_column saved_columns[] = {
	{"code", "code", XC_FIELD_COUNT, false},
	{"register", "register", XC_FIELD_INTEGER, false},
	{"from", "from", XC_FIELD_INTEGER, false},
	{"offset", "offset", XC_FIELD_INTEGER, false},
};
static const struct xc_column list_columns[] = {
	{"tid", "tid", XC_FIELD_INTEGER, false},
	{"at", "at", XC_FIELD_ADDRESS, false},
	{"name", "name", XC_FIELD_TEXT, false},
	{"state", "state", XC_FIELD_TEXT, false},
};
static const struct xc_column row_columns[] = {
	{"list", "list", XC_FIELD_COUNT, false}, {"function", "function", XC_FIELD_TEXT, false},
	{"file", "file", XC_FIELD_TEXT, false},  {"line", "line", XC_FIELD_COUNT, false},
	{"pc", "pc", XC_FIELD_ADDRESS, false},   {"language", "language", XC_FIELD_TEXT, false},
	{"kind", "kind", XC_FIELD_TEXT, false},
};
static const struct xc_column variable_columns[] = {
	{"row", "row", XC_FIELD_COUNT, false},    {"local", "local", XC_FIELD_BOOL, false},
	{"name", "name", XC_FIELD_TEXT, false},   {"type", "type", XC_FIELD_TEXT, false},
	{"value", "value", XC_FIELD_TEXT, false}, {"why", "why", XC_FIELD_TEXT, false},
};

static const struct form {
	const char *key;
	const struct xc_column *columns;
	size_t count;
} forms[TABLES] = {
	[CODE] = {"codes", code_columns, XC_COUNT(code_columns)},
	[SAVED] = {"saved", saved_columns, XC_COUNT(saved_columns)},
	[LIST] = {"lists", list_columns, XC_COUNT(list_columns)},
	[ROW] = {"rows", row_columns, XC_COUNT(row_columns)},
	[VARIABLE] = {"variables", variable_columns, XC_COUNT(variable_columns)},
};

/* ---- writing ---- */

struct writer {
	struct xc_section *section;
	struct xc_table *tables[TABLES];
};

static void write_code(struct writer *t, const struct xc_foreign_code *c, size_t index)
{
	const struct xc_cell row[] = {
		xc_cell_address(c->lo),      xc_cell_address(c->hi),         xc_cell_bool(c->override),
		xc_cell_integer(c->cfa_reg), xc_cell_integer(c->cfa_offset), xc_cell_text(c->name),
		xc_cell_text(c->file),       xc_cell_count(c->line),         xc_cell_text(c->language)};
	xc_table_row(t->section, t->tables[CODE], row);
	for (size_t i = 0; i < c->saved_count; i++) {
		const struct xc_foreign_saved *s = &c->saved[i];
		const struct xc_cell saved[] = {xc_cell_count(index), xc_cell_integer(s->reg), xc_cell_integer(s->from),
						xc_cell_integer(s->offset)};
		xc_table_row(t->section, t->tables[SAVED], saved);
	}
}

static void write_variables(struct writer *t, const struct xc_variable_text *items, size_t count, bool locals)
{
	for (size_t i = 0; i < count; i++) {
		const struct xc_variable_text *v = &items[i];
		const struct xc_cell row[] = {xc_cell_count(t->tables[ROW]->row_count - 1),
					      xc_cell_bool(locals),
					      xc_cell_text(v->name),
					      xc_cell_text(v->type),
					      xc_cell_text(v->value),
					      xc_cell_text(v->why)};
		xc_table_row(t->section, t->tables[VARIABLE], row);
	}
}

static void write_list(struct writer *t, const struct xc_foreign_frames *l)
{
	const struct xc_cell list[] = {xc_cell_integer(l->tid), xc_cell_address(l->at), xc_cell_text(l->name),
				       xc_cell_text(l->state)};
	size_t index = t->tables[LIST]->row_count;
	xc_table_row(t->section, t->tables[LIST], list);
	for (size_t i = 0; i < l->row_count; i++) {
		const struct xc_stack_row *r = &l->rows[i];
		const struct xc_cell row[] = {
			xc_cell_count(index),   xc_cell_text(r->function), xc_cell_text(r->file),
			xc_cell_count(r->line), xc_cell_address(r->pc),    xc_cell_text(r->language),
			xc_cell_text(r->kind),
		};
		xc_table_row(t->section, t->tables[ROW], row);
		write_variables(t, r->args, r->arg_count, false);
		write_variables(t, r->locals, r->local_count, true);
	}
}

void xc_foreign_report(struct xc_section *section, const struct xc_process *process)
{
	const struct xc_foreign *g = xc_foreign_of(process);
	struct writer t = {.section = section};
	if (!g)
		return;
	for (size_t i = 0; i < TABLES; i++)
		t.tables[i] = xc_section_table(section, forms[i].key, forms[i].columns, forms[i].count);
	for (size_t i = 0; i < g->code_count; i++)
		write_code(&t, &g->codes[i]->code, i);
	for (size_t i = 0; i < g->list_count; i++)
		write_list(&t, &g->lists[i]);
}

/* ---- reading ---- */

struct reader {
	struct xc_process *process;
	const struct xc_table *tables[TABLES]; /* with the right columns; NULL: absent */
	size_t at[TABLES];                     /* rows that were read */
};

static bool has_columns(const struct xc_table *table, const struct form *form)
{
	if (table->column_count != form->count)
		return false;
	for (size_t i = 0; i < form->count; i++)
		if (strcmp(table->columns[i].key, form->columns[i].key) != 0)
			return false;
	return true;
}

/* Have all cells the right kind? A text may be missing, the rest may not. */
static bool has_cells(const struct xc_table *table, const struct form *form)
{
	for (size_t i = 0; i < table->row_count * form->count; i++) {
		enum xc_field_kind want = form->columns[i % form->count].kind, have = table->cells[i].kind;
		if (have != want && !(want == XC_FIELD_TEXT && have == XC_FIELD_NULL))
			return false;
	}
	return true;
}

/* The next row of a table, if it belongs to item `index` (or SIZE_MAX: to any); else NULL. */
static const struct xc_cell *next_of(struct reader *h, int table, size_t index)
{
	const struct xc_table *t = h->tables[table];
	if (!t || h->at[table] == t->row_count)
		return NULL;
	const struct xc_cell *row = &t->cells[h->at[table] * t->column_count];
	if (index != SIZE_MAX && row[0].number != index)
		return NULL;
	h->at[table]++;
	return row;
}

static const char *text_of(const struct xc_cell *cell)
{
	return cell->kind == XC_FIELD_TEXT ? cell->text : NULL;
}

static int number_of(const struct xc_cell *cell)
{
	int64_t number = (int64_t)cell->number;
	return number < 0 || number > INT_MAX ? -1 : (int)number;
}

static unsigned line_of(const struct xc_cell *cell)
{
	return cell->number < UINT_MAX ? (unsigned)cell->number : 0;
}

static struct xc_error *read_codes(struct reader *h)
{
	struct xc_foreign_saved saved[XC_REG_MAX];
	struct xc_error *err = NULL;
	const struct xc_cell *c, *s;
	while (!err && (c = next_of(h, CODE, SIZE_MAX))) {
		struct xc_foreign_code code = {.lo = c[0].number,
					       .hi = c[1].number,
					       .override = c[2].number != 0,
					       .cfa_reg = number_of(&c[3]),
					       .cfa_offset = (int64_t)c[4].number,
					       .name = text_of(&c[5]),
					       .file = text_of(&c[6]),
					       .line = line_of(&c[7]),
					       .language = text_of(&c[8]),
					       .saved = saved};
		while (code.saved_count < XC_REG_MAX && (s = next_of(h, SAVED, h->at[CODE] - 1)))
			saved[code.saved_count++] = (struct xc_foreign_saved){
				.reg = number_of(&s[1]), .from = number_of(&s[2]), .offset = (int64_t)s[3].number};
		err = xc_foreign_add_code(h->process, &code);
	}
	return err;
}

/* Rows of one list, and their variables; both grow, since their number is not known beforehand. */
struct rows_read {
	struct xc_stack_row *rows;
	struct xc_variable_text *variables;
	size_t row_count, row_capacity, variable_count, variable_capacity;
};

static void read_variables(struct reader *h, struct rows_read *to, struct xc_stack_row *row)
{
	const struct xc_cell *v;
	while ((v = next_of(h, VARIABLE, h->at[ROW] - 1))) {
		bool local = v[1].number != 0 || row->local_count; /* arguments come first */
		to->variables =
			xc_grow(to->variables, to->variable_count, &to->variable_capacity, sizeof *to->variables);
		to->variables[to->variable_count++] = (struct xc_variable_text){
			.name = text_of(&v[2]), .type = text_of(&v[3]), .value = text_of(&v[4]), .why = text_of(&v[5])};
		row->arg_count += !local;
		row->local_count += local;
	}
}

static void read_rows(struct reader *h, struct rows_read *to)
{
	const struct xc_cell *r;
	while ((r = next_of(h, ROW, h->at[LIST] - 1))) {
		to->rows = xc_grow(to->rows, to->row_count, &to->row_capacity, sizeof *to->rows);
		struct xc_stack_row *row = &to->rows[to->row_count++];
		*row = (struct xc_stack_row){.function = text_of(&r[1]),
					     .file = text_of(&r[2]),
					     .line = line_of(&r[3]),
					     .pc = r[4].number,
					     .language = text_of(&r[5]),
					     .kind = text_of(&r[6])};
		read_variables(h, to, row);
	}
	size_t at = 0;
	for (size_t i = 0; i < to->row_count; i++) {
		struct xc_stack_row *row = &to->rows[i];
		row->args = to->variables ? to->variables + at : NULL;
		row->locals = to->variables ? row->args + row->arg_count : NULL;
		at += row->arg_count + row->local_count;
	}
}

static struct xc_error *read_lists(struct reader *h)
{
	struct xc_error *err = NULL;
	const struct xc_cell *l;
	while (!err && (l = next_of(h, LIST, SIZE_MAX))) {
		struct rows_read read = {.rows = NULL};
		int tid = number_of(&l[0]);
		read_rows(h, &read);
		const struct xc_foreign_frames list = {.tid = tid > 0 ? tid : 0,
						       .at = l[1].number,
						       .name = text_of(&l[2]),
						       .state = text_of(&l[3]),
						       .rows = read.rows,
						       .row_count = read.row_count};
		err = xc_foreign_add_frames(h->process, &list);
		free(read.rows);
		free(read.variables);
	}
	return err;
}

struct xc_error *xc_foreign_load(struct xc_process *process, const struct xc_section *section)
{
	struct reader h = {.process = process};
	for (const struct xc_item *item = section->items; item; item = item->next)
		for (size_t i = 0; i < TABLES && item->kind == XC_ITEM_TABLE; i++)
			if (strcmp(item->key, forms[i].key) == 0)
				h.tables[i] = item->table;
	for (size_t i = 0; i < TABLES; i++)
		if (h.tables[i] && (!has_columns(h.tables[i], &forms[i]) || !has_cells(h.tables[i], &forms[i])))
			return xc_error_new(XC_ERR_FORMAT, "'%s' is not a table of stacks", forms[i].key);
	struct xc_error *err = read_codes(&h);
	if (!err)
		err = read_lists(&h);
	for (size_t i = 0; i < TABLES && !err; i++)
		if (h.tables[i] && h.at[i] != h.tables[i]->row_count)
			err = xc_error_new(XC_ERR_FORMAT, "'%s' has rows that belong to nothing", forms[i].key);
	return err;
}

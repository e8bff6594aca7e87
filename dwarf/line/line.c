/* line: the row of the line table that covers an address.
 *
 * That is the last row at or below the address, unless it ends a sequence. Among rows of one address the last counts,
 * but a recommended breakpoint location (is_stmt) comes before one that is not: debuggers show the same. A row of
 * line 0 (code that the compiler made for no line in particular) belongs to the row before it. */
#include "dwarf/line/line.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/line/linetable.h"
#include "dwarf/elf/pointer_map.h"

/* Rows of all tables together: units may share a table, and each decodes it. */
enum { MAX_ROWS = 1 << 25, MAX_BACK = 1 << 16 };

struct unit_lines {
	struct unit_lines *next;
	struct xc_linetable table;
};

struct xc_line_tables {
	struct xc_arena arena;
	struct xc_pointer_map by_unit; /* address of the unit's DIE → its unit_lines */
	struct unit_lines *units;
	size_t rows_left;
};

struct xc_line_tables *xc_line_tables_new(void)
{
	struct xc_line_tables *lines = xc_alloc(sizeof *lines);
	lines->rows_left = MAX_ROWS;
	return lines;
}

void xc_line_tables_free(struct xc_line_tables *lines)
{
	if (!lines)
		return;
	for (struct unit_lines *u; (u = lines->units); free(u)) {
		lines->units = u->next;
		xc_linetable_fini(&u->table);
	}
	xc_arena_fini(&lines->arena);
	free(lines);
}

static void read_table(struct xc_linetable *table, Dwarf_Die *unit)
{
	Dwarf_Die die;
	Dwarf_Attribute attr, dir;
	Dwarf_Word offset;
	uint8_t address_size = 8;
	if (!dwarf_attr(unit, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &offset) != 0)
		return;
	dwarf_cu_die(unit->cu, &die, NULL, NULL, &address_size, NULL, NULL, NULL);
	const char *comp_dir = dwarf_attr(unit, DW_AT_comp_dir, &dir) ? dwarf_formstring(&dir) : NULL;
	xc_linetable_read(table, dwarf_getelf(dwarf_cu_getdwarf(unit->cu)), offset, comp_dir, address_size);
}

/* The table with its files; rows are read by with_rows. */
static struct xc_linetable *table_of(struct xc_line_tables *lines, Dwarf_Die *unit)
{
	void **slot = xc_pointer_map_at(&lines->by_unit, &lines->arena, unit->addr, NULL);
	struct unit_lines *u = *slot;
	if (u)
		return &u->table;
	*slot = u = xc_alloc(sizeof *u);
	u->next = lines->units;
	lines->units = u;
	read_table(&u->table, unit);
	return &u->table;
}

static struct xc_linetable *with_rows(struct xc_line_tables *lines, struct xc_linetable *table)
{
	if (table->program) {
		xc_linetable_run(table, lines->rows_left);
		lines->rows_left -= table->row_count;
	}
	return table;
}

/* Index of the first row above addr. */
static size_t upper_bound(const struct xc_linetable *t, uint64_t file_addr)
{
	return XC_LOWER_BOUND(t->row_count, i, t->rows[i].addr <= file_addr);
}

static const struct xc_linerow *statement_at_same_address(const struct xc_linetable *t, size_t index)
{
	uint64_t here = t->rows[index].addr;
	for (size_t i = index + 1; i-- > 0 && t->rows[i].addr == here && index - i < MAX_BACK;)
		if (t->rows[i].statement && !t->rows[i].end && t->rows[i].line)
			return &t->rows[i];
	return &t->rows[index];
}

/* Go back from `index` to the nearest row with a line; false when the sequence has none. */
static bool back_to_line(const struct xc_linetable *t, size_t *index)
{
	for (size_t steps = 0; steps < MAX_BACK && !t->rows[*index].end; steps++, --*index) {
		if (t->rows[*index].line)
			return true;
		if (*index == 0)
			break;
	}
	return false;
}

bool xc_line_at(struct xc_line_tables *lines, Dwarf_Die *unit, uint64_t file_addr, struct xc_source_location *line_out)
{
	struct xc_linetable *t = with_rows(lines, table_of(lines, unit));
	size_t after = upper_bound(t, file_addr);
	if (after-- == 0 || !back_to_line(t, &after))
		return false;
	const struct xc_linerow *row = statement_at_same_address(t, after);
	*line_out = (struct xc_source_location){
		.file = xc_linetable_file(t, row->file), .line = row->line, .column = row->column};
	return true;
}

bool xc_line_of_file(struct xc_line_tables *lines, Dwarf_Die *unit, uint64_t file_addr, const char *file,
		     struct xc_source_location *line_out)
{
	struct xc_linetable *t = with_rows(lines, table_of(lines, unit));
	const size_t after = upper_bound(t, file_addr);
	for (size_t i = after; i-- > 0 && t->rows[i].addr == t->rows[after - 1].addr && after - i < MAX_BACK;) {
		const struct xc_linerow *row = &t->rows[i];
		const char *path = row->end || !row->line ? NULL : xc_linetable_file(t, row->file);
		if (path && strcmp(path, file) == 0) {
			*line_out = (struct xc_source_location){.file = path, .line = row->line, .column = row->column};
			return true;
		}
	}
	return false;
}

const char *xc_line_file(struct xc_line_tables *lines, Dwarf_Die *unit, uint64_t number)
{
	struct xc_linetable *t = table_of(lines, unit);
	if (number >= t->file_count) /* in old versions the program may define more files */
		with_rows(lines, t);
	return xc_linetable_file(t, number);
}

/* split_index: the hash table in a .dwp from ids to rows of contributions (DWARF 5, 7.3.5.3; GNU's version 2 is the
 * same but for its header, gcc wiki "DebugFissionDWP"):
 *
 *	u16 version 5, u16 0 (or u32 version 2) │ u32 columns │ u32 rows │ u32 slots
 *	u64 id × slots          an id is at id & mask, or every (id >> 32 & mask | 1) slots on
 *	u32 row × slots         1 is the first, 0 an empty slot
 *	u32 section × columns │ u32 offset × columns × rows │ u32 size × columns × rows */
#include "dwarf/elf/budget.h"
#include "dwarf/split/split_file.h"

enum { HEADER = 16, MAX_COLUMNS = 16 };

static uint32_t u32_at(const struct xc_cursor *c, uint64_t index)
{
	return (uint32_t)xc_load_uint(c->at + index * 4, 4, false);
}

static bool take(struct xc_cursor *from, uint64_t size, struct xc_cursor *part_out)
{
	if (size > xc_cursor_left(from))
		return false;
	*part_out = *from;
	part_out->end = from->at += size;
	return true;
}

bool xc_split_index_read(struct xc_cursor c, struct xc_split_index *x)
{
	struct xc_cursor header;
	*x = (struct xc_split_index){0};
	if (xc_cursor_left(&c) == 0)
		return true;
	if (!take(&c, HEADER, &header))
		return false;
	x->version = u32_at(&header, 0) == 2 ? 2 : (uint32_t)xc_load_uint(header.at, 2, false);
	x->column_count = u32_at(&header, 1);
	x->row_count = u32_at(&header, 2);
	x->slot_count = u32_at(&header, 3);
	bool sane = (x->version == 2 || x->version == 5) && x->column_count <= MAX_COLUMNS &&
		    (x->slot_count & (x->slot_count - 1)) == 0;
	uint64_t cells = (uint64_t)x->column_count * x->row_count;
	if (sane && take(&c, (uint64_t)x->slot_count * 8, &x->ids) && take(&c, (uint64_t)x->slot_count * 4, &x->rows) &&
	    take(&c, (uint64_t)x->column_count * 4, &x->columns) && take(&c, cells * 4, &x->offsets) &&
	    take(&c, cells * 4, &x->sizes))
		return true;
	*x = (struct xc_split_index){0};
	return false;
}

bool xc_split_index_slot(const struct xc_split_index *x, uint32_t slot, uint64_t *id_out, uint32_t *row_out)
{
	*id_out = xc_load_uint(x->ids.at + (uint64_t)slot * 8, 8, false);
	*row_out = u32_at(&x->rows, slot);
	return *row_out > 0 && *row_out <= x->row_count;
}

uint32_t xc_split_index_find(const struct xc_split_index *x, uint64_t id)
{
	uint32_t mask = x->slot_count - 1, at = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1, row;
	uint64_t found;
	for (uint32_t i = 0; i < x->slot_count && xc_budget_spend(1); i++, at = (at + step) & mask) {
		if (!xc_split_index_slot(x, at, &found, &row))
			return 0;
		if (found == id)
			return row;
	}
	return 0;
}

bool xc_split_index_part(const struct xc_split_index *x, uint32_t row, uint32_t section, uint64_t *offset_out,
			 uint64_t *size_out)
{
	for (uint32_t i = 0; row > 0 && i < x->column_count; i++) {
		if (u32_at(&x->columns, i) != section)
			continue;
		uint64_t cell = (uint64_t)(row - 1) * x->column_count + i;
		*offset_out = u32_at(&x->offsets, cell);
		*size_out = u32_at(&x->sizes, cell);
		return true;
	}
	return false;
}

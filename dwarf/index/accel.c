/* accel: one interface to both kinds of tables; each is checked when it is opened. */
#include "dwarf/index/accel_impl.h"

#include <stdlib.h>

#include "core/base/text.h"
#include "dwarf/elf/section.h"

bool xc_accel_u32(const struct xc_cursor *c, uint64_t offset, uint32_t *value_out)
{
	size_t left = xc_cursor_left(c);
	if (offset > left || left - offset < sizeof *value_out)
		return false;
	*value_out = (uint32_t)xc_load_uint(c->at + offset, sizeof *value_out, false);
	return true;
}

const struct xc_die_scan_unit *xc_accel_unit(const struct xc_accel_list *units, uint64_t offset)
{
	size_t lo = XC_LOWER_BOUND(units->count, i, units->items[i].offset < offset);
	return lo < units->count && units->items[lo].offset == offset ? &units->items[lo] : NULL;
}

void xc_accel_add(struct xc_accel_units *units, uint64_t offset)
{
	units->offsets = xc_grow(units->offsets, units->count, &units->capacity, sizeof *units->offsets);
	units->offsets[units->count++] = offset;
}

static void list_units(const struct xc_die_scan_space *space, struct xc_accel_list *list)
{
	struct xc_die_scan_unit unit;
	uint64_t offset = 0;
	while (xc_die_scan_next_unit(space, &offset, &unit)) {
		list->items = xc_grow(list->items, list->count, &list->capacity, sizeof *list->items);
		list->items[list->count++] = unit;
	}
}

struct xc_accel *xc_accel_open(Elf *elf, const struct xc_die_scan_space *space)
{
	struct xc_cursor index = xc_section_cursor(elf, ".gdb_index"), names = xc_section_cursor(elf, ".debug_names");
	if (!xc_cursor_left(&index) && !xc_cursor_left(&names))
		return NULL;
	struct xc_accel *accel = xc_alloc(sizeof *accel);
	accel->str = space->str;
	list_units(space, &accel->units);
	if (xc_cursor_left(&index) && xc_gdb_index_is_sound(&index, &accel->units))
		accel->gdb_index = index;
	if (xc_cursor_left(&names) && xc_debug_names_are_sound(&names, &accel->units))
		accel->debug_names = names;
	if (accel->gdb_index.at || accel->debug_names.at)
		return accel;
	xc_accel_close(accel);
	return NULL;
}

void xc_accel_close(struct xc_accel *accel)
{
	if (!accel)
		return;
	free(accel->units.items);
	free(accel);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void sort_units(struct xc_accel_units *units)
{
	size_t kept = 0;
	qsort(units->offsets, units->count, sizeof *units->offsets, ascending);
	for (size_t i = 0; i < units->count; i++)
		if (!kept || units->offsets[kept - 1] != units->offsets[i])
			units->offsets[kept++] = units->offsets[i];
	units->count = kept;
}

bool xc_accel_find(const struct xc_accel *accel, const char *name, const char *last, size_t last_len,
		   struct xc_accel_units *units)
{
	bool found = (accel->debug_names.at && xc_debug_names_find(accel, last, last_len, units)) ||
		     (accel->gdb_index.at && xc_gdb_index_find(accel, name, units));
	if (found && units->count)
		sort_units(units);
	return found && units->count;
}

void xc_accel_units_fini(struct xc_accel_units *units)
{
	free(units->offsets);
	*units = (struct xc_accel_units){0};
}

/* layer: dwarf
 *
 * A file's tables of names: byte 0 selects .gdb_index or .debug_names, the rest is one. It may be valid for units of 16
 * bytes, in sequence; every result is one of them. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/index/accel_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNITS = 4, UNIT_SIZE = 16 };

static void check(const struct xc_accel_units *units)
{
	for (size_t i = 0; i < units->count; i++)
		if (units->offsets[i] % UNIT_SIZE || units->offsets[i] >= UNITS * UNIT_SIZE)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"main", "server", "ns::C<int>", ""};
	struct xc_die_scan_unit units[UNITS];
	if (size < 1)
		return 0;
	for (size_t i = 0; i < UNITS; i++)
		units[i] = (struct xc_die_scan_unit){.offset = i * UNIT_SIZE, .size = UNIT_SIZE, .type = 1};
	struct xc_accel accel = {.str = xc_cursor(data, size, ".debug_str")};
	struct xc_cursor table = xc_cursor(data + 1, size - 1, "table");
	for (size_t count = 0; count <= UNITS; count++) {
		accel.units = (struct xc_accel_list){.items = units, .count = count};
		bool names_table = data[0] & 1;
		bool sound = names_table ? xc_debug_names_are_sound(&table, &accel.units)
					 : xc_gdb_index_is_sound(&table, &accel.units);
		accel.debug_names = accel.gdb_index = table;
		for (size_t i = 0; sound && i < XC_COUNT(names); i++) {
			struct xc_accel_units found = {0};
			if (names_table ? xc_debug_names_find(&accel, names[i], strlen(names[i]), &found)
					: xc_gdb_index_find(&accel, names[i], &found))
				check(&found);
			xc_accel_units_fini(&found);
		}
	}
	return 0;
}

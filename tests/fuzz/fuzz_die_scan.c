/* layer: dwarf
 *
 * Units and abbreviations: byte 0 selects the kind of section, bytes 1 and 2 give the length of the abbreviations,
 * which follow; the rest is .debug_info, and all of it the strings. The scan must end, and its results must be found
 * again. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/index/index_build.h"
#include "dwarf/index/index_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void check_entry(struct xc_index_table *table, const struct xc_die_scan_space *space, uint32_t number)
{
	struct xc_index_entry entry;
	struct xc_index_unit unit;
	uint32_t first;
	size_t len;
	must(xc_index_table_entry(table, number, &entry));
	must(xc_index_table_unit(table, entry.unit, &unit));
	must(entry.parent <= xc_index_table_count(table));
	must(unit.offset < xc_cursor_left(&space->info) && entry.die < xc_cursor_left(&space->info) - unit.offset);
	size_t count = xc_index_table_find(table, entry.hash, &first);
	must(count > 0 && first <= number && number - first < count);
	const struct xc_die_scan_string name = {.where = entry.flags >> 4,
						.offset = (uint64_t)entry.name_high << 32 | entry.name_low};
	const char *text = name.where ? xc_die_scan_text(space, name, &len) : NULL;
	must(!text || strlen(text) == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[XC_INDEX_KEY];
	size_t kept;
	if (size < 3)
		return 0;
	size_t abbrevs = data[1] | (size_t)data[2] << 8, left = size - 3;
	abbrevs = abbrevs < left ? abbrevs : left;
	struct xc_cursor all = xc_cursor(data, size, "strings");
	struct xc_die_scan_space space = {.info = xc_cursor(data + 3 + abbrevs, left - abbrevs, ".debug_info"),
					  .abbrev = xc_cursor(data + 3, abbrevs, ".debug_abbrev"),
					  .str = all,
					  .line_str = all,
					  .str_offsets = all,
					  .alt_str = all,
					  .types = data[0] & 1,
					  .split = data[0] & 2};
	const struct xc_index_input input = {.spaces = &space, .space_count = 1, .jobs = 1};
	void *bytes = xc_index_build(&input, key, &kept);
	struct xc_index_table table;
	must(bytes && xc_index_table_open(&table, bytes, kept, key));
	for (uint32_t i = 0; i < xc_index_table_count(&table); i++)
		check_entry(&table, &space, i);
	must(!table.damaged);
	xc_index_table_fini(&table);
	free(bytes);
	return 0;
}

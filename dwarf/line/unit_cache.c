#include "dwarf/line/unit_cache.h"

#include <stdlib.h>

struct unit_cache {
	struct xc_units *units;
	struct xc_line_tables *lines;
};

static struct unit_cache *cache_of(const struct xc_process *process)
{
	struct xc_process *p = (struct xc_process *)(uintptr_t)process; /* a cache, not a fact of the process */
	if (!p->units) {
		struct unit_cache *cache = xc_alloc(sizeof *cache);
		cache->units = xc_units_new(process);
		cache->lines = xc_line_tables_new();
		p->units = cache;
	}
	return p->units;
}

void xc_unit_cache_open(const struct xc_process *process)
{
	(void)cache_of(process);
}

void xc_unit_cache_close(struct xc_process *process)
{
	struct unit_cache *cache = process->units;
	if (!cache)
		return;
	xc_line_tables_free(cache->lines);
	xc_units_free(cache->units);
	free(cache);
	process->units = NULL;
}

bool xc_unit_cache_at(const struct xc_process *process, struct xc_module *module, uint64_t file_addr,
		      Dwarf_Die *unit_out)
{
	return xc_unit_at(cache_of(process)->units, module, file_addr, unit_out);
}

bool xc_unit_cache_die(const struct xc_process *process, struct xc_module *module, enum xc_unit_space space,
		       uint64_t unit, uint64_t die, Dwarf_Die *die_out)
{
	return xc_unit_die(cache_of(process)->units, module, space, unit, die, die_out);
}

struct xc_module *xc_unit_cache_module(const struct xc_process *process, Dwarf *dwarf)
{
	return xc_unit_module(cache_of(process)->units, dwarf);
}

/* The unit that has the lines of a unit: of a split one its skeleton. */
static Dwarf_Die unit_with_lines(struct unit_cache *cache, Dwarf_Die *unit)
{
	Dwarf_Die skeleton;
	return xc_unit_skeleton(cache->units, unit, &skeleton) ? skeleton : *unit;
}

bool xc_unit_cache_line(const struct xc_process *process, Dwarf_Die *unit, uint64_t file_addr,
			struct xc_source_location *location_out)
{
	struct unit_cache *cache = cache_of(process);
	Dwarf_Die with_lines = unit_with_lines(cache, unit);
	return xc_line_at(cache->lines, &with_lines, file_addr, location_out);
}

bool xc_unit_cache_line_of(const struct xc_process *process, Dwarf_Die *unit, uint64_t file_addr, const char *file,
			   struct xc_source_location *location_out)
{
	struct unit_cache *cache = cache_of(process);
	Dwarf_Die with_lines = unit_with_lines(cache, unit);
	return xc_line_of_file(cache->lines, &with_lines, file_addr, file, location_out);
}

const char *xc_unit_cache_file(const struct xc_process *process, Dwarf_Die *die, uint64_t number)
{
	struct unit_cache *cache = cache_of(process);
	Dwarf_Die unit;
	if (!dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	unit = unit_with_lines(cache, &unit);
	return xc_line_file(cache->lines, &unit, number);
}

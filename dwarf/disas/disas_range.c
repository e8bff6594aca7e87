/* disas_range: sources of a function's range, in order: debug information, which has the pieces of a split function; a
 * stub of the procedure linkage table; a symbol with a size; the entry of call frame information, which stripped files
 * still have; a symbol without a size, which only has the start. */
#include "dwarf/disas/disas_range.h"

#include <elf.h>

#include "dwarf/elf/budget.h"
#include "dwarf/module/cfimodule.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/symbol.h"

enum { GUESS = 4096 };

static bool set(struct xc_code_range *out, const struct xc_module *module, uint64_t lo, uint64_t end, const char *how)
{
	if (end <= lo || end - lo > XC_CODE_MAX || end - 1 > UINT64_MAX - module->bias)
		return false;
	out->lo = module->bias + lo;
	out->hi = module->bias + end - 1;
	out->how = how;
	out->end_known = true;
	return true;
}

static bool from_debuginfo(const struct xc_place *place, struct xc_code_range *out)
{
	Dwarf_Addr base, lo, end;
	ptrdiff_t at = 0;
	if (!place->level_count)
		return false;
	struct xc_level *level = &place->levels[place->level_count - 1];
	while (xc_budget_spend(1) && (at = dwarf_ranges(&level->die, at, &base, &lo, &end)) > 0) {
		if (lo > place->file_addr || place->file_addr >= end)
			continue;
		out->function = level->function;
		return set(out, place->module, lo, end, "debug information");
	}
	return false;
}

static bool from_symbol(const struct xc_place *place, const struct xc_symbol *symbol, struct xc_code_range *out)
{
	return symbol && symbol->size && symbol->size <= UINT64_MAX - symbol->value &&
	       set(out, place->module, symbol->value, symbol->value + symbol->size, "symbol");
}

/* The range of the entry, from a symbol within it if there is one. */
static bool from_entry(const struct xc_place *place, struct xc_debugfile *file, const struct xc_symbol *symbol,
		       struct xc_code_range *out)
{
	struct xc_cfientry entry;
	return xc_cfimodule_find(file, place->file_addr, &entry) &&
	       set(out, place->module, symbol ? symbol->value : entry.lo, entry.end, "call frame information");
}

static bool from_label(const struct xc_place *place, const struct xc_symbol *symbol, struct xc_code_range *out)
{
	uint64_t least = symbol ? place->file_addr - symbol->value + GUESS : UINT64_MAX;
	bool found = least < XC_CODE_MAX && set(out, place->module, symbol->value, symbol->value + least, "symbol");
	out->end_known = false;
	return found;
}

bool xc_disas_range(const struct xc_process *process, xc_addr addr, struct xc_code_range *out)
{
	const struct xc_place *place = xc_debuginfo_place(process, addr);
	*out = (struct xc_code_range){.how = NULL};
	if (!place->module || !place->module->bias_known)
		return false;
	struct xc_debugfile *file = xc_debugfile_of(process, place->module);
	const struct xc_symbol *symbol = xc_symbol_at(process, place->module, place->file_addr);
	out->thumb = symbol && symbol->thumb;
	if (from_debuginfo(place, out))
		return true;
	out->function = xc_place_function(place, 0);
	if (place->stub)
		return set(out, place->module, place->stub_lo, place->stub_hi, "procedure linkage table");
	return from_symbol(place, symbol, out) || from_entry(place, file, symbol, out) ||
	       from_label(place, symbol, out);
}

bool xc_disas_function(const struct xc_process *process, const char *name, xc_addr *addr_out)
{
	struct xc_query query = {.name = name, .kinds = XC_NAME_FUNCTION, .anywhere = true};
	struct xc_definition found;
	uint64_t entry;
	if (!xc_lookup_one(process, &query, &found) || !found.module->bias_known || !xc_die_entry(&found.die, &entry))
		return false;
	*addr_out = found.module->bias + entry;
	return true;
}

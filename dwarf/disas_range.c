/* disas_range: debug information first, since it knows the pieces of a split function; then the symbol, then the entry of call
 * frame information, which stripped files still have. */
#include "disas_range.h"

#include <elf.h>

#include "cfitable.h"
#include "debugfile.h"
#include "debuginfo.h"
#include "die.h"
#include "lookup.h"
#include "symbol.h"

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
	while (xc_die_burn(1) && (at = dwarf_ranges(&level->die, at, &base, &lo, &end)) > 0) {
		if (lo > place->file_addr || place->file_addr >= end)
			continue;
		out->function = level->function;
		return set(out, place->module, lo, end, "debug information");
	}
	return false;
}

static bool from_symbol(const struct xc_place *place, const struct xc_symbol *symbol, struct xc_code_range *out)
{
	if (!symbol)
		return false;
	out->function = place->symbol;
	if (symbol->size)
		return place->file_addr - symbol->value < symbol->size && symbol->size <= UINT64_MAX - symbol->value &&
		       set(out, place->module, symbol->value, symbol->value + symbol->size, "symbol");
	uint64_t least = place->file_addr - symbol->value + GUESS;
	bool found = least < XC_CODE_MAX && set(out, place->module, symbol->value, symbol->value + least, "symbol");
	out->end_known = false;
	return found;
}

static bool from_table(const struct xc_place *place, Elf *elf, bool eh, struct xc_code_range *out)
{
	struct xc_cfitable table = {0};
	struct xc_cfientry entry;
	xc_cfitable_open(&table, elf, eh);
	bool found = xc_cfitable_find(&table, place->file_addr, &entry) &&
		     set(out, place->module, entry.lo, entry.end, "call frame information");
	xc_cfitable_fini(&table);
	return found;
}

bool xc_disas_range(const struct xc_process *process, xc_addr addr, struct xc_code_range *out)
{
	const struct xc_place *place = xc_debuginfo_place(process, addr);
	*out = (struct xc_code_range){.how = NULL};
	if (!place->module || !place->module->bias_known)
		return false;
	struct xc_debugfile *file = xc_debugfile_of(process, place->module);
	const struct xc_symbol *symbol = xc_symtab_at(xc_debugfile_symbols(file), place->file_addr);
	bool thumb = symbol && symbol->thumb;
	bool found = from_debuginfo(place, out) || from_symbol(place, symbol, out) ||
		     from_table(place, xc_debugfile_elf(file), true, out) ||
		     from_table(place, xc_debugfile_dwarf_elf(file), false, out);
	out->thumb = thumb;
	return found;
}

bool xc_disas_function(const struct xc_process *process, const char *name, xc_addr *addr_out)
{
	struct xc_query query = {.name = name, .kinds = XC_NAME_FUNCTION, .anywhere = true};
	struct xc_definition found;
	Dwarf_Addr entry;
	if (!xc_lookup_one(process, &query, &found) || !found.module->bias_known ||
	    dwarf_entrypc(&found.die, &entry) != 0)
		return false;
	*addr_out = found.module->bias + entry;
	return true;
}

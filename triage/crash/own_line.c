/* own_line: the line table may have a row of the function's own for the very place, beside that of the header. Else a
 * walk over the bytes of the function: the line table answers for addresses. */
#include "triage/crash/own_line.h"

#include <dwarf.h>
#include <string.h>

#include "core/process/process.h"
#include "dwarf/module/die.h"
#include "triage/util/user_code.h"

enum { BEFORE = 512, AFTER = 128 }; /* bytes */

struct walk {
	const struct xc_process *process;
	const struct xc_place *place;
	Dwarf_Die unit, function;
	const char *file; /* of the function */
	unsigned begin;
};

/* The file that declares the function. */
static const char *file_of(const struct xc_process *process, const Dwarf_Die *function)
{
	Dwarf_Die die = *function, unit;
	Dwarf_Attribute attr;
	uint64_t number;
	return xc_die_attr(&die, DW_AT_decl_file, &attr) && xc_die_constant(&attr, &number) &&
			       dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL)
		       ? xc_unit_cache_file(process, &unit, number)
		       : NULL;
}

unsigned xc_own_line_begin(const struct xc_process *process, const struct xc_level *level, const char *file)
{
	Dwarf_Die die = level->die;
	Dwarf_Attribute attr;
	uint64_t line;
	const char *declared = file_of(process, &die);
	return declared && file && strcmp(declared, file) == 0 && xc_die_attr(&die, DW_AT_decl_line, &attr) &&
			       xc_die_constant(&attr, &line) && line < UINT32_MAX
		       ? (unsigned)line
		       : 0;
}

/* Is the code at the address of the function, and not of one that was inlined into it? */
static bool is_own(const struct walk *w, uint64_t file_addr)
{
	const struct xc_place *there = xc_debuginfo_place(w->process, file_addr + w->place->module->bias);
	return there->level_count && there->levels[0].die.addr == w->function.addr;
}

static bool try(struct walk *w, uint64_t file_addr, struct xc_own_line *out)
{
	struct xc_source_location at;
	if (!xc_unit_cache_line(w->process, &w->unit, file_addr, &at) || !at.file || strcmp(at.file, w->file) != 0 ||
	    !at.line || at.line < w->begin || !is_own(w, file_addr))
		return false;
	*out = (struct xc_own_line){.file = at.file, .line = at.line, .nearest = true};
	return true;
}

static bool search(struct walk *w, struct xc_own_line *out)
{
	uint64_t at = w->place->file_addr;
	for (unsigned i = 1; i <= BEFORE && i <= at && xc_die_holds(&w->function, at - i); i++)
		if (try(w, at - i, out))
			return true;
	for (unsigned i = 1; i <= AFTER && xc_die_holds(&w->function, at + i); i++)
		if (try(w, at + i, out))
			return true;
	return false;
}

bool xc_own_line_find(const struct xc_process *process, const struct xc_place *place, size_t level,
		      struct xc_own_line *out)
{
	const struct xc_level *at = level < place->level_count ? &place->levels[level] : NULL;
	if (!at || !at->file || !at->line)
		return false;
	*out = (struct xc_own_line){.file = at->file, .line = at->line};
	if (place->line_only || !place->module || !xc_user_code_is_library_line(at))
		return true;
	struct walk w = {.process = process,
			 .place = place,
			 .unit = place->unit,
			 .function = at->die,
			 .file = file_of(process, &at->die)};
	const struct xc_level own = {.file = w.file};
	if (!w.file || xc_user_code_is_library_line(&own))
		return true;
	struct xc_source_location row;
	w.begin = xc_own_line_begin(process, at, w.file);
	if (!level && xc_unit_cache_line_of(process, &w.unit, place->file_addr, w.file, &row) && row.line >= w.begin)
		*out = (struct xc_own_line){.file = row.file, .line = row.line};
	else
		search(&w, out);
	return true;
}

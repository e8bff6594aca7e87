#include "dwarf/lookup/function_static.h"

#include <dwarf.h>
#include <elf.h>

#include "dwarf/elf/section.h"
#include "dwarf/scan/die_scan.h"

enum { DEPTH = 32 };

struct search {
	Dwarf *dwarf;
	struct xc_die_scan *scan;
	xc_function_static_fn *each;
	void *context;
};

static void report(const struct search *s, uint64_t variable, uint64_t function)
{
	Dwarf_Die dies[2];
	if (dwarf_offdie(s->dwarf, variable, &dies[0]) && dwarf_offdie(s->dwarf, function, &dies[1]))
		s->each(s->context, &dies[0], &dies[1]);
}

/* Can it hold static variables of a function? `function`: the offset of the function around it, or 0. */
static bool holds_some(const struct xc_die_scan_entry *die, uint64_t function)
{
	return die->tag == DW_TAG_subprogram || die->tag == DW_TAG_namespace ||
	       (die->tag == DW_TAG_lexical_block && function);
}

/* Scan to the end of a list of siblings; false where the unit is damaged. */
static bool scan_siblings(const struct search *s, uint64_t function, unsigned depth)
{
	struct xc_die_scan_entry die;
	bool good;
	while ((good = xc_die_scan_next(s->scan, &die)) && die.tag) {
		uint64_t inner = die.tag == DW_TAG_subprogram ? die.offset : function;
		if (die.tag == DW_TAG_variable && function && (die.has & XC_DIE_SCAN_PLACED))
			report(s, die.offset, function);
		if (die.children && depth < DEPTH && holds_some(&die, function))
			good = scan_siblings(s, inner, depth + 1);
		else
			good = xc_die_scan_leave(s->scan, &die);
		if (!good)
			break;
	}
	return good;
}

void xc_function_static_each(struct xc_debugfile *file, uint64_t most, xc_function_static_fn *each, void *context)
{
	Dwarf *dwarf = xc_debugfile_dwarf(file);
	Elf *elf = dwarf ? xc_debugfile_dwarf_elf(file) : NULL;
	const char *ident = elf ? elf_getident(elf, NULL) : NULL;
	struct xc_die_scan_unit unit;
	struct xc_die_scan_entry die;
	uint64_t offset = 0;
	if (!ident || ident[EI_DATA] != ELFDATA2LSB)
		return;
	struct xc_die_scan_space space = {.info = xc_section_cursor(elf, ".debug_info"),
					  .abbrev = xc_section_cursor(elf, ".debug_abbrev")};
	if (xc_cursor_left(&space.info) > most)
		return;
	struct search s = {.dwarf = dwarf, .scan = xc_die_scan_new(&space), .each = each, .context = context};
	while (xc_die_scan_next_unit(&space, &offset, &unit))
		if (xc_die_scan_enter(s.scan, &unit) && xc_die_scan_next(s.scan, &die) && die.children)
			(void)scan_siblings(&s, 0, 0); /* damage ends only its unit */
	xc_die_scan_free(s.scan);
}

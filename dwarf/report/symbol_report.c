/* symbol_report: an address in debug information and symbol tables. */
#include "dwarf/report/symbol_report.h"

#include "core/facts/facts.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/elf/symbol.h"

static void add_mapping(struct xc_section *s, const struct xc_process *process, xc_addr addr)
{
	const struct xc_mapping *mapping = xc_process_mapping(process, addr);
	const struct xc_segment *segment = xc_space_find(process->space, addr);
	char place[512];
	const char *where = xc_facts_place(process, addr, place, sizeof place);
	if (where)
		xc_section_text(s, "place", "place", where);
	else
		xc_section_unknown(s, "place", "place", "nothing is mapped there");
	if (mapping) {
		const char access[] = {mapping->readable ? 'r' : '-', mapping->writable ? 'w' : '-',
				       mapping->executable ? 'x' : '-', mapping->shared ? 's' : 'p', '\0'};
		xc_section_text(s, "access", "access", access);
	}
	if (segment)
		xc_section_text(s, "provenance", "its bytes",
				segment->provenance == XC_FROM_LIVE ? "read from the process when needed"
								    : xc_provenance_text(segment->provenance));
}

static void add_levels(struct xc_section *s, const struct xc_place *place)
{
	static const struct xc_column columns[] = {
		{"function", "FUNCTION", XC_FIELD_TEXT, false},
		{"file", "FILE", XC_FIELD_TEXT, false},
		{"line", "LINE", XC_FIELD_INTEGER, false},
		{"inline", "INLINED", XC_FIELD_BOOL, true},
	};
	if (!place->level_count)
		return;
	struct xc_table *table = xc_section_table(s, "functions", columns, XC_COUNT(columns));
	for (size_t i = 0; i < place->level_count; i++) {
		const struct xc_level *level = &place->levels[i];
		const struct xc_cell row[] = {
			xc_cell_text(level->function),
			xc_cell_text(level->file),
			level->line ? xc_cell_integer(level->line) : xc_cell_null("unknown"),
			xc_cell_bool(i + 1 < place->level_count),
		};
		xc_table_row(s, table, row);
	}
}

void xc_symbol_report(struct xc_report *report, const struct xc_process *process, xc_addr addr)
{
	struct xc_section *s = xc_report_section(report, "symbol", "Symbol");
	struct xc_module *module = xc_process_module(process, addr);
	char name[1024];
	xc_section_address(s, "addr", "address", addr);
	const char *symbol = xc_symbol_describe(process, addr, name, sizeof name);
	if (symbol)
		xc_section_text(s, "symbol", "symbol", symbol);
	else
		xc_section_unknown(s, "symbol", "symbol", "no symbol covers it");
	if (module) {
		xc_section_text(s, "module", "module", module->path);
		if (module->bias_known)
			xc_section_address(s, "offset", "in its file", addr - module->bias);
	}
	add_mapping(s, process, addr);
	add_levels(s, xc_debuginfo_place(process, addr));
}

/* symbol_report: a small address grammar, and what debuginfo and the symbol tables say about an address.
 *
 *	address = place [("+" | "-") number]
 *	place   = number | "$" register | [module "!"] symbol
 *
 * A symbol is its exact ELF name, or the demangled one with or without its parameters. */
#include "symbol_report.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/facts.h"
#include "debugfile.h"
#include "debuginfo.h"
#include "demangle.h"
#include "symbol.h"

enum { MAX_MANGLED = 16 << 10 }; /* longer ones are not demangled */

/* ---- an address as text ---- */

static bool parse_number(const char *text, uint64_t *number_out)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	if (!*digits || strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
		return false;
	errno = 0;
	*number_out = strtoull(digits, NULL, hex ? 16 : 10);
	return errno == 0;
}

/* Cut "+N" or "-N" off the end of text. A sign that no number follows belongs to the name (operator+). */
static uint64_t cut_offset(char *text)
{
	uint64_t offset;
	for (char *c = text + strlen(text); c-- > text + 1;) {
		if (*c != '+' && *c != '-')
			continue;
		if (!parse_number(c + 1, &offset))
			return 0;
		bool minus = *c == '-';
		*c = '\0';
		return minus ? 0 - offset : offset;
	}
	return 0;
}

static const struct xc_thread *shown_thread(const struct xc_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].crashed)
			return &process->threads[i];
	return process->thread_count ? process->threads : NULL;
}

static int register_number(const struct xc_arch *arch, const char *name)
{
	if (strcmp(name, "pc") == 0)
		return arch->pc;
	if (strcmp(name, "sp") == 0)
		return arch->sp;
	if (strcmp(name, "fp") == 0)
		return arch->fp;
	for (int i = 0; i < XC_REG_MAX; i++) {
		const char *known = xc_arch_reg_name(arch, i);
		if (known && strcmp(known, name) == 0)
			return i;
	}
	return -1;
}

static struct xc_error *find_register(const struct xc_process *process, const char *name, xc_addr *addr_out)
{
	const struct xc_thread *thread = shown_thread(process);
	int number = register_number(process->arch, name);
	if (number < 0)
		return xc_error_new(XC_ERR_NOT_FOUND, "$%s: %s has no such register", name, process->arch->name);
	if (!thread || !xc_regs_get(&thread->regs, number, addr_out))
		return xc_error_new(XC_ERR_NOT_FOUND, "$%s: %s", name,
				    thread && thread->why_no_regs ? thread->why_no_regs : "its value is not known");
	return NULL;
}

static bool named_module(const struct xc_module *module, const char *name)
{
	return !name || strcmp(module->name, name) == 0 || strcmp(module->path, name) == 0;
}

/* Can this be the mangled name of something whose last word is this one? Spares demangling nearly all symbols. */
static bool may_be(const char *mangled, const char *last_word)
{
	return mangled[0] == '_' && memmem(mangled, strnlen(mangled, MAX_MANGLED), last_word, strlen(last_word));
}

/* True when `mangled` is the name of something that people call `name`. */
static bool demangles_to(const char *mangled, const char *name)
{
	xc_auto(xc_freep) char *brief = xc_demangle(mangled, false);
	if (brief && strcmp(brief, name) == 0)
		return true;
	xc_auto(xc_freep) char *full = brief ? xc_demangle(mangled, true) : NULL;
	return full && strcmp(full, name) == 0;
}

/* The last identifier before any parameters or template arguments: "f" of "ns::f(int)". */
static char *last_word_of(const char *name)
{
	size_t end = strcspn(name, "(<"), start = end;
	while (start > 0 && name[start - 1] != ':' && name[start - 1] != ' ' && name[start - 1] != '~')
		start--;
	return xc_asprintf("%.*s", (int)(end - start), name + start);
}

static const struct xc_symbol *find_in(const struct xc_symtab *table, const char *name, const char *last_word)
{
	const struct xc_symbol *symbol = xc_symtab_named(table, name);
	for (size_t i = 0; !symbol && *last_word && i < xc_symtab_count(table); i++)
		if (may_be(xc_symtab_mangled(table, i), last_word) && demangles_to(xc_symtab_get(table, i)->name, name))
			symbol = xc_symtab_get(table, i);
	return symbol;
}

static struct xc_error *find_symbol(const struct xc_process *process, const char *module_name, const char *name,
				    xc_addr *addr_out)
{
	xc_auto(xc_freep) char *last_word = last_word_of(name);
	for (size_t i = 0; i < process->module_count; i++) {
		struct xc_module *module = process->modules[i];
		if (!named_module(module, module_name))
			continue;
		const struct xc_symbol *symbol =
			find_in(xc_debugfile_symbols(xc_debugfile_of(process, module)), name, last_word);
		if (!symbol)
			continue;
		if (symbol->type == STT_TLS)
			return xc_error_new(XC_ERR_UNSUPPORTED, "%s is thread-local: it has an address per thread",
					    name);
		if (!module->bias_known)
			return xc_error_new(XC_ERR_NOT_FOUND, "%s: where %s was loaded is not known", name,
					    module->name);
		*addr_out = module->bias + symbol->value;
		return NULL;
	}
	if (module_name)
		return xc_error_new(XC_ERR_NOT_FOUND, "no symbol '%s' in a module '%s'", name, module_name);
	return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "no symbol '%s' in %s", name, process->target),
			     "hexadecimal numbers begin with 0x; `xcore modules` tells which modules have no symbols");
}

struct xc_error *xc_symbol_address(const struct xc_process *process, const char *text, xc_addr *addr_out)
{
	xc_auto(xc_freep) char *place = xc_strdup(text);
	uint64_t offset = cut_offset(place), base;
	char *mark = strchr(place, '!');
	struct xc_error *err = NULL;
	if (mark)
		*mark++ = '\0';
	if (*place == '$')
		err = find_register(process, place + 1, &base);
	else if (mark)
		err = find_symbol(process, place, mark, &base);
	else if (!parse_number(place, &base))
		err = find_symbol(process, NULL, place, &base);
	if (!err)
		*addr_out = base + offset;
	return err;
}

/* ---- what stands at an address ---- */

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
		xc_section_text(s, "provenance", "its bytes", xc_provenance_text(segment->provenance));
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

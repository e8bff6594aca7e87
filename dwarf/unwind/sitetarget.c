/* sitetarget: DW_AT_call_origin and DW_AT_call_target: DWARF 5, 3.4.1; the GNU forms are those of DWARF 4 with
 * extensions.
 *
 * gcc names a clone that is called (.constprop, .isra, .part) by the clone's DIE. For a function that it also inlined
 * it names the abstract instance, which has no address, and may share its name with its clones and with static
 * functions of other units. */
#include "dwarf/unwind/sitetarget.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/decode/code.h"
#include "dwarf/module/die.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/unwind/constant_expr.h"

xc_addr xc_site_function(const struct xc_place *place, Dwarf_Die *die_out)
{
	uint64_t entry;
	*die_out = (Dwarf_Die){.addr = NULL};
	if (!place->module || place->told)
		return 0;
	if (place->level_count == 0 || place->line_only)
		return place->symbol ? place->module->bias + place->file_addr - place->symbol_offset : 0;
	*die_out = place->levels[place->level_count - 1].die;
	return xc_die_entry(die_out, &entry) ? entry + place->module->bias : 0;
}

bool xc_site_names(Dwarf_Die *site, Dwarf_Die *function_out)
{
	return xc_die_ref(site, DW_AT_call_origin, function_out) ||
	       xc_die_ref(site, DW_AT_abstract_origin, function_out);
}

/* addr if a function begins there, else 0. gdb's gcore leaves out mappings of code. */
static xc_addr begins(const struct xc_process *p, xc_addr addr)
{
	Dwarf_Die die;
	const struct xc_mapping *mapping = xc_process_mapping(p, addr);
	bool data = !addr || (mapping && !mapping->executable);
	return !data && xc_site_function(xc_debuginfo_place(p, addr), &die) == addr ? addr : 0;
}

/* The target by the instruction, directly or through a stub. */
static xc_addr by_code(const struct xc_site *s, bool named, const struct xc_callee *likely)
{
	xc_addr targets[XC_CODE_TARGETS], through[XC_CODE_TARGETS], entry = 0;
	size_t count = xc_code_targets(s->process, s->end, s->jump, named, targets);
	for (size_t i = 0; i < count; i++) {
		through[i] = xc_code_stub(s->process, targets[i]);
		if (likely && (likely->entry == targets[i] || likely->entry == through[i]))
			return likely->entry;
	}
	for (size_t i = 0; i < count && !entry; i++)
		entry = begins(s->process, through[i] ? through[i] : targets[i]);
	return entry;
}

static const char *linkage_name(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	if (xc_die_attr(function, DW_AT_linkage_name, &attr) || xc_die_attr(function, DW_AT_MIPS_linkage_name, &attr) ||
	    xc_die_attr(function, DW_AT_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

/* Is the function that a site names this one? Decided without a symbol table: by the DIE, or by the name of a
 * function defined elsewhere, unless that is an instance of an abstract function, of which there may be several. */
static bool is_likely(Dwarf_Die *named, const struct xc_callee *likely)
{
	uint64_t entry;
	Dwarf_Attribute attr;
	if (!likely || !likely->die)
		return false;
	if (named->addr == likely->die->addr)
		return true;
	if (xc_die_entry(named, &entry) || dwarf_attr(likely->die, DW_AT_abstract_origin, &attr) ||
	    !xc_die_flag(named, DW_AT_external))
		return false;
	const char *wanted = linkage_name(named), *name = linkage_name(likely->die);
	return wanted && name && !strcmp(wanted, name);
}

static const struct xc_symbol *symbol_of(const struct xc_process *p, struct xc_module *module, const char *name)
{
	return module->bias_known ? xc_symtab_named(xc_debugfile_symbols(xc_debugfile_of(p, module)), name) : NULL;
}

/* The first other module that exports a name to the dynamic linker; NULL when none does. */
static struct xc_module *exporter(const struct xc_site *s, const char *name, const struct xc_symbol **symbol_out)
{
	for (size_t i = 0; i < s->process->module_count; i++) {
		struct xc_module *module = s->process->modules[i];
		bool exports = module != s->module && module->kind != XC_MODULE_VDSO;
		*symbol_out = exports ? symbol_of(s->process, module, name) : NULL;
		if (*symbol_out && (*symbol_out)->bind != STB_LOCAL)
			return module;
	}
	return NULL;
}

/* May the dynamic linker have chosen another module's function instead of the module's own? */
static bool may_be_interposed(const struct xc_site *s, const char *name)
{
	const struct xc_symbol *own = s->module->kind != XC_MODULE_EXE ? symbol_of(s->process, s->module, name) : NULL,
			       *other;
	return own && own->bind != STB_LOCAL && exporter(s, name, &other);
}

static xc_addr by_name(const struct xc_site *s, const char *name)
{
	const struct xc_symbol *symbol = symbol_of(s->process, s->module, name);
	struct xc_module *module = symbol ? s->module : exporter(s, name, &symbol);
	bool known = module && symbol->type != STT_GNU_IFUNC && symbol->type != STT_TLS && !may_be_interposed(s, name);
	return known ? module->bias + symbol->value : 0;
}

/* The address of the function that a site names, when the code does not show it. */
static xc_addr by_debug_information(const struct xc_site *s, Dwarf_Die *named)
{
	uint64_t entry;
	const char *name = xc_die_flag(named, DW_AT_external) ? linkage_name(named) : NULL;
	if (!xc_die_entry(named, &entry))
		return name ? by_name(s, name) : 0;
	return name && may_be_interposed(s, name) ? 0 : entry + s->module->bias;
}

/* A call target that is a number: gcc writes 0x500000 as 20 << 18. */
static xc_addr by_constant(const struct xc_site *s)
{
	Dwarf_Attribute attr;
	uint64_t target;
	bool known = (dwarf_attr(s->die, DW_AT_call_target, &attr) ||
		      dwarf_attr(s->die, DW_AT_GNU_call_site_target, &attr)) &&
		     xc_constant_expr(s->process, s->module, &attr, &target);
	return known ? begins(s->process, target) : 0;
}

xc_addr xc_site_target(const struct xc_site *s, const struct xc_callee *likely)
{
	Dwarf_Die named;
	bool names = xc_site_names(s->die, &named);
	xc_addr target = by_code(s, names, likely);
	if (target)
		return target;
	if (!names)
		return by_constant(s);
	if (is_likely(&named, likely))
		return likely->entry;
	return begins(s->process, by_debug_information(s, &named));
}

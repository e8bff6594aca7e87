/* variable_static: variables whose address does not depend on a frame. */
#include <dwarf.h>

#include "dwarf/elf/symbol.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/module/die.h"
#include "dwarf/stack/variable.h"
#include "dwarf/value/expr.h"

static struct xc_module *executable(const struct xc_process *process)
{
	for (size_t i = 0; i < process->module_count; i++)
		if (process->modules[i]->kind == XC_MODULE_EXE)
			return process->modules[i];
	return NULL;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	return xc_die_attr(die, DW_AT_linkage_name, &attr) ? dwarf_formstring(&attr) : xc_die_name(die);
}

/* A copy relocation (R_X86_64_COPY and the like) moves a library's variable into the executable, which then has a
 * global object of that name and size. The original in the library is unused. */
static void prefer_copy(const struct xc_process *process, const struct xc_module *module, Dwarf_Die *die,
			struct xc_value *value)
{
	uint64_t size;
	struct xc_module *exe = executable(process);
	if (!exe || !module || module == exe || !exe->bias_known || value->kind != XC_VALUE_MEMORY ||
	    !xc_die_flag(die, DW_AT_external) || !xc_type_size(value->type, &size))
		return;
	const char *name = linkage_name(die);
	const struct xc_symtab *table = xc_debugfile_symbols(xc_debugfile_of(process, exe));
	const struct xc_symbol *symbol = name ? xc_symtab_named(table, name) : NULL;
	if (symbol && symbol->type == STT_OBJECT && symbol->bind != STB_LOCAL && symbol->size == size)
		value->addr = exe->bias + symbol->value;
}

/* A variable without a location may be an alias (environ of __environ in glibc), or be defined in a file without debug
 * information. Then the symbol has the address and the DIE the type. */
static void find_symbol(const struct xc_process *process, Dwarf_Die *die, struct xc_value *value)
{
	Dwarf_Attribute attr;
	uint64_t size;
	xc_addr addr;
	if (value->kind != XC_VALUE_ABSENT || !xc_die_flag(die, DW_AT_external) ||
	    xc_die_attr(die, DW_AT_location, &attr) || xc_die_attr(die, DW_AT_const_value, &attr))
		return;
	const char *name = linkage_name(die);
	const struct xc_symbol *symbol = name ? xc_symbol_find(process, name, NULL, &addr) : NULL;
	if (symbol && symbol->type == STT_OBJECT && symbol->bind != STB_LOCAL &&
	    (!xc_type_size(value->type, &size) || symbol->size == size))
		*value = xc_value_memory(process, value->type, addr);
}

void xc_variable_static(const struct xc_process *process, const struct xc_module *module,
			const struct xc_thread *thread, Dwarf_Die *die, struct xc_arena *arena, struct xc_value *out)
{
	struct xc_expr_context c = {.process = process, .module = module, .thread = thread, .scratch = arena};
	xc_expr_variable(&c, die, out);
	find_symbol(process, die, out);
	prefer_copy(process, module, die, out);
}

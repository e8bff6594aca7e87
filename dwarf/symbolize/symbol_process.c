/* symbol_process: the symbols of all modules of a process.
 *
 * Only a symbol without a size is doubtful: it extends to the next symbol, and code in between may have lost its own
 * symbol (static functions of a stripped program, after the start-up code's frame_dummy). Call frame information
 * still has the starts of those functions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/module/cfimodule.h"
#include "dwarf/elf/demangle.h"
#include "dwarf/elf/symbol.h"

const struct xc_symbol *xc_symbol_at(const struct xc_process *process, struct xc_module *module, uint64_t file_addr)
{
	struct xc_debugfile *df = xc_debugfile_of(process, module);
	const struct xc_symbol *symbol = xc_symtab_at(xc_debugfile_symbols(df), file_addr);
	bool names = symbol && (symbol->size || xc_cfimodule_reaches(df, symbol->value, file_addr));
	return names ? symbol : NULL;
}

static const struct xc_symbol *named_in(const struct xc_process *process, bool vdso, const char *name,
					struct xc_module **module_out)
{
	for (size_t i = 0; i < process->module_count; i++) {
		struct xc_module *module = process->modules[i];
		if (!module->bias_known || (module->kind == XC_MODULE_VDSO) != vdso)
			continue;
		const struct xc_symtab *table = xc_debugfile_symbols(xc_debugfile_of(process, module));
		const struct xc_symbol *symbol = xc_symtab_named(table, name);
		*module_out = module;
		if (symbol)
			return symbol;
	}
	return NULL;
}

/* The dynamic linker never binds a name to the vDSO, which exports clock_gettime as the C library does. */
const struct xc_symbol *xc_symbol_find(const struct xc_process *process, const char *name,
				       struct xc_module **module_out, xc_addr *addr_out)
{
	struct xc_module *module;
	const struct xc_symbol *symbol = named_in(process, false, name, &module);
	if (!symbol)
		symbol = named_in(process, true, name, &module);
	if (!symbol)
		return NULL;
	if (module_out)
		*module_out = module;
	if (addr_out)
		*addr_out = symbol->type == STT_TLS ? symbol->value : module->bias + symbol->value;
	return symbol;
}

const char *xc_symbol_describe(const struct xc_process *process, xc_addr addr, char *buf, size_t size)
{
	struct xc_module *module = xc_process_module(process, addr);
	if (!module || !module->bias_known || size == 0)
		return NULL;
	const struct xc_symbol *symbol = xc_symbol_at(process, module, addr - module->bias);
	if (!symbol)
		return NULL;
	xc_auto(xc_freep) char *demangled = xc_demangle(symbol->name, false);
	const char *name = demangled ? demangled : symbol->name;
	uint64_t offset = addr - module->bias - symbol->value;
	char at[24] = "";
	if (offset)
		snprintf(at, sizeof at, "+0x%" PRIx64, offset);
	size_t rest = strlen(at) + sizeof "...", length = strlen(name);
	if (length + strlen(at) < size || size < 2 * rest)
		snprintf(buf, size, "%s%s", name, at);
	else /* template names: keep the front, which matters, and the offset */
		snprintf(buf, size, "%.*s...%s", (int)(size - rest), name, at);
	return buf;
}

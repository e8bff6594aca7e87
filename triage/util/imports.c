/* imports: the relocations of a module, sorted by the places that they fill. */
#include "triage/util/imports.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/module/debugfile.h"
#include "triage/util/names.h"

enum { MOST = 20000, ALL = 64 << 10 }; /* limits: relocations of a section, of a module */

struct import {
	uint64_t place; /* of the file */
	size_t table;   /* the section that names the symbol */
	size_t symbol;
};

struct xc_imports {
	struct import *items;
	size_t count, capacity;
};

/* Relocations without a symbol name nothing. */
static void add(struct xc_imports *imports, const GElf_Shdr *header, uint64_t place, uint64_t symbol)
{
	if (!symbol || imports->count == ALL)
		return;
	imports->items = xc_grow(imports->items, imports->count, &imports->capacity, sizeof *imports->items);
	imports->items[imports->count++] =
		(struct import){.place = place, .table = header->sh_link, .symbol = (size_t)symbol};
}

static void add_section(struct xc_imports *imports, const GElf_Shdr *header, Elf_Data *data)
{
	uint64_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	for (int i = 0; i < MOST && (uint64_t)i < count; i++) {
		GElf_Rela rela;
		GElf_Rel rel;
		if (header->sh_type == SHT_RELA && gelf_getrela(data, i, &rela))
			add(imports, header, rela.r_offset, GELF_R_SYM(rela.r_info));
		else if (header->sh_type == SHT_REL && gelf_getrel(data, i, &rel))
			add(imports, header, rel.r_offset, GELF_R_SYM(rel.r_info));
	}
}

static int compare(const void *a, const void *b)
{
	const struct import *x = a, *y = b;
	return x->place < y->place ? -1 : x->place > y->place;
}

static const struct xc_imports *imports_of(const struct xc_process *process, struct xc_module *module, Elf *elf)
{
	/* The facts of a process are const once it is open; its caches are not facts. */
	struct xc_arena *arena = &((struct xc_process *)process)->arena;
	struct xc_imports read = {.count = 0}, *kept;
	if (module->imports)
		return module->imports;
	for (Elf_Scn *at = elf_nextscn(elf, NULL); at; at = elf_nextscn(elf, at)) {
		GElf_Shdr header;
		if (!gelf_getshdr(at, &header) || (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
			continue;
		Elf_Data *data = elf_getdata(at, NULL);
		if (data)
			add_section(&read, &header, data);
	}
	kept = xc_arena_alloc(arena, sizeof *kept);
	kept->items = xc_arena_alloc(arena, (read.count + 1) * sizeof *kept->items);
	for (size_t i = 0; i < read.count; i++)
		kept->items[i] = read.items[i];
	kept->count = read.count;
	qsort(kept->items, kept->count, sizeof *kept->items, compare);
	free(read.items);
	module->imports = kept;
	return kept;
}

static const char *symbol_name(Elf *elf, size_t table, size_t index)
{
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf_Scn *section = elf_getscn(elf, table);
	if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || index > INT32_MAX ||
	    !gelf_getsym(elf_getdata(section, NULL), (int)index, &symbol))
		return NULL;
	return elf_strptr(elf, header.sh_link, symbol.st_name);
}

const char *xc_imports_at(const struct xc_process *process, xc_addr slot)
{
	struct xc_module *module = xc_process_module(process, slot);
	Elf *elf = module && module->bias_known ? xc_debugfile_elf(xc_debugfile_of(process, module)) : NULL;
	if (!elf)
		return NULL;
	const struct xc_imports *imports = imports_of(process, module, elf);
	const struct import key = {.place = slot - module->bias};
	const struct import *found = bsearch(&key, imports->items, imports->count, sizeof key, compare);
	const char *name = found ? symbol_name(elf, found->table, found->symbol) : NULL;
	return name && *name ? name : NULL;
}

/* ---- handlers of signals ---- */

static bool is_library(const struct xc_module *module)
{
	static const char *const names[] = {"libc.so", "libc-", "ld-linux", "ld.so", "ld-", "libpthread", NULL};
	return xc_names_begin(names, module->name);
}

static bool sets_handlers(const struct xc_process *process, struct xc_module *module)
{
	static const char *const names[] = {"sigaction", "signal",  "bsd_signal",  "sysv_signal",      "__sysv_signal",
					    "sigset",    "ssignal", "__sigaction", "__libc_sigaction", NULL};
	Elf *elf = module->bias_known ? xc_debugfile_elf(xc_debugfile_of(process, module)) : NULL;
	const struct xc_imports *imports = elf ? imports_of(process, module, elf) : NULL;
	for (size_t i = 0; imports && i < imports->count; i++) {
		const char *name = symbol_name(elf, imports->items[i].table, imports->items[i].symbol);
		if (name && xc_names_find(names, name))
			return true;
	}
	return !imports || !imports->count || imports->count == ALL;
}

bool xc_imports_handlers(const struct xc_process *process)
{
	bool library = false;
	for (size_t i = 0; i < process->module_count; i++) {
		struct xc_module *module = process->modules[i];
		if (module->kind == XC_MODULE_VDSO)
			continue;
		if (is_library(module))
			library |= strncmp(module->name, "libc", 4) == 0;
		else if (sets_handlers(process, module))
			return true;
	}
	return !library;
}

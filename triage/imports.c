#include "imports.h"

#include <gelf.h>

#include "../dwarf/debugfile.h"

enum { MOST = 20000 }; /* relocations of a section that are looked at */

/* The symbol that a relocation at this place of the file names; SIZE_MAX when there is none. */
static size_t symbol_at(Elf_Data *data, const GElf_Shdr *header, uint64_t place)
{
	size_t count = header->sh_entsize ? (size_t)(header->sh_size / header->sh_entsize) : 0;
	for (size_t i = 0; i < count && i < MOST; i++) {
		GElf_Rela rela;
		GElf_Rel rel;
		if (header->sh_type == SHT_RELA && gelf_getrela(data, (int)i, &rela) && rela.r_offset == place)
			return GELF_R_SYM(rela.r_info);
		if (header->sh_type == SHT_REL && gelf_getrel(data, (int)i, &rel) && rel.r_offset == place)
			return GELF_R_SYM(rel.r_info);
	}
	return SIZE_MAX;
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
	const char *name = NULL;
	for (Elf_Scn *at = elf ? elf_nextscn(elf, NULL) : NULL; at && !name; at = elf_nextscn(elf, at)) {
		GElf_Shdr header;
		if (!gelf_getshdr(at, &header) || (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
			continue;
		Elf_Data *data = elf_getdata(at, NULL);
		size_t symbol = data ? symbol_at(data, &header, slot - module->bias) : SIZE_MAX;
		if (symbol != SIZE_MAX)
			name = symbol_name(elf, header.sh_link, symbol);
	}
	return name && *name ? name : NULL;
}

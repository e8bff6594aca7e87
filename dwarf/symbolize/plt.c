/* plt: sections .plt, .plt.sec and .plt.got of x86-64 (psABI 1.0, 5.2 and 13.1).
 *
 *     .plt        jmp *slot(%rip); push $index; jmp .plt                16 bytes; with -z ibtplt no jump through a slot
 *     .plt.sec    [endbr64]; [bnd] jmp *slot(%rip); padding             16 bytes
 *     .plt.got    the same, for slots that are bound at start           8 or 16 bytes
 */
#include "dwarf/symbolize/plt.h"

#include <gelf.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/elf/budget.h"

enum { SMALL = 8, STUB = 16, ENDBR = 4, JUMP = 6 };

/* The bytes of a stub's section and its address; NULL when the address is in none. */
static const Elf_Data *section_at(Elf *elf, uint64_t addr, GElf_Shdr *h)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		if (!gelf_getshdr(s, h) || h->sh_type != SHT_PROGBITS || !(h->sh_flags & SHF_EXECINSTR) ||
		    addr < h->sh_addr || addr - h->sh_addr >= h->sh_size)
			continue;
		const char *name = elf_strptr(elf, names, h->sh_name);
		Elf_Data *data = name && xc_begins_with(name, ".plt") ? elf_rawdata(s, NULL) : NULL;
		return data && data->d_buf && data->d_size == h->sh_size ? data : NULL;
	}
	return NULL;
}

/* The address of the slot through which the code of a stub jumps. */
static bool slot_of(const uint8_t *code, size_t size, uint64_t addr, uint64_t *slot)
{
	static const uint8_t endbr64[ENDBR] = {0xf3, 0x0f, 0x1e, 0xfa};
	int32_t distance;
	size_t at = size > ENDBR && memcmp(code, endbr64, ENDBR) == 0 ? ENDBR : 0;
	at += at < size && code[at] == 0xf2; /* bnd */
	if (size < at + JUMP || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&distance, code + at + 2, sizeof distance);
	*slot = addr + at + JUMP + (uint64_t)(int64_t)distance;
	return true;
}

/* The name in a section of relocations for a slot. */
static const char *name_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *h, uint64_t slot)
{
	Elf_Data *data = elf_getdata(section, NULL), *symbols;
	Elf_Scn *table = elf_getscn(elf, h->sh_link);
	GElf_Shdr table_h;
	GElf_Rela rela;
	GElf_Sym symbol;
	if (!data || !table || !gelf_getshdr(table, &table_h) || !(symbols = elf_getdata(table, NULL)))
		return NULL;
	for (int i = 0; gelf_getrela(data, i, &rela); i++) {
		uint32_t type = GELF_R_TYPE(rela.r_info);
		if (!xc_budget_spend(1))
			return NULL;
		if (rela.r_offset != slot || (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT))
			continue;
		bool named = GELF_R_SYM(rela.r_info) < INT32_MAX &&
			     gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol);
		return named ? elf_strptr(elf, table_h.sh_link, symbol.st_name) : NULL;
	}
	return NULL;
}

static const char *name_of(Elf *elf, uint64_t slot)
{
	const char *name = NULL;
	GElf_Shdr h;
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s && !name; s = elf_nextscn(elf, s))
		if (gelf_getshdr(s, &h) && h.sh_type == SHT_RELA && (h.sh_flags & SHF_ALLOC))
			name = name_in(elf, s, &h, slot);
	return name && *name ? name : NULL;
}

bool xc_plt_stub_at(Elf *elf, uint64_t file_addr, struct xc_plt_stub *out)
{
	GElf_Ehdr ehdr;
	GElf_Shdr h;
	uint64_t slot;
	const Elf_Data *data;
	if (!elf || !gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_X86_64 ||
	    !(data = section_at(elf, file_addr, &h)))
		return false;
	uint64_t size = h.sh_entsize == SMALL ? SMALL : STUB, from = (file_addr - h.sh_addr) / size * size;
	uint64_t length = h.sh_size - from < size ? h.sh_size - from : size;
	*out = (struct xc_plt_stub){.lo = h.sh_addr + from, .hi = h.sh_addr + from + length};
	if (!slot_of((const uint8_t *)data->d_buf + from, length, out->lo, &slot))
		return false;
	out->name = name_of(elf, slot);
	return out->name != NULL;
}

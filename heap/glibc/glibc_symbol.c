/* Relocations are in read-only memory, which cores leave out; they are read from libc's file if that is available.
 * RELA stores the value with the place. REL and RELR (a bitmap of places; System V gABI, "relative relocation
 * table") store it in the file at the place itself. */
#include "heap/glibc/glibc_symbol.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"
#include "core/elf/elf.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/elf/symbol.h"

enum { DYNAMIC_MAX = 256, TABLE_MAX = 1 << 20, STRINGS_MAX = 256 << 10, RELEASE_MAX = 1000 };

struct tables {
	uint64_t rela, rela_size, rel, rel_size, relr, relr_size, strings, strings_size;
};

struct reader {
	const struct xc_process *process;
	const struct xc_module *module;
	unsigned word;
	xc_addr slot;
};

static bool get(const struct reader *r, xc_addr addr, uint64_t *value_out)
{
	return xc_space_peek_uint(r->process->space, addr, r->word, value_out);
}

static struct tables read_dynamic(const struct reader *r)
{
	struct tables t = {0};
	uint64_t tag, value;
	xc_addr at = r->module->dynamic;
	for (int i = 0; i < DYNAMIC_MAX && at && get(r, at, &tag) && tag != DT_NULL && get(r, at + r->word, &value);
	     i++, at += 2 * r->word) {
		/* the loader adds the bias in place, but not on every machine */
		xc_addr table = value < r->module->bias ? value + r->module->bias : value;
		if (tag == DT_RELA)
			t.rela = table;
		else if (tag == DT_REL)
			t.rel = table;
		else if (tag == DT_RELR)
			t.relr = table;
		else if (tag == DT_STRTAB)
			t.strings = table;
		else if (tag == DT_STRSZ)
			t.strings_size = value;
		else if (tag == DT_RELASZ)
			t.rela_size = value;
		else if (tag == DT_RELSZ)
			t.rel_size = value;
		else if (tag == DT_RELRSZ)
			t.relr_size = value;
	}
	return t;
}

/* A pointer as stored in the module's file. */
static bool in_file(const struct reader *r, xc_addr *value_out)
{
	const struct xc_source *file = r->module->file;
	const uint64_t at = r->slot - r->module->bias;
	struct xc_elf elf;
	if (!file || !file->bytes)
		return false;
	struct xc_error *err = xc_elf_parse(file->bytes, file->size, &elf);
	if (err) {
		xc_error_free(err);
		return false;
	}
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr p = xc_elf_phdr(&elf, i);
		if (p.type != PT_LOAD || at < p.vaddr || at - p.vaddr >= p.filesz ||
		    !xc_inside(p.offset + (at - p.vaddr), r->word, 0, file->size - 1))
			continue;
		*value_out = 0;
		for (unsigned k = 0; k < r->word; k++)
			*value_out |= (uint64_t)file->bytes[p.offset + (at - p.vaddr) + k] << 8 * k;
		*value_out += r->module->bias;
		return true;
	}
	return false;
}

/* Tables of places. Entries that name a symbol are not relative relocations. */
static bool in_table(const struct reader *r, xc_addr table, uint64_t size, bool has_addend, xc_addr *value_out)
{
	const uint64_t entry = (has_addend ? 3 : 2) * r->word;
	uint64_t place, info, addend;
	for (uint64_t at = 0; table && at + entry <= size && at < TABLE_MAX; at += entry) {
		if (!get(r, table + at, &place) || !get(r, table + at + r->word, &info))
			return false;
		if (place + r->module->bias != r->slot || info >> (r->word == 8 ? 32 : 8))
			continue;
		if (!has_addend)
			return in_file(r, value_out);
		if (!get(r, table + at + 2 * r->word, &addend))
			return false;
		*value_out = addend + r->module->bias;
		return true;
	}
	return false;
}

static bool in_relr(const struct reader *r, xc_addr table, uint64_t size)
{
	const uint64_t slot = r->slot - r->module->bias;
	uint64_t entry, base = 0;
	for (uint64_t at = 0; table && at + r->word <= size && at < TABLE_MAX; at += r->word) {
		if (!get(r, table + at, &entry))
			return false;
		if (!(entry & 1)) {
			if (entry == slot)
				return true;
			base = entry + r->word;
			continue;
		}
		uint64_t number = (slot - base) / r->word;
		if (slot >= base && number < r->word * 8 - 1 && entry >> (number + 1) & 1)
			return true;
		base += (r->word * 8 - 1) * r->word;
	}
	return false;
}

bool xc_glibc_symbol_initial_value(const struct xc_process *process, const struct xc_module *module, xc_addr slot,
				   xc_addr *value_out)
{
	struct reader r = {process, module, process->arch->word, slot};
	if (!module->bias_known)
		return false;
	struct tables t = read_dynamic(&r);
	return in_table(&r, t.rela, t.rela_size, true, value_out) ||
	       in_table(&r, t.rel, t.rel_size, false, value_out) ||
	       (in_relr(&r, t.relr, t.relr_size) && in_file(&r, value_out));
}

unsigned xc_glibc_symbol_release(const struct xc_process *process, const struct xc_module *module)
{
	static const char version[] = "GLIBC_2.";
	struct reader r = {.process = process, .module = module, .word = process->arch->word};
	struct tables t = read_dynamic(&r);
	const size_t size = t.strings_size < STRINGS_MAX ? (size_t)t.strings_size : STRINGS_MAX;
	unsigned newest = 0;
	if (!t.strings || !size)
		return 0;
	xc_auto(xc_freep) char *text = xc_alloc(size + 1);
	const char *end = text + xc_space_peek(process->space, t.strings, text, size);
	for (const char *at = text; at < end; at += strlen(at) + 1) {
		if (strncmp(at, version, sizeof version - 1) != 0)
			continue;
		unsigned long number = strtoul(at + sizeof version - 1, NULL, 10);
		if (number > newest && number < RELEASE_MAX)
			newest = (unsigned)number;
	}
	return newest;
}

bool xc_glibc_symbol_main_arena(const struct xc_process *process, struct xc_module *module, xc_addr *addr_out)
{
	const struct xc_symtab *symbols = xc_debugfile_symbols(xc_debugfile_of(process, module));
	const struct xc_symbol *symbol = xc_symtab_named(symbols, "main_arena");
	if (!symbol || !module->bias_known)
		return false;
	*addr_out = symbol->value + module->bias;
	return true;
}

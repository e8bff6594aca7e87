/* symbol: names for addresses and addresses for names, from ELF symbol tables.
 *
 * A symbol names an address only when it lies in [value, value + size). Symbols of size 0 (assembler labels) reach to
 * the next symbol of their section and are used only when no sized symbol covers the address; in code they do not
 * reach beyond their own function, as call frame information delimits it (xc_symbol_at). Not thread-safe: look-ups
 * keep their results. */
#ifndef XC_SYMBOL_H
#define XC_SYMBOL_H

#include <libelf.h>

#include "core/process/process.h"

struct xc_symbol {
	const char *name;   /* mangled, version suffix (@@V) stripped; lives as long as the table and its ELF */
	uint64_t value;     /* as in the file; add the module's bias for memory. TLS: offset in the TLS segment */
	uint64_t size;      /* bytes; 0 when the file does not tell */
	uint8_t type, bind; /* STT_…, STB_… */
	uint8_t file;       /* private: which of the two files … */
	uint16_t section;   /* … and which of its sections */
	bool thumb;         /* arm: a function of Thumb code; the bit that marks it is not part of value */
};

struct xc_symtab;

/* Read symbols of kind function, object, TLS, no-type and ifunc from the tables of up to two files (each may be
 * NULL): .symtab, or .dynsym where there is none. Undefined symbols, absolute symbols and mapping symbols (arm,
 * aarch64, riscv: $a, $x, $d) are left out. O(n) once, about 0.1 µs a symbol; names are neither copied nor read. The
 * ELFs must outlive the table. */
struct xc_symtab *xc_symtab_read(Elf *first, Elf *second);

/* Add functions that are not from a symbol table (gopclntab.h): in address order, with names that outlive the table
 * and have names_size bytes in total. Call before the first look-up. O(n). */
void xc_symtab_add(struct xc_symtab *table, const struct xc_symbol *functions, size_t count, size_t names_size);

void xc_symtab_free(struct xc_symtab *table); /* NULL is fine */

/* The symbol that covers a file address, or NULL; never a TLS symbol. Among several: sized before unsized, then the
 * innermost (highest value), local ones last, functions before objects, then the name with fewer leading underscores,
 * global before weak. O(log n). */
const struct xc_symbol *xc_symtab_at(const struct xc_symtab *table, uint64_t file_addr);

/* The symbol with this exact (mangled) name, or NULL; of several the global one, then a default version (@@) before
 * an old one (@). The first look-up builds a hash in O(n); then O(1). */
const struct xc_symbol *xc_symtab_named(const struct xc_symtab *table, const char *name);

/* All of them in address order, TLS symbols last. */
size_t xc_symtab_count(const struct xc_symtab *table);
const struct xc_symbol *xc_symtab_get(const struct xc_symtab *table, size_t index);

/* The name of such a symbol as stored in the file: with its version and of any length. Unlike xc_symtab_get it makes
 * no copy, for scans of all symbols. NULL past the end. */
const char *xc_symtab_mangled(const struct xc_symtab *table, size_t index);

/* The symbol that names a file address of a module: as xc_symtab_at, but code that lost its own symbol is not given
 * that of another function. NULL when none does. */
const struct xc_symbol *xc_symbol_at(const struct xc_process *process, struct xc_module *module, uint64_t file_addr);

/* A symbol of any module by name: the executable first, then load order, the vDSO last; modules whose place in memory
 * is unknown are skipped. module_out and addr_out (in memory) may be NULL. NULL when there is none. TLS symbols have no
 * address: addr_out gets their value. */
const struct xc_symbol *xc_symbol_find(const struct xc_process *process, const char *name,
				       struct xc_module **module_out, xc_addr *addr_out);

/* "name+0x12" or "name" for an address of the process into buf, demangled; a name too long for it is cut and ends in
 * "...", before the offset. NULL when there is no symbol. */
const char *xc_symbol_describe(const struct xc_process *process, xc_addr addr, char *buf, size_t size);

#endif

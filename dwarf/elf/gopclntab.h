/* gopclntab: the functions that Go's run-time knows by itself, for tracebacks: in every program of Go's, also in one that is stripped. It has a
 * section of its own, but where the system's linker made a PIE (cgo): there it lies somewhere in .data.rel.ro.
 *
 * Only tables of Go 1.18 and later, in little-endian files. Bytes of the file are trusted with nothing. */
#ifndef XC_GOPCLNTAB_H
#define XC_GOPCLNTAB_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xc_symtab;

struct xc_gopclntab {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t text;             /* where functions are counted from, an address in the file */
	uint64_t names, names_end; /* offsets; the last byte before the end is a NUL */
	uint64_t functions;        /* offset of functab: count rows, and where the last function ends */
	uint64_t count;
};

struct xc_gofunction {
	uint64_t addr, size; /* in the file; to where the next function begins */
	const char *
		name; /* as the linker has it ("main.(*queue).pop"), of functions in assembler without ".abi0"; in the table */
};

/* Open a table; false when it is none, of another version, or does not hold what it says. O(1). */
bool xc_gopclntab_open(const void *bytes, size_t size, struct xc_gopclntab *out);

/* A function by its index, in address order. False when there is none, or its row is damaged: then others may be sound. O(1). */
bool xc_gopclntab_function(const struct xc_gopclntab *table, uint64_t index, struct xc_gofunction *out);

/* Where the first function begins and the last one ends, in the file. False when that is nowhere. O(1). */
bool xc_gopclntab_range(const struct xc_gopclntab *table, uint64_t *from_out, uint64_t *end_out);

/* Is it Go's: does it have such a table, of whatever version, or what Go's linker says of how it was built? */
bool xc_gopclntab_is_go(Elf *elf);

/* The table of an executable or library. False when it has none, or one that is not of this file: its functions are no code here. */
bool xc_gopclntab_find(Elf *elf, struct xc_gopclntab *out);

/* Add the functions of such a file to its symbols: none when they are not in address order, as they must be. The ELF must outlive them. */
void xc_gopclntab_add(Elf *elf, struct xc_symtab *symbols);

#endif

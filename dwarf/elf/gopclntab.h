/* gopclntab: the function table of Go's runtime, which it uses for tracebacks. Every Go program has it, even a
 * stripped one. It is a section, except where the system's linker made a PIE (cgo): there it lies somewhere in
 * .data.rel.ro.
 *
 * Supports tables of Go 1.18 and later in little-endian files. The bytes of the file are untrusted. */
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
	uint64_t text;             /* the address in the file from which functions are counted */
	uint64_t names, names_end; /* offsets; the last byte before the end is a NUL */
	uint64_t functions;        /* offset of functab: `count` rows, then the end of the last function */
	uint64_t count;
};

struct xc_gofunction {
	uint64_t addr, size; /* addr: in the file; size: up to the next function */
	/* As the linker has it ("main.(*queue).pop"), without ".abi0" for assembler functions; points into the table.
	 * */
	const char *name;
};

/* Open a table; false when it is not one, is of another version, or is inconsistent. O(1). */
bool xc_gopclntab_open(const void *bytes, size_t size, struct xc_gopclntab *out);

/* A function by its index, in address order. False past the end, or when its row is damaged; other rows may still be
 * valid. O(1). */
bool xc_gopclntab_function(const struct xc_gopclntab *table, uint64_t index, struct xc_gofunction *out);

/* The start of the first function and the end of the last one, in the file. False when there is none. O(1). */
bool xc_gopclntab_range(const struct xc_gopclntab *table, uint64_t *from_out, uint64_t *end_out);

/* Is the file a Go program: does it have such a table of any version, or the build information that Go's linker
 * writes? */
bool xc_gopclntab_is_go(Elf *elf);

/* The table of an executable or library. False when it has none, or when the table's functions are not code of this
 * file. */
bool xc_gopclntab_find(Elf *elf, struct xc_gopclntab *out);

/* Add the functions of such a file to its symbols; none when they are not in address order. The ELF must outlive
 * them. */
void xc_gopclntab_add(Elf *elf, struct xc_symtab *symbols);

#endif

/* exidx: unwinding tables of 32-bit arm, .ARM.exidx and .ARM.extab, as rows of call frame information.
 *
 * The tables are valid where a function makes calls, but wrong in its first and last instructions; rows say so
 * (at_calls). */
#ifndef XC_EXIDX_H
#define XC_EXIDX_H

#include "core/elf/elf.h"
#include "dwarf/cfi/cfi_row.h"

struct xc_exidx {
	struct xc_elf elf;
	const uint8_t *entries; /* of the file; NULL: there is no table */
	size_t count;
	uint64_t addr; /* of the table in the file's addresses */
};

/* Find the table of an ELF file for arm; a missing one is not an error. The bytes must stay. */
void xc_exidx_open(struct xc_exidx *exidx, const void *bytes, size_t size);

/* Fill the row (with room for `count` rules) for a file address. False, and row->found is false, when no entry covers
 * it, or when the entry is damaged or of a form that no compiler writes. A function that cannot be unwound
 * ("cantunwind") gives a row whose return address is lost. Cost: O(log n); bounded by 255 words of instructions. */
bool xc_exidx_row(const struct xc_exidx *exidx, const struct xc_arch *arch, uint64_t file_addr, uint16_t count,
		  struct xc_cfi_row *row);

#endif

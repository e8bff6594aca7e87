/* exidx: unwinding tables of 32-bit arm, .ARM.exidx and .ARM.extab, as rows of call frame information.
 *
 * They tell how to leave a function from where it calls; in its first and last instructions they are wrong, which rows say
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

/* Find the table of an ELF file of arm; none is no error. The bytes must stay. */
void xc_exidx_open(struct xc_exidx *exidx, const void *bytes, size_t size);

/* Fill the row (with room for `count` rules) for a file address. False, and the row is not found, where no entry covers it or
 * the entry is damaged or of a form that no compiler writes. A function that cannot be left ("cantunwind") gives a row whose
 * return address is lost. Cost: O(log n); bounded by 255 words of instructions. */
bool xc_exidx_row(const struct xc_exidx *exidx, const struct xc_arch *arch, uint64_t file_addr, uint16_t count,
		  struct xc_cfi_row *row);

#endif

/* cfiprogram: runs the instructions of a call frame information entry up to one address, which gives a row. */
#ifndef XC_CFIPROGRAM_H
#define XC_CFIPROGRAM_H

#include "dwarf/cfi/cfi_row.h"
#include "dwarf/module/cfitable.h"

/* Fill the row (with room for `count` rules) for a file address that the entry covers. False, and the row is empty,
 * when an instruction is unknown or truncated. Cost: one pass over the instructions; no allocation. */
bool xc_cfiprogram_run(const struct xc_arch *arch, const struct xc_cfientry *entry, uint64_t file_addr, uint16_t count,
		       struct xc_cfi_row *row);

#endif

/* plt: the stubs of a procedure linkage table: code that jumps through a slot in which the dynamic linker put the
 * address of a function. They have no symbols. */
#ifndef XC_PLT_H
#define XC_PLT_H

#include <libelf.h>
#include <stdint.h>

#include "core/base/base.h"

struct xc_plt_stub {
	uint64_t lo, hi;  /* file addresses: [lo, hi) */
	const char *name; /* of the function, without its version; lives as long as the ELF */
};

/* The stub that holds a file address: in a section of stubs, and with a slot for which the file has a relocation with
 * a name. Also from the middle of a stub. False elsewhere, and on other machines than x86-64. Reads all relocations of
 * the file: O(n). */
bool xc_plt_stub_at(Elf *elf, uint64_t file_addr, struct xc_plt_stub *out);

#endif

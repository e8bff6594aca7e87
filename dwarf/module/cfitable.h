/* cfitable: the entries of one .eh_frame or .debug_frame, found by address. */
#ifndef XC_CFITABLE_H
#define XC_CFITABLE_H

#include <libelf.h>

#include "core/base/cursor.h"

struct xc_cfitable {
	const uint8_t *bytes; /* of the section; of the ELF that it was opened from */
	size_t size;
	uint64_t addr;         /* of the section in the file's addresses */
	bool eh;               /* .eh_frame */
	uint8_t word;          /* bytes of an address */
	const uint8_t *search; /* pairs of .eh_frame_hdr, or NULL */
	size_t search_count;
	uint64_t search_addr;       /* of .eh_frame_hdr */
	struct xc_cfirange *ranges; /* all entries, by address; built when .eh_frame_hdr does not help */
	size_t range_count, range_capacity;
	bool indexed;
};

/* One entry (FDE) together with its common entry (CIE). */
struct xc_cfientry {
	uint64_t lo, end; /* addresses in the file: [lo, end) */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg;
	bool signal; /* a signal trampoline */
	struct xc_cursor initial, program;
};

/* Open a table: .eh_frame if `eh`, else .debug_frame. elf may be NULL; then, or without such a section, the table is
 * empty. elf must stay open. */
void xc_cfitable_open(struct xc_cfitable *table, Elf *elf, bool eh);
void xc_cfitable_fini(struct xc_cfitable *table);

/* The entry that covers a file address. Cost: O(log n) with .eh_frame_hdr; else the whole section is read once.
 * Bounded by the section's size. */
bool xc_cfitable_find(struct xc_cfitable *table, uint64_t file_addr, struct xc_cfientry *entry_out);

/* The last entry that begins at or before a file address, whether or not it covers it; false when none does. Cost: as
 * above. */
bool xc_cfitable_last(struct xc_cfitable *table, uint64_t file_addr, struct xc_cfientry *entry_out);

/* Both tables of a module, kept in its debugfile and opened on first use (cfimodule.h). Zeroed: not opened. */
struct xc_cfitables {
	struct xc_cfitable eh, debug;
	bool eh_opened, debug_opened;
};

void xc_cfitables_fini(struct xc_cfitables *tables);

#endif

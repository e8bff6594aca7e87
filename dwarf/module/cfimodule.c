/* cfimodule: opens the tables on first use. */
#include "dwarf/module/cfimodule.h"

static struct xc_cfitable *eh_of(struct xc_debugfile *df)
{
	struct xc_cfitables *cfi = xc_debugfile_cfi(df);
	if (!cfi->eh_opened)
		xc_cfitable_open(&cfi->eh, xc_debugfile_elf(df), true);
	cfi->eh_opened = true;
	return &cfi->eh;
}

static struct xc_cfitable *debug_of(struct xc_debugfile *df)
{
	struct xc_cfitables *cfi = xc_debugfile_cfi(df);
	if (!cfi->debug_opened) { /* opening the DWARF is expensive */
		Elf *elf = xc_debugfile_dwarf_elf(df);
		xc_cfitable_open(&cfi->debug, elf ? elf : xc_debugfile_elf(df), false);
	}
	cfi->debug_opened = true;
	return &cfi->debug;
}

bool xc_cfimodule_find(struct xc_debugfile *df, uint64_t file_addr, struct xc_cfientry *entry_out)
{
	return xc_cfitable_find(eh_of(df), file_addr, entry_out) ||
	       xc_cfitable_find(debug_of(df), file_addr, entry_out);
}

/* Does an entry begin after start, or has the entry that holds start ended? */
static bool parts(struct xc_cfitable *table, uint64_t start, uint64_t file_addr)
{
	struct xc_cfientry last;
	return xc_cfitable_last(table, file_addr, &last) &&
	       (last.lo > start || (start < last.end && file_addr >= last.end));
}

bool xc_cfimodule_reaches(struct xc_debugfile *df, uint64_t start, uint64_t file_addr)
{
	struct xc_cfientry entry;
	if (xc_cfitable_find(eh_of(df), file_addr, &entry))
		return start >= entry.lo;
	return !parts(eh_of(df), start, file_addr) && !parts(debug_of(df), start, file_addr);
}

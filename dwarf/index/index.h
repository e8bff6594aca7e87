/* index: names to definitions for the debug information of one module; worked out once, kept as one mapped file.
 *
 * Built by a parallel scan of .debug_info (index_build.h), used through lookup.h. The kept file is named by build-id below
 * $XDG_CACHE_HOME/xcore/index and keyed by the size of the debug file and a SHA-256 of its section headers and
 * .debug_abbrev, so that a forged id meets no foreign index. It is position-independent and used as it stands;
 * every page carries a checksum that is checked when the page is first touched. What is damaged, of another version or
 * another byte order is rebuilt. Where nothing can be kept the index lives in memory.
 * Not thread-safe (building uses threads of its own). */
#ifndef XC_INDEX_H
#define XC_INDEX_H

#include "dwarf/module/debugfile.h"
#include "dwarf/index/index_table.h"

struct xc_index;

/* The index of a module, mapped when it is kept. NULL when it has no debug information. Owned by the caller. */
struct xc_index *xc_index_open(const struct xc_process *process, struct xc_module *module);
void xc_index_close(struct xc_index *index); /* NULL is fine */

/* Is it there? Otherwise it has no entries until it is built. */
bool xc_index_ready(const struct xc_index *index);

/* Build it and keep it; also after something said that it is damaged: entry numbers change. */
void xc_index_rebuild(struct xc_index *index);

/* An index of the few units in which a table of the file (accel.h) knows the name to be; in memory only. NULL when there is no table,
 * it does not know the name, or the units are so many that a whole index is not far. The name is as for xc_accel_find. Owned by
 * the caller; used as any index. */
struct xc_index *xc_index_partial(struct xc_index *index, const char *name, const char *last, size_t last_len);

/* Its entries. Never NULL. */
struct xc_index_table *xc_index_table(struct xc_index *index);

/* The bytes of an entry's own name; NULL when it has none. Borrowed from the debug file. */
const char *xc_index_name(struct xc_index *index, const struct xc_index_entry *entry, size_t *len_out);

/* What an entry is (enum xc_name_kind). */
unsigned xc_index_kind(const struct xc_index_entry *entry);

#endif

/* index: names to definitions for the debug information of one module; built once, kept as one mapped file.
 *
 * Built by a parallel scan of .debug_info (index_build.h), used through lookup.h. The kept file is named by build-id,
 * below $XDG_CACHE_HOME/xcore/index. Its key (index_key.h) binds it to every byte of the sections that it was made from
 * by a hash with a secret of this cache, so a file with a forged build-id never gets another file's index, nor gives it
 * one. Indexes of files out of packs have names of their own. It is position-independent and used in place;
 * every page has a checksum that is verified when the page is first touched. A file that is damaged, of another
 * version or of another byte order is rebuilt. If nothing can be kept, the index is in memory. Not thread-safe
 * (building uses its own threads). */
#ifndef XC_INDEX_H
#define XC_INDEX_H

#include "dwarf/module/debugfile.h"
#include "dwarf/index/index_table.h"

struct xc_index;

/* The index of a module, mapped if it was kept. NULL when it has no debug information. Owned by the caller. */
struct xc_index *xc_index_open(const struct xc_process *process, struct xc_module *module);
void xc_index_close(struct xc_index *index); /* NULL is fine */

/* Is it built? Until then it has no entries. */
bool xc_index_ready(const struct xc_index *index);

/* Build it and keep it; also used when it turned out to be damaged. Entry numbers change. */
void xc_index_rebuild(struct xc_index *index);

/* An index of the few units in which a table of the file (accel.h) lists the name; in memory only. NULL when there is
 * no table, when the table lacks the name, or when the units are so many that a whole index costs hardly more. The
 * name is as for xc_accel_find. Owned by the caller; used like any index. */
struct xc_index *xc_index_partial(struct xc_index *index, const char *name, const char *last, size_t last_len);

/* Its entries. Never NULL. */
struct xc_index_table *xc_index_table(struct xc_index *index);

/* The bytes of an entry's own name; NULL when it has none. Borrowed from the debug file. */
const char *xc_index_name(struct xc_index *index, const struct xc_index_entry *entry, size_t *len_out);

/* The kind of an entry (enum xc_name_kind). */
unsigned xc_index_kind(const struct xc_index_entry *entry);

#endif

/* store_keep: files in the store itself, as hard links or copies, in DIR/kept: .build-id/xx/rest[.debug] where
 * debuggers look for them (gdb: set debug-file-directory DIR/kept), .dwo/ID.dwo and .dwp for split units. */
#ifndef XC_STORE_KEEP_H
#define XC_STORE_KEEP_H

#include "dwarf/symstore/store_state.h"

enum xc_store_kept { XC_STORE_KEPT_BEFORE, XC_STORE_LINKED, XC_STORE_COPIED };

/* Keep a file: link it, or copy it when `copy` is set and a link cannot be made (another file system, another owner)
 * or is not wanted. A file that is already kept stays when it has as much. The content is verified once the file is
 * in place. */
XC_MUST_CHECK struct xc_error *xc_store_keep(const char *dir, const struct xc_store_entry *entry, bool link, bool copy,
					     enum xc_store_kept *kept_out);

/* Remove a kept file if its path is one that the store creates; true when it is gone. */
bool xc_store_unkeep(const char *dir, const char *path);

#endif

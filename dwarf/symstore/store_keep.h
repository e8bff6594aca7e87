/* store_keep: files that stand in the store itself, as hard links or copies, in DIR/kept:
 * .build-id/xx/rest[.debug] as debuggers look for them (gdb: set debug-file-directory DIR/kept), .dwo/ID.dwo and
 * .dwp for split units. */
#ifndef XC_STORE_KEEP_H
#define XC_STORE_KEEP_H

#include "dwarf/symstore/store_state.h"

enum xc_store_kept { XC_STORE_KEPT_BEFORE, XC_STORE_LINKED, XC_STORE_COPIED };

/* Keep a file: link it; copy it where `copy`, and a link cannot be made (another file system, another owner) or is not
 * wanted. One that is kept already stays when it has as much. Checked by its content once it stands there. */
XC_MUST_CHECK struct xc_error *xc_store_keep(const char *dir, const struct xc_store_entry *entry, bool link, bool copy,
					     enum xc_store_kept *kept_out);

/* Remove one, when its path is one of ours; true when it is gone. */
bool xc_store_unkeep(const char *dir, const char *path);

#endif

/* rust_refcell: who else borrows the RefCell of a panic. */
#ifndef XC_RUST_REFCELL_H
#define XC_RUST_REFCELL_H

#include "triage/crash/crash_context.h"

/* For a panic about a RefCell that is borrowed already, in the verdict's message or kind: report the guards (Ref,
 * RefMut) of the program's functions that borrow it, as likely: what was dropped or moved leaves its bytes. "perhaps"
 * where the RefCell is not known. Where no variable is such a guard, the nearest of the callers that has one on its
 * stack. */
void xc_rust_refcell_report(struct xc_crash_context *crash);

#endif

/* rust_lock: types of locks of Rust, and functions that release them. */
#ifndef XC_RUST_LOCK_H
#define XC_RUST_LOCK_H

#include "core/process/process.h"
#include "dwarf/types/type.h"

/* Is it a Mutex or an RwLock: "std::sync::poison::mutex::Mutex<…>", not "alloc::sync::Arc<…Mutex<…>>"? */
bool xc_rust_lock_is(const struct xc_type *type);

/* Does the function around an address drop a MutexGuard somewhere, itself or by inlined code? Only such a function can
 * have one without a name. False when its code cannot be read. */
bool xc_rust_lock_drops(const struct xc_process *process, xc_addr pc);

#endif

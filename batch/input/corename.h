/* corename: what the name of a core file suggests. These are hints only, because the dying program chose its own name.
 *
 * core, core.PID, core.COMM.PID.TIME and the like (core(5)); core._usr_bin_x.UID.BOOT.PID.TIME of apport;
 * core.COMM.UID.BOOT.PID.USEC of systemd-coredump, which escapes unwanted characters as \xNN. Each may be
 * compressed. */
#ifndef XC_CORENAME_H
#define XC_CORENAME_H

#include "core/base/arena.h"

/* Does the name contain "core" as a separate word, and is it not an archive's? */
bool xc_corename_is(const char *name);

/* Is the name almost certainly a core's: "core", or "core.4711"? */
bool xc_corename_is_plain(const char *name);

/* The program's name (its first 15 bytes, in most forms), in the arena; NULL if the name does not contain it. */
const char *xc_corename_comm(const char *name, struct xc_arena *arena);

#endif

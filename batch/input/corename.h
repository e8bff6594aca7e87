/* corename: what the name of a core file tells: hints only, for the kernel writes into it what the dying program called itself.
 *
 * core, core.PID, core.COMM.PID.TIME and the like (core(5)); core._usr_bin_x.UID.BOOT.PID.TIME of apport;
 * core.COMM.UID.BOOT.PID.USEC of systemd-coredump, which writes what it will not have in a name as \xNN. Each may be compressed. */
#ifndef XC_CORENAME_H
#define XC_CORENAME_H

#include "core/base/arena.h"

/* Is this the name of a core: has it "core" as a word of its own, and is it no archive? */
bool xc_corename_is(const char *name);

/* Can it hardly be anything else: "core", or "core.4711"? */
bool xc_corename_is_plain(const char *name);

/* What the program was called (at most 15 bytes of it, in most forms), into the arena; NULL when the name does not tell. */
const char *xc_corename_comm(const char *name, struct xc_arena *arena);

#endif

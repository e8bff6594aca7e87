/* settings: hashes of what decides about records, so that none is taken for another's.
 *
 * Parts of several machines belong together when each was given the same: that is one hash, and paths of directories count in it as they
 * were given, since machines mount them elsewhere. A checkpoint stays on its machine: what the paths lead to counts in its hash, too. */
#ifndef XC_SETTINGS_H
#define XC_SETTINGS_H

#include "batch/sandbox/worker.h"

/* The version, the schema of records, these options, what the symbol store holds (its files' build-ids and contents, wherever they lie:
 * of two users' stores with the same files it is the same), and `hints`: a digest of what is known besides the cores (journal.h), or NULL.
 * Hex, the arena's. Cost: the store's files, n log n. */
const char *xc_settings_shared(const struct xc_worker_options *options, const char *version, const char *hints,
			       struct xc_arena *arena);

/* Of the above, of the file that xcore runs from, and of what this machine has under these names: where they lead, and when --exe and the
 * directories of debug information (--debug-dir, /usr/lib/debug below --sysroot or /) last got or lost a file. What comes, goes or is
 * exchanged deeper in a sysroot, or at a path that a core names, is seen by the records that were made with or without it (file_dependency.h). Hex,
 * the arena's. Cost: some hundred stats for each directory. */
const char *xc_settings_here(const struct xc_worker_options *options, const char *shared, struct xc_arena *arena);

#endif

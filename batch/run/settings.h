/* settings: hashes of the settings that affect records, so that incompatible records are never mixed.
 *
 * Parts from several machines belong together if they were made with the same options. This is one hash; it has
 * directories by name, because machines mount them differently. A checkpoint stays on its machine, so its hash also has
 * what the names refer to. */
#ifndef XC_SETTINGS_H
#define XC_SETTINGS_H

#include "batch/sandbox/worker.h"

/* Hash of the version, the schema of records, these options, the content of the symbol store (build-ids and file
 * contents, not locations: two users' stores with the same files are equal), and `hints`: a digest of facts from
 * outside of the cores (journal.h), or NULL. Hex, in the arena. Cost: n log n in the store's files. */
const char *xc_settings_shared(const struct xc_worker_options *options, const char *version, const char *hints,
			       struct xc_arena *arena);

/* Hash of the above, of the xcore binary, and of what this machine has under the given names: what they refer to, and
 * when --exe and the directories of debug information (--debug-dir, /usr/lib/debug below --sysroot or /) last changed.
 * Changes deeper in a sysroot, or at a path that a core names, are detected through the dependencies of records
 * (file_dependency.h). Hex, in the arena. Cost: some hundred stats per directory. */
const char *xc_settings_here(const struct xc_worker_options *options, const char *shared, struct xc_arena *arena);

#endif

/* debugsearch: finds the separate debug file of a module, and the file that dwz moved its common parts to.
 *
 * Places, in order: a pack (and then nothing else); each --debug-dir by build-id; the symbol store; /usr/lib/debug by
 * build-id; --debug-dir by path and name; .gnu_debuglink beside the file, in .debug below it and in /usr/lib/debug;
 * debuginfod when enabled; files of the store that have symbols but no DWARF. A file is accepted only when its
 * build-id is that of the module or, where the module has no build-id, when its CRC is the one in .gnu_debuglink. */
#ifndef XC_DEBUGSEARCH_H
#define XC_DEBUGSEARCH_H

#include "core/process/finder.h"
#include "core/process/process.h"
#include "dwarf/elf/elffile.h"

struct xc_debugsearch {
	const struct xc_finder *finder;
	const struct xc_process *process;
	const struct xc_module *module;
	Elf *elf;            /* the module's own file, for .gnu_debuglink; may be NULL */
	bool *stored;        /* set when the file found is one that the symbol store knew; may be NULL */
	struct xc_text *why; /* gets the reason when a file was found and refused, or when debuginfod failed */
};

/* True when found: *file_out is open and owned by the caller. */
bool xc_debugsearch_debug(const struct xc_debugsearch *search, struct xc_elffile *file_out);

/* The alternate file that the DWARF of `elf` (opened from `path`) refers to: .gnu_debugaltlink or .debug_sup.
 * *wanted_out tells whether it refers to one; if so and the result is false, `why` says what is missing. */
bool xc_debugsearch_alt(const struct xc_debugsearch *search, Elf *elf, const char *path, struct xc_elffile *file_out,
			bool *wanted_out);

/* The module's own file from debuginfod, when enabled. */
bool xc_debugsearch_executable(const struct xc_debugsearch *search, struct xc_elffile *file_out);

/* The root directory of a local path, NULL for "/", and the rest of the path. Symbolic links must be resolved inside
 * the root. */
const char *xc_debugsearch_root(const struct xc_debugsearch *search, const char *path, const char **rest);

#endif

/* debuginfod: asking the servers in DEBUGINFOD_URLS for files by build-id; only when the user said --debuginfod.
 *
 * The library is loaded at run time, and only then. While it is not wanted DEBUGINFOD_URLS is hidden from all
 * libraries, since parts of elfutils act on it by themselves. */
#ifndef XC_DEBUGINFOD_H
#define XC_DEBUGINFOD_H

#include "../core/elf.h"
#include "../core/source.h"

/* Take DEBUGINFOD_URLS out of the environment (allowed false) or put it back (true). */
void xc_debuginfod_allow(bool allowed);

enum xc_debuginfod_kind { XC_DEBUGINFOD_DEBUG, XC_DEBUGINFOD_EXECUTABLE };

/* Fetch a file; may take as long as the network does. Errors: XC_ERR_UNSUPPORTED (no library, no servers named),
 * XC_ERR_NOT_FOUND (no server has it), XC_ERR_IO. The file is not checked: compare its build-id. */
XC_MUST_CHECK struct xc_error *xc_debuginfod_fetch(const struct xc_build_id *id, enum xc_debuginfod_kind kind,
						   struct xc_source **source_out);

#endif

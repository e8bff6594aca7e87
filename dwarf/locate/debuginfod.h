/* debuginfod: files by build-id from the servers in DEBUGINFOD_URLS; only with --debuginfod.
 *
 * The library is loaded at run time, when first needed. Without --debuginfod, DEBUGINFOD_URLS is hidden from all
 * libraries, since parts of elfutils use it by themselves. Files downloaded earlier are taken from the client's cache
 * without asking a server, so they are available offline. After one server failed to answer, no further requests are
 * made in this run. Not thread-safe. */
#ifndef XC_DEBUGINFOD_H
#define XC_DEBUGINFOD_H

#include "core/elf/elf.h"
#include "core/io/source.h"

/* Remove DEBUGINFOD_URLS from the environment (allowed false) or restore it (true). */
void xc_debuginfod_allow(bool allowed);

enum xc_debuginfod_kind { XC_DEBUGINFOD_DEBUG, XC_DEBUGINFOD_EXECUTABLE };

struct xc_debuginfod_request {
	const struct xc_build_id *id;
	enum xc_debuginfod_kind kind;
	const char *what; /* the file's name in the progress line: "libfoo.so.1" */
	bool quiet;       /* no progress */
};

/* Fetch a file. Takes as long as the network does, but ends when no data arrives for DEBUGINFOD_TIMEOUT seconds
 * (default 30; no limit when it is 0 or less). Errors: XC_ERR_UNSUPPORTED (no library, no servers named),
 * XC_ERR_NOT_FOUND (no server has it), XC_ERR_IO (no answer; also for all later requests of this run). The file is
 * not checked: compare its build-id. */
XC_MUST_CHECK struct xc_error *xc_debuginfod_fetch(const struct xc_debuginfod_request *request,
						   struct xc_source **source_out);

/* The reason why debuginfod could not be used, or is no longer used: one line for the user, and a hint in *hint_out
 * (which may get NULL); NULL when there is no trouble. Borrowed. */
const char *xc_debuginfod_trouble(const char **hint_out);

/* The directory where the client library keeps downloads; malloc'ed. */
char *xc_debuginfod_cache_dir(void);

#endif

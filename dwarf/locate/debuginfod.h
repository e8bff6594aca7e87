/* debuginfod: asking the servers in DEBUGINFOD_URLS for files by build-id; only when the user said --debuginfod.
 *
 * The library is loaded at run time, and only then. While it is not wanted DEBUGINFOD_URLS is hidden from all
 * libraries, since parts of elfutils act on it by themselves. What was downloaded before is taken from the
 * client's cache without asking anybody, so it is there without a network too. A server that does not answer is
 * waited for once in a run: then nothing more is asked. Not thread-safe. */
#ifndef XC_DEBUGINFOD_H
#define XC_DEBUGINFOD_H

#include "core/elf/elf.h"
#include "core/io/source.h"

/* Take DEBUGINFOD_URLS out of the environment (allowed false) or put it back (true). */
void xc_debuginfod_allow(bool allowed);

enum xc_debuginfod_kind { XC_DEBUGINFOD_DEBUG, XC_DEBUGINFOD_EXECUTABLE };

struct xc_debuginfod_request {
	const struct xc_build_id *id;
	enum xc_debuginfod_kind kind;
	const char *what; /* whose file, for the progress line: "libfoo.so.1" */
	bool quiet;       /* no progress */
};

/* Fetch a file; takes as long as the network does, but ends when nothing arrives for DEBUGINFOD_TIMEOUT seconds
 * (30 when that is not set; no limit when it is 0 or less). Errors: XC_ERR_UNSUPPORTED (no library, no servers
 * named), XC_ERR_NOT_FOUND (no server has it), XC_ERR_IO (no answer; and for all further requests of this run).
 * The file is not checked: compare its build-id. */
XC_MUST_CHECK struct xc_error *xc_debuginfod_fetch(const struct xc_debuginfod_request *request,
						   struct xc_source **source_out);

/* Why nothing could be asked, or nothing more: one line for people, with *hint_out (may be NULL inside); NULL when
 * all is well. Borrowed. */
const char *xc_debuginfod_trouble(const char **hint_out);

/* Where the client library keeps what it downloads; malloc'ed. */
char *xc_debuginfod_cache_dir(void);

#endif

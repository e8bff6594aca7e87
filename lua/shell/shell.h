/* shell: an interactive prompt: lines of Lua are run as they are typed, and their results are shown.
 *
 * It runs in this process, so variables persist, and ^C interrupts a line. Only the limit on memory applies; when it
 * is reached, the shell restarts with an empty state. */
#ifndef XC_SHELL_H
#define XC_SHELL_H

#include "lua/vm/host.h"

struct xc_shell_options {
	struct xc_host_options host; /* `output` is set by the shell */
	FILE *in, *out;     /* lines are edited when `in` and standard output are terminals, else read plainly */
	FILE *history;      /* open for reading and appending; NULL: no history; borrowed */
	const char *banner; /* shown first on a terminal; may be NULL */
	bool color;
	unsigned width;
};

/* Runs until the end of input. Errors: XC_ERR_IO when output fails. Errors of scripts are shown, and the shell
 * continues. */
XC_MUST_CHECK struct xc_error *xc_shell(const struct xc_shell_options *options);

#endif

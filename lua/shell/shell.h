/* shell: a prompt on the target: lines of Lua are run as they are typed, and what they give is shown.
 *
 * It runs in this process, so variables stay, and ^C ends a line that takes too long. Of the limits only memory holds; one that was
 * reached starts the shell afresh. */
#ifndef XC_SHELL_H
#define XC_SHELL_H

#include "lua/vm/host.h"

struct xc_shell_options {
	struct xc_host_options host; /* output is the shell's own */
	FILE *in, *out;     /* lines are edited when `in` and standard output are a terminal, else read as they are */
	FILE *history;      /* open for reading and appending; NULL: none is kept; borrowed */
	const char *banner; /* shown first on a terminal; may be NULL */
	bool color;
	unsigned width;
};

/* Until the end of input. Errors: XC_ERR_IO when nothing can be written. Errors of scripts are shown and the shell goes on. */
XC_MUST_CHECK struct xc_error *xc_shell(const struct xc_shell_options *options);

#endif

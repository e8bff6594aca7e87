/* corefd: the descriptor of a core that was listed some time ago, and may have been exchanged meanwhile. */
#ifndef XC_COREFD_H
#define XC_COREFD_H

#include "batch/input/input.h"

struct xc_corefd {
	int fd;          /* for reading, of a regular file; -1: there is none */
	const char *why; /* there is none; static, or strerror's until its next call */
	bool hindered; /* that is not of the file, but of this process or machine: too many descriptors, no right to it */
};

/* Never blocks, and opens nothing that is no regular file, and gives none but the very file that was listed: a
 * symbolic link that was put in its place leads nowhere. */
struct xc_corefd xc_corefd_open(const struct xc_input *input);

#endif

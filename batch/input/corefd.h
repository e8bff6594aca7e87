/* corefd: opens a core that was listed earlier, and may have been replaced since. */
#ifndef XC_COREFD_H
#define XC_COREFD_H

#include "batch/input/input.h"

struct xc_corefd {
	int fd;          /* of a regular file, for reading; -1: it could not be opened */
	const char *why; /* the reason; static, or strerror's until its next call */
	bool hindered;   /* this process or machine is the reason, not the file: too many descriptors, no permission */
};

/* Never blocks, opens regular files only, and returns only the very file that was listed: a symbolic link put in its
 * place is not followed. */
struct xc_corefd xc_corefd_open(const struct xc_input *input);

#endif

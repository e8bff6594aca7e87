/* remarked: what a process was remarked on while it was opened. */
#ifndef XC_TEST_REMARKED_H
#define XC_TEST_REMARKED_H

#include <string.h>

#include "core/process/process.h"

/* A remark contains `part`. */
static inline bool remarked(const struct xc_process *p, const char *part)
{
	for (const struct xc_remark *r = p->remarks; r; r = r->next)
		if (strstr(r->text, part))
			return true;
	return false;
}

#endif

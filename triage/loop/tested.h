/* tested: the variables that a thread read while it tested whether it may go on. */
#ifndef XC_TESTED_H
#define XC_TESTED_H

#include "triage/crash/crash_context.h"
#include "triage/waits/wait.h"
#include "triage/loop/writers.h"

enum { XC_TESTED_READS = 32, XC_TESTED_VARIABLES = 2 };

/* What instructions read, in their order. */
struct xc_tested {
	struct {
		xc_addr addr;
		uint32_t size; /* bytes */
		uint64_t bits;
	} reads[XC_TESTED_READS];
	size_t count;
	bool more;                                        /* than have room */
	struct xc_written variables[XC_TESTED_VARIABLES]; /* set by xc_tested_words: those that are numbers */
	size_t variable_count;
};

void xc_tested_add(struct xc_tested *tested, xc_addr addr, uint32_t size, uint64_t bits);

/* "`this->ready` (0) and `this->jobs` (0 elements)", with the values that are in memory now. NULL where a variable is
 * not known, or nothing was read. Pointers on the way to what was read are left out. `view` is the thread's view, with
 * its frames; in the report's arena. Names variables of files, of the frame of the wait, and of its callers. */
const char *xc_tested_words(const struct xc_crash_context *view, const struct xc_wait *wait, struct xc_tested *tested);

#endif

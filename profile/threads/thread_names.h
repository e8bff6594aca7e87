/* thread_names: names of threads that began, or got another name, during a profile. */
#ifndef XC_THREAD_NAMES_H
#define XC_THREAD_NAMES_H

#include "core/perf/perf_record.h"
#include "core/process/process.h"
#include "core/text/intern.h"

/* Zeroed, it is empty. */
struct xc_thread_names {
	struct xc_intern texts;
	struct xc_hashtable by_tid; /* → number of its text, plus one */
};

void xc_thread_names_fini(struct xc_thread_names *names);

/* Take a FORK or COMM record of the process: a thread has its creator's name until it gets another. */
void xc_thread_names_take(struct xc_thread_names *names, const struct xc_process *process,
			  const struct xc_perf_record *record);

/* The last name of a thread; NULL: it is not known. Valid until the next call. Asks the kernel about threads of which
 * there was no record. */
const char *xc_thread_names_find(struct xc_thread_names *names, const struct xc_process *process, pid_t tid);

#endif

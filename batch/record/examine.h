/* examine: makes the record of an open core. This is the work of a worker. */
#ifndef XC_EXAMINE_H
#define XC_EXAMINE_H

#include "core/process/process.h"
#include "batch/record/record.h"

struct xc_examine_options {
	const char *path;  /* path of the core, for the record */
	bool redact;       /* omit possible user data */
	bool without_heap; /* skip the heap and everything that depends on it */
};

/* Determines the verdict, the stack that it concerns (in a deadlock, those of its threads) and the counts over other
 * threads. Everything is allocated in the arena; nothing refers to the process afterwards. Never fails: unavailable
 * data is absent. Cost: that of `analyze` without the other threads' variables. */
struct xc_record *xc_examine(struct xc_process *process, const struct xc_examine_options *options,
			     struct xc_arena *arena);

#endif

/* examine: from an open core to its record. What the worker does. */
#ifndef XC_EXAMINE_H
#define XC_EXAMINE_H

#include "core/process/process.h"
#include "batch/record/record.h"

struct xc_examine_options {
	const char *path;  /* the record's */
	bool redact;       /* leave out what may be the user's data */
	bool without_heap; /* do not walk it: what it would tell is left out */
};

/* Work out the verdict, the stack that it is about (of a deadlock those of its threads) and what is counted of the others. All is put into the
 * arena; nothing refers to the process afterwards. Never fails: what cannot be had is missing. Cost: that of `analyze` without its other
 * threads' variables. */
struct xc_record *xc_examine(struct xc_process *process, const struct xc_examine_options *options,
			     struct xc_arena *arena);

#endif

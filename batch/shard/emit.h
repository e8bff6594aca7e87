/* emit: job files for batch systems that run `triage --shard` on many machines and `--merge` after them.
 *
 * Each is a template (batch/shard/emit/) of the system's own language with @names@; what is put in their places is quoted as that language wants, so
 * that a path is a path whatever is in it. Nothing of this machine is in them. */
#ifndef XC_EMIT_H
#define XC_EMIT_H

#include <stdio.h>

#include "core/base/error.h"
#include "batch/util/wordlist.h"

struct xc_emit {
	struct xc_wordlist operands; /* where the cores are */
	struct xc_wordlist examine;  /* options of looking at a core: "--timeout=30" */
	struct xc_wordlist merge;    /* options of putting together */
	const char *suffix;          /* of the file with the answer: ".txt" */
	unsigned shards;             /* at least 1 */
	unsigned jobs;               /* workers at once in a shard; 0: as the system is best used */
	unsigned memory;             /* megabytes of a worker */
};

/* The names of the systems; ends with NULL. */
extern const char *const xc_emit_systems[];

/* Write the job file of a system, which is one of those. Errors: XC_ERR_USAGE when a word cannot be written in its language, or names standard
 * input; XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_emit_write(const char *system, const struct xc_emit *emit, FILE *out);

#endif

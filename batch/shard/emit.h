/* emit: job files for batch systems, which run `triage --shard` on many machines and `--merge` afterwards.
 *
 * Each is a template (batch/shard/emit/) in the system's own language, with @names@ as placeholders. Inserted text is
 * quoted for that language, so that any path stays a path. A job file contains nothing about this machine. */
#ifndef XC_EMIT_H
#define XC_EMIT_H

#include <stdio.h>

#include "core/base/error.h"
#include "batch/util/wordlist.h"

struct xc_emit {
	struct xc_wordlist operands; /* the locations of the cores */
	struct xc_wordlist examine;  /* options for examining a core: "--timeout=30" */
	struct xc_wordlist merge;    /* options for merging */
	const char *suffix;          /* of the output file: ".txt" */
	unsigned shards;             /* at least 1 */
	unsigned jobs;               /* parallel workers per shard; 0: what suits the system */
	unsigned memory;             /* megabytes per worker */
};

/* Names of the systems; ends with NULL. */
extern const char *const xc_emit_systems[];

/* Writes the job file for one of the systems. Errors: XC_ERR_USAGE if a word cannot be written in its language, or
 * refers to standard input; XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_emit_write(const char *system, const struct xc_emit *emit, FILE *out);

#endif

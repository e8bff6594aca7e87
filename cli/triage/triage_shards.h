/* triage_shards: the files that triage writes for other machines: parts and job files. */
#ifndef XC_TRIAGE_SHARDS_H
#define XC_TRIAGE_SHARDS_H

#include "batch/shard/part.h"
#include "batch/shard/shard.h"
#include "cli/command.h"

/* Writes a part under its name into a directory, which is created; complete or not at all. shared: both, as in
 * output.h. */
XC_MUST_CHECK struct xc_error *xc_triage_save_part(const struct xc_part *part, const char *directory, bool shared);

/* Removes this shard's part of an earlier run, if any: so nobody merges it, whatever becomes of this run. Errors:
 * XC_ERR_IO and others of removing. */
XC_MUST_CHECK struct xc_error *xc_triage_drop_part(const struct xc_shard *shard, const char *directory);

struct xc_triage_jobs {
	const char *system; /* one of xc_emit_systems */
	unsigned shards;    /* 0: suitable for a small cluster */
	unsigned memory;    /* megabytes per worker; 0: the default */
};

/* Writes a job file that does this job on many machines, with the options that were given. */
XC_MUST_CHECK struct xc_error *xc_triage_emit(const struct xc_job *job, const struct xc_triage_jobs *jobs, FILE *out);

#endif

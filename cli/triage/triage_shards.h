/* triage_shards: the files that triage writes for other machines: parts and job files. */
#ifndef XC_TRIAGE_SHARDS_H
#define XC_TRIAGE_SHARDS_H

#include "batch/shard/part.h"
#include "batch/shard/shard.h"
#include "cli/command.h"

/* Write a part under its name into a directory, which is made; whole or not at all; shared: both, as in output.h. */
XC_MUST_CHECK struct xc_error *xc_triage_save_part(const struct xc_part *part, const char *directory, bool shared);

/* Remove the part of this shard that an earlier run left there, if any: whatever becomes of this run, nobody merges what that one found. Errors:
 * XC_ERR_IO and others of removing. */
XC_MUST_CHECK struct xc_error *xc_triage_drop_part(const struct xc_shard *shard, const char *directory);

struct xc_triage_jobs {
	const char *system; /* one of xc_emit_systems */
	unsigned shards;    /* 0: as many as a small cluster wants */
	unsigned memory;    /* megabytes of a worker; 0: the default */
};

/* Write a job file that does what this job was told to do, with the options that were given, on many machines. */
XC_MUST_CHECK struct xc_error *xc_triage_emit(const struct xc_job *job, const struct xc_triage_jobs *jobs, FILE *out);

#endif

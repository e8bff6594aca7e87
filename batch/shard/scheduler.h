/* scheduler: which shard this process is, according to the environment variables of the batch system that started it:
 * Slurm, Kubernetes, GitLab, CircleCI, Buildkite, Grid Engine, PBS, AWS Batch, GNU parallel. */
#ifndef XC_SCHEDULER_H
#define XC_SCHEDULER_H

#include "core/base/error.h"
#include "batch/shard/shard.h"

/* Reads the environment. of: the number of shards, or 0 if the environment should supply it (Kubernetes, PBS and GNU
 * parallel do not). A system that runs a single job is ignored if another one runs several. Errors: XC_ERR_USAGE if
 * nothing says which shard this is, the values make no sense, or two systems contradict each other. */
XC_MUST_CHECK struct xc_error *xc_scheduler_shard(unsigned of, struct xc_shard *shard_out);

#endif

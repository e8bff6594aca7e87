/* scheduler: which shard this process is, as the batch system that started it says in the environment: Slurm, Kubernetes, GitLab,
 * CircleCI, Buildkite, Grid Engine, PBS, AWS Batch, GNU parallel. */
#ifndef XC_SCHEDULER_H
#define XC_SCHEDULER_H

#include "core/base/error.h"
#include "batch/shard/shard.h"

/* Ask the environment. of: how many shards there are, or 0 when it is to say that too (Kubernetes, PBS and GNU parallel do not). A system that
 * runs but one job says nothing where another one runs several.
 * Errors: XC_ERR_USAGE when nothing says which shard this is, what is said makes no sense, or two say different things. */
XC_MUST_CHECK struct xc_error *xc_scheduler_shard(unsigned of, struct xc_shard *shard_out);

#endif

/* scheduler: one row per batch system. The variables are those of Slurm 22.05 (sbatch), Kubernetes 1.33 (Indexed Jobs),
 * GitLab 17 (parallel), CircleCI (parallelism), Buildkite (parallelism), Grid Engine 8.1 (qsub -t), PBS (qsub -J), AWS
 * Batch (array jobs) and GNU parallel 20221122, by their manuals. */
#include "batch/shard/scheduler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct scheduler {
	const char *name;
	const char *index;                       /* the variable with this job's index */
	unsigned base;                           /* the index of the first job if `first` is NULL or not set */
	const char *first, *last, *step, *count; /* variables; NULL: none */
};

static const struct scheduler schedulers[] = {
	{.name = "Slurm",
	 .index = "SLURM_ARRAY_TASK_ID",
	 .first = "SLURM_ARRAY_TASK_MIN",
	 .last = "SLURM_ARRAY_TASK_MAX",
	 .step = "SLURM_ARRAY_TASK_STEP",
	 .count = "SLURM_ARRAY_TASK_COUNT"},
	{.name = "Kubernetes", .index = "JOB_COMPLETION_INDEX"},
	{.name = "GitLab", .index = "CI_NODE_INDEX", .base = 1, .count = "CI_NODE_TOTAL"},
	{.name = "CircleCI", .index = "CIRCLE_NODE_INDEX", .count = "CIRCLE_NODE_TOTAL"},
	{.name = "Buildkite", .index = "BUILDKITE_PARALLEL_JOB", .count = "BUILDKITE_PARALLEL_JOB_COUNT"},
	{.name = "Grid Engine",
	 .index = "SGE_TASK_ID",
	 .base = 1,
	 .first = "SGE_TASK_FIRST",
	 .last = "SGE_TASK_LAST",
	 .step = "SGE_TASK_STEPSIZE"},
	{.name = "PBS", .index = "PBS_ARRAY_INDEX"},
	{.name = "AWS Batch", .index = "AWS_BATCH_JOB_ARRAY_INDEX", .count = "AWS_BATCH_JOB_ARRAY_SIZE"},
	{.name = "GNU parallel", .index = "PARALLEL_SEQ", .base = 1},
};

/* ---- variables ---- */

/* The value; NULL if the variable is not set. Grid Engine sets "undefined" for jobs that are not arrays. */
static const char *value_of(const char *name)
{
	const char *value = name ? getenv(name) : NULL;
	return value && *value && strcmp(value, "undefined") != 0 ? value : NULL;
}

/* Reads a number into *number, which stays unchanged if the variable is not set. */
static struct xc_error *read_number(const char *name, unsigned long *number)
{
	const char *value = value_of(name);
	char *end;
	if (!value)
		return NULL;
	errno = 0;
	unsigned long given = strtoul(value, &end, 10);
	if (*end || errno || value[strspn(value, "0123456789")] || given > UINT32_MAX)
		return xc_error_new(XC_ERR_USAGE, "%s is '%s', which is not a job number", name, value);
	*number = given;
	return NULL;
}

/* ---- one system's answer ---- */

struct numbers {
	unsigned long index, first, last, step, count; /* count 0: unknown */
};

static struct xc_error *read_numbers(const struct scheduler *s, struct numbers *n)
{
	struct xc_error *err;
	*n = (struct numbers){.first = s->base, .step = 1};
	if ((err = read_number(s->index, &n->index)) || (err = read_number(s->first, &n->first)) ||
	    (err = read_number(s->last, &n->last)) || (err = read_number(s->step, &n->step)))
		return err;
	return read_number(s->count, &n->count);
}

static bool has_holes(const struct scheduler *s, const struct numbers *n)
{
	if (!value_of(s->last))
		return false;
	return n->last < n->first || (n->last - n->first) % n->step || n->count != (n->last - n->first) / n->step + 1;
}

/* The shard and the number of shards (`of` 0: unknown). */
static struct xc_error *claim_of(const struct scheduler *s, struct xc_shard *shard)
{
	struct numbers n;
	struct xc_error *err = read_numbers(s, &n);
	if (err)
		return err;
	if (!n.step || n.index < n.first || (n.index - n.first) % n.step)
		return xc_error_new(XC_ERR_USAGE, "%s of %s is %lu, but the first job is %lu", s->index, s->name,
				    n.index, n.first);
	if (!n.count && value_of(s->last) && n.last >= n.first)
		n.count = (n.last - n.first) / n.step + 1;
	if (has_holes(s, &n))
		return xc_error_new(XC_ERR_USAGE, "the jobs of %s, from %lu to %lu, are incomplete", s->name, n.first,
				    n.last);
	*shard = (struct xc_shard){.index = (unsigned)((n.index - n.first) / n.step), .of = (unsigned)n.count};
	return NULL;
}

/* ---- combining the answers ---- */

struct claim {
	const char *name; /* the system's name; NULL: there is no answer */
	struct xc_shard shard;
};

/* "shard 3 of 8", malloc'ed. */
static char *phrase(const struct xc_shard *shard)
{
	return shard->of ? xc_asprintf("shard %u of %u", shard->index, shard->of)
			 : xc_asprintf("shard %u", shard->index);
}

/* Combines another answer with the present one. They must agree, but an index among several jobs overrides a single
 * job. */
static struct xc_error *join(struct claim *made, const struct claim *other)
{
	const struct xc_shard *a = &made->shard, *b = &other->shard;
	if (b->of == 1)
		return NULL;
	if (a->of == 1) {
		*made = *other;
	} else if (a->index != b->index || (a->of && b->of && a->of != b->of)) {
		xc_auto(xc_freep) char *this = phrase(a), *that = phrase(b);
		return xc_error_new(XC_ERR_USAGE, "%s says that this is %s, %s that it is %s", made->name, this,
				    other->name, that);
	} else if (!a->of) {
		made->shard.of = b->of;
	}
	return NULL;
}

/* Combines all answers. */
static struct xc_error *join_all(struct claim *all)
{
	struct xc_error *err = NULL;
	for (size_t i = 0; i < XC_COUNT(schedulers) && !err; i++) {
		struct claim claim = {.name = schedulers[i].name};
		if (!value_of(schedulers[i].index))
			continue;
		if ((err = claim_of(&schedulers[i], &claim.shard)))
			return err;
		if (all->name)
			err = join(all, &claim);
		else
			*all = claim;
	}
	return err;
}

static struct xc_error *check(unsigned of, const struct claim *all)
{
	const struct xc_shard *shard = &all->shard;
	if (!all->name)
		return xc_error_new(XC_ERR_USAGE, "nothing in the environment says which shard this is");
	if (!shard->of && !of)
		return xc_error_new(XC_ERR_USAGE, "%s says which shard this is, but not of how many: give auto/N",
				    all->name);
	if (of && shard->of && shard->of != of)
		return xc_error_new(XC_ERR_USAGE, "%s runs %u jobs, not %u", all->name, shard->of, of);
	return NULL;
}

struct xc_error *xc_scheduler_shard(unsigned of, struct xc_shard *shard_out)
{
	struct claim all = {.name = NULL};
	struct xc_error *err = join_all(&all);
	if (!err)
		err = check(of, &all);
	if (!err && !all.shard.of)
		all.shard.of = of;
	if (!err && (all.shard.index >= all.shard.of || all.shard.of > XC_SHARDS_MAX))
		err = xc_error_new(XC_ERR_USAGE, "%s says that this is shard %u, counted from 0, of %u", all.name,
				   all.shard.index, all.shard.of);
	if (err)
		return xc_error_hint(xc_error_wrap(err, "--shard auto"), "--shard I/N sets it explicitly, from 0/N");
	*shard_out = all.shard;
	return NULL;
}

/* layer: batch */
/* scheduler: the shard number from each batch system's variables; contradictions are reported. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "batch/shard/shard_parse.h"

/* An environment of only these: "NAME=value NAME=value". */
static void environment(const char *words)
{
	xc_auto(xc_freep) char *copy = xc_strdup(words);
	char *rest = copy;
	clearenv();
	for (char *word; (word = strsep(&rest, " "));)
		if (*word) {
			char *equals = strchr(word, '=');
			*equals = '\0';
			setenv(word, equals + 1, 1);
		}
}

static const struct {
	const char *environment, *shard;
	unsigned index, of;
} said[] = {
	/* A Slurm array may start anywhere and may have steps. */
	{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=7 "
	 "SLURM_ARRAY_TASK_STEP=1",
	 "auto", 3, 8},
	{"SLURM_ARRAY_TASK_ID=104 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=100 SLURM_ARRAY_TASK_MAX=104 "
	 "SLURM_ARRAY_TASK_STEP=2",
	 "auto", 2, 3},
	{"JOB_COMPLETION_INDEX=7", "auto/8", 7, 8},
	{"CI_NODE_INDEX=1 CI_NODE_TOTAL=5", "auto", 0, 5},
	{"CI_NODE_INDEX=5 CI_NODE_TOTAL=5", "auto/5", 4, 5},
	{"CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=4", "auto", 0, 4},
	{"BUILDKITE_PARALLEL_JOB=2 BUILDKITE_PARALLEL_JOB_COUNT=3", "auto", 2, 3},
	{"SGE_TASK_ID=7 SGE_TASK_FIRST=1 SGE_TASK_LAST=10 SGE_TASK_STEPSIZE=3", "auto", 2, 4},
	{"SGE_TASK_ID=2 SGE_TASK_LAST=6", "auto", 1, 6},
	{"PBS_ARRAY_INDEX=4", "auto/6", 4, 6},
	{"AWS_BATCH_JOB_ARRAY_INDEX=9", "auto/10", 9, 10},
	{"AWS_BATCH_JOB_ARRAY_INDEX=9 AWS_BATCH_JOB_ARRAY_SIZE=10", "auto", 9, 10},
	{"PARALLEL_SEQ=1", "auto/2", 0, 2},
	/* CircleCI sets its variables in every job, GitLab its number, Grid Engine its words. */
	{"CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=1", "auto", 0, 1},
	{"CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=1 PARALLEL_SEQ=2", "auto/3", 1, 3},
	{"CI_NODE_TOTAL=1 SGE_TASK_ID=undefined SGE_TASK_LAST=undefined JOB_COMPLETION_INDEX=1", "auto/2", 1, 2},
	{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 PARALLEL_SEQ=4", "auto", 3, 8},
	/* Explicit options have priority. */
	{"SLURM_ARRAY_TASK_ID=x CI_NODE_INDEX=2 CI_NODE_TOTAL=5", "3/4", 3, 4},
	{"", "0/1", 0, 1},
};

static void every_system_is_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(said); i++) {
		struct xc_shard shard;
		environment(said[i].environment);
		struct xc_error *err = xc_shard_parse(said[i].shard, &shard);
		if (err)
			fail_msg("%s: %s", said[i].environment, err->message);
		assert_int_equal(shard.index, said[i].index);
		assert_int_equal(shard.of, said[i].of);
	}
}

static const struct {
	const char *environment, *shard, *message;
} refused[] = {
	{"", "auto", "nothing in the environment says"},
	{"CI_NODE_TOTAL=3", "auto", "nothing in the environment says"},
	{"JOB_COMPLETION_INDEX=1", "auto", "not of how many: give auto/N"},
	{"JOB_COMPLETION_INDEX=8", "auto/8", "shard 8, counted from 0, of 8"},
	{"JOB_COMPLETION_INDEX=-1", "auto/8", "'-1', which is not a job number"},
	{"JOB_COMPLETION_INDEX=4294967296", "auto/8", "not a job number"},
	{"JOB_COMPLETION_INDEX=99999999999999999999", "auto/8", "not a job number"},
	{"PARALLEL_SEQ=0", "auto/8", "PARALLEL_SEQ of GNU parallel is 0, but the first job is 1"},
	{"CI_NODE_INDEX=6 CI_NODE_TOTAL=5", "auto", "shard 5, counted from 0, of 5"},
	/* One task of an array that is resubmitted: its own array has one element. */
	{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3", "auto/8",
	 "Slurm runs 1 jobs, not 8"},
	/* --array=1,5,9 with one of them missing, --array=0,3,4. */
	{"SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=9 "
	 "SLURM_ARRAY_TASK_STEP=4",
	 "auto", "from 1 to 9, are incomplete"},
	{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=4", "auto",
	 "are incomplete"},
	{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_STEP=0", "auto", "is 3, but"},
	{"SGE_TASK_ID=2 SGE_TASK_FIRST=3 SGE_TASK_LAST=9", "auto", "is 2, but the first job is 3"},
	{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 PARALLEL_SEQ=1", "auto",
	 "Slurm says that this is shard 3 of 8, GNU parallel that it is shard 0"},
	{"CI_NODE_INDEX=2 CI_NODE_TOTAL=5 AWS_BATCH_JOB_ARRAY_INDEX=1 AWS_BATCH_JOB_ARRAY_SIZE=6", "auto",
	 "GitLab says that this is shard 1 of 5, AWS Batch that it is shard 1 of 6"},
	{"", "auto/0", "not I/N"},
	{"", "auto/8x", "not I/N"},
	{"", "8/8", "not I/N"},
};

static void what_makes_no_sense_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(refused); i++) {
		struct xc_shard shard = {77, 77};
		environment(refused[i].environment);
		struct xc_error *err = xc_shard_parse(refused[i].shard, &shard);
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_USAGE);
		if (!strstr(err->message, refused[i].message))
			fail_msg("%s: %s", refused[i].environment, err->message);
		assert_non_null(err->hint);
		assert_int_equal(shard.of, 77);
		xc_error_free(err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_system_is_understood),
		cmocka_unit_test(what_makes_no_sense_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

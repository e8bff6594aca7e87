/* triage: the parts of the command `triage`: from operands to records, from records to problems, from problems to
 * output. The command itself, its options and its help are in cmd_triage.c. */
#ifndef XC_CLI_TRIAGE_H
#define XC_CLI_TRIAGE_H

#include "batch/shard/part.h"
#include "batch/shard/plan.h"
#include "batch/problems/problems.h"
#include "batch/run/records.h"
#include "batch/run/settings.h"
#include "batch/shard/shard.h"
#include "lua/plugin/policy.h"
#include "cli/command.h"
#include "cli/target.h"

/* The command line; zeroed where nothing was given. */
struct xc_triage_settings {
	struct xc_words frames, exports;
	const char *shard, *plan_file, *emit, *baseline, *journal, *manifest, *today, *max_unreadable, *policy, *run;
	enum xc_switch merge, plan, resume, explain, update_baseline, host_files, keep, prune, dry_run;
	unsigned timeout, worker_memory, max_core_size, limit, shards;
};

/* The state of a run. */
struct xc_triage_run {
	struct xc_job *job;
	const struct xc_triage_settings *settings;
	struct xc_arena arena; /* owns everything that the run keeps */
	struct xc_target target;
	struct xc_worker_options worker;
	struct xc_shard shard;
	struct xc_inputs *inputs;
	struct xc_plan plan; /* of --plan-file */
	const char *hints;   /* digest of the journal, or NULL */
	const char *config;  /* xc_settings_shared */
	struct xc_framerules *rules;
	struct xc_policy_script *policy;
	struct xc_baseline *baseline;
	struct xc_merged found; /* the records from which problems are made */
	struct xc_problems *problems;
	size_t unlooked; /* cores that could not be examined for reasons outside of them */
};

/* ---- triage_records.c ---- */

/* Finds the input files. */
XC_MUST_CHECK struct xc_error *xc_triage_find_inputs(struct xc_triage_run *run);

/* The records of this run's shard, or of all inputs, from workers and the checkpoint. Errors: also an interrupt by the
 * user. */
XC_MUST_CHECK struct xc_error *xc_triage_make_records(struct xc_triage_run *run, struct xc_records *records);

/* The error to report at the end if some cores could not be examined; NULL if all were. */
XC_MUST_CHECK struct xc_error *xc_triage_unlooked(const struct xc_triage_run *run);

/* --shard: removes the part of an earlier run, makes the records and writes their part. A core that could not be
 * examined for reasons outside of it is missing there, and an error: another try may succeed. */
XC_MUST_CHECK struct xc_error *xc_triage_run_shard(struct xc_triage_run *run);

/* ---- triage_problems.c ---- */

/* Reads rules, policy and baseline, makes or merges the records, and sets run->problems. */
XC_MUST_CHECK struct xc_error *xc_triage_find_problems(struct xc_triage_run *run);

/* ---- triage_output.c ---- */

/* Writes the output, the exports and the baseline, and sets the job's exit status. --prune: deletes only after all of
 * these, including the job's output, are in place. */
XC_MUST_CHECK struct xc_error *xc_triage_output(struct xc_triage_run *run, FILE *out);

#endif

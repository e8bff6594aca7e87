/* triage: the parts of the command `triage`: from operands to records, from records to problems, from problems to what is written. The
 * command itself, its options and usage are cmd_triage.c. */
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

/* What the command line says; zeroed where nothing was given. */
struct xc_triage_settings {
	struct xc_words frames, exports;
	const char *shard, *plan_file, *emit, *baseline, *source_root, *journal, *manifest, *today, *max_unreadable,
		*policy, *run;
	enum xc_switch merge, plan, resume, explain, update_baseline, host_files, keep, prune, dry_run;
	unsigned timeout, worker_memory, max_core_size, limit, shards;
};

/* One run: what was worked out so far. */
struct xc_triage_run {
	struct xc_job *job;
	const struct xc_triage_settings *settings;
	struct xc_arena arena; /* of everything that is kept of the run */
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
	struct xc_merged found; /* the records that problems are made of */
	struct xc_problems *problems;
	size_t unlooked; /* cores that nobody could look at, for reasons that are not theirs */
};

/* ---- triage_records.c ---- */

/* Which files there are. */
XC_MUST_CHECK struct xc_error *xc_triage_find_inputs(struct xc_triage_run *run);

/* The records of this run's shard, or of all inputs, from workers and the checkpoint. Errors: also an interruption by the user. */
XC_MUST_CHECK struct xc_error *xc_triage_make_records(struct xc_triage_run *run, struct xc_records *records);

/* An error when there are such cores, to be told at the end; NULL when all were looked at. */
XC_MUST_CHECK struct xc_error *xc_triage_unlooked(const struct xc_triage_run *run);

/* --shard: remove the part of an earlier run, make the records and write theirs. A core that could not be looked at for reasons that are not its
 * own is missing there, and an error: another try does better. */
XC_MUST_CHECK struct xc_error *xc_triage_run_shard(struct xc_triage_run *run);

/* ---- triage_problems.c ---- */

/* Read rules, policy and baseline, have the records made or merged, and fill run->problems. */
XC_MUST_CHECK struct xc_error *xc_triage_find_problems(struct xc_triage_run *run);

/* ---- triage_output.c ---- */

/* Write the answer, the exports and the baseline, and set the job's exit status. --prune: when all of them, the job's output, too, are in
 * place, and only then, delete. */
XC_MUST_CHECK struct xc_error *xc_triage_output(struct xc_triage_run *run, FILE *out);

#endif

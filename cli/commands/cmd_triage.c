/* triage: many cores in, few problems out.
 *
 * The steps: inputs → records (from workers, or from checkpoints) → problems → exports. `--shard` ends after the
 * records, with a part file; `--merge` starts with part files. The steps are implemented in batch/. */
#include "cli/triage/triage.h"

#include <limits.h>
#include <string.h>

#include "batch/shard/emit.h"
#include "batch/shard/shard_parse.h"
#include "cli/triage/triage_gate.h"
#include "cli/triage/triage_shards.h"
#include "cli/triage/triage_usage.h"

static struct xc_error *run_problems(struct xc_triage_run *run, FILE *out)
{
	struct xc_error *err = xc_triage_find_problems(run);
	return err ? err : xc_triage_output(run, out);
}

static struct xc_error *run_plan(struct xc_triage_run *run, FILE *out)
{
	struct xc_error *err = xc_triage_find_inputs(run);
	return err ? err : xc_plan_write(run->inputs, out);
}

static struct xc_error *run_emit(const struct xc_triage_run *run, FILE *out)
{
	const struct xc_triage_settings *s = run->settings;
	const struct xc_triage_jobs jobs = {.system = s->emit, .shards = s->shards, .memory = s->worker_memory};
	return xc_triage_emit(run->job, &jobs, out);
}

static struct xc_error *run_as_asked(struct xc_triage_run *run, FILE *out)
{
	if (run->settings->emit)
		return run_emit(run, out);
	if (run->settings->plan == XC_ON)
		return run_plan(run, out);
	if (run->settings->shard)
		return xc_triage_run_shard(run);
	return run_problems(run, out);
}

static struct xc_error *run(struct xc_job *job, FILE *out)
{
	struct xc_triage_run run = {.job = job, .settings = job->settings};
	struct xc_error *err = NULL;
	if (run.settings->shard)
		err = xc_shard_parse(run.settings->shard, &run.shard);
	if (!err)
		err = run_as_asked(&run, out);
	xc_problems_free(run.problems);
	xc_policy_script_free(run.policy);
	xc_baseline_free(run.baseline);
	xc_framerules_free(run.rules);
	xc_inputs_free(run.inputs);
	xc_target_close(&run.target);
	xc_arena_fini(&run.arena);
	return err;
}

/* ---- usage ---- */

static struct xc_error *check(struct xc_job *job)
{
	return xc_triage_usage_check(job);
}

static const struct xc_operand operands[] = {
	{.name = "DIR",
	 .about = "directories with cores, core files, @LIST (a file with one name per line, or with NUL bytes "
		  "between names), - (such a list on standard input); wildcards that the shell did not expand "
		  "('crashes/*.zst', lines of a list) are expanded by xcore; with --merge: parts, directories "
		  "of parts, or wildcards",
	 .many = true,
	 .complete = XC_COMPLETE_FILE},
	{.name = NULL},
};

#define AT(member) offsetof(struct xc_triage_settings, member)

static const struct xc_option options[] = {
	{.name = "export",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(exports),
	 .value = "KIND=FILE",
	 .about = "also write FILE: json, jsonl, sarif, junit, github, summary, gitlab, markdown, html or text; may "
		  "be repeated"},
	{.name = "baseline",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(baseline),
	 .value = "FILE",
	 .about = "the known problems: all others are new, and set exit status 1",
	 .complete = XC_COMPLETE_FILE},
	{.name = "update-baseline",
	 .kind = XC_OPTION_ON,
	 .offset = AT(update_baseline),
	 .about = "write the problems that were found to the baseline; its notes stay, and so do expired ones (edit "
		  "expires=)"},
	{.name = "today",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(today),
	 .value = "DATE",
	 .about = "with --baseline: let notes expire as of DATE (2027-01-31); default: today"},
	{.name = "shard",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(shard),
	 .value = "I/N",
	 .about = "process only the I-th of N parts of the cores (from 0), and write -o DIR/part-I-of-N.jsonl; "
		  "auto, or auto/N: take I and N from the environment of Slurm, Kubernetes, GitLab, CircleCI, "
		  "Buildkite, Grid Engine, PBS, AWS Batch or GNU parallel"},
	{.name = "plan",
	 .kind = XC_OPTION_ON,
	 .offset = AT(plan),
	 .about = "only write the list of cores with their sizes, as lines of JSON; shards divide this list"},
	{.name = "plan-file",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(plan_file),
	 .value = "FILE",
	 .about = "with --shard: divide the cores of this plan evenly by size, whatever was added or deleted since",
	 .complete = XC_COMPLETE_FILE},
	{.name = "run",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(run),
	 .value = "NAME",
	 .about = "with --shard: the name of the run of all shards; --merge rejects parts of different runs"},
	{.name = "emit",
	 .kind = XC_OPTION_CHOICE,
	 .offset = AT(emit),
	 .value = "SYSTEM",
	 .about = "only write a job file that runs this on many machines: slurm, parallel, k8s or make",
	 .words = xc_emit_systems},
	{.name = "shards",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(shards),
	 .value = "N",
	 .about = "with --emit: divide into N parts, 2 to 4 per machine; default: 8; with --merge: take only parts "
		  "of N from a directory",
	 .min = 1,
	 .max = XC_SHARDS_MAX},
	{.name = "merge", .kind = XC_OPTION_ON, .offset = AT(merge), .about = "the operands are parts: combine them"},
	{.name = "resume",
	 .kind = XC_OPTION_ON,
	 .offset = AT(resume),
	 .about = "reuse the results of an earlier run of the same inputs and options, also of an interrupted one; "
		  "cores are processed again when a program, library or debug file of theirs was added, deleted or "
		  "replaced since"},
	{.name = "explain",
	 .kind = XC_OPTION_ON,
	 .offset = AT(explain),
	 .about = "show for each core which frames count, which do not, and by which rule"},
	{.name = "frames",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(frames),
	 .value = "FILE",
	 .about = "rules about frames that override the built-in ones (batch/signature/frames.txt); may be repeated",
	 .complete = XC_COMPLETE_FILE},
	{.name = "policy",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(policy),
	 .value = "FILE.lua",
	 .about = "your own rules in Lua: class(record), keep(frame, record), name(frame, record)",
	 .complete = XC_COMPLETE_FILE},
	{.name = "keep",
	 .kind = XC_OPTION_ON,
	 .offset = AT(keep),
	 .about = "instead list which core to keep of each cluster and of each class in it (all cores whose stack "
		  "is lost), and which cores add nothing"},
	{.name = "prune",
	 .kind = XC_OPTION_ON,
	 .offset = AT(prune),
	 .about = "delete the cores that add nothing, in directories given by name (not those from lists and "
		  "wildcards); reports each"},
	{.name = "dry-run",
	 .kind = XC_OPTION_ON,
	 .offset = AT(dry_run),
	 .about = "with --prune: only report what would be deleted"},
	{.name = "timeout",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(timeout),
	 .value = "SECONDS",
	 .about = "time limit for each core; default: 60",
	 .min = 1,
	 .max = 86400},
	{.name = "worker-memory",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(worker_memory),
	 .value = "MB",
	 .about = "memory limit of a worker in megabytes, without mapped files; default: 2048",
	 .min = 16,
	 .max = UINT_MAX},
	{.name = "max-core-size",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_core_size),
	 .value = "GB",
	 .about = "decompress no core to more than this many gigabytes; default: 32",
	 .min = 1,
	 .max = 1 << 20},
	{.name = "max-unreadable",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(max_unreadable),
	 .value = "N",
	 .about = "exit with status 3 when more than N are unreadable: cores without a verdict, and files and "
		  "directories that cannot be opened"},
	{.name = "journal",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(journal),
	 .value = "FILE",
	 .about = "the output of `journalctl -o export MESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1` (or -o json): "
		  "assigns each core to its service, by file name; - reads standard input",
	 .complete = XC_COMPLETE_FILE},
	{.name = "no-host-files",
	 .kind = XC_OPTION_OFF,
	 .offset = AT(host_files),
	 .about = "use no program or library of this host, only those from --sysroot, --debug-dir and the store"},
	{.name = "manifest",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(manifest),
	 .value = "FILE",
	 .about = "a file of the repository to report for crashes without a source location (sarif, gitlab)"},
	{.name = "limit",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(limit),
	 .value = "N",
	 .about = "show at most N clusters in reports for people; default: all",
	 .max = 1 << 30},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore triage crashes/", "the crashes in a directory, grouped"},
	{"xcore triage crashes/ --baseline crashes.baseline --export sarif=xcore.sarif", "in CI: exit with status 1 "
											 "when a problem is new"},
	{"xcore triage crashes/ --baseline crashes.baseline --update-baseline", "mark these problems as known"},
	{"xcore triage --shard 3/8 crashes/ -o parts/", "the fourth of eight machines"},
	{"xcore triage --emit slurm crashes/ --shards 32 -o triage.sbatch", "then `sh triage.sbatch` on the cluster"},
	{"xcore triage --merge parts/ --format html -o triage.html", "the results of all machines, as a page"},
	{"xcore triage --explain core.1234", "why a core is in its cluster"},
	{"xcore triage crashes/ --prune --dry-run", "the disk space that keeping one core for each problem would "
						    "free"},
	{.line = NULL},
};

/* All output of triage has its own format. */
static bool writes(const struct xc_job *job)
{
	(void)job;
	return true;
}

/* The -o of a shard is a directory. */
static bool makes_file(const struct xc_job *job)
{
	const struct xc_triage_settings *s = job->settings;
	return s->shard != NULL;
}

static void fini(void *settings)
{
	struct xc_triage_settings *s = settings;
	xc_words_fini(&s->frames);
	xc_words_fini(&s->exports);
}

const struct xc_command xc_command_triage = {
	.name = "triage",
	.about = "group many cores by problem, rank them by severity, and find what is new",
	.text = "Each core is processed by its own worker process, which can neither open files, start programs nor "
		"use the network, and has limits on time and memory. Its result is a record; so is its failure. "
		"Records are then grouped into clusters by similar stacks. The id of a cluster is the same from run "
		"to run.\n\nThe result does not depend on how the cores are divided among machines (--shard, "
		"--merge). Output is redacted by default; --no-redact shows everything. --exe applies to the cores "
		"whose program it is; other cores are processed without it.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct xc_triage_settings),
	.check = check,
	.writes = writes,
	.run = run,
	.fini = fini,
	.makes_file = makes_file,
	.writes_lines = true,
	.own_common = xc_triage_gate_options,
	.statuses = xc_triage_gate_statuses,
	.sensitive = true,
};

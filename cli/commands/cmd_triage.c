/* triage: many cores in, few problems out.
 *
 * The road: inputs → records (by workers, or from the checkpoint) → problems → exports. `--shard` ends after the records, in a part file;
 * `--merge` begins with part files. What is done on the way stands in batch/. */
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
	 .about =
		 "directories that hold cores, core files, @LIST (a file with a name a line, or NUL bytes between "
		 "them), - (such a list on standard input); wildcards that no shell has expanded, 'crashes/*.zst', are "
		 "by xcore, also in lines of a list; with --merge parts, directories of them, or wildcards",
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
	 .about = "also write FILE: json, jsonl, sarif, junit, github, summary, gitlab, markdown, html or text; may be "
		  "repeated"},
	{.name = "baseline",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(baseline),
	 .value = "FILE",
	 .about = "the problems that are known: others are new, and make the exit status 1",
	 .complete = XC_COMPLETE_FILE},
	{.name = "update-baseline",
	 .kind = XC_OPTION_ON,
	 .offset = AT(update_baseline),
	 .about = "write what was found into the baseline; its notes stay, and what has expired (edit expires=)"},
	{.name = "today",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(today),
	 .value = "DATE",
	 .about = "with --baseline: notes expire as if it were DATE (2027-01-31); the day it is by default"},
	{.name = "shard",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(shard),
	 .value = "I/N",
	 .about =
		 "look at the I-th of N parts of the cores only (from 0), and write -o DIR/part-I-of-N.jsonl; auto, or "
		 "auto/N: as Slurm, Kubernetes, GitLab, CircleCI, Buildkite, Grid Engine, PBS, AWS Batch or GNU "
		 "parallel say in the environment"},
	{.name = "plan",
	 .kind = XC_OPTION_ON,
	 .offset = AT(plan),
	 .about = "only write which cores there are and how large they are, as lines of JSON: what shards divide"},
	{.name = "plan-file",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(plan_file),
	 .value = "FILE",
	 .about = "with --shard: divide what this plan has, evenly by size, whatever came or went since",
	 .complete = XC_COMPLETE_FILE},
	{.name = "run",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(run),
	 .value = "NAME",
	 .about = "with --shard: what the run of all shards is called; --merge refuses parts of different runs"},
	{.name = "emit",
	 .kind = XC_OPTION_CHOICE,
	 .offset = AT(emit),
	 .value = "SYSTEM",
	 .about = "only write a job file that does all this on many machines: slurm, parallel, k8s or make",
	 .words = xc_emit_systems},
	{.name = "shards",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(shards),
	 .value = "N",
	 .about = "with --emit: divide into N parts, 2 to 4 a machine; 8 by default; with --merge: of what a directory "
		  "holds, only parts of N",
	 .min = 1,
	 .max = XC_SHARDS_MAX},
	{.name = "merge",
	 .kind = XC_OPTION_ON,
	 .offset = AT(merge),
	 .about = "the operands are parts: put them together"},
	{.name = "resume",
	 .kind = XC_OPTION_ON,
	 .offset = AT(resume),
	 .about = "take what an earlier run of the same inputs and options has finished, also an interrupted one; "
		  "cores for which a program, a library or a debug file has come, gone or been exchanged since are "
		  "looked at again"},
	{.name = "explain",
	 .kind = XC_OPTION_ON,
	 .offset = AT(explain),
	 .about = "show for each core which frames count, which do not, and by which rule"},
	{.name = "frames",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(frames),
	 .value = "FILE",
	 .about = "rules on frames that win over the built-in ones (batch/signature/frames.txt); may be repeated",
	 .complete = XC_COMPLETE_FILE},
	{.name = "policy",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(policy),
	 .value = "FILE.lua",
	 .about = "rules of your own in Lua: class(record), keep(frame, record), name(frame, record)",
	 .complete = XC_COMPLETE_FILE},
	{.name = "keep",
	 .kind = XC_OPTION_ON,
	 .offset = AT(keep),
	 .about =
		 "answer with a list instead: which core to keep of each cluster and each class in it (all whose stack "
		 "is lost), and which tell nothing more"},
	{.name = "prune",
	 .kind = XC_OPTION_ON,
	 .offset = AT(prune),
	 .about = "delete the cores that tell nothing more, in the directories given by name (what lists and wildcards "
		  "name stays); says each"},
	{.name = "dry-run",
	 .kind = XC_OPTION_ON,
	 .offset = AT(dry_run),
	 .about = "with --prune: only say what would go"},
	{.name = "timeout",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(timeout),
	 .value = "SECONDS",
	 .about = "give a core so long; 60 by default",
	 .min = 1,
	 .max = 86400},
	{.name = "worker-memory",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(worker_memory),
	 .value = "MB",
	 .about = "let a worker use so many megabytes beside the mapped files; 2048 by default",
	 .min = 16,
	 .max = UINT_MAX},
	{.name = "max-core-size",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_core_size),
	 .value = "GB",
	 .about = "inflate no core to more than so many gigabytes; 32 by default",
	 .min = 1,
	 .max = 1 << 20},
	{.name = "max-unreadable",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(max_unreadable),
	 .value = "N",
	 .about = "exit with 3 when more than N could not be read: cores without a verdict, and files and directories "
		  "that "
		  "cannot be opened"},
	{.name = "journal",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(journal),
	 .value = "FILE",
	 .about =
		 "what `journalctl -o export MESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1` (or -o json) wrote: of which "
		 "service each core is, by its file's name; - reads standard input",
	 .complete = XC_COMPLETE_FILE},
	{.name = "no-host-files",
	 .kind = XC_OPTION_OFF,
	 .offset = AT(host_files),
	 .about = "take no program or library from this host: only what --sysroot, --debug-dir and the store have"},
	{.name = "source-root",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(source_root),
	 .value = "DIR",
	 .about = "where the sources lay when they were compiled: paths in exports begin below it",
	 .complete = XC_COMPLETE_DIR},
	{.name = "manifest",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(manifest),
	 .value = "FILE",
	 .about = "a file of the repository that stands for crashes without a place in the source (sarif, gitlab)"},
	{.name = "limit",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(limit),
	 .value = "N",
	 .about = "show at most N clusters to people; all by default",
	 .max = 1 << 30},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore triage crashes/", "what the cores in a directory died of, grouped"},
	{"xcore triage crashes/ --baseline crashes.baseline --export sarif=xcore.sarif",
	 "in CI: exit with 1 when a problem is new"},
	{"xcore triage crashes/ --baseline crashes.baseline --update-baseline", "from now on these are known"},
	{"xcore triage --shard 3/8 crashes/ -o parts/", "the fourth of eight machines"},
	{"xcore triage --emit slurm crashes/ --shards 32 -o triage.sbatch", "then `sh triage.sbatch` on the cluster"},
	{"xcore triage --merge parts/ --format html -o triage.html", "what all of them found, as a page"},
	{"xcore triage --explain core.1234", "why a core is in its cluster"},
	{"xcore triage crashes/ --prune --dry-run", "how much of the disk a core for each problem would free"},
	{.line = NULL},
};

/* Everything that it writes has a form of its own. */
static bool writes(const struct xc_job *job)
{
	(void)job;
	return true;
}

/* -o of a shard is a directory. */
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
	.about = "many cores at once: which deaths are the same, how severe each is, and what is new",
	.text = "Each core is looked at by a process of its own that can neither open files, nor start programs, nor "
		"reach "
		"a network, with limits on time and memory; what it finds is a record, and so is its failure. Records "
		"are then grouped into clusters by what their stacks have in common, named by an id that stays the "
		"same from run to run.\n\n"
		"The answer is the same however the cores are divided among machines (--shard, --merge). What leaves "
		"the house is redacted: --no-redact shows all. --exe serves the cores whose program it is; the others "
		"are looked at without it.",
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

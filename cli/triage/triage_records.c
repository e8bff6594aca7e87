/* triage_records: finds the cores, selects this shard's, and gets their records from workers and the checkpoint. */
#include "cli/triage/triage.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch/run/checkpoint_dir.h"
#include "batch/sandbox/fork_server.h"
#include "batch/util/wildcard.h"
#include "core/base/progress.h"
#include "core/base/say.h"
#include "core/base/text.h"
#include "cli/interrupts.h"
#include "cli/triage/triage_inputs.h"
#include "cli/triage/triage_shards.h"

/* ---- records ---- */

static void set_worker(struct xc_triage_run *run)
{
	const struct xc_triage_settings *s = run->settings;
	run->worker = (struct xc_worker_options){
		.finder = &run->target.finder,
		.host_files = xc_switch_or(s->host_files, true),
		.redact = xc_job_redacts(run->job),
		.seconds = s->timeout,
		.memory = (uint64_t)s->worker_memory << 20,
		.max_core_size = (uint64_t)s->max_core_size << 30,
		.stopped = &xc_interrupted_by,
	};
}

/* The form of an operand in the checkpoint's name, independent of the working directory. A list on standard input has
 * no name, so the directory of its cores is used: two lists of one directory share a checkpoint. A pattern has none
 * either, unless a file has that name. */
static void add_operand(const struct xc_triage_run *run, const char *operand, struct xc_text *text)
{
	const bool standard = !strcmp(operand, "-"), list = *operand == '@';
	const bool pattern = !standard && !list && xc_wildcard_is(operand) && access(operand, F_OK);
	xc_auto(xc_freep) char *shared = standard || pattern ? xc_inputs_shared(run->inputs) : NULL;
	const char *name = shared ? (*shared ? shared : ".") : operand + list;
	xc_auto(xc_freep) char *real = realpath(name, NULL);
	xc_text_printf(text, "%s%s%s", standard ? "-" : list ? "@" : "", pattern ? operand : "", real ? real : name);
	xc_text_addn(text, "", 1);
}

/* A hash of the operands' targets and of the shard. */
static char *inputs_hash(const struct xc_triage_run *run)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < run->job->operands.count; i++)
		add_operand(run, run->job->operands.items[i], &text);
	xc_text_printf(&text, "%u/%u", run->shard.index, run->shard.of);
	char *hash = xc_records_hash(text.bytes, text.len);
	xc_text_fini(&text);
	return hash;
}

static const char unkept[] = "finished work is not kept for --resume",
		  silent[] = "finished work is reused as it is: a file that it depends on does not answer";

static void warn(const struct xc_triage_run *run, const char *what, const char *why)
{
	if (run->job->common.quiet != XC_ON)
		xc_say("%s: %s", what, why);
}

static void report_lost(const struct xc_triage_run *run, const char *path, size_t count)
{
	xc_auto(xc_freep) char *why =
		xc_asprintf("%s: %zu of its lines %s damaged", path, count, count == 1 ? "is" : "are");
	if (count)
		warn(run, "not all finished work can be reused", why);
}

/* The checkpoint is optional: a failure to open it is an error only with --resume. */
static struct xc_error *open_checkpoint(struct xc_triage_run *run, struct xc_checkpoint **checkpoint_out)
{
	const bool resume = run->settings->resume == XC_ON;
	if (!run->target.cache_dir)
		return NULL;
	const char *config = xc_settings_here(&run->worker, run->config, &run->arena);
	xc_auto(xc_freep) char *inputs = inputs_hash(run);
	xc_auto(xc_freep) char *dir = xc_asprintf("%s/triage", run->target.cache_dir);
	xc_auto(xc_freep) char *path = xc_checkpoint_dir_file(dir, inputs, config);
	struct xc_error *err = xc_checkpoint_open(path, config, resume, &run->arena, checkpoint_out);
	xc_checkpoint_dir_clean(dir, time(NULL));
	if (!err)
		report_lost(run, path, xc_checkpoint_lost(*checkpoint_out));
	if (!err || resume)
		return err;
	warn(run, unkept, err->message);
	xc_error_free(err);
	return NULL;
}

static struct xc_error *interrupted(const struct xc_records *records, size_t count, bool kept)
{
	struct xc_error *err = xc_error_new(XC_ERR_IO, "interrupted: %zu of %zu cores are done", records->count, count);
	return kept ? xc_error_hint(err, "the same command with --resume continues from there") : err;
}

/* A directory may hold cores of other programs. If it holds only these, --exe is probably another build than the
 * crashed one. */
static void report_without_exe(const struct xc_triage_run *run, const struct xc_records *records)
{
	size_t looked = 0, without = 0;
	for (size_t i = 0; i < records->count; i++) {
		looked += records->records[i]->status == XC_RECORD_OK;
		without += records->records[i]->without_exe;
	}
	if (!without)
		return;
	xc_auto(xc_freep) char *what = xc_asprintf("--exe %s", run->job->common.exe);
	xc_auto(xc_freep) char *why =
		without < looked ? xc_asprintf("not the program, or another build, of %zu of %zu cores: these were "
					       "examined without it",
					       without, looked)
				 : xc_asprintf("not the program, or another build, of all %zu core%s: examined "
					       "without it",
					       looked, looked == 1 ? "" : "s");
	warn(run, what, why);
}

static struct xc_error *examine(struct xc_triage_run *run, const struct xc_input *const *inputs, size_t count,
				struct xc_records *records)
{
	struct xc_progress progress = xc_progress_start("triage", run->job->common.quiet == XC_ON);
	struct xc_records_options options = {
		.batch = {.worker = run->worker, .jobs = run->job->common.jobs, .progress = &progress},
	};
	struct xc_error *err = open_checkpoint(run, &options.checkpoint);
	xc_interrupts_catch();
	signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would discard the exit statuses of workers */
	if (!err)
		err = xc_records_make(inputs, count, &options, &run->arena, records);
	xc_interrupts_release(); /* nothing is deleted (--prune) after a signal */
	xc_progress_end(&progress);
	if (!err && records->silent)
		warn(run, silent, records->silent);
	if (!err)
		report_without_exe(run, records);
	if (!err && records->unkept) {
		xc_auto(xc_freep) char *why =
			xc_asprintf("%s (%zu of %zu)", records->unkept, records->unkept_count, records->count);
		warn(run, unkept, why);
	}
	if (!err && (records->stopped || xc_interrupted_by))
		err = interrupted(records, count, options.checkpoint && !records->unkept);
	xc_checkpoint_close(options.checkpoint);
	return err;
}

struct xc_error *xc_triage_find_inputs(struct xc_triage_run *run)
{
	return xc_triage_inputs(run->job, run->settings->journal, &run->arena, &run->inputs, &run->hints);
}

/* The inputs of this shard: by the plan, or by their names. */
static const struct xc_input **shard_inputs(struct xc_triage_run *run, size_t *count_out)
{
	const struct xc_inputs *all = run->inputs;
	const struct xc_input **ours;
	if (run->settings->plan_file) {
		xc_plan_inputs(&run->plan, &run->shard, all, &run->arena, &ours, count_out);
		return ours;
	}
	ours = xc_arena_alloc(&run->arena, (all->count + 1) * sizeof(struct xc_input *));
	*count_out = 0;
	for (size_t i = 0; i < all->count; i++)
		if (xc_shard_has(&run->shard, all->inputs[i].path))
			ours[(*count_out)++] = &all->inputs[i];
	return ours;
}

static struct xc_error *find_and_examine(struct xc_triage_run *run, struct xc_records *records)
{
	const char *plan = run->settings->plan_file;
	struct xc_error *err = plan ? xc_plan_read(plan, &run->arena, &run->plan) : NULL;
	if (err)
		return xc_error_wrap(err, "--plan-file");
	if ((err = xc_triage_find_inputs(run)))
		return err;
	run->config = xc_settings_shared(&run->worker, XC_VERSION, run->hints, &run->arena);
	size_t count;
	const struct xc_input **ours = shard_inputs(run, &count);
	err = examine(run, ours, count, records);
	run->unlooked = err ? 0 : records->unlooked;
	return err;
}

struct xc_error *xc_triage_make_records(struct xc_triage_run *run, struct xc_records *records)
{
	struct xc_error *err = xc_target_prepare(&run->target, &run->job->common);
	if (err)
		return err;
	set_worker(run);
	/* before cores are searched for and hints are read: workers inherit what this process knows now */
	if (!(err = xc_fork_server_start(&run->worker, &run->worker.fork_server)))
		err = find_and_examine(run, records);
	xc_fork_server_end(run->worker.fork_server);
	run->worker.fork_server = NULL;
	return err;
}

struct xc_error *xc_triage_unlooked(const struct xc_triage_run *run)
{
	if (!run->unlooked)
		return NULL;
	return xc_error_hint(xc_error_new(XC_ERR_IO, "%zu core%s could not be examined, for reasons outside of %s",
					  run->unlooked, run->unlooked == 1 ? "" : "s",
					  run->unlooked == 1 ? "it" : "them"),
			     "remove the obstacle (space in TMPDIR, permissions, memory); the same command with "
			     "--resume then examines only these");
}

/* ---- parts ---- */

/* A core that could not be examined must not withhold the part of the others. */
static size_t without_unlooked(struct xc_record **records, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!records[i]->unlooked)
			records[kept++] = records[i];
	return kept;
}

struct xc_error *xc_triage_run_shard(struct xc_triage_run *run)
{
	const char *dir = run->job->common.output ? run->job->common.output : ".";
	struct xc_records records;
	struct xc_error *err = xc_triage_drop_part(&run->shard, dir);
	if (err || (err = xc_triage_make_records(run, &records)))
		return err;
	const size_t looked = without_unlooked(records.records, records.count);
	const struct xc_part part = {
		.version = XC_VERSION,
		.config = run->config,
		.manifest = run->plan.manifest
				    ? run->plan.manifest
				    : xc_records_manifest(run->inputs->inputs, run->inputs->count, &run->arena),
		.run = run->settings->run && *run->settings->run ? run->settings->run : NULL,
		.redacted = run->worker.redact,
		.shard = run->shard.index,
		.of = run->shard.of,
		.left_out = run->inputs->note_count + run->inputs->unnoted,
		.unread = run->inputs->unread,
		.records = records.records,
		.count = looked,
		.unlooked = records.count - looked,
	};
	err = xc_triage_save_part(&part, dir, part.redacted);
	return err ? err : xc_triage_unlooked(run);
}

/* triage_output: what is written, deleted and decided once the problems are known. */
#include "cli/triage/triage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "batch/problems/explain.h"
#include "batch/export/export.h"
#include "batch/problems/core_retention.h"
#include "batch/problems/prune.h"
#include "core/base/say.h"
#include "core/base/text.h"
#include "cli/triage/triage_gate.h"
#include "cli/triage/triage_usage.h"

static struct xc_export_options export_options(const struct xc_triage_run *run)
{
	const struct xc_words *roots = &run->job->common.source_roots;
	return (struct xc_export_options){
		.source_root = roots->count ? roots->items[roots->count - 1] : NULL,
		.manifest = run->settings->manifest,
		.limit = run->settings->limit,
	};
}

/* "KIND=FILE"; the kind has been checked. */
static struct xc_error *write_export(const struct xc_triage_run *run, const char *word)
{
	const char *equals = strchr(word, '=');
	xc_auto(xc_freep) char *kind = xc_asprintf("%.*s", (int)(equals - word), word);
	const struct xc_export *export = xc_export_named(kind);
	struct xc_export_options options = export_options(run);
	struct xc_output output;
	struct xc_error *err = xc_output_open(&output, equals + 1, run->found.redacted);
	if (err)
		return xc_error_wrap(err, "--export");
	options.before = output.before;
	if (!(err = export->write(run->problems, &options, output.file)))
		return xc_output_commit(&output);
	xc_output_abandon(&output);
	return xc_error_wrap(err, "--export %s", word);
}

static struct xc_error *write_exports(const struct xc_triage_run *run)
{
	struct xc_error *err = NULL;
	for (size_t i = 0; i < run->settings->exports.count && !err; i++)
		err = write_export(run, run->settings->exports.items[i]);
	return err;
}

/* Only people set expiry dates: an update does not renew them. */
static void report_expired(const struct xc_triage_run *run)
{
	const struct xc_baseline *b = run->baseline;
	for (size_t i = 0; b && i < run->problems->count; i++) {
		const struct xc_problem *p = &run->problems->problems[i];
		for (size_t k = 0; p->expired && k < b->count; k++)
			if (b->entries[k].id && !strcmp(b->entries[k].id, p->id))
				xc_say("%s expired on %s and stays expired: edit its expires= in %s", p->id, p->expires,
				       run->settings->baseline);
	}
}

static struct xc_error *update_baseline(const struct xc_triage_run *run)
{
	struct xc_output output;
	if (run->settings->update_baseline != XC_ON)
		return NULL;
	struct xc_error *err = xc_output_open(&output, run->settings->baseline, true);
	if (err)
		return xc_error_wrap(err, "--baseline");
	xc_auto(xc_freep) char *text = xc_baseline_update(run->baseline, run->problems);
	fputs(text, output.file);
	if ((err = xc_output_commit(&output)))
		return err;
	if (run->job->common.quiet != XC_ON)
		report_expired(run);
	return NULL;
}

static int by_path(const void *path, const void *input)
{
	return strcmp(path, ((const struct xc_input *)input)->path);
}

/* The file that was examined. */
static const char *file_of(const void *user, const char *path)
{
	const struct xc_inputs *inputs = user;
	const struct xc_input *found =
		inputs->count ? bsearch(path, inputs->inputs, inputs->count, sizeof *found, by_path) : NULL;
	return found ? found->file : NULL;
}

/* The options to repeat in suggested commands: for both, for cores in workers, and for records. */
static const char *const of_both[] = {"exe",    "sysroot",   "debug-dir",  "store", "strict",
				      "redact", "no-redact", "io-timeout", NULL};
static const char *const of_cores[] = {"no-host-files", "timeout", "worker-memory", "max-core-size", NULL};
static const char *const of_journal[] = {"journal", NULL};
static const char *const of_records[] = {"frames", "policy", "max-instructions", "max-memory", "max-time", NULL};

static struct xc_error *answer(const struct xc_triage_run *run, FILE *out)
{
	const struct xc_job *job = run->job;
	/* The stream has no descriptor (output.h): the terminal is where standard output goes. */
	const bool shown = !job->common.output || !strcmp(job->common.output, "-");
	const struct xc_output plain = {.file = out, .fd = shown ? STDOUT_FILENO : -1};
	struct xc_export_options options = export_options(run);
	struct xc_arena arena = {0};
	struct xc_words analyze = {0}, explain = {0};
	options.color = xc_output_color(&plain, job->common.color);
	options.width = xc_output_width(&plain);
	xc_triage_given(job, of_records, &arena, &explain);
	if (!job->common.output && run->inputs) {
		/* A file (-o) is read elsewhere and compared: it has the same bytes if the cores are in another
		 * directory, or come from --merge. */
		options.file_of = file_of;
		options.user = run->inputs;
		xc_triage_given(job, of_both, &arena, &analyze);
		xc_triage_given(job, of_both, &arena, &explain);
		xc_triage_given(job, of_cores, &arena, &explain);
		if (run->settings->journal && strcmp(run->settings->journal, "-") != 0)
			xc_triage_given(job, of_journal, &arena, &explain);
	}
	options.analyze = (struct xc_wordlist){analyze.items, analyze.count};
	options.explain = (struct xc_wordlist){explain.items, explain.count};
	struct xc_error *err =
		xc_export_named(job->common.format ? job->common.format : "text")->write(run->problems, &options, out);
	xc_words_fini(&analyze);
	xc_words_fini(&explain);
	xc_arena_fini(&arena);
	return err;
}

/* A policy that failed gave no answer: all findings may be wrong and must not be kept. */
static bool policy_failed(const struct xc_triage_run *run)
{
	return run->policy && xc_policy_script_failed(run->policy);
}

static void check_policy(const struct xc_triage_run *run)
{
	struct xc_job *job = run->job;
	job->status = XC_EXIT_INPUT;
	if (job->common.quiet != XC_ON)
		xc_say("exit %d: the policy failed, so classes and clusters may be wrong%s", (int)job->status,
		       run->settings->update_baseline == XC_ON ? "; the baseline is unchanged"
		       : run->settings->prune == XC_ON         ? "; nothing is deleted"
							       : "");
}

/* Problems known weakly: another one may hide behind them. */
static void warn_of_weak(const struct xc_triage_run *run)
{
	size_t count = 0;
	for (size_t i = 0; i < run->problems->count; i++) {
		const struct xc_problem_member *shown = xc_problem_shown(&run->problems->problems[i]);
		count += shown && run->problems->problems[i].state != XC_PROBLEM_NEW &&
			 run->problems->problems[i].why && xc_signature_is_weak(shown->signature);
	}
	if (count && run->job->common.quiet != XC_ON)
		xc_say("%zu cluster%s known only by a short or broken stack: another crash may look the same", count,
		       count == 1 ? " is" : "s are");
}

static void set_status(const struct xc_triage_run *run)
{
	struct xc_job *job = run->job;
	xc_auto(xc_freep) char *why = NULL;
	struct xc_triage_gate rules = {
		.fail_on = &job->common.fail_on,
		.baseline = run->settings->baseline && run->settings->update_baseline != XC_ON,
		.limited = run->settings->max_unreadable != NULL,
	};
	if (rules.limited)
		xc_options_number(run->settings->max_unreadable, UINT64_MAX, &rules.max_unreadable);
	warn_of_weak(run);
	job->status = xc_triage_gate(&rules, run->problems, &why);
	if (why && job->common.quiet != XC_ON)
		xc_say("exit %d: %s", (int)job->status, why);
}

/* A certain status (a failed condition) stays. */
static void check_unlooked(const struct xc_triage_run *run)
{
	struct xc_job *job = run->job;
	xc_auto(xc_error_freep) struct xc_error *err = xc_triage_unlooked(run);
	if (!err || job->status == XC_EXIT_POLICY)
		return;
	job->status = XC_EXIT_INPUT;
	if (job->common.quiet != XC_ON)
		xc_say("exit %d: %s; %s", (int)job->status, err->message, err->hint);
}

/* ---- cores to keep ---- */

static void report_pruned(void *user, const struct xc_core_spare *spare, const char *why_not)
{
	const struct xc_triage_run *run = user;
	const bool dry = run->settings->dry_run == XC_ON;
	if (why_not)
		xc_say("left alone: %s: %s", xc_record_shown(spare->record), why_not);
	else if (run->job->common.quiet != XC_ON)
		xc_say("%s: %s", dry ? "would delete" : "deleted", xc_record_shown(spare->record));
}

static void prune(struct xc_triage_run *run, const struct xc_core_retention *keep)
{
	const struct xc_prune order = {
		.keep = keep,
		.inputs = run->inputs->inputs,
		.input_count = run->inputs->count,
		.directories = run->inputs->directories,
		.directory_count = run->inputs->directory_count,
		.dry = run->settings->dry_run == XC_ON,
		.report = report_pruned,
		.user = run,
	};
	const struct xc_pruned pruned = xc_prune(&order);
	struct xc_text size = {0};
	xc_text_size(&size, pruned.bytes);
	if (run->job->common.quiet != XC_ON)
		xc_say("%s %zu core%s, %s", order.dry ? "would delete" : "deleted", pruned.deleted,
		       pruned.deleted == 1 ? "" : "s", xc_text_string(&size));
	xc_text_fini(&size);
}

static struct xc_error *write_answer(const struct xc_triage_run *run, const struct xc_core_retention *list, FILE *out)
{
	struct xc_error *err = run->settings->keep == XC_ON ? xc_core_retention_write(list, out) : answer(run, out);
	if (!err && fflush(out))
		err = xc_error_errno(errno, "writing the answer");
	return err;
}

struct xc_error *xc_triage_output(struct xc_triage_run *run, FILE *out)
{
	struct xc_error *err;
	if (run->settings->explain == XC_ON) {
		err = xc_explain(run->problems, out);
		if (!err && policy_failed(run))
			check_policy(run);
		return err;
	}
	struct xc_core_retention *list = xc_core_retention_new(run->problems);
	if (!(err = write_answer(run, list, out)) && !(err = write_exports(run)) && !policy_failed(run))
		err = update_baseline(run);
	if (!err && run->settings->prune == XC_ON && !policy_failed(run) && !(err = xc_output_commit(run->job->output)))
		prune(run, list); /* last: a deleted core cannot be examined again */
	xc_core_retention_free(list);
	if (!err) {
		set_status(run);
		check_unlooked(run);
		if (policy_failed(run))
			check_policy(run);
	}
	return err;
}

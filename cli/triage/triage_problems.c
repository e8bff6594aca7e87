/* triage_problems: records, made or merged, and the results of rules, policy and baseline. */
#include "cli/triage/triage.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/io/source.h"
#include "core/base/say.h"

/* ---- problems ---- */

static struct xc_error *read_file(const char *path, struct xc_source **source_out)
{
	const struct xc_source_options plain = {.as_is = true};
	return xc_source_open(path, &plain, source_out);
}

static struct xc_error *read_rules(struct xc_triage_run *run)
{
	struct xc_error *err = NULL;
	run->rules = xc_framerules_builtin();
	for (size_t i = 0; i < run->settings->frames.count && !err; i++) {
		const char *name = run->settings->frames.items[i];
		xc_auto(xc_source_closep) struct xc_source *source = NULL;
		if (!(err = read_file(name, &source)))
			err = xc_framerules_add(run->rules, (const char *)source->bytes, (size_t)source->size, name);
	}
	return err ? xc_error_wrap(err, "--frames") : NULL;
}

static void warn_of_policy(void *user, const struct xc_error *err)
{
	(void)user;
	xc_say("--policy: %s", err->message); /* also with --quiet: the run will fail because of it */
}

static struct xc_error *read_policy(struct xc_triage_run *run)
{
	const char *name = run->settings->policy;
	const struct xc_common *common = &run->job->common;
	xc_auto(xc_source_closep) struct xc_source *source = NULL;
	const struct xc_policy_script_options options = {
		.limits = {.instructions = (uint64_t)common->max_instructions * 1000000,
			   .memory = (uint64_t)common->max_memory << 20,
			   .seconds = common->max_time},
		.warn = warn_of_policy,
	};
	struct xc_error *err = name ? read_file(name, &source) : NULL;
	if (name && !err)
		err = xc_policy_script_load(name, (const char *)source->bytes, (size_t)source->size, &options,
					    &run->policy);
	return err ? xc_error_wrap(err, "--policy") : NULL;
}

/* A baseline that will be updated need not exist. */
static struct xc_error *read_baseline(struct xc_triage_run *run)
{
	const char *name = run->settings->baseline;
	xc_auto(xc_source_closep) struct xc_source *source = NULL;
	if (!name)
		return NULL;
	struct xc_error *err = read_file(name, &source);
	if (err && err->code == XC_ERR_NOT_FOUND && run->settings->update_baseline == XC_ON) {
		xc_error_free(err);
		return NULL;
	}
	if (!err)
		err = xc_baseline_read((const char *)source->bytes, (size_t)source->size, name, &run->baseline);
	return err ? xc_error_wrap(err, "--baseline") : NULL;
}

/* "2026-11-22", in UTC. SOURCE_DATE_EPOCH is ignored: it is for dates that are written, and may be years ago. */
static const char *today(const struct xc_triage_settings *settings, char text[16])
{
	const time_t now = time(NULL);
	struct tm broken;
	if (settings->today)
		return settings->today;
	gmtime_r(&now, &broken);
	strftime(text, 16, "%Y-%m-%d", &broken);
	return text;
}

/* A description of what was not examined, besides cores without a verdict; NULL: nothing. */
static const char *left_out(struct xc_triage_run *run)
{
	const struct xc_merged *found = &run->found;
	if (found->missing_count == 1)
		return xc_arena_printf(&run->arena, "%s is missing", found->missing[0]);
	if (found->missing_count)
		return xc_arena_printf(&run->arena, "%s and %zu more parts are missing", found->missing[0],
				       found->missing_count - 1);
	if (found->left_out)
		return xc_arena_printf(&run->arena, "%zu name%s could not be searched", found->left_out,
				       found->left_out == 1 ? "" : "s");
	return NULL;
}

/* The output file was opened before it was known whether the parts are redacted. */
static struct xc_error *merge_parts(struct xc_triage_run *run)
{
	struct xc_parts parts;
	const struct xc_words *names = &run->job->operands;
	struct xc_error *err = xc_parts_read(names->items, names->count, run->settings->shards, &run->arena, &parts);
	if (err || (err = xc_parts_merge(&parts, &run->arena, &run->found)))
		return err;
	run->found.redacted &= xc_job_redacts(run->job);
	if (!run->found.redacted)
		xc_output_unshare(run->job->output);
	return NULL;
}

static struct xc_error *find_records(struct xc_triage_run *run)
{
	struct xc_records records;
	if (run->settings->merge == XC_ON)
		return merge_parts(run);
	struct xc_error *err = xc_triage_make_records(run, &records);
	if (err)
		return err;
	const struct xc_record **list = xc_arena_alloc(&run->arena, (records.count + 1) * sizeof(struct xc_record *));
	for (size_t i = 0; i < records.count; i++)
		list[i] = records.records[i];
	run->found = (struct xc_merged){.records = list,
					.count = records.count,
					.left_out = run->inputs->note_count + run->inputs->unnoted,
					.unread = run->inputs->unread,
					.version = XC_VERSION,
					.config = run->config,
					.redacted = xc_job_redacts(run->job)};
	return NULL;
}

/* Redact the names of the cores' files. Their directories are the user's, who must find them. */
static void show_names(struct xc_triage_run *run)
{
	xc_auto(xc_text_fini) struct xc_text name = {0};
	for (size_t i = 0; xc_say_redacts() && i < run->found.count; i++) {
		struct xc_record *record = (struct xc_record *)(uintptr_t)run->found.records[i];
		const char *slash = strrchr(record->path, '/'), *last = slash ? slash + 1 : record->path;
		name.len = 0;
		xc_say_redacted(&name, last, XC_SAY_NAME);
		if (strcmp(xc_text_string(&name), last) != 0)
			record->shown = xc_arena_printf(&run->arena, "%.*s%s", (int)(last - record->path), record->path,
							xc_text_string(&name));
	}
}

struct xc_error *xc_triage_find_problems(struct xc_triage_run *run)
{
	char date[16];
	struct xc_error *err;
	if ((err = read_rules(run)) || (err = read_policy(run)) || (err = read_baseline(run)) ||
	    (err = find_records(run)))
		return err;
	show_names(run);
	const struct xc_problem_options options = {.rules = run->rules,
						   .policy = run->policy ? xc_policy_script_hooks(run->policy) : NULL,
						   .baseline = run->baseline,
						   .today = today(run->settings, date),
						   .partial = left_out(run)};
	run->problems = xc_problems_find(run->found.records, run->found.count, &options);
	run->problems->missing_parts = run->found.missing;
	run->problems->missing_part_count = run->found.missing_count;
	run->problems->unread = run->found.unread;
	run->problems->version = run->found.version;
	run->problems->config = run->found.config;
	return NULL;
}

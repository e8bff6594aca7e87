/* dispatch: parse, open, produce, render, commit, close; in this order, for every command.
 *
 * The output is opened before the target, so that a bad file name costs no analysis, and because the live sandbox
 * then allows new files only in the directory of the output. The output gets its name last. */
#include "cli/dispatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/facts/facts.h"
#include "core/base/say.h"
#include "core/base/shared_status.h"
#include "core/live/live.h"
#include "core/render/render.h"
#include "core/report/report_scrub.h"
#include "core/facts/scrub_learn.h"
#include "core/text/shellword.h"
#include "core/report/stacktree.h"
#include "core/base/text.h"
#include "cli/help.h"
#include "cli/interrupts.h"
#include "cli/policy.h"
#include "cli/stats.h"
#include "core/text/suggest.h"
#include "cli/target.h"

static enum xc_exit exit_of(const struct xc_error *err)
{
	return err->code == XC_ERR_USAGE ? XC_EXIT_USAGE : XC_EXIT_INPUT;
}

/* The lines, indented equally, so that a mark stays below the place it points to. */
static void say_lines(const char *lines)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");
		xc_auto(xc_freep) char *line = xc_asprintf("%.*s", (int)len, lines);
		xc_say_line("  ", line);
		lines += lines[len] ? len + 1 : len;
	}
}

static void report_error(const struct xc_job *job, const struct xc_error *err)
{
	const char *name = job->command ? job->command->name : "", *blank = job->command ? " " : "";
	if (err->code == XC_ERR_USAGE && job->command)
		xc_say("%s: %s", name, err->message);
	else
		xc_say("%s", err->message);
	if (err->lines)
		say_lines(err->lines);
	if (err->hint && job->common.quiet != XC_ON)
		xc_say_line("  hint: ", err->hint);
	if (err->code == XC_ERR_USAGE && job->common.quiet != XC_ON) {
		xc_auto(xc_freep) char *see = xc_asprintf("xcore %s%s--help", name, blank);
		xc_say_line("  see: ", see);
	}
}

/* Is the value of this option the next word? */
static bool takes_next_word(const struct xc_command *const *all, const char *word)
{
	size_t len = strlen(word);
	if (word[1] != '-') { /* in -qo FILE the last letter decides */
		const struct xc_option *o = xc_options_lettered(xc_common_options, word[len - 1]);
		return o && xc_option_takes_value(o);
	}
	const struct xc_option *o = xc_options_named(xc_common_options, word + 2, len - 2);
	for (const struct xc_command *const *c = all; !o && *c; c++)
		o = xc_options_named((*c)->options, word + 2, len - 2);
	return o && xc_option_takes_value(o);
}

static struct xc_error *hint_at_file(struct xc_error *err, const char *name)
{
	xc_auto(xc_freep) char *word = xc_shellword_file(name);
	return xc_error_hint(err, "to analyze that file: xcore analyze %s", word);
}

/* Find the command: the first operand. Options before it are skipped by the tables of all commands, which agree on
 * which of their options take values. */
static struct xc_error *find_command(int argc, char **argv, const struct xc_command *const *all, struct xc_job *job)
{
	const char *name = NULL;
	for (int i = 1; i < argc && !name; i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			name = argv[i];
		else if (takes_next_word(all, argv[i]))
			i++;
	}
	if (!name)
		return NULL;
	if ((job->command = xc_command_named(all, name)))
		return NULL;
	struct xc_suggestion near = xc_suggest(name);
	for (const struct xc_command *const *c = all; *c; c++)
		xc_suggest_consider(&near, (*c)->name);
	struct xc_error *err = xc_error_new(XC_ERR_USAGE, "'%s' is not a command", name);
	if (near.best)
		return xc_error_hint(err, "did you mean `xcore %s`?", near.best);
	if (access(name, F_OK) == 0)
		return hint_at_file(err, name);
	return err;
}

static struct xc_error *check_operands(const struct xc_job *job)
{
	const struct xc_operand *operand = job->command->operands;
	size_t i = 0;
	for (; operand && operand->name; operand++, i++) {
		if (i >= job->operands.count && !operand->optional)
			return xc_error_new(XC_ERR_USAGE, "%s is missing: %s", operand->name, operand->about);
		if (i >= job->operands.count || !operand->words || operand->open)
			continue;
		const char *const *word = operand->words;
		while (*word && strcmp(*word, job->operands.items[i]) != 0)
			word++;
		if (!*word)
			return xc_error_hint(xc_error_new(XC_ERR_USAGE, "'%s' is not a valid %s",
							  job->operands.items[i], operand->name),
					     "%s: %s", operand->name, operand->about);
	}
	bool many = i > 0 && operand[-1].many;
	if (job->operands.count > i && !many)
		return xc_error_new(XC_ERR_USAGE, "unexpected argument '%s'", job->operands.items[i]);
	return NULL;
}

static struct xc_error *parse(int argc, char **argv, const struct xc_command *const *all, struct xc_job *job)
{
	struct xc_error *err = find_command(argc, argv, all, job);
	if (err)
		return err;
	if (job->command)
		job->settings = xc_alloc(job->command->settings_size);
	const struct xc_option_set sets[] = {
		{xc_common_options, &job->common},
		{job->command ? job->command->options : NULL, job->settings},
	};
	struct xc_words words = {0};
	size_t after = job->command ? job->command->foreign_options_after : 0;
	err = xc_options_parse_until(argc, argv, sets, XC_COUNT(sets), after ? after : SIZE_MAX, &words);
	for (size_t i = 1; i < words.count; i++) /* the first is the command */
		xc_words_add(&job->operands, words.items[i]);
	xc_words_fini(&words);
	return err;
}

static bool wants_lines(const struct xc_job *job)
{
	return job->common.format && strcmp(job->common.format, "jsonl") == 0;
}

static bool has_own_policies(const struct xc_command *command)
{
	return xc_options_named(command->own_common, "fail-on", strlen("fail-on")) != NULL;
}

static struct xc_error *check(struct xc_job *job)
{
	struct xc_error *err;
	if ((err = check_operands(job)) ||
	    (!has_own_policies(job->command) && (err = xc_policy_check(&job->common.fail_on))))
		return err;
	if (wants_lines(job) && !job->command->writes_lines)
		return xc_error_new(XC_ERR_USAGE, "--format jsonl is for `heap objects` and `triage`");
	if (job->command->check && (err = job->command->check(job)))
		return err;
	if (wants_lines(job) && job->command->writes && !job->command->writes(job))
		return xc_error_new(XC_ERR_USAGE, "--format jsonl is for `heap objects` and `triage`");
	return NULL;
}

static struct xc_error *open_output(const struct xc_job *job, struct xc_output *output)
{
	const bool own = job->command->makes_file && job->command->makes_file(job);
	struct xc_error *err = xc_output_open(output, own ? NULL : job->common.output, xc_job_redacts(job));
	return err ? xc_error_wrap(err, "output") : NULL;
}

static void scrub(const struct xc_job *job)
{
	if (job->scrub->left)
		xc_section_message(
			xc_report_target(job->report), XC_WARNING, NULL,
			"%zu secrets and environment names exceed the limit of redaction: they are hidden only "
			"where their form reveals them",
			job->scrub->left);
	xc_report_scrub(job->report, job->scrub);
}

static struct xc_error *render(const struct xc_job *job, const struct xc_output *output)
{
	const char *format = job->common.format ? job->common.format : "text";
	struct xc_render_options options = {
		.color = output->colored,
		.width = xc_output_width(output),
		.stats = job->common.stats == XC_ON,
		.redact = xc_job_redacts(job),
		.single = job->command->schema != NULL,
	};
	if (options.redact)
		scrub(job);
	if (strcmp(format, "json") == 0)
		return xc_render_json(job->report, &options, output->file);
	if (strcmp(format, "html") == 0)
		return xc_render_html(job->report, &options, output->file);
	return xc_render_text(job->report, &options, output->file);
}

/* Without Landlock only our own code keeps the promise not to write; the user must know. */
static void note_missing_landlock(const struct xc_job *job)
{
	if (job->landlock && strncmp(job->landlock, "landlock ABI", strlen("landlock ABI")) != 0)
		xc_section_message(xc_report_target(job->report), XC_INFO, NULL, "writing files is not restricted: %s",
				   job->landlock);
}

/* A mapped file that is truncated reads as zeros from then on (source.h). A truncated core makes the report useless;
 * a truncated file of a module makes facts about that module doubtful. A live process may exit while it is read. */
static struct xc_error *check_unchanged(const struct xc_job *job)
{
	const struct xc_process *process = job->process;
	if (process->core && xc_source_changed(process->core))
		return xc_error_hint(
			xc_error_new(XC_ERR_IO, "%s: the file was truncated while it was read", process->target),
			"is it still being written? Try again when it is complete");
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_module *module = process->modules[i];
		if (!module->file || !xc_source_changed(module->file))
			continue;
		xc_section_message(xc_report_target(job->report), XC_PROBLEM, NULL,
				   "%s was truncated while it was read: facts about it may be wrong",
				   module->file_path);
		job->report->incomplete = true;
	}
	if (xc_live_gone(process)) {
		xc_section_message(
			xc_report_target(job->report), XC_PROBLEM, NULL,
			"the process exited or executed another program while it was read: the rest is missing");
		job->report->incomplete = true;
	}
	return NULL;
}

static struct xc_error *prepare_bytes(const struct xc_job *job, struct xc_output *output)
{
	output->binary = job->command->is_binary && job->command->is_binary(job);
	if (output->binary && !output->path && isatty(output->fd))
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "this format is binary, not for a terminal"),
				     "-o FILE writes it to a file");
	return NULL;
}

static struct xc_error *produce_and_render(struct xc_job *job, struct xc_output *output)
{
	bool writes = job->command->writes && job->command->writes(job);
	struct xc_error *err = writes ? prepare_bytes(job, output) : NULL;
	if (err)
		return err;
	job->report = xc_report_new(job->command->name);
	job->out = output->file;
	xc_facts_target(job->report, job->process);
	xc_report_target(job->report)->brief = !job->command->leads_with_target;
	note_missing_landlock(job);
	if ((err = writes ? job->command->write(job, output->file) : job->command->produce(job)))
		return err;
	if ((err = check_unchanged(job)))
		return err;
	if (job->common.stats == XC_ON)
		xc_stats_add(job);
	if (!writes && (err = render(job, output)))
		return err;
	if (job->failure && output->directory && !job->failure->hint)
		xc_error_hint(job->failure, "nothing was written to %s; without -o the partial report is shown",
			      job->common.output);
	return xc_take(job->failure);
}

/* The status of a run that succeeded. A policy condition that was met is certain even when other things are missing,
 * so it takes precedence over incompleteness. */
static enum xc_exit policy_status(struct xc_job *job)
{
	const char *word = xc_policy_hit(&job->common.fail_on, job->process, job->report);
	if (word) {
		if (job->common.quiet != XC_ON)
			xc_say("--fail-on %s: condition met", word);
		return XC_EXIT_POLICY;
	}
	if (job->common.strict == XC_ON && xc_policy_incomplete(job->process, job->report)) {
		if (job->common.quiet != XC_ON)
			xc_say("--strict: something is missing, see the report");
		return XC_EXIT_INCOMPLETE;
	}
	return XC_EXIT_DONE;
}

static struct xc_error *call_opened(void *ctx, struct xc_process *process)
{
	struct xc_job *job = ctx;
	job->process = process;
	return job->command->opened(job);
}

static struct xc_error *with_target(struct xc_job *job, struct xc_output *output, enum xc_exit *status)
{
	struct xc_target target = {0};
	const bool writes = job->command->writes && job->command->writes(job);
	atomic_store(&xc_shared_status()->restartable, !writes && !job->command->acts);
	const struct xc_target_hook hook = {call_opened, job};
	struct xc_error *err = xc_target_open(&target, xc_job_operand(job, "TARGET"), &job->common, output->directory,
					      job->command->opened ? &hook : NULL);
	if (err)
		return err;
	job->process = target.process;
	job->landlock = target.landlock;
	if (xc_job_redacts(job))
		xc_scrub_learn(job->scrub, job->process);
	if (!(err = xc_job_check_not_target(job, output->path)) && !(err = produce_and_render(job, output)))
		*status = policy_status(job);
	xc_target_close(&target);
	job->process = NULL;
	return err;
}

static struct xc_error *run_without_target(struct xc_job *job, struct xc_output *output)
{
	const bool writes = job->command->writes && job->command->writes(job);
	struct xc_error *err = writes ? prepare_bytes(job, output) : NULL;
	if (!err)
		err = job->command->run(job, output->file);
	return !err && job->report && !writes ? render(job, output) : err;
}

static bool has_target(const struct xc_job *job)
{
	const struct xc_command *command = job->command;
	if (!command->run)
		return true;
	return command->produce && xc_job_operand(job, "TARGET") && !(command->alone && command->alone(job));
}

/* Run a command whose command line is valid. A reader that closed the pipe (`| head`) is not an error. */
static struct xc_error *do_work(struct xc_job *job, enum xc_exit *status)
{
	struct xc_output output = {0};
	struct xc_error *err = open_output(job, &output);
	if (err)
		return err;
	job->output = &output;
	output.colored = xc_output_color(&output, job->common.color);
	const bool untargeted = !has_target(job);
	err = untargeted ? run_without_target(job, &output) : with_target(job, &output, status);
	if (untargeted)
		*status = job->status;
	/* The output has recorded the cause of a failed write; a renderer only knows that it failed. */
	struct xc_error *write_error = output.file ? xc_output_error(&output) : NULL;
	if (write_error) {
		xc_error_free(err);
		err = write_error;
	}
	if (err)
		xc_output_abandon(&output);
	else if (output.file)
		err = xc_output_commit(&output);
	if (err && xc_output_unread(&output)) {
		xc_error_free(err);
		err = NULL;
	}
	job->output = NULL;
	return err;
}

/* Pass to the watchdog what it must know of this command, before any call may hang. */
static void brief_watchdog(const struct xc_job *job)
{
	struct xc_shared_status *told = xc_shared_status();
	atomic_store(&told->timeout_s, job->common.io_timeout);
	atomic_store(&told->quiet, job->common.quiet == XC_ON);
	atomic_store(&told->redacts, job->command && xc_job_redacts(job));
	atomic_store(&told->handles_sigint, job->command && job->command->understands_interrupts);
}

/* --help, --version, and no command at all. False when there is a command to run. */
static bool answer_about_itself(const struct xc_job *job, const struct xc_command *const *all, enum xc_exit *status)
{
	if (job->common.version == XC_ON)
		printf("xcore %s\n", XC_VERSION);
	else if (job->common.help == XC_ON && job->command) {
		if (!job->command->help || !job->command->help(job, stdout))
			xc_help_command(stdout, job->command);
	} else if (job->common.help == XC_ON)
		xc_help_overview(stdout, all);
	else if (!job->command) {
		xc_help_overview(stderr, all);
		*status = XC_EXIT_USAGE;
	} else
		return false;
	if (fflush(stdout) != 0 && errno != EPIPE) {
		xc_say("standard output: %s", strerror(errno));
		*status = XC_EXIT_INPUT;
	}
	return true;
}

static bool scrub_by_job(const void *user, const char *text, enum xc_say_kind kind, struct xc_text *out)
{
	return kind == XC_SAY_NAME ? xc_scrub_symbol(user, text, out)
				   : xc_scrub_text(user, text, kind == XC_SAY_JSON, out);
}

int xc_dispatch(int argc, char **argv, const struct xc_command *const *all)
{
	struct xc_scrub scrub = {0};
	struct xc_job job = {.started_ns = xc_now_ns(), .common = xc_common_defaults(), .scrub = &scrub};
	enum xc_exit status = XC_EXIT_DONE;
	struct xc_error *err = parse(argc, argv, all, &job);
	if (job.command && xc_job_redacts(&job))
		xc_say_redact(scrub_by_job, &scrub);
	brief_watchdog(&job);
	if (!err && !answer_about_itself(&job, all, &status) && !(err = check(&job)))
		err = do_work(&job, &status);
	if (err) {
		report_error(&job, err);
		status = exit_of(err);
		xc_error_free(err);
	}
	xc_report_free(job.report);
	if (job.tree)
		xc_stacktree_fini(job.tree);
	free(job.tree);
	if (job.settings && job.command->fini)
		job.command->fini(job.settings);
	xc_error_free(job.failure);
	free(job.settings);
	xc_words_fini(&job.operands);
	xc_common_fini(&job.common);
	xc_say_redact(NULL, NULL);
	xc_scrub_fini(&scrub);
	if (xc_interrupted_by) {
		xc_interrupts_release();
		raise(xc_interrupted_by);
	}
	return (int)status;
}

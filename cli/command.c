/* command: looking up commands, their options and the operands of a job. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct xc_operand xc_target_operands[] = {XC_OPERAND_TARGET, {.name = NULL}};

const struct xc_command *xc_command_named(const struct xc_command *const *all, const char *name)
{
	for (const struct xc_command *const *c = all; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

const struct xc_option *xc_command_common(const struct xc_command *command, const struct xc_option *option)
{
	const struct xc_option *own =
		command ? xc_options_named(command->own_common, option->name, strlen(option->name)) : NULL;
	return own ? own : option;
}

const char *xc_job_operand(const struct xc_job *job, const char *name)
{
	const struct xc_operand *operand = job->command->operands;
	for (size_t i = 0; operand && operand->name && i < job->operands.count; i++, operand++)
		if (strcmp(operand->name, name) == 0)
			return job->operands.items[i];
	return NULL;
}

bool xc_job_is(const struct xc_job *job, const char *word)
{
	return strcmp(xc_job_operand(job, "WHAT"), word) == 0;
}

struct xc_error *xc_job_goes_with(const struct xc_job *job, bool given, const char *option, const char *word)
{
	if (!given || xc_job_is(job, word))
		return NULL;
	return xc_error_new(XC_ERR_USAGE, "--%s is only for `%s %s`", option, job->command->name, word);
}

struct xc_error *xc_job_check_not_target(const struct xc_job *job, const char *path)
{
	const struct xc_source *core = job->process->core;
	struct stat st;
	if (!path || !core || stat(path, &st) < 0 || st.st_dev != core->dev || st.st_ino != core->ino)
		return NULL;
	return xc_error_new(XC_ERR_USAGE, "--output: %s is the target itself", path);
}

bool xc_job_redacts(const struct xc_job *job)
{
	const char *ci = getenv("CI");
	return xc_switch_or(job->common.redact, job->command->sensitive || (ci && strcmp(ci, "true") == 0));
}

void xc_job_format_by_name(struct xc_job *job)
{
	const char *output = job->common.output;
	if (output && !job->common.format && xc_ends_with(output, ".json"))
		job->common.format = "json";
	else if (output && !job->common.format && xc_ends_with(output, ".html"))
		job->common.format = "html";
}

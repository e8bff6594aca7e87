/* help: descriptions of commands, the manual page, and completions for shells. */
#include "cli/command.h"
#include "cli/help.h"
#include "cli/commands/commands.h"

struct settings {
	enum xc_switch man;
	const char *completion;
};

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static struct xc_error *check(struct xc_job *job)
{
	const char *name = xc_job_operand(job, "COMMAND");
	if (!name || xc_command_named(xc_commands, name))
		return NULL;
	return xc_error_new(XC_ERR_USAGE, "'%s' is not a command", name);
}

static struct xc_error *run(struct xc_job *job, FILE *out)
{
	const struct settings *settings = job->settings;
	const char *name = xc_job_operand(job, "COMMAND");
	if (settings->man == XC_ON)
		xc_man_write(out, xc_commands);
	else if (settings->completion)
		xc_completion_write(out, xc_commands, settings->completion);
	else if (name)
		xc_help_command(out, xc_command_named(xc_commands, name));
	else
		xc_help_overview(out, xc_commands);
	return NULL;
}

static const struct xc_operand operands[] = {
	{.name = "COMMAND",
	 .optional = true,
	 .complete = XC_COMPLETE_COMMAND,
	 .about = "the command to describe; default: all in brief"},
	{.name = NULL},
};

static const struct xc_option options[] = {
	XC_ON_OPTION("man", man, "write the manual page, as mdoc source"),
	{.name = "completion",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, completion),
	 .value = "SHELL",
	 .about = "write the completion script for bash, zsh or fish",
	 .words = shells},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore help bt", "what bt does, and its options"},
	{"source <(xcore help --completion bash)", "complete commands and options in this shell"},
	{"xcore help --man | man -l -", "read the manual without installing it"},
	{.line = NULL},
};

const struct xc_command xc_command_help = {
	.name = "help",
	.about = "describe a command; write the manual page or shell completions",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.run = run,
};

/* run: a script in Lua over the target. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lua/host.h"

struct settings {
	const char *code;
};

static void write_line(void *user, const char *line, size_t len)
{
	(void)user;
	fwrite(line, 1, len, stdout);
	putchar('\n');
	fflush(stdout);
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	struct xc_host_options options = {.process = job->process,
					  .report = job->report,
					  .name = "-e",
					  .limits = xc_limits_defaults(),
					  .output = write_line};
	job->report->bare = true;
	char *text = NULL;
	size_t size = 0;
	const char *name = "-e";
	if (!settings->code) {
		FILE *f = fopen(job->operands.items[1], "r");
		name = job->operands.items[1];
		if (!f || getdelim(&text, &size, EOF, f) < 0)
			return xc_error_new(XC_ERR_IO, "%s", name);
		fclose(f);
	}
	const char *code = settings->code ? settings->code : text;
	struct xc_host *host = xc_host_new(&options);
	struct xc_error *err = xc_host_run(host, name, code, strlen(code), NULL, 0);
	xc_host_free(host);
	free(text);
	return err;
}

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "FILE", .about = "a script", .optional = true},
	{.name = NULL},
};
static const struct xc_option options[] = {
	{.name = "code",
	 .letter = 'e',
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, code),
	 .value = "CODE",
	 .about = "run this"},
	{.name = NULL},
};

const struct xc_command xc_command_run = {
	.name = "run",
	.about = "a script in Lua over the target",
	.operands = operands,
	.options = options,
	.settings_size = sizeof(struct settings),
	.produce = produce,
};

/* shell: an interactive prompt. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

#include "core/base/text.h"
#include "core/base/userdir.h"
#include "lua/shell/shell.h"
#include "cli/shared/plugins.h"
#include "cli/shared/profiler.h"

struct settings {
	enum xc_switch history;
	struct xc_profiler profiler;
	FILE *file; /* the history; opened before the target, because opening a live process restricts new files */
};

/* Mode 0600: lines may contain data of the target. Without a home directory there is no history. */
static void open_history(struct settings *settings)
{
	char *dir = xc_userdir("XDG_STATE_HOME", ".local/state", "xcore");
	if (!dir)
		return;
	xc_userdir_make(dir, 0700);
	char *path = xc_asprintf("%s/history", dir);
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (settings->file = fdopen(fd, "a+e")))
		rewind(settings->file);
	else if (fd >= 0)
		close(fd);
	free(path);
	free(dir);
}

static struct xc_error *check(struct xc_job *job)
{
	struct settings *settings = job->settings;
	if (job->common.format)
		return xc_error_new(XC_ERR_USAGE, "the shell does not support --format");
	if (xc_switch_or(settings->history, true) && isatty(STDIN_FILENO))
		open_history(settings);
	return NULL;
}

static struct xc_error *opened(struct xc_job *job)
{
	struct settings *settings = job->settings;
	xc_profiler_open(&settings->profiler, job);
	return NULL;
}

static bool writes(const struct xc_job *job)
{
	(void)job;
	return true;
}

/* `require` works, so that parts of a plugin and lib.walk can be tried. Only the limit on memory applies: the user
 * can interrupt. */
static struct xc_error *open_shell(struct xc_job *job, struct xc_plugins *plugins, const char *banner, FILE *out)
{
	const struct settings *settings = job->settings;
	struct xc_output output = {.file = out};
	struct xc_shell_options options = {
		.host = {.process = job->process,
			 .report = job->report,
			 .name = "shell",
			 .profiler = settings->profiler.child,
			 .limits = {.memory = xc_plugins_limits(&job->common).memory}},
		.in = stdin,
		.out = out,
		.history = settings->file,
		.banner = job->common.quiet == XC_ON ? NULL : banner,
		.color = xc_output_color(&output, job->common.color),
		.width = xc_output_width(&output),
	};
	options.host.module_dirs = xc_plugin_module_dirs(plugins, NULL, &options.host.module_dir_count);
	return xc_shell(&options);
}

static struct xc_error *write_shell(struct xc_job *job, FILE *out)
{
	struct settings *settings = job->settings;
	struct xc_plugins plugins = {0};
	struct xc_text banner = {0};
	xc_text_add(&banner, "xcore " XC_VERSION " on ");
	xc_text_name(&banner, job->process->target);
	xc_text_add(&banner, ": Lua 5.4; help() for help, ^D to leave");
	struct xc_error *err = xc_plugins_of(&job->common, &plugins);
	if (!err)
		err = open_shell(job, &plugins, xc_text_string(&banner), out);
	xc_plugins_fini(&plugins);
	if (settings->file)
		fclose(settings->file);
	xc_text_fini(&banner);
	return err;
}

static void fini(void *settings)
{
	struct settings *s = settings;
	xc_profiler_fini(&s->profiler);
}

static const struct xc_option options[] = {
	XC_OFF_OPTION("no-history", history, "do not read or write the history of typed lines"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore shell core.1234", "explore a core"},
	{"xcore shell pid:1234", "explore a running process; xcore.refresh() reads it again"},
	{"echo 't:var \"server\".port' | xcore shell core.1234", "without a terminal: one line at a time"},
	{.line = NULL},
};

const struct xc_command xc_command_shell = {
	.name = "shell",
	.about = "an interactive Lua prompt on the target, with completion and help",
	.text = "The value of each line is shown: values of the target with their types, lists of records as "
		"tables. Tab completes fields, functions of the API, and names of the target inside t:var \"…\" and "
		"similar calls; help() explains. Incomplete lines continue at the next prompt; ^C interrupts the "
		"running line.\n\nTyped lines are kept in ~/.local/state/xcore/history.",
	.operands = xc_target_operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.opened = opened,
	.writes = writes,
	.write = write_shell,
	.understands_interrupts = true,
	.fini = fini,
};

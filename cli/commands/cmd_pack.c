/* pack: a core and the files it needs, in one file. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/progress.h"
#include "dwarf/report/pack.h"

struct settings {
	unsigned level;
};

/* -o, else the last component of the target with ".pack", in the working directory; malloc'ed. */
static char *output_path(const struct xc_job *job)
{
	const char *target = xc_job_operand(job, "TARGET"), *slash = strrchr(target, '/');
	return job->common.output ? xc_strdup(job->common.output) : xc_asprintf("%s.pack", slash ? slash + 1 : target);
}

static struct xc_error *check(struct xc_job *job)
{
	if (strncmp(xc_job_operand(job, "TARGET"), "pid:", 4) == 0)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "a running process cannot be packed"),
				     "create a core first, for example with gcore");
	return NULL;
}

static void add_totals(struct xc_report *report, const char *path, const struct xc_pack_totals *totals)
{
	struct xc_section *s = xc_report_section(report, "pack", "Pack");
	xc_section_text(s, "file", "file", path);
	xc_section_bytes(s, "stored", "size", totals->stored);
	xc_section_bytes(s, "bytes", "of", totals->bytes);
	xc_section_count(s, "files", "files, with the core", totals->files);
	if (totals->missing)
		xc_section_message(s, XC_WARNING, "`xcore modules` lists them, with a remedy for each",
				   "files of %zu modules were not found and are not in the pack", totals->missing);
	report->incomplete |= totals->missing != 0;
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	xc_auto(xc_freep) char *path = output_path(job);
	struct xc_progress progress = xc_progress_start(path, job->common.quiet == XC_ON);
	struct xc_pack_options options = {.progress = &progress, .level = (int)settings->level};
	struct xc_pack_totals totals;
	struct xc_error *err = xc_job_check_not_target(job, path);
	if (!err)
		err = xc_pack_write(job->process, path, &options, &totals);
	xc_progress_end(&progress);
	if (!err)
		add_totals(job->report, path, &totals);
	return err;
}

static const struct xc_operand operands[] = {
	{.name = "TARGET", .about = "a core file, plain or compressed", .complete = XC_COMPLETE_TARGET},
	{.name = NULL},
};

static const struct xc_option options[] = {
	{.name = "level",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, level),
	 .value = "N",
	 .about = "zstd compression level: 1 is fast, 19 is small; default: 3",
	 .min = 1,
	 .max = 19},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore pack core.1234", "writes core.1234.pack"},
	{"xcore pack core.1234 -o /tmp/for-a-colleague.pack --debuginfod", "with debug files from the debuginfod "
									   "servers"},
	{"xcore analyze core.1234.pack", "works on any host, without other files"},
	{.line = NULL},
};

static bool makes_file(const struct xc_job *job)
{
	(void)job;
	return true;
}

const struct xc_command xc_command_pack = {
	.name = "pack",
	.about = "put a core, and exactly the module and debug files that it needs, into one file",
	.text = "A pack opens like a core and gives the same results on a host that has none of these files. It "
		"contains the memory of the process, with all secrets in it, so its mode is 0600. -o names the "
		"pack; the summary is written to standard output.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.makes_file = makes_file,
	.sensitive = true,
	.check = check,
	.produce = produce,
};

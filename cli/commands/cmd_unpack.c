/* unpack: extract the files of a pack, for other tools. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/progress.h"
#include "core/text/shellword.h"
#include "dwarf/report/pack.h"

struct settings {
	enum xc_switch force;
};

/* DIR, else the last component of the pack with ".d" in place of ".pack"; malloc'ed. */
static char *directory_of(const struct xc_job *job)
{
	const char *dir = xc_job_operand(job, "DIR"), *pack = xc_job_operand(job, "PACK");
	const char *slash = strrchr(pack, '/'), *name = slash ? slash + 1 : pack;
	size_t len = strlen(name);
	if (dir)
		return xc_strdup(dir);
	if (len > 5 && strcmp(name + len - 5, ".pack") == 0)
		len -= 5;
	return xc_asprintf("%.*s.d", (int)len, name);
}

/* The command that analyzes the extracted files; malloc'ed. */
static char *command_for(const char *dir)
{
	xc_auto(xc_freep) char *core = xc_asprintf("%s/core", dir);
	xc_auto(xc_freep) char *root = xc_asprintf("%s/root", dir);
	struct xc_text text = {0};
	xc_text_add(&text, "xcore analyze ");
	xc_shellword_add_file(&text, core);
	xc_text_add(&text, " --sysroot ");
	xc_shellword_add_file(&text, root);
	return xc_text_take(&text);
}

static struct xc_error *run(struct xc_job *job, FILE *out)
{
	(void)out;
	const struct settings *settings = job->settings;
	const char *pack = xc_job_operand(job, "PACK");
	xc_auto(xc_freep) char *dir = directory_of(job);
	struct xc_progress progress = xc_progress_start(pack, job->common.quiet == XC_ON);
	struct xc_pack_options options = {.progress = &progress, .force = settings->force == XC_ON};
	struct xc_pack_totals totals;
	struct xc_error *err = xc_pack_extract(pack, dir, &options, &totals);
	xc_progress_end(&progress);
	if (err)
		return err;
	xc_auto(xc_freep) char *use = command_for(dir);
	job->report = xc_report_new("unpack");
	struct xc_section *s = xc_report_section(job->report, "unpack", "Unpacked");
	xc_section_text(s, "directory", "directory", dir);
	xc_section_count(s, "files", "files, with the core", totals.files);
	xc_section_bytes(s, "bytes", "size", totals.bytes);
	xc_section_text(s, "use", "to use it", use)->whole = true;
	return NULL;
}

static const struct xc_operand operands[] = {
	{.name = "PACK", .about = "a file made by `xcore pack`", .complete = XC_COMPLETE_FILE},
	{.name = "DIR",
	 .optional = true,
	 .about = "the directory to extract to, created if needed; default: the name of the pack with .d in place "
		  "of .pack",
	 .complete = XC_COMPLETE_DIR},
	{.name = NULL},
};

static const struct xc_option options[] = {
	XC_ON_OPTION("force", force, "replace existing files"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore unpack core.1234.pack", "into core.1234.d: the core, and the files it needs below root/"},
	{"gdb -ex 'set sysroot core.1234.d/root' core.1234.d/root/usr/bin/prog core.1234.d/core",
	 "the same core in gdb"},
	{.line = NULL},
};

const struct xc_command xc_command_unpack = {
	.name = "unpack",
	.about = "extract the files of a pack, for other tools",
	.text = "xcore itself reads a pack directly. No file is written outside of DIR, whatever names the pack "
		"contains, and each file is verified by its SHA-256.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.run = run,
};

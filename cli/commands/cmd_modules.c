/* modules: the program and its libraries, with the files and debug information that were found, or the reason why
 * not. */
#include "cli/command.h"

#include "dwarf/report/modules_report.h"

static struct xc_error *produce(struct xc_job *job)
{
	xc_modules_report(job->report, job->process);
	return NULL;
}

static const struct xc_example examples[] = {
	{"xcore modules core.1234", "which libraries lack debug information, and what to install"},
	{"xcore modules core.1234 --debuginfod", "the same, with downloads from the servers in DEBUGINFOD_URLS"},
	{.line = NULL},
};

const struct xc_command xc_command_modules = {
	.name = "modules",
	.about = "the program and its libraries, with the files and debug information that were found",
	.text = "For each module: its addresses, its build-id, the file that was used and how certain it is that "
		"the file is the right one (verified: the build-ids are equal; unverified: the target has no "
		"build-id to compare; refused: it is another file), and the source of its debug information, or the "
		"reason why there is none and the remedy.",
	.operands = xc_target_operands,
	.examples = examples,
	.produce = produce,
};

/* modules: the program and its libraries: files and debug information found, or why not. */
#include "cli/command.h"

#include "dwarf/report/modules_report.h"

static struct xc_error *produce(struct xc_job *job)
{
	xc_modules_report(job->report, job->process);
	return NULL;
}

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore modules core.1234", "which libraries lack debug information, and what to install"},
	{"xcore modules core.1234 --debuginfod", "the same, asking the servers in DEBUGINFOD_URLS"},
	{.line = NULL},
};

const struct xc_command xc_command_modules = {
	.name = "modules",
	.about = "the program and its libraries: files and debug information found, or why not",
	.text = "Per module: its addresses, its build-id, the file that was used for it and how well that is known "
		"to be the right one (verified: build-ids are equal; unverified: the target does not tell; refused: "
		"another file), where its debug information comes from, or why there is none and what to do about "
		"it.",
	.operands = operands,
	.examples = examples,
	.produce = produce,
};

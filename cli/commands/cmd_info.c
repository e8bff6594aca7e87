/* info: facts about the process and the core file. */
#include "cli/command.h"

#include "core/facts/facts.h"

static struct xc_error *produce(struct xc_job *job)
{
	xc_facts_info(job->report, job->process);
	return NULL;
}

static const struct xc_example examples[] = {
	{"xcore info core.1234", "ids, signal, auxiliary vector, completeness of the file"},
	{.line = NULL},
};

const struct xc_command xc_command_info = {
	.name = "info",
	.about = "facts about the process and the core file",
	.operands = xc_target_operands,
	.examples = examples,
	.produce = produce,
	.leads_with_target = true,
};

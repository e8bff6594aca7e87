/* maps: the memory mappings, and how much of each the core contains. */
#include "cli/command.h"

#include "core/facts/facts.h"

static struct xc_error *produce(struct xc_job *job)
{
	xc_facts_maps(job->report, job->process);
	return NULL;
}

static const struct xc_example examples[] = {
	{"xcore maps core.1234", "what was mapped where, and how much of it was dumped"},
	{.line = NULL},
};

const struct xc_command xc_command_maps = {
	.name = "maps",
	.about = "the memory mappings, and how much of each the core contains",
	.operands = xc_target_operands,
	.examples = examples,
	.produce = produce,
};

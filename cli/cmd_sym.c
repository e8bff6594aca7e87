/* sym: a name's address, or what stands at an address. */
#include "command.h"

#include "../dwarf/symbol_report.h"

static struct xc_error *produce(struct xc_job *job)
{
	xc_addr addr;
	struct xc_error *err = xc_symbol_address(job->process, xc_job_operand(job, "NAME|ADDR"), &addr);
	if (err)
		return err;
	xc_symbol_report(job->report, job->process, addr);
	return NULL;
}

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "NAME|ADDR", .about = "a symbol, module!symbol, a number or a register ($rsp), and +N or -N"},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore sym core.1234 0x55d0c0ffee", "function, file and line at an address"},
	{"xcore sym core.1234 main_arena", "where a symbol lies"},
	{"xcore sym core.1234 libc.so.6!malloc+8", "one in a certain module"},
	{.line = NULL},
};

const struct xc_command xc_command_sym = {
	.name = "sym",
	.about = "what stands at an address, or where a symbol lies",
	.operands = operands,
	.examples = examples,
	.produce = produce,
};

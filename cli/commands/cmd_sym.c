/* sym: the address of a name, or the symbol at an address. */
#include "cli/command.h"

#include "dwarf/report/symbol_report.h"
#include "cli/shared/choose.h"

static struct xc_error *check(struct xc_job *job)
{
	const struct xc_spot *spot = job->settings;
	return xc_choose_one_check(spot->thread);
}

static struct xc_error *produce(struct xc_job *job)
{
	xc_addr addr;
	struct xc_error *err = xc_choose_address(job, job->settings, "NAME|ADDR", &addr);
	if (!err)
		xc_symbol_report(job->report, job->process, addr);
	return err;
}

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "NAME|ADDR",
	 .about = "a symbol, module!symbol, a number or a register ($rsp), with +N or -N; or a C expression"},
	{.name = NULL},
};

static const struct xc_option options[] = {XC_SPOT_OPTIONS, {.name = NULL}};

static const struct xc_example examples[] = {
	{"xcore sym core.1234 0x55d0c0ffee", "function, file and line at an address"},
	{"xcore sym core.1234 main_arena", "the address of a symbol"},
	{"xcore sym core.1234 libc.so.6!malloc+8", "a symbol of a specific module"},
	{"xcore sym core.1234 'server.commands->type->hashFunction'", "the function that a pointer points to"},
	{.line = NULL},
};

const struct xc_command xc_command_sym = {
	.name = "sym",
	.about = "the symbol at an address, or the address of a symbol",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct xc_spot),
	.check = check,
	.produce = produce,
};

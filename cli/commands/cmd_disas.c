/* disas: machine code, at the crash or around any address. */
#include "cli/command.h"

#include <string.h>

#include "dwarf/cexpr/address.h"
#include "dwarf/disas/disas_range.h"
#include "dwarf/disas/disas_report.h"
#include "cli/shared/choose.h"

struct settings {
	const char *thread, *syntax, *length;
	unsigned frame, count, before, after;
	enum xc_switch all, bytes, source;
};

static struct xc_error *length_of(const struct settings *settings, uint64_t *length_out)
{
	*length_out = 0;
	if (!settings->length || (xc_options_number(settings->length, XC_CODE_MAX, length_out) && *length_out > 0))
		return NULL;
	return xc_error_new(XC_ERR_USAGE, "--length: '%s' is not a number of bytes from 1 to %d", settings->length,
			    XC_CODE_MAX);
}

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	uint64_t length;
	struct xc_error *err = xc_choose_one_check(settings->thread);
	if (!err && !(err = length_of(settings, &length)) && length && settings->count)
		err = xc_error_new(XC_ERR_USAGE, "--count and --length cannot be combined");
	return err;
}

/* Addresses as in `sym` and `mem`; else a function that only debug information names, in any scope. */
static struct xc_error *address_of(const struct xc_job *job, const struct xc_thread *thread, const char *text,
				   xc_addr *addr_out)
{
	const struct settings *settings = job->settings;
	struct xc_error *err = xc_address_parse(job->process, thread, settings->frame, text, addr_out);
	if (!err || err->code != XC_ERR_NOT_FOUND || strchr(text, '!') ||
	    !xc_disas_function(job->process, text, addr_out))
		return err;
	xc_error_free(err);
	return NULL;
}

static struct xc_disas_options options_of(const struct xc_job *job)
{
	const struct settings *settings = job->settings;
	struct xc_disas_options options = {
		.syntax = settings->syntax && strcmp(settings->syntax, "intel") == 0 ? XC_SYNTAX_INTEL : XC_SYNTAX_ATT,
		.bytes = settings->bytes == XC_ON,
		.no_source = settings->source == XC_OFF,
		.all = settings->all == XC_ON,
		.before = settings->before ? settings->before : XC_DISAS_BEFORE,
		.after = settings->after ? settings->after : XC_DISAS_AFTER,
		.count = settings->count,
		.redact = xc_job_redacts(job),
	};
	xc_error_free(length_of(settings, &options.length)); /* checked before */
	return options;
}

/* After a call through a bad pointer the innermost frame has no code; its caller made that call. */
static struct xc_error *describe_code(struct xc_job *job, struct xc_section *s, struct xc_frame_scope *scope,
				      const xc_addr *addr)
{
	const struct settings *settings = job->settings;
	const struct xc_disas_options options = options_of(job);
	struct xc_error *err = xc_disas_report(s, scope, addr, &options);
	if (!err || addr || settings->frame || err->code != XC_ERR_FAULT || !xc_frame_scope_up(scope))
		return err;
	struct xc_error *other = xc_disas_report(s, scope, NULL, &options);
	if (other) {
		xc_error_free(other);
		return err;
	}
	xc_section_message(s, XC_INFO, NULL, "frame #0 has no code (%s): this is its caller", err->message);
	xc_error_free(err);
	return NULL;
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	const char *text = xc_job_operand(job, "ADDR");
	const struct xc_thread *thread;
	struct xc_frame_scope scope;
	xc_addr addr;
	struct xc_error *err = xc_choose_one(job->process, settings->thread, &thread);
	if (err || (text && (err = address_of(job, thread, text, &addr))))
		return err;
	struct xc_section *s = xc_report_section(job->report, "disas", "Code");
	s->schema = job->command->schema;
	if (!(err = xc_frame_scope_open(&scope, job->process, thread, settings->frame)))
		err = describe_code(job, s, &scope, text ? &addr : NULL);
	xc_frame_scope_fini(&scope);
	return err;
}

static const char *const syntaxes[] = {"att", "intel", NULL};

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "ADDR",
	 .optional = true,
	 .about = "a number, a symbol, module!symbol, a function or a register ($rip), with +N or -N; or a C "
		  "expression; default: the current instruction of the thread"},
	{.name = NULL},
};

static const struct xc_option options[] = {
	XC_THREAD_OPTION(
		thread,
		"disassemble in this thread: a thread id, or crashed; default: the crashed thread, or the first"),
	XC_NUMBER_OPTION(frame, 0, 4000000, "at frame N of its stack, as numbered by `xcore bt`; default: 0"),
	XC_ON_OPTION("all", all, "show the whole function"),
	XC_NUMBER_OPTION(before, 1, 100000, "show N instructions before the address; default: 20"),
	XC_NUMBER_OPTION(after, 1, 100000, "show N instructions after the address; default: 10"),
	XC_NUMBER_OPTION(count, 1, 1000000, "show N instructions from ADDR on"),
	{.name = "length",
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, length),
	 .value = "BYTES",
	 .about = "show this many bytes from ADDR on"},
	XC_ON_OPTION("bytes", bytes,
		     "show the bytes of each "
		     "instruction"),
	{.name = "syntax",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, syntax),
	 .value = "WHICH",
	 .about = "syntax of x86 code: att (the default) or intel",
	 .words = syntaxes},
	XC_OFF_OPTION("no-source", source, "show no source lines"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore disas core.1234", "the faulting instruction, what it accessed, and the code around it"},
	{"xcore disas core.1234 --frame 2 --syntax intel", "around the call that a caller is in"},
	{"xcore disas core.1234 main --all --bytes", "a whole function"},
	{"xcore disas core.1234 'libc.so.6!memcpy' --count 20", "20 instructions"},
	{.line = NULL},
};

const struct xc_command xc_command_disas = {
	.name = "disas",
	.about = "machine code with source lines, names, and the operands of the faulting instruction",
	.text = "=> marks the current instruction of the thread: the faulting instruction, or the call that a "
		"caller is in. Below it are the registers of its operands, and the memory that it reads or writes. "
		"Jumps, calls and addresses are annotated with names. Memory is shown as it was at the end, not as "
		"it was when the instruction ran.\n\nDecoding starts at the start of the function; when that is "
		"unknown, at the address itself.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.schema = "xcore.disas/1",
	.check = check,
	.produce = produce,
};

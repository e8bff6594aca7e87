/* disas: machine code, where it died or round any address. */
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
		err = xc_error_new(XC_ERR_USAGE, "--count and --length exclude each other");
	return err;
}

/* As `sym` and `mem` read addresses; else a function that only debug information names, in any scope. */
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

/* After a call through a bad pointer there is no code at the innermost frame; its caller made that call. */
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
	xc_section_message(s, XC_INFO, NULL, "no code at frame #0 (%s): this is its caller", err->message);
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

static const char *const threads[] = {"crashed", NULL};
static const char *const syntaxes[] = {"att", "intel", NULL};

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "ADDR",
	 .optional = true,
	 .about = "a number, a symbol, module!symbol, a function or a register ($rip), and +N or -N; or an expression "
		  "in C; by default where the thread is"},
	{.name = NULL},
};

static const struct xc_option options[] = {
	{.name = "thread",
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, thread),
	 .value = "WHICH",
	 .about = "of this thread: its number, or crashed; by default the crashed one, else the first",
	 .words = threads},
	XC_NUMBER_OPTION(frame, 0, 4000000, "where frame N of its stack is, as `xcore bt` numbers them; 0 by default"),
	{.name = "all", .kind = XC_OPTION_ON, .offset = offsetof(struct settings, all), .about = "the whole function"},
	XC_NUMBER_OPTION(before, 1, 100000, "instructions before the place; 20 by default"),
	XC_NUMBER_OPTION(after, 1, 100000, "instructions behind the place; 10 by default"),
	XC_NUMBER_OPTION(count, 1, 1000000, "N instructions from ADDR on"),
	{.name = "length",
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, length),
	 .value = "BYTES",
	 .about = "so many bytes from ADDR on"},
	{.name = "bytes", .kind = XC_OPTION_ON, .offset = offsetof(struct settings, bytes), .about = "show the bytes"},
	{.name = "syntax",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, syntax),
	 .value = "WHICH",
	 .about = "of x86: att (the default) or intel",
	 .words = syntaxes},
	{.name = "no-source",
	 .kind = XC_OPTION_OFF,
	 .offset = offsetof(struct settings, source),
	 .about = "without lines of source"},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore disas core.1234", "the instruction that died, what it read, and the code round it"},
	{"xcore disas core.1234 --frame 2 --syntax intel", "round the call that a caller is in"},
	{"xcore disas core.1234 main --all --bytes", "a whole function"},
	{"xcore disas core.1234 'libc.so.6!memcpy' --count 20", "so many instructions"},
	{.line = NULL},
};

const struct xc_command xc_command_disas = {
	.name = "disas",
	.about = "machine code with source lines, names and what the instruction that died held",
	.text = "=> marks the instruction that the thread is at: the one that died, or the call that a caller is in; "
		"below "
		"it stand its operands' registers, and the memory it reads or writes. Jumps, calls and addresses are "
		"followed by their names; what memory holds is as it was at the end, not when the instruction ran.\n\n"
		"Decoding starts where the function does; where nothing tells that, at the address.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.schema = "xcore.disas/1",
	.check = check,
	.produce = produce,
};

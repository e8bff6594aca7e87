/* mem: memory of the target. */
#include "cli/command.h"

#include "core/facts/facts.h"
#include "heap/query/whatis.h"
#include "cli/shared/choose.h"
#include "cli/shared/heaps.h"

struct settings {
	struct xc_spot spot; /* first: the offsets of its options start at 0 */
	enum xc_switch heap;
};

enum { DEFAULT_LEN = 256, MOST = 1 << 20 };

static struct xc_error *length_of(const struct xc_job *job, uint64_t *len_out)
{
	const char *text = xc_job_operand(job, "LEN");
	if (!text) {
		*len_out = DEFAULT_LEN;
		return NULL;
	}
	if (xc_options_number(text, MOST, len_out) && *len_out > 0)
		return NULL;
	return xc_error_new(XC_ERR_USAGE, "LEN: '%s' is not a number of bytes from 1 to %d", text, MOST);
}

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	uint64_t len;
	struct xc_error *err = length_of(job, &len);
	return err ? err : xc_choose_one_check(settings->spot.thread);
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	xc_addr addr;
	uint64_t len = 0;
	struct xc_error *err;
	if ((err = length_of(job, &len)) || (err = xc_choose_address(job, &settings->spot, "ADDR", &addr)))
		return err;
	xc_facts_memory(job->report, job->process, addr, len);
	if (settings->heap == XC_ON)
		xc_what_words(xc_report_section(job->report, "pointers", "Pointers"), xc_job_typed_heap(job), addr,
			      len);
	return NULL;
}

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "ADDR",
	 .about = "a number, a symbol, module!symbol or a register ($rsp), with +N or -N; or a C expression"},
	{.name = "LEN", .optional = true, .about = "number of bytes, decimal or 0x hexadecimal; default: 256"},
	{.name = NULL},
};

static const struct xc_option options[] = {XC_SPOT_OPTIONS, XC_HEAP_OPTION(heap), {.name = NULL}};

static const struct xc_example examples[] = {
	{"xcore mem core.1234 0x55d0c0ffee 64", "64 bytes at an address"},
	{"xcore mem core.1234 '$rsp' 512", "the top of the crashed thread's stack"},
	{"xcore mem pid:1234 environ+8 8", "from a running process"},
	{"xcore mem core.1234 --frame 2 'request->body' 64", "the memory that a pointer points to"},
	{.line = NULL},
};

const struct xc_command xc_command_mem = {
	.name = "mem",
	.about = "the target's memory as bytes",
	.text = "If ADDR is an expression that gives a number or a pointer, the bytes at that address are shown; if "
		"it gives a struct or an array, the bytes of that object.\n\nUnreadable bytes are shown as -- with "
		"the reason; they are never shown as zero.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.produce = produce,
};

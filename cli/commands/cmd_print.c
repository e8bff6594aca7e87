/* print: values of C expressions. */
#include "cli/command.h"

#include <string.h>

#include "dwarf/report/print.h"
#include "dwarf/stack/frame_scope.h"
#include "heap/query/whatis.h"
#include "cli/shared/choose.h"
#include "cli/shared/heaps.h"
#include "cli/shared/values.h"

struct settings {
	const char *thread, *as;
	struct xc_value_settings values;
	unsigned frame;
	enum xc_switch with_type, one_line, heap;
};

enum { DEPTH = 20, ELEMENTS = 200, LENGTH = 8 << 20, WIDTH = 100 };

/* The expressions and their format letters: `/x`, as a word or before an expression, applies to all that follow. */
struct request {
	const char **expressions;
	char *letters; /* one for each */
	size_t count;
};

static void free_request(struct request *request)
{
	xc_freep(&request->expressions);
	xc_freep(&request->letters);
}

static struct xc_error *read_request(const struct xc_job *job, struct request *out)
{
	const struct settings *settings = job->settings;
	size_t words = job->operands.count - 1;
	char letter = settings->as ? *settings->as : 0;
	bool open = true; /* an expression must follow */
	*out = (struct request){.expressions = xc_alloc(words * sizeof *out->expressions), .letters = xc_alloc(words)};
	for (size_t i = 0; i < words; i++) {
		const char *rest;
		char one;
		struct xc_error *err = xc_print_letter(job->operands.items[i + 1], &one, &rest);
		if (err)
			return err;
		letter = one ? one : letter;
		out->letters[out->count] = letter;
		out->expressions[out->count] = rest;
		open = !*rest && (one || words == 1);
		out->count += *rest || !one;
	}
	if (open)
		return xc_error_new(XC_ERR_USAGE, "EXPR is missing: an expression in C");
	return NULL;
}

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	struct request request;
	struct xc_error *err = xc_choose_one_check(settings->thread);
	if (err)
		return err;
	err = read_request(job, &request);
	free_request(&request);
	return err;
}

static struct xc_error *print(struct xc_job *job, const struct request *request)
{
	const struct settings *settings = job->settings;
	struct xc_print_options options = {.format = xc_format_defaults(),
					   .with_type = settings->with_type == XC_ON,
					   .width = settings->one_line == XC_ON ? 0 : WIDTH,
					   .redact = xc_job_redacts(job)};
	struct xc_frame_scope scope;
	options.format.depth = DEPTH;
	options.format.elements = ELEMENTS;
	options.format.length = LENGTH;
	xc_value_settings_apply(&settings->values, &options.format);
	if (settings->heap == XC_ON)
		xc_what_annotate(&options.format, xc_job_typed_heap(job));
	options.letters = request->letters;
	struct xc_section *s = xc_report_section(job->report, "print", "Values");
	s->schema = job->command->schema;
	job->report->bare = true;
	struct xc_error *err = xc_choose_frame_scope(job->process, settings->thread, settings->frame, &scope);
	if (!err)
		err = xc_print(s, &scope, request->expressions, request->count, &options);
	xc_frame_scope_fini(&scope);
	if (err && err->lines && err->code == XC_ERR_USAGE)
		err->code = XC_ERR_FORMAT; /* the hint at --help is of no use for an expression */
	return err;
}

static struct xc_error *produce(struct xc_job *job)
{
	struct request request;
	struct xc_error *err = read_request(job, &request);
	if (!err)
		err = print(job, &request);
	free_request(&request);
	return err;
}

static const char *const letters[] = {"x", "d", "u", "o", "t", "c", "a", "s", "f", "z", NULL};

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "EXPR",
	 .many = true,
	 .about = "a C expression; /x and other formats of gdb apply to all expressions that follow"},
	{.name = NULL},
};

static const struct xc_option options[] = {
	XC_THREAD_OPTION(thread,
			 "evaluate in this thread: a thread id, or crashed; default: the crashed thread, or the first"),
	XC_NUMBER_OPTION(frame, 0, 4000000, "evaluate in frame N of its stack, as numbered by `xcore bt`; default: 0"),
	{.name = "as",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, as),
	 .value = "LETTER",
	 .about = "format of numbers: x or z (hexadecimal), d, u, o, t (binary), c (character), a (address), f "
		  "(float); s: string",
	 .words = letters},
	{.name = "type",
	 .letter = 'v',
	 .kind = XC_OPTION_ON,
	 .offset = offsetof(struct settings, with_type),
	 .about = "show type and address before each value"},
	XC_HEAP_OPTION(heap),
	XC_ON_OPTION("one-line", one_line, "print each value on one line, however long"),
	XC_RAW_OPTION(values),
	XC_DEPTH_OPTION(values, "20"),
	XC_ELEMENTS_OPTION(values),
	XC_LENGTH_OPTION(values, 1000000000, "show at most N bytes of one value"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore print core.1234 'server.clients->head->value'", "a value reached from a global variable"},
	{"xcore print core.1234 --frame 2 /x 'buf[0]@len'", "part of an array that is local to frame 2, in "
							    "hexadecimal"},
	{"xcore print core.1234 /x '*(struct request *)0x55d0c0ffee'",
	 "a struct at an address, numbers in hexadecimal"},
	{"xcore print core.1234 'parser.c::depth' 'libz.so.1!deflate_copyright' '$rip'",
	 "a static variable of a "
	 "file, a variable of a library, a register"},
	{"xcore print core.1234 --format json server.clients | jq .value.length", "for programs"},
	{.line = NULL},
};

const struct xc_command xc_command_print = {
	.name = "print",
	.about = "values of C expressions",
	.text = "Expressions are C expressions, without operators that write or call. . and -> are equivalent. p@n "
		"is the array of n elements that starts with *p. {type} address reads memory as a type. "
		"'file.c'::name or file.c::name is a static variable of a file, function::name a static local, "
		"module!name a variable of one module, $rip a register. Names are looked up in the frame, then in "
		"its class, namespaces and file, then everywhere.\n\nNothing is ever written or called: xcore only "
		"reads the target.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.schema = "xcore.print/1",
	.check = check,
	.produce = produce,
};

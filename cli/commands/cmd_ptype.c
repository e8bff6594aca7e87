/* ptype: a type with the offset of each member. */
#include "cli/command.h"

#include <string.h>

#include "core/base/say.h"
#include "core/process/module.h"
#include "core/render/render.h"
#include "dwarf/cexpr/cexpr.h"
#include "dwarf/layout/layout_report.h"
#include "cli/shared/choose.h"

struct settings {
	enum xc_switch methods, all;
	unsigned expand, frame;
	const char *thread;
	const char *cacheline, *kind, *module;
	unsigned line; /* parsed from `cacheline` */
};

static bool wants_json(const struct xc_job *job)
{
	return job->common.format && strcmp(job->common.format, "json") == 0;
}

static struct xc_error *check_all(const struct xc_job *job)
{
	const struct settings *settings = job->settings;
	bool all = settings->all == XC_ON, named = xc_job_operand(job, "TYPE|EXPR") != NULL;
	if (!all && !named)
		return xc_error_hint(
			xc_error_new(XC_ERR_USAGE, "TYPE|EXPR is missing: the name of a type, or an expression"),
			"--all lists the types of a module");
	if (all && named)
		return xc_error_new(XC_ERR_USAGE, "--all takes no TYPE|EXPR");
	if (!all && (settings->kind || settings->module))
		return xc_error_new(XC_ERR_USAGE, "--%s needs --all", settings->kind ? "kind" : "module");
	if (all && job->common.format && strcmp(job->common.format, "html") == 0)
		return xc_error_new(XC_ERR_USAGE, "--all writes text or JSON only");
	return NULL;
}

static struct xc_error *check(struct xc_job *job)
{
	struct settings *settings = job->settings;
	uint64_t line = XC_CACHELINE;
	struct xc_error *err = xc_choose_one_check(settings->thread);
	if (err || (err = check_all(job)))
		return err;
	if (settings->cacheline && !xc_options_number(settings->cacheline, 1 << 20, &line))
		return xc_error_new(XC_ERR_USAGE, "--cacheline: '%s' is not a number of bytes", settings->cacheline);
	settings->line = (unsigned)line;
	return NULL;
}

static struct xc_layout_shown shown_of(const struct settings *settings)
{
	return (struct xc_layout_shown){
		.layout = {.expand = settings->expand, .cacheline = settings->line},
		.methods = settings->methods == XC_ON,
		.brief = settings->all == XC_ON,
	};
}

/* The type of an expression; the target is not read. */
static struct xc_error *describe_expression(struct xc_job *job, struct xc_section *s, const char *text)
{
	const struct settings *settings = job->settings;
	const struct xc_layout_shown shown = shown_of(settings);
	struct xc_frame_scope scope;
	struct xc_arena arena = {0};
	const struct xc_type *type;
	struct xc_error *err = xc_choose_frame_scope(job->process, settings->thread, settings->frame, &scope);
	if (!err && !(err = xc_cexpr_type(&scope, text, &arena, &type, NULL)))
		xc_layout_report_type(s, job->process, type, &shown);
	xc_frame_scope_fini(&scope);
	xc_arena_fini(&arena);
	return err;
}

/* Is the text only a name, with its module, keyword, scope and template arguments? */
static bool is_name(const char *text)
{
	const char *mark = strchr(text, '!');
	text = mark ? mark + 1 : text;
	return !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ :<>,")];
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	const struct xc_layout_shown shown = shown_of(settings);
	const char *text = xc_job_operand(job, "TYPE|EXPR");
	struct xc_section *s = xc_report_section(job->report, "type", "Type");
	s->schema = job->command->schema;
	job->report->bare = true;
	bool tag = xc_layout_is_tag(job->process, text); /* a variable of that name takes precedence */
	struct xc_error *other = tag ? describe_expression(job, s, text) : NULL;
	if (tag && !other)
		return NULL;
	xc_error_free(other);
	struct xc_error *err = xc_layout_report(s, job->process, text, &shown);
	if (!err || err->code != XC_ERR_NOT_FOUND)
		return err;
	other = describe_expression(job, s, text);
	if (other && !is_name(text)) {
		xc_error_free(err);
		if (other->code == XC_ERR_USAGE)
			other->code = XC_ERR_FORMAT; /* the hint at --help is of no use for an expression */
		return other;
	}
	xc_error_free(other ? other : err);
	return other ? err : NULL;
}

static bool writes(const struct xc_job *job)
{
	const struct settings *settings = job->settings;
	return settings->all == XC_ON;
}

struct writing {
	FILE *out;
	bool json;
};

static bool write_line(void *context, const char *text)
{
	const struct writing *w = context;
	xc_auto(xc_text_fini) struct xc_text without = {0}, clean = {0};
	xc_say_redacted(&without, text, XC_SAY_NAME);
	if (w->json) {
		xc_text_add(&clean, xc_text_string(&without));
	} else {
		xc_render_lines(&clean, xc_text_string(&without));
		xc_text_disarm(&clean, 0);
	}
	fprintf(w->out, "%s\n", xc_text_string(&clean));
	return !ferror(w->out);
}

static struct xc_error *write_all(struct xc_job *job, FILE *out)
{
	const struct settings *settings = job->settings;
	struct xc_module *module = settings->module             ? xc_module_by_name(job->process, settings->module)
				   : job->process->module_count ? job->process->modules[0]
								: NULL;
	if (!module)
		return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "no module '%s' in %s",
						  settings->module ? settings->module : "", job->process->target),
				     "`xcore modules` lists them");
	struct writing w = {out, wants_json(job)};
	const struct xc_layout_listing listing = {
		.kind = settings->kind, .shown = shown_of(settings), .json = w.json, .line = write_line, .context = &w};
	xc_layout_list(job->process, module, &listing);
	return NULL;
}

static const char *const kinds[] = {"struct", "class", "union", "enum", "typedef", NULL};

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "TYPE|EXPR",
	 .optional = true,
	 .about = "a type: struct client, client, ns::C<int>, libx.so!struct foo; or a C expression"},
	{.name = NULL},
};

static const struct xc_option options[] = {
	{.name = "expand",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, expand),
	 .value = "N",
	 .about = "also expand members that are structs, N levels deep",
	 .min = 0,
	 .max = XC_LAYOUT_DEPTH},
	XC_ON_OPTION("methods", methods, "list the methods of classes"),
	{.name = "cacheline",
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, cacheline),
	 .value = "BYTES",
	 .about = "mark cache lines of this size; default: 64; 0: none"},
	XC_THREAD_OPTION(thread, "evaluate an expression in this thread: a thread id, or crashed (the default)"),
	XC_NUMBER_OPTION(frame, 0, 4000000, "evaluate in frame N of its stack; default: 0"),
	XC_ON_OPTION("all", all, "list every named type of a module; JSON has one line for each"),
	{.name = "module",
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, module),
	 .value = "NAME",
	 .about = "with --all: types of this module; default: the program"},
	{.name = "kind",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, kind),
	 .value = "KIND",
	 .about = "with --all: types of this kind only: struct, class, union, enum or typedef",
	 .words = kinds},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore ptype core.1234 'struct client'", "offsets, sizes, holes and cache lines"},
	{"xcore ptype core.1234 client --expand 2", "with the members of its members"},
	{"xcore ptype core.1234 'server.clients->head'", "the type of an expression"},
	{"xcore ptype core.1234 'libx.so!ns::C<int>' --methods", "a class of a specific module"},
	{"xcore ptype core.1234 --all --format json | jq -r 'select(.holes > 0).name'", "for programs"},
	{.line = NULL},
};

const struct xc_command xc_command_ptype = {
	.name = "ptype",
	.about = "a type, with the offset of each member, holes and padding",
	.text = "Offsets are bytes from the start of the type; a bit-field has offset:bit and a size in bits. "
		"Members are listed by offset. Anonymous structs and unions are always expanded. When a name has "
		"several different definitions, all are shown with the place of their declaration.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.schema = "xcore.ptype/1",
	.check = check,
	.produce = produce,
	.writes = writes,
	.write = write_all,
};

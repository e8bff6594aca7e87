/* heap: owners and types of the memory, leaks and damage. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/say.h"
#include "core/live/live.h"
#include "core/text/shellword.h"
#include "heap/report/audit.h"
#include "heap/report/duplicates.h"
#include "heap/report/leaks.h"
#include "heap/query/objects.h"
#include "heap/query/refs.h"
#include "heap/blocks/damage_confirm.h"
#include "heap/report/summary.h"
#include "heap/report/top.h"
#include "heap/query/typing_report.h"
#include "heap/query/whatis.h"
#include "heap/session/session.h"
#include "cli/shared/choose.h"
#include "cli/shared/heaps.h"

enum {
	DEFAULT_ROWS = 40,
	MOST_ROWS = 1000000,
	LOOKS = 3, /* samples of apparent damage in a running process */
	PAUSE_NS = 50000000,
};

struct settings {
	const char *type, *state;
	unsigned limit, least;
	enum xc_switch retained, possible, unknown, types;
};

static size_t rows(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	return s->limit ? s->limit : DEFAULT_ROWS;
}

/* ---- whole heaps ---- */

static struct xc_error *summary(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	(void)job;
	xc_heap_summary(section, heap);
	return NULL;
}

static struct xc_error *top(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	const struct settings *s = job->settings;
	return s->retained == XC_ON ? xc_top_retained(section, heap, rows(job)) : xc_top(section, heap, rows(job));
}

static struct xc_error *types(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	const struct settings *s = job->settings;
	xc_typing_report(section, heap,
			 &(struct xc_typing_options){.limit = rows(job), .unknown = s->unknown == XC_ON});
	return NULL;
}

/* Walk the heap of a running process again, as it is now. */
static struct xc_heap *look_again(struct xc_job *job)
{
	struct timespec left = {.tv_nsec = PAUSE_NS};
	while (nanosleep(&left, &left) != 0)
		;
	xc_heap_forget(job->process);
	xc_live_forget(
		job->process); /* one command: xc_live_refresh would apply the read limits once more for each sample */
	xc_live_remap(job->process);
	struct xc_heap *heap = xc_job_heap(job);
	xc_audit_lists(heap);
	return heap;
}

static struct xc_error *check_heap(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	struct xc_damage_confirm seen = {.looks = 0};
	xc_audit_lists(heap);
	for (bool live = job->process->live; live && heap->damage_count && seen.looks < LOOKS;) {
		if (seen.looks)
			heap = look_again(job);
		xc_damage_confirm_add(&seen, heap);
	}
	xc_damage_confirm_fini(&seen);
	xc_audit(section, heap);
	return NULL;
}

static struct xc_error *dups(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	xc_duplicates(section, heap, rows(job));
	return NULL;
}

static struct xc_error *leaks(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	const struct settings *s = job->settings;
	return xc_leaks(section, heap,
			&(struct xc_leaks_options){
				.possible = s->possible == XC_ON, .types = s->types != XC_OFF, .limit = rows(job)});
}

/* ---- addresses ---- */

static struct xc_error *whatis(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	xc_addr addr;
	struct xc_error *err = xc_choose_address(job, NULL, "ADDR", &addr);
	if (!err)
		xc_whatis(section, heap, addr);
	return err;
}

static struct xc_error *refs(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	xc_addr addr;
	struct xc_error *err = xc_choose_address(job, NULL, "ADDR", &addr);
	return err ? err : xc_refs(section, heap, addr, rows(job));
}

static struct xc_error *path(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	xc_addr addr;
	struct xc_error *err = xc_choose_address(job, NULL, "ADDR", &addr);
	return err ? err : xc_path(section, heap, addr);
}

static struct xc_error *show(struct xc_job *job, struct xc_section *section, struct xc_heap *heap)
{
	xc_addr addr;
	struct xc_error *err = xc_choose_address(job, NULL, "ADDR", &addr);
	return err ? err : xc_whatis_show(section, heap, addr);
}

/* ---- the subcommands ---- */

static const struct word {
	const char *name, *title;
	bool takes_address;
	struct xc_error *(*produce)(struct xc_job *job, struct xc_section *section, struct xc_heap *heap);
} words[] = {
	{.name = "summary", .title = "Heap", .produce = summary},
	{.name = "top", .title = "Largest", .produce = top},
	{.name = "types", .title = "Types", .produce = types},
	{.name = "leaks", .title = "Leaks", .produce = leaks},
	{.name = "check", .title = "Integrity", .produce = check_heap},
	{.name = "objects", .title = "Objects"},
	{.name = "dups", .title = "Duplicates", .produce = dups},
	{.name = "whatis", .title = "Address", .takes_address = true, .produce = whatis},
	{.name = "refs", .title = "References", .takes_address = true, .produce = refs},
	{.name = "path", .title = "Path", .takes_address = true, .produce = path},
	{.name = "show", .title = "Block", .takes_address = true, .produce = show},
};

static const char *const word_names[] = {"summary", "top",    "types", "leaks", "check", "objects",
					 "dups",    "whatis", "refs",  "path",  "show",  NULL};

static const struct word *word_of(const struct xc_job *job)
{
	const char *name = xc_job_operand(job, "WHAT");
	for (size_t i = 0; i < XC_COUNT(words); i++)
		if (strcmp(words[i].name, name) == 0)
			return &words[i];
	return NULL;
}

static struct xc_error *check_options(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	struct xc_error *err;
	if ((err = xc_job_goes_with(job, s->type != NULL, "of", "objects")) ||
	    (err = xc_job_goes_with(job, s->state != NULL, "state", "objects")) ||
	    (err = xc_job_goes_with(job, s->least != 0, "min-size", "objects")))
		return err;
	if ((err = xc_job_goes_with(job, s->possible == XC_ON, "possible", "leaks")))
		return err;
	if ((err = xc_job_goes_with(job, s->types == XC_OFF, "no-types", "leaks")))
		return err;
	if ((err = xc_job_goes_with(job, s->unknown == XC_ON, "unknown", "types")))
		return err;
	return xc_job_goes_with(job, s->retained == XC_ON, "retained", "top");
}

static struct xc_error *no_address(const struct xc_job *job, const struct word *word)
{
	xc_auto(xc_freep) char *target = xc_shellword_target(xc_job_operand(job, "TARGET"));
	return xc_error_hint(xc_error_new(XC_ERR_USAGE, "%s needs an ADDR", word->name), "xcore heap %s %s ADDR",
			     word->name, target);
}

static struct xc_error *check(struct xc_job *job)
{
	const struct word *word = word_of(job);
	bool has_address = xc_job_operand(job, "ADDR") != NULL;
	const char *format = job->common.format;
	struct xc_error *err = check_options(job);
	if (err)
		return err;
	if (word->takes_address && !has_address)
		return no_address(job, word);
	if (!word->takes_address && has_address)
		return xc_error_new(XC_ERR_USAGE, "%s takes no ADDR: '%s'", word->name, xc_job_operand(job, "ADDR"));
	if (!word->produce && format && strcmp(format, "text") != 0 && strcmp(format, "jsonl") != 0)
		return xc_error_new(XC_ERR_USAGE, "objects writes text or jsonl, not %s", format);
	return NULL;
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct word *word = word_of(job);
	struct xc_section *section = xc_report_section(job->report, word->name, word->title);
	return word->produce(job, section, xc_job_heap(job));
}

static bool writes(const struct xc_job *job)
{
	return !word_of(job)->produce;
}

static struct xc_error *write_objects(struct xc_job *job, FILE *out)
{
	const struct settings *s = job->settings;
	const struct xc_object_filter filter = {
		.type = s->type, .state = s->state, .least = s->least, .limit = s->limit};
	struct xc_heap *heap = xc_job_heap(job);
	bool as_json = job->common.format && strcmp(job->common.format, "jsonl") == 0;
	xc_auto(xc_error_freep) struct xc_error *why = NULL;
	const char *empty = xc_heap_why_empty(heap);
	struct xc_error *err = xc_objects_write(heap, &filter, as_json, out, &why);
	if (empty && job->common.quiet != XC_ON)
		xc_say("%s: no blocks: %s", job->process->target, empty);
	if (why && job->common.quiet != XC_ON)
		xc_say("%s: without leaks and types: %s", job->process->target, why->message);
	return err;
}

/* ---- the command ---- */

static const struct xc_operand operands[] = {
	{.name = "WHAT",
	 .about = "summary (memory by owner), top (the largest blocks), types, leaks, check (damage), objects "
		  "(every block), dups (equal contents); for an ADDR: whatis, refs (what points to it), path (what "
		  "keeps it alive), show (its typed value)",
	 .words = word_names},
	XC_OPERAND_TARGET,
	{.name = "ADDR", .optional = true, .about = "a number, a symbol, a register ($rdi), or a C expression"},
	{.name = NULL},
};

#define AT(member) offsetof(struct settings, member)

static const char *const states[] = {"live", "leaked", "free", "unknown", NULL};

static const struct xc_option options[] = {
	{.name = "limit",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(limit),
	 .value = "N",
	 .about = "show at most N rows; default: 40; objects: all",
	 .min = 1,
	 .max = MOST_ROWS},
	XC_ON_OPTION("retained", retained, "top: rank by the memory that freeing the block would free (dominators)"),
	XC_ON_OPTION("unknown", unknown, "types: rank pointers by how much memory knowing their type would explain"),
	XC_ON_OPTION("possible", possible,
		     "leaks: also list, in a second table, blocks that only pointers into the middle of blocks, "
		     "pointers with other bits around them (boxed, tagged), or stale words, reach"),
	XC_OFF_OPTION("no-types", types, "leaks: list by size, without inferring types, which takes most of the time"),
	{.name = "of",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(type),
	 .value = "TYPE",
	 .about = "objects: only of this type, as named by `heap types`"},
	{.name = "state",
	 .kind = XC_OPTION_CHOICE,
	 .offset = AT(state),
	 .value = "STATE",
	 .about = "objects: only in this state: live, leaked, free, unknown",
	 .words = states},
	{.name = "min-size",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(least),
	 .value = "BYTES",
	 .about = "objects: only of at least this many bytes",
	 .min = 1,
	 .max = UINT32_MAX},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore heap summary core.1234", "how much memory is where"},
	{"xcore heap types core.1234 --unknown", "the types of the memory, and what stays unknown"},
	{"xcore heap leaks core.1234", "blocks that no pointer reaches"},
	{"xcore heap whatis core.1234 '$rdi'", "the object that a register points to"},
	{"xcore heap objects core.1234 --format jsonl", "every block, for other programs"},
	{.line = NULL},
};

const struct xc_command xc_command_heap = {
	.name = "heap",
	.about = "owners and types of the heap's memory, leaks and damage",
	.text = "xcore finds the blocks of the allocator without the program's help. Types come from debug "
		"information: they propagate from globals, locals and vtables along typed pointers. Each type "
		"states its certainty (exact, strong, weak) and its source. A block is leaked when no chain of "
		"pointers reaches it from a global, a stack, a register or a thread-local.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.produce = produce,
	.writes = writes,
	.write = write_objects,
	.writes_lines = true,
};

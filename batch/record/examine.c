/* examine: runs the producers of `analyze` and makes the record from their report, which is never rendered. So a batch
 * reports of a core exactly what `analyze` reports. */
#include "batch/record/examine.h"

#include <string.h>

#include "core/facts/facts.h"
#include "core/process/package.h"
#include "core/report/scrub.h"
#include "core/report/report.h"
#include "core/report/report_scrub.h"
#include "core/facts/scrub_learn.h"
#include "core/text/threadlabel.h"
#include "dwarf/stack/backtrace.h"
#include "triage/cause.h"
#include "batch/record/language.h"
#include "heap/session/session.h"

enum {
	COUNTED_THREADS = 64, /* threads whose frames are counted; beyond that, only the record's own */
	TOP = 5,
	ABSENT = 64,
};

#define STACKS "stacks" /* the sections that contain stacks */

struct examination {
	struct xc_process *process;
	const struct xc_examine_options *options;
	struct xc_arena *arena;
	struct xc_report *report;
	struct xc_record *record;
	const struct xc_scrub *scrub; /* NULL: nothing is redacted */
};

static const char *keep(const struct examination *e, const char *text)
{
	return text ? xc_arena_strndup(e->arena, text, XC_RECORD_TEXT) : NULL;
}

/* A name that is not from the report, without the user's data. */
static const char *keep_name(const struct examination *e, const char *name)
{
	xc_auto(xc_text_fini) struct xc_text without = {0};
	const bool hides = name && e->scrub && xc_scrub_symbol(e->scrub, name, &without);
	return keep(e, hides ? xc_text_string(&without) : name);
}

static const char *keep_id(const struct examination *e, const struct xc_build_id *id)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	return id->size ? keep(e, xc_build_id_hex(id, hex)) : NULL;
}

/* The package of the module at an address; mostly the same as of the previous frame. */
struct packages {
	const struct xc_module *module;
	const char *package;
};

static const char *package_at(const struct examination *e, xc_addr pc, struct packages *last)
{
	const struct xc_module *m = xc_process_module(e->process, pc);
	if (m != last->module)
		*last = (struct packages){m, m ? keep_name(e, xc_package_of(e->process, m, e->arena)) : NULL};
	return last->package;
}

static const char *last_component(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path;
}

/* ---- program ---- */

static void program(const struct examination *e)
{
	const struct xc_process *process = e->process;
	const struct xc_module *exe = process->module_count ? process->modules[0] : NULL;
	char id[XC_CORE_ID_SIZE];
	struct xc_record *r = e->record;
	r->core_id = xc_facts_core_id(process, id) ? keep(e, id) : NULL;
	r->stored = process->core->stored_size;
	r->size = process->core->size;
	r->missing = process->missing_bytes;
	r->program = keep_name(e, last_component(process->exe_path ? process->exe_path : process->comm));
	r->build_id = exe && exe->kind == XC_MODULE_EXE ? keep_id(e, &exe->build_id) : NULL;
	r->package = exe && exe->kind == XC_MODULE_EXE ? keep_name(e, xc_package_of(process, exe, e->arena)) : NULL;
	r->arch = process->arch->name;
	r->signal = process->signal.known ? keep(e, xc_signal_name(process->signal.number)) : NULL;
	r->threads = (unsigned)process->thread_count;
}

/* Modules whose file would have been useful. The vDSO has none. */
static void absent(const struct examination *e)
{
	const struct xc_process *process = e->process;
	struct xc_record *r = e->record;
	r->absent = xc_arena_alloc(e->arena, ABSENT * sizeof *r->absent);
	for (size_t i = 0; i < process->module_count && r->absent_count < ABSENT; i++) {
		const struct xc_module *m = process->modules[i];
		char hex[2 * XC_BUILD_ID_MAX + 1];
		if (m->kind != XC_MODULE_VDSO && (m->identity == XC_NO_FILE || m->identity == XC_REFUSED))
			r->absent[r->absent_count++] = xc_arena_printf(
				e->arena, "%s %s%s", keep_name(e, m->name),
				m->build_id.size ? xc_build_id_hex(&m->build_id, hex) : "-",
				m->identity == XC_REFUSED ? ": another build was found" : ": not found");
	}
}

/* ---- the verdict ---- */

static void no_verdict(struct xc_record *r)
{
	r->class_name = "no-crash";
	r->severity = "info";
	r->confidence = "certain";
	r->headline = "no thread crashed: the core is of a process that kept running";
}

static void verdict(const struct examination *e)
{
	const struct xc_verdict *v = e->report->verdict;
	struct xc_record *r = e->record;
	if (!v || !v->class_name) {
		no_verdict(r);
		return;
	}
	r->class_name = keep(e, v->class_name);
	r->kind = keep(e, v->kind);
	r->severity = keep(e, v->severity ? v->severity : "info");
	r->confidence = keep(e, v->confidence ? v->confidence : "guess");
	r->headline = keep(e, v->headline);
	r->cause = keep(e, v->cause);
	r->expression = keep(e, v->expression);
	r->origin = keep(e, v->origin);
	r->message = keep(e, v->message && e->options->redact ? XC_REDACTED : v->message);
	r->function = keep(e, v->function);
	r->file = keep(e, v->file);
	r->line = v->line;
	r->thread = keep(e, v->thread_name);
}

/* ---- stacks ---- */

static void add_stacks(const struct examination *e, const struct xc_backtrace_options *options)
{
	struct xc_error *err = xc_backtrace(xc_report_section(e->report, STACKS, STACKS), e->process, options);
	xc_error_free(err); /* no such thread, so there are no stacks */
}

/* The threads that the verdict is about; by default the crashed one. */
static size_t involved(const struct examination *e, const int **tids_out)
{
	const struct xc_verdict *v = e->report->verdict;
	*tids_out = v && v->involved_count ? v->involved : &e->process->threads[0].tid;
	return v && v->involved_count ? v->involved_count : 1;
}

static void produce_stacks(const struct examination *e)
{
	struct xc_backtrace_options options = {
		.choice = XC_THREADS_ALL, .max_frames = XC_RECORD_FRAMES, .format = xc_format_defaults()};
	const int *tids;
	const size_t count = involved(e, &tids);
	if (e->process->thread_count <= COUNTED_THREADS) {
		add_stacks(e, &options);
		return;
	}
	options.choice = XC_THREADS_ONE;
	for (size_t i = 0; i < count; i++) {
		options.tid = tids[i];
		add_stacks(e, &options);
	}
}

static const struct xc_stack *stack_of(const struct examination *e, int tid)
{
	for (const struct xc_section *s = e->report->sections; s; s = s->next)
		for (const struct xc_item *item = strcmp(s->key, STACKS) ? NULL : s->items; item; item = item->next)
			for (size_t i = 0; item->kind == XC_ITEM_STACKS && i < item->stacks->stack_count; i++)
				if (item->stacks->stacks[i].tid == tid)
					return &item->stacks->stacks[i];
	return NULL;
}

static void row(const struct examination *e, const struct xc_stack_row *from, struct xc_record_frame *to)
{
	*to = (struct xc_record_frame){
		.function = keep(e, from->function),
		.module = keep(e, last_component(from->module)),
		.build_id = keep(e, from->build_id),
		.has_offset = from->has_offset,
		.offset = from->offset,
		.language = xc_language_name(xc_language_of_dwarf(from->code_language)),
		.file = keep(e, from->file),
		.line = from->line,
		.trust = from->trust ? keep(e, from->trust) : NULL,
		.inlined = from->inlined,
		.signal = from->signal,
		.unverified = from->unverified,
	};
}

static const char *thread_words(const struct examination *e, const struct xc_stack *stack)
{
	struct xc_text text = {0};
	xc_threadlabel(&text, stack->tid, stack->name);
	const char *words = keep(e, text.bytes);
	xc_text_fini(&text);
	return words;
}

static void count_left_out(struct xc_record *r, uint64_t count, size_t at)
{
	if (!r->elided)
		r->elided_at = at;
	if (__builtin_add_overflow(r->elided, count, &r->elided))
		r->elided = UINT64_MAX;
}

/* Appends up to `share` rows of the stack, half of them outermost. */
static void add_stack(const struct examination *e, const struct xc_stack *stack, size_t share)
{
	struct xc_record *r = e->record;
	struct packages last = {0};
	const size_t count = stack->row_count < share ? stack->row_count : share, head = count - count / 2;
	const size_t cut = stack->row_count - count, first = r->frame_count;
	for (size_t i = 0; i < count; i++) {
		const struct xc_stack_row *from = &stack->rows[cut && i >= head ? i + cut : i];
		struct xc_record_frame *to = &r->frames[r->frame_count++];
		row(e, from, to);
		if (from->module)
			to->package = package_at(e, from->pc, &last);
	}
	if (stack->elided || cut)
		count_left_out(r, stack->elided + cut, first + (cut ? head : stack->elided_at));
}

/* Rows of the program's handler precede the place of the fault. */
static void find_fault(const struct examination *e, const struct xc_stack *stack)
{
	const struct xc_verdict *v = e->report->verdict;
	struct xc_record *r = e->record;
	for (size_t i = 0; v && i < r->frame_count; i++)
		if (stack->rows[i].index < v->frame)
			r->fault_at = i + 1 < r->frame_count ? i + 1 : 0;
}

static void count_known(const struct xc_stack *stack, size_t limit, struct xc_record_known *known)
{
	for (size_t i = 0; i < stack->row_count && i < limit; i++) {
		known->all++;
		known->named += stack->rows[i].function != NULL;
	}
}

/* Of several stacks, the first that ends early gives the reason. */
static void take_end(const struct examination *e, const struct xc_stack *stack)
{
	struct xc_record *r = e->record;
	if (!r->stop || !strcmp(r->stop, XC_STOP_OUTERMOST))
		r->stop = keep(e, stack->stop);
	if (!r->cycle)
		r->cycle = keep(e, stack->cycle);
}

/* A thread without a stack, among several, becomes an empty row: the rest is not everything. */
static void lack(const struct examination *e, int tid, size_t count)
{
	if (count > 1)
		e->record->frames[e->record->frame_count++].thread =
			xc_arena_printf(e->arena, "thread %d, whose stack is not available", tid);
}

static void stacks(const struct examination *e)
{
	const int *tids, died = e->process->threads[0].tid;
	const size_t count = involved(e, &tids), share = XC_RECORD_FRAMES / (count < XC_RECORD_FRAMES ? count : 1);
	struct xc_record *r = e->record;
	r->frames = xc_arena_alloc(e->arena, (XC_RECORD_FRAMES + 1) * sizeof *r->frames);
	for (size_t i = 0; i < count; i++) {
		const struct xc_stack *stack = stack_of(e, tids[i]);
		const size_t first = r->frame_count;
		if (!stack || !stack->row_count) {
			lack(e, tids[i], count);
			continue;
		}
		add_stack(e, stack, share);
		take_end(e, stack);
		count_known(stack, SIZE_MAX, &r->crashed);
		count_known(stack, TOP, &r->top);
		if (count > 1 || tids[i] != died)
			r->frames[first].thread = thread_words(e, stack);
		if (count == 1)
			find_fault(e, stack);
	}
}

/* Counts the frames of all threads, as far as they were requested. */
static void count_every(const struct examination *e)
{
	for (const struct xc_section *s = e->report->sections; s; s = s->next)
		for (const struct xc_item *item = strcmp(s->key, STACKS) ? NULL : s->items; item; item = item->next)
			for (size_t i = 0; item->kind == XC_ITEM_STACKS && i < item->stacks->stack_count; i++)
				count_known(&item->stacks->stacks[i], SIZE_MAX, &e->record->every);
}

/* ---- the whole record ---- */

static void produce(const struct examination *e)
{
	const struct xc_heap_options one_thread = {.jobs = 1};
	xc_cause(e->report, e->process, e->options->without_heap ? NULL : xc_heap_of(e->process, &one_thread));
	produce_stacks(e);
}

struct xc_record *xc_examine(struct xc_process *process, const struct xc_examine_options *options,
			     struct xc_arena *arena)
{
	if (!process->thread_count)
		return xc_record_failed(arena, XC_RECORD_UNREADABLE, options->path,
					"it has no threads: its notes are truncated, or its machine is unknown");
	struct xc_scrub scrub = {0};
	const struct examination e = {process,
				      options,
				      arena,
				      xc_report_new("triage"),
				      xc_arena_alloc(arena, sizeof(struct xc_record)),
				      options->redact ? &scrub : NULL};
	e.record->path = xc_arena_strdup(arena, options->path);
	produce(&e);
	if (options->redact) {
		xc_scrub_learn(&scrub, process);
		xc_report_scrub(e.report, &scrub);
	}
	program(&e);
	verdict(&e);
	stacks(&e);
	count_every(&e);
	absent(&e);
	xc_report_free(e.report);
	xc_scrub_fini(&scrub);
	return e.record;
}

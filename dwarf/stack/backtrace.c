/* backtrace: rows of the unwinder's frames: one for each inlined function and one for the function itself.
 *
 * The memory for a stack is bounded whatever its depth. The innermost half of max_frames becomes rows at once, the
 * outermost half waits in a ring, and the frames between them are counted.
 *
 * The rows of all stacks are bounded, too, unless the user asks for more: thousands of threads may share one endless
 * stack in a file of 100 KB. Stacks of their own take memory, so a large core has more rows. Every stack gets the same
 * share, so equal stacks stay equal. */
#include "dwarf/stack/backtrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/facts/facts.h"
#include "core/process/module.h"
#include "core/text/shellword.h"
#include "dwarf/elf/budget.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"
#include "dwarf/cfi/foreign_frame.h"
#include "dwarf/elf/pointer_map.h"
#include "dwarf/stack/frame_room.h"
#include "dwarf/stack/second_opinion.h"
#include "dwarf/stack/stack_cycle.h"
#include "dwarf/stack/stackgroups.h"
#include "dwarf/stack/variable.h"

/* Bytes: a symbol without a size from further before a trampoline is another function's. */
enum { MAX_NAME = 16 << 10, TRAMPOLINE = 16 };

/* Lists of a thread's guest frames (foreign_frame.h), sorted by `at`. */
struct guests {
	const struct xc_foreign_frames *lists;
	size_t count;
	bool *placed;
};

struct builder {
	struct xc_process *process;
	struct xc_arena *arena; /* of the report */
	const struct xc_backtrace_options *options;
	struct xc_unwinder *unwinder;
	struct xc_pointer_map build_ids; /* module → hex */
	struct xc_pointer_map strings;   /* string in the process's memory → its copy in the report */
	struct xc_stack_row *rows;       /* of the stack being built; reused */
	size_t row_count, row_capacity;
	size_t guest_count;          /* of them */
	uint64_t skipped;            /* rows omitted in the middle; the indexes of later rows count them */
	struct xc_frame *ring;       /* the last ring_size frames; allocated for deep stacks only */
	size_t ring_size, head_size; /* together the frames that are kept of a stack */
	struct xc_frame_room room;
	struct guests guests; /* of the thread whose stack is being built */
	uint64_t misplaced;   /* guest frames of all stacks that are in no frame */
};

/* ---- rows ---- */

static const char *build_id_text(struct builder *b, const struct xc_module *module)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	const struct xc_build_id *id = module->build_id.size ? &module->build_id : &module->file_build_id;
	if (!module->build_id.size && module->identity != XC_VERIFIED)
		return NULL;
	void **slot = xc_pointer_map_at(&b->build_ids, b->arena, module, NULL);
	if (!*slot)
		*slot = xc_arena_strdup(b->arena, xc_build_id_hex(id, hex));
	return *(char *)*slot ? *slot : NULL;
}

/* Names and paths are the same in many rows: the report has one copy of each, of a bounded length. */
static const char *shared(struct builder *b, const char *string)
{
	if (!string)
		return NULL;
	void **slot = xc_pointer_map_at(&b->strings, b->arena, string, NULL);
	if (!*slot)
		*slot = xc_arena_strndup(b->arena, string, MAX_NAME);
	return xc_frame_room_name(&b->room, b->arena, *slot);
}

static struct xc_stack_row *add_row(struct builder *b)
{
	b->rows = xc_grow(b->rows, b->row_count, &b->row_capacity, sizeof *b->rows);
	struct xc_stack_row *row = &b->rows[b->row_count];
	*row = (struct xc_stack_row){.index = (unsigned)(b->row_count - b->guest_count + b->skipped)};
	b->row_count++;
	return row;
}

static void fill_row(struct builder *b, struct xc_stack_row *row, const struct xc_frame *frame,
		     const struct xc_place *place, size_t level)
{
	row->pc = frame->pc;
	xc_regs_get(&frame->regs, b->process->arch->sp, &row->sp);
	row->signal = frame->signal;
	row->tail_call = frame->tail_call;
	row->tail_partial = frame->tail_partial;
	row->trust = xc_trust_text(frame->trust);
	if (place->module) {
		row->module = shared(b, place->module->path);
		row->build_id = build_id_text(b, place->module);
		row->unverified = place->module->identity == XC_UNVERIFIED;
		row->runtime = xc_module_is_runtime(place->module);
		row->has_offset = place->module->bias_known;
		row->offset = frame->pc - place->module->bias;
	}
	if (!frame->signal || place->level_count || place->symbol_offset < TRAMPOLINE)
		row->function = shared(b, xc_place_function(place, level));
	row->code_language = xc_place_language(place, level);
	if (place->told) {
		row->language = shared(b, place->told->language);
		row->file = shared(b, place->told->file);
		row->line = place->told->line;
	}
	if (level >= place->level_count)
		return;
	const struct xc_level *at = &place->levels[level];
	row->inlined = level + 1 < place->level_count;
	row->file = shared(b, at->file);
	row->line = at->line;
	row->column = at->column;
}

static void fill_variables(struct builder *b, const struct xc_thread *thread, const struct xc_frame *frame,
			   const struct xc_place *place, size_t level, struct xc_stack_row *row)
{
	if (!b->options->args || level >= place->level_count || place->line_only || xc_budget_is_spent())
		return;
	if (!b->room.text) {
		b->room.bare++;
		return;
	}
	struct xc_frame_context context = {
		.process = b->process, .thread = thread, .unwinder = b->unwinder, .frame = frame, .place = place};
	row->has_variables = true;
	xc_variables_fill(&context, level, b->options->locals, &b->options->format, b->arena, row);
	xc_frame_room_take_text(&b->room, row);
}

static void add_rows(struct builder *b, const struct xc_thread *thread, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(b->process, xc_frame_lookup(frame));
	size_t levels = place->level_count ? place->level_count : 1;
	for (size_t level = 0; level < levels; level++) {
		struct xc_stack_row *row = add_row(b);
		fill_row(b, row, frame, place, level);
		fill_variables(b, thread, frame, place, level, row);
	}
}

/* ---- guests ---- */

static void add_guest(struct builder *b, const struct xc_stack_row *from, uint64_t left_out)
{
	const struct xc_backtrace_options *o = b->options;
	struct xc_stack_row *row = add_row(b);
	unsigned next = row->index;
	*row = *from;
	row->index = next ? next - 1 : 0;
	row->left_out = left_out;
	row->function = shared(b, from->function);
	row->file = shared(b, from->file);
	row->language = shared(b, from->language);
	row->kind = shared(b, from->kind);
	row->has_variables = o->args;
	row->arg_count = o->args ? from->arg_count : 0;
	row->local_count = o->args && o->locals ? from->local_count : 0;
	row->args = xc_foreign_variables(b->arena, from->args, row->arg_count);
	row->locals = xc_foreign_variables(b->arena, from->locals, row->local_count);
	b->guest_count++;
}

/* Both ends of a list, as for native frames. */
static void add_guests(struct builder *b, const struct xc_foreign_frames *list)
{
	size_t max = b->ring_size + b->head_size, tail = list->row_count;
	if (list->row_count > max)
		tail -= b->ring_size;
	for (size_t i = 0; i < list->row_count && i < b->head_size; i++)
		add_guest(b, &list->rows[i], 0);
	for (size_t i = list->row_count > max ? tail : b->head_size; i < list->row_count; i++)
		add_guest(b, &list->rows[i], i == tail ? tail - b->head_size : 0);
}

static bool load_guests(struct builder *b, struct guests *g, const struct xc_thread *thread)
{
	g->lists = NULL;
	g->count = 0;
	if (thread)
		g->lists = xc_foreign_frames_of(b->process, thread->tid, &g->count);
	g->placed = g->count ? xc_alloc(g->count * sizeof *g->placed) : NULL;
	return g->count > 0;
}

/* The end of the frame's part of the stack. If the stack is broken there, its callers may be anywhere above. */
static xc_addr frame_end(const struct xc_process *p, const struct xc_frame *frame, const struct xc_frame *caller,
			 xc_addr sp, bool broken)
{
	uint64_t end;
	const struct xc_segment *segment = xc_space_find(p->space, sp);
	if (!caller && (broken || !frame->cfa_known))
		return segment && segment->hi != UINT64_MAX ? segment->hi + 1 : sp;
	if (frame->cfa_known)
		return frame->cfa;
	return xc_regs_get(&caller->regs, p->arch->sp, &end) ? end : sp;
}

/* Place the guest frames of a native frame: as rows, or only marked when the frame is omitted. `stop` is the reason why
 * there is no caller. */
static void place_guests(struct builder *b, const struct xc_frame *frame, const struct xc_frame *caller,
			 const char *stop, bool shown)
{
	struct guests *g = &b->guests;
	bool broken = stop && strncmp(stop, XC_STOP_OUTERMOST, strlen(XC_STOP_OUTERMOST)) != 0;
	uint64_t sp;
	if (!g->count || !xc_regs_get(&frame->regs, b->process->arch->sp, &sp))
		return;
	xc_addr end = frame_end(b->process, frame, caller, sp, broken);
	size_t lo = XC_LOWER_BOUND(g->count, i, g->lists[i].at < sp);
	for (; lo < g->count && g->lists[lo].at < end; lo++) {
		if (!g->placed[lo] && shown)
			add_guests(b, &g->lists[lo]);
		g->placed[lo] = true;
	}
}

/* The unwinder moves from a frame, the `seen`th, to its caller. */
static void leave_frame(struct builder *b, const struct xc_frame *frame, const struct xc_frame *caller, uint64_t seen)
{
	if (seen <= b->head_size || !b->ring_size)
		place_guests(b, frame, caller, NULL, seen <= b->head_size);
}

static void end_guests(struct builder *b)
{
	for (size_t i = 0; i < b->guests.count; i++)
		b->misplaced += b->guests.placed[i] ? 0 : b->guests.lists[i].row_count;
	free(b->guests.placed);
	b->guests = (struct guests){.count = 0};
}

/* ---- one stack ---- */

/* Rows for the frames in the ring, the last of `seen`. Those before them have rows already, or are omitted. */
static void add_ring(struct builder *b, const struct xc_thread *thread, struct xc_stack *stack, uint64_t seen)
{
	uint64_t waiting = seen - b->head_size, kept = waiting < b->ring_size ? waiting : b->ring_size;
	stack->elided = b->skipped;
	stack->elided_at = b->row_count;
	for (uint64_t i = seen - kept; i < seen; i++) {
		const struct xc_frame *caller = i + 1 < seen ? &b->ring[(i + 1) % b->ring_size] : NULL;
		add_rows(b, thread, &b->ring[i % b->ring_size]);
		place_guests(b, &b->ring[i % b->ring_size], caller, caller ? NULL : stack->stop, true);
	}
}

/* Replaces the oldest frame in the ring. */
static void keep_in_ring(struct builder *b, const struct xc_frame *frame, uint64_t seen)
{
	struct xc_frame only = *frame, *slot = &only; /* without a ring it is omitted at once */
	if (!b->ring && b->ring_size)
		b->ring = xc_alloc(b->ring_size * sizeof *b->ring);
	if (b->ring_size)
		slot = &b->ring[seen % b->ring_size];
	if (seen - b->head_size >= b->ring_size) {
		size_t levels = xc_debuginfo_place(b->process, xc_frame_lookup(slot))->level_count;
		b->skipped += levels ? levels : 1;
	}
	if (b->ring_size && seen - b->head_size >= b->ring_size)
		place_guests(b, slot, b->ring_size > 1 ? &b->ring[(seen + 1) % b->ring_size] : frame, NULL, false);
	*slot = *frame;
}

static void keep_ends(struct builder *b, size_t frames)
{
	b->ring_size = frames / 2;
	b->head_size = frames - b->ring_size;
}

/* `thread` is NULL for a stack that is on none. */
static void walk(struct builder *b, const struct xc_thread *thread, struct xc_frame *frame, struct xc_stack *stack)
{
	struct xc_stack_cycle cycle = {.seen = 0};
	struct xc_frame callee;
	const size_t kept = xc_frame_room_next(&b->room);
	const uint64_t limit = b->room.walk > kept ? b->room.walk : kept;
	uint64_t seen = 0;
	keep_ends(b, kept);
	const char *stop = "more frames than xcore follows";
	bool merges = load_guests(b, &b->guests, thread);
	do {
		if (merges && seen)
			leave_frame(b, &callee, frame, seen);
		if (merges)
			callee = *frame;
		if (seen < b->head_size)
			add_rows(b, thread, frame);
		else
			keep_in_ring(b, frame, seen);
		xc_stack_cycle_watch(&cycle, frame->pc);
		seen++;
	} while (seen < limit && xc_unwind_step(b->unwinder, frame, frame, &stop));
	xc_frame_room_take(&b->room, seen, seen > kept || seen == limit);
	stack->stop = xc_arena_strdup(b->arena, stop);
	if (seen > b->head_size)
		add_ring(b, thread, stack, seen);
	else
		place_guests(b, frame, NULL, stop, true);
	end_guests(b);
	stack->cycle = xc_stack_cycle_text(&cycle, b->process, b->arena);
}

static bool begins_thread(const struct xc_stack_row *row)
{
	return !row->guest && (row->runtime || (row->function && !strcmp(row->function, "_start")));
}

/* The callers of main, or the runtime's frames at the start of a thread. */
static void mark_startup(struct xc_stack *stack)
{
	size_t from = stack->row_count;
	for (size_t i = 0; i < stack->row_count; i++)
		if (!stack->rows[i].guest && stack->rows[i].function && !strcmp(stack->rows[i].function, "main"))
			from = i + 1;
	if (from == stack->row_count && stack->stop && !strcmp(stack->stop, XC_STOP_OUTERMOST))
		while (from > 0 && begins_thread(&stack->rows[from - 1]))
			from--;
	for (size_t i = from; i < stack->row_count; i++)
		stack->rows[i].startup = true;
}

static void begin_rows(struct builder *b)
{
	b->row_count = b->guest_count = b->skipped = 0;
}

static void take_rows(struct builder *b, struct xc_stack *stack)
{
	stack->row_count = b->row_count;
	stack->rows = xc_arena_alloc(b->arena, b->row_count * sizeof *stack->rows);
	if (b->row_count)
		memcpy(stack->rows, b->rows, b->row_count * sizeof *stack->rows);
}

static void build_stack(struct builder *b, const struct xc_thread *thread, struct xc_stack *stack)
{
	*stack = (struct xc_stack){
		.tid = thread->tid,
		.name = xc_arena_strdup(b->arena, thread->name),
		.crashed = thread->crashed,
		.signalled = thread->crashed && xc_signal_is_foreign(&b->process->signal, b->process->pid),
		.state = xc_thread_state_text(thread->state),
		.how = xc_arena_strdup(b->arena, thread->regs_how),
	};
	struct xc_frame frame;
	begin_rows(b);
	if (!b->process->arch->unwinds)
		stack->stop = "stacks of this machine are not supported";
	else if (xc_unwind_first(b->unwinder, thread, &frame))
		walk(b, thread, &frame, stack);
	else
		stack->stop = xc_arena_strdup(b->arena,
					      thread->why_no_regs ? thread->why_no_regs : "its registers are unknown");
	take_rows(b, stack);
	if (b->options->opinion)
		xc_second_opinion_apply(b->options->opinion, thread, stack, b->arena);
	mark_startup(stack);
}

/* A stack that is on no thread. */
static void build_detached(struct builder *b, const struct xc_foreign_frames *list, struct xc_stack *stack)
{
	*stack = (struct xc_stack){
		.detached = true,
		.name = xc_arena_strdup(b->arena, list->name),
		.state = xc_arena_strdup(b->arena, list->state),
		.stop = XC_STOP_OUTERMOST,
	};
	begin_rows(b);
	add_guests(b, list);
	take_rows(b, stack);
}

static void build_parked(struct builder *b, const struct xc_parked_stack *from, struct xc_stack *stack)
{
	struct xc_frame frame = from->first;
	*stack = (struct xc_stack){
		.detached = true,
		.name = xc_arena_strdup(b->arena, from->name),
		.state = xc_arena_strdup(b->arena, from->state),
	};
	begin_rows(b);
	walk(b, NULL, &frame, stack);
	take_rows(b, stack);
}

/* ---- the whole ---- */

static bool wanted(const struct xc_backtrace_options *options, const struct xc_thread *thread)
{
	enum xc_thread_choice choice = options->choice;
	return choice == XC_THREADS_ALL || (choice == XC_THREADS_CRASHED && thread->crashed) ||
	       (choice == XC_THREADS_OTHERS && !thread->crashed) ||
	       (choice == XC_THREADS_ONE && thread->tid == options->tid);
}

/* Is the thread one of the first `count` of those that come first? */
static bool is_first(const struct xc_backtrace_options *options, size_t count, pid_t tid)
{
	while (count && options->first[count - 1] != tid)
		count--;
	return count != 0;
}

static void builder_init(struct builder *b, struct xc_process *process, struct xc_arena *arena,
			 const struct xc_backtrace_options *options)
{
	const bool many = options->choice == XC_THREADS_ALL || options->choice == XC_THREADS_OTHERS;
	const size_t stacks = (many ? process->thread_count : 0) + options->parked_count;
	*b = (struct builder){.process = process, .arena = arena, .options = options};
	b->unwinder = xc_unwinder_new(process);
	b->room = xc_frame_room_of(process, stacks, options->max_frames, options->locals);
	keep_ends(b, xc_frame_room_next(&b->room));
}

static void builder_fini(struct builder *b)
{
	xc_unwinder_free(b->unwinder);
	free(b->ring);
	free(b->rows);
}

/* Messages about guest frames that are not shown. */
static void report_hidden_guests(const struct builder *b, struct xc_section *section, size_t hidden)
{
	struct xc_error *err;
	while ((err = xc_foreign_failure(b->process)))
		xc_section_note(section, err);
	if (b->misplaced)
		xc_section_message(
			section, XC_WARNING, NULL,
			b->misplaced == 1
				? "%" PRIu64
				  " frame of another language is at an address outside all frames of these stacks"
				: "%" PRIu64
				  " frames of other languages are at addresses outside all frames of these stacks",
			b->misplaced);
	if (hidden && b->options->choice != XC_THREADS_OTHERS && b->options->choice != XC_THREADS_NONE)
		xc_section_message(section, XC_INFO, "xcore bt --coroutines shows them",
				   hidden == 1 ? "%zu more stack is on no thread" : "%zu more stacks are on no thread",
				   hidden);
}

static struct xc_error *no_thread(const struct xc_process *process, pid_t tid)
{
	xc_auto(xc_freep) char *target = xc_shellword_target(process->target);
	return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "no thread %d in %s", (int)tid, process->target),
			     "xcore threads %s lists them", target);
}

struct xc_error *xc_backtrace(struct xc_section *section, struct xc_process *process,
			      const struct xc_backtrace_options *options)
{
	if (options->choice == XC_THREADS_ONE && !xc_process_thread(process, options->tid))
		return no_thread(process, options->tid);
	struct builder b;
	struct xc_arena *arena = &section->report->arena;
	struct xc_stacks *stacks = xc_section_stacks(section, "threads");
	builder_init(&b, process, arena, options);
	stacks->full = options->locals;
	stacks->brief = options->brief;
	size_t detached_count;
	const struct xc_foreign_frames *detached = xc_foreign_frames_of(process, 0, &detached_count);
	size_t shown = options->detached ? detached_count : 0;
	stacks->stacks = xc_arena_alloc(arena, (process->thread_count + options->parked_count + shown + 1) *
						       sizeof *stacks->stacks);
	for (size_t i = 0, n = options->first_count; i < n + process->thread_count; i++) {
		const struct xc_thread *thread =
			i < n ? xc_process_thread(process, options->first[i]) : &process->threads[i - n];
		if (thread && wanted(options, thread) && !is_first(options, i < n ? i : n, thread->tid))
			build_stack(&b, thread, &stacks->stacks[stacks->stack_count++]);
	}
	for (size_t i = 0; i < options->parked_count; i++)
		build_parked(&b, &options->parked[i], &stacks->stacks[stacks->stack_count++]);
	for (size_t i = 0; i < shown; i++)
		build_detached(&b, &detached[i], &stacks->stacks[stacks->stack_count++]);
	report_hidden_guests(&b, section, detached_count - shown);
	xc_frame_room_report(&b.room, section);
	if (xc_budget_is_short())
		xc_section_message(
			section, XC_WARNING, NULL,
			"this debug information takes longer or more memory to read than any valid file of its size: "
			"some names, lines and values are left out");
	if (options->group && stacks->stack_count)
		xc_stacks_group(arena, stacks, options->brief);
	builder_fini(&b);
	return NULL;
}

/* frame_scope: counts frames like `bt`: each inlined function first, then the function it is inlined into. */
#include "dwarf/stack/frame_scope.h"

enum { MAX_ROWS = 1 << 22 };

static const struct xc_thread *default_thread(const struct xc_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		if (process->threads[i].crashed)
			return &process->threads[i];
	}
	return process->thread_count > 0 ? process->threads : NULL;
}

static void enter(struct xc_frame_scope *s)
{
	s->has_frame = true;
	s->level = 0;
	s->place = xc_debuginfo_place(s->process, xc_frame_lookup(&s->frame));
}

static const char *first_frame(struct xc_frame_scope *s)
{
	if (!s->thread)
		return "the target has no threads";
	if (!s->process->arch->unwinds)
		return "stacks of this machine are not supported";
	if (!s->unwinder)
		s->unwinder = xc_unwinder_new(s->process);
	if (xc_unwind_first(s->unwinder, s->thread, &s->frame))
		return NULL;
	return s->thread->why_no_regs ? s->thread->why_no_regs : "the thread's registers are unknown";
}

/* Move to the next row. NULL, or the reason why there is none. */
static const char *up(struct xc_frame_scope *s)
{
	const char *stop;
	if (!s->has_frame)
		return s->why_no_frame;
	if (s->level + 1 < s->place->level_count) {
		s->level++;
	} else {
		if (!xc_unwind_step(s->unwinder, &s->frame, &s->frame, &stop))
			return stop;
		enter(s);
	}
	s->row++;
	return NULL;
}

bool xc_frame_scope_up(struct xc_frame_scope *scope)
{
	return up(scope) == NULL;
}

struct xc_error *xc_frame_scope_open(struct xc_frame_scope *s, const struct xc_process *process,
				     const struct xc_thread *thread, unsigned row)
{
	*s = (struct xc_frame_scope){.process = process, .thread = thread ? thread : default_thread(process)};
	const char *why = s->why_no_frame = first_frame(s);
	if (!why)
		enter(s);
	while (!why && s->row < row && s->row < MAX_ROWS)
		why = up(s);
	if (row == 0 || (!why && s->row == row))
		return NULL;
	if (!s->has_frame)
		return xc_error_new(XC_ERR_NOT_FOUND, "no frame %u: %s", row, why);
	return xc_error_new(XC_ERR_NOT_FOUND, "no frame %u: the stack of thread %d has %u, numbered from 0 (%s)", row,
			    (int)s->thread->tid, s->row + 1, why ? why : "xcore follows no more");
}

bool xc_frame_scope_move(struct xc_frame_scope *s, const struct xc_thread *thread)
{
	*s = (struct xc_frame_scope){
		.process = s->process, .thread = thread, .unwinder = s->unwinder, .without_hints = s->without_hints};
	s->why_no_frame = first_frame(s);
	if (!s->why_no_frame)
		enter(s);
	return s->has_frame;
}

void xc_frame_scope_fini(struct xc_frame_scope *scope)
{
	if (scope->unwinder)
		xc_unwinder_free(scope->unwinder);
	scope->unwinder = NULL;
	scope->has_frame = false;
}

const char *xc_frame_scope_function(const struct xc_frame_scope *s)
{
	if (!s->has_frame)
		return NULL;
	if (s->level < s->place->level_count && s->place->levels[s->level].function)
		return s->place->levels[s->level].function;
	return s->place->symbol;
}

bool xc_frame_scope_unit(const struct xc_frame_scope *s, Dwarf_Die *unit_out)
{
	if (!s->has_frame || s->place->level_count == 0)
		return false;
	*unit_out = s->place->unit;
	return true;
}

struct xc_frame_context xc_frame_scope_context(const struct xc_frame_scope *s)
{
	return (struct xc_frame_context){.process = s->process,
					 .thread = s->thread,
					 .unwinder = s->unwinder,
					 .frame = s->has_frame ? &s->frame : NULL,
					 .place = s->place};
}

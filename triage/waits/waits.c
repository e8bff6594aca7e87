/* waits: a thread is examined from its innermost frame outward: functions of the C library determine the kind of its
 * wait (wait_kind.h), the system call its object (wait_syscall.c), the first function of user code its place. */
#include "triage/waits/waits.h"

#include <string.h>

#include "triage/util/user_code.h"
#include "triage/waits/namespace_tid.h"
#include "triage/crash/thread_role.h"
#include "triage/waits/wait_impl.h"
#include "triage/waits/wait_kind.h"

static void by_place(struct xc_wait *wait, const struct xc_place *place)
{
	for (size_t l = 0; l < place->level_count; l++)
		xc_wait_kind_update(wait, place->levels[l].function);
	if (!place->level_count || !place->levels[place->level_count - 1].function)
		xc_wait_kind_update(wait, place->symbol);
}

/* A library's function that was inlined into one of the program says what it waits for, if nothing before does. */
static void by_inlined(const struct xc_wait_stack *w, size_t index, struct xc_wait *wait)
{
	const struct xc_place *place = xc_wait_stack_place(w, index);
	size_t level = 0;
	if (!xc_user_code_level(place, &level))
		return;
	for (size_t l = 0; l < level && wait->kind == XC_WAIT_NONE; l++)
		xc_wait_kind_update(wait, place->levels[l].function);
}

/* The functions from `base` outward, up to user code, or to a caller that is only guessed. Of a thread that has only
 * library code the outermost one began it, and the innermost one is where it is. */
static void find_kind(const struct xc_wait_stack *w, struct xc_wait *wait)
{
	size_t end = xc_wait_stack_inner_end(w), i;
	for (i = w->base; i < end && xc_wait_stack_is_runtime(w, i); i++) {
		if (w->frames[i].trust == XC_TRUST_SCAN || w->frames[i].signal)
			break;
		by_place(wait, xc_wait_stack_place(w, i));
		wait->through = xc_place_outer_function(xc_wait_stack_place(w, i));
	}
	if (i < end && w->frames[i].trust != XC_TRUST_SCAN && !w->frames[i].signal)
		by_inlined(w, i, wait);
	if (i == w->count && i > w->base)
		wait->through = xc_place_outer_function(xc_wait_stack_place(w, w->base));
}

/* ---- handlers ---- */

/* The library function that the signal interrupted, and its caller. */
static void find_interrupted(const struct xc_wait_stack *w, struct xc_wait *wait)
{
	size_t i = w->signal + 1, level;
	for (; i < w->count && xc_wait_stack_is_runtime(w, i); i++)
		wait->interrupted = xc_place_outer_function(xc_wait_stack_place(w, i));
	if (i < w->count && xc_user_code_level(xc_wait_stack_place(w, i), &level))
		wait->interrupted_own = xc_place_function(xc_wait_stack_place(w, i), level);
}

/* A handler that only sleeps, or waits while others write the core, is of no interest. When it waits for another
 * thread, or for the function that it interrupted, it is the place of the thread. */
static void enter_handler(struct xc_wait_stack *w, struct xc_wait *wait)
{
	const struct xc_thread *thread = wait->thread;
	struct xc_wait inside = *wait;
	size_t base = w->base;
	if (w->signal == w->count || !w->signal || !thread->call_known || !wait->call ||
	    strncmp(wait->call, "futex", 5) != 0)
		return;
	w->base = 0;
	find_kind(w, &inside);
	if (inside.kind == XC_WAIT_NONE) {
		w->base = base;
		return;
	}
	*wait = inside;
	wait->handler = xc_place_outer_function(xc_wait_stack_place(w, w->signal - 1));
	find_interrupted(w, wait);
}

static void find_place(const struct xc_wait_stack *w, struct xc_wait *wait)
{
	size_t at = w->base;
	while (at < w->count && xc_wait_stack_is_runtime(w, at))
		at++;
	if (at == w->count) {
		at = w->base;
		wait->frame = w->frames[at];
		wait->place = xc_wait_stack_place(w, at);
		return;
	}
	wait->frame = w->frames[at];
	wait->place = xc_wait_stack_place(w, at);
	wait->has_place = xc_user_code_level(wait->place, &wait->level);
}

static void look_at(struct xc_wait_stack *w, struct xc_wait *wait)
{
	xc_wait_stack_unwind(w, wait->thread);
	wait->call = xc_wait_syscall_name(w->process, wait->thread);
	if (!w->count) {
		w->base = 0;
		xc_wait_syscall_find(w, wait);
		return;
	}
	enter_handler(w, wait);
	wait->in_handler = w->base && !wait->handler;
	if (!wait->handler)
		find_kind(w, wait);
	find_place(w, wait);
	xc_wait_syscall_find(w, wait);
	xc_thread_role_find(w->process, w->frames, w->count, &wait->routine, &wait->role);
}

/* ---- */

static void list_threads(struct xc_process *p, struct xc_waits *waits)
{
	for (size_t i = 0; i < waits->count; i++) {
		waits->items[i].thread = &p->threads[i];
		waits->ids[i] = (struct xc_wait_id){.tid = p->threads[i].tid, .index = i};
	}
	xc_wait_ids_sort(waits->ids, waits->count);
	xc_namespace_tid_find(p, waits);
}

const struct xc_waits *xc_waits_of(struct xc_process *process)
{
	if (process->waits)
		return process->waits;
	struct xc_waits *waits = xc_arena_alloc(&process->arena, sizeof *waits);
	struct xc_wait_stack w;
	waits->count = process->thread_count;
	waits->items = xc_arena_alloc(&process->arena, waits->count * sizeof *waits->items);
	waits->ids = xc_arena_alloc(&process->arena, waits->count * sizeof *waits->ids);
	list_threads(process, waits);
	xc_wait_stack_init(&w, process, waits);
	for (size_t i = 0; i < waits->count; i++)
		look_at(&w, &waits->items[i]);
	xc_wait_stack_fini(&w);
	process->waits = waits;
	return waits;
}

void xc_waits_look(struct xc_process *process, const struct xc_thread *thread, struct xc_wait *wait_out)
{
	const struct xc_waits none = {.count = 0};
	struct xc_wait_stack w;
	*wait_out = (struct xc_wait){.thread = thread};
	xc_wait_stack_init(&w, process, &none);
	look_at(&w, wait_out);
	xc_wait_stack_fini(&w);
}

const struct xc_wait *xc_waits_thread(const struct xc_waits *waits, pid_t tid)
{
	const struct xc_wait_id *found = xc_wait_ids_find(waits->ids, waits->count, tid);
	return found ? &waits->items[found->index] : NULL;
}

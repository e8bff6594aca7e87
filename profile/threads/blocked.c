#include "profile/threads/blocked.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/live/live.h"

struct xc_error *xc_blocked_new(struct xc_process *process, struct xc_sample_unwinder *unwinder,
				struct xc_stack_store *store, struct xc_wait_targets *targets,
				struct xc_blocked **blocked_out)
{
	struct xc_call_reader *reader = NULL;
	struct xc_error *err = xc_call_reader_start(xc_live_task_dir(process), &reader);
	if (err)
		return err;
	struct xc_blocked *b = xc_alloc(sizeof *b);
	b->process = process;
	b->reader = reader;
	b->unwinder = unwinder;
	b->store = store;
	b->targets = targets;
	*blocked_out = b;
	return NULL;
}

void xc_blocked_free(struct xc_blocked *b)
{
	if (!b)
		return;
	xc_call_reader_free(b->reader);
	free(b);
}

/* "4711 (name) S …" */
static char state_of(const struct xc_blocked *b, pid_t tid)
{
	char name[40], text[256];
	snprintf(name, sizeof name, "%d/stat", (int)tid);
	const int fd = openat(xc_live_task_dir(b->process), name, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	const char *behind = strrchr(text, ')');
	return behind && behind[1] == ' ' ? behind[2] : '?';
}

static bool is_mapped(const struct xc_blocked *b, const struct xc_thread *thread)
{
	uint64_t sp = 0, pc = 0;
	(void)xc_regs_get(&thread->regs, b->process->arch->sp, &sp);
	(void)xc_regs_get(&thread->regs, b->process->arch->pc, &pc);
	return xc_process_mapping(b->process, sp) && xc_process_mapping(b->process, pc);
}

static void take_stack(struct xc_blocked *b, struct xc_blocked_thread *t, const struct xc_thread *thread)
{
	bool whole;
	xc_sample_unwind_thread(b->unwinder, thread, &b->stack);
	t->stack = xc_stack_store_add(b->store, &b->stack, &whole);
	t->target = xc_wait_targets_of_thread(b->targets, thread, t->stack);
	b->unkept += !whole;
}

static void look_at(struct xc_blocked *b, struct xc_blocked_thread *t, const struct xc_call_text *text)
{
	struct xc_thread thread = {.tid = t->tid, .state = 'S', .syscall = -1};
	struct xc_live_schedule after;
	t->state = XC_BLOCKED_RUNS;
	if (text->error)
		t->state = XC_BLOCKED_ENDED;
	if (text->error || !xc_live_facts_call(b->process, &thread, text->call))
		return;
	thread.state = state_of(b, t->tid);
	thread.call_file = text->file[0] ? text->file : NULL;
	b->unmapped |= !is_mapped(b, &thread);
	take_stack(b, t, &thread);
	t->state = !xc_live_facts_schedule(xc_live_task_dir(b->process), t->tid, &after)  ? XC_BLOCKED_ENDED
		   : after.runs != t->schedule.runs || after.ran_ns != t->schedule.ran_ns ? XC_BLOCKED_MOVED
											  : XC_BLOCKED_WAITS;
	if (t->state == XC_BLOCKED_MOVED)
		xc_wait_targets_forget(b->targets, &thread, t->stack);
	b->moved += t->state == XC_BLOCKED_MOVED;
	b->ends[b->stack.end] += t->state == XC_BLOCKED_WAITS;
}

void xc_blocked_look(struct xc_blocked *b, struct xc_blocked_thread *threads, size_t count)
{
	pid_t tids[XC_CALL_BATCH] = {0};
	for (size_t i = 0; i < count; i++) {
		tids[i] = threads[i].tid;
		threads[i].state = XC_BLOCKED_ENDED;
		if (!xc_live_facts_schedule(xc_live_task_dir(b->process), tids[i], &threads[i].schedule))
			threads[i].schedule = (struct xc_live_schedule){0};
	}
	const struct xc_call_text *texts = xc_call_reader_read(b->reader, tids, count);
	b->blind |= !texts;
	for (size_t i = 0; i < count; i++)
		if (texts)
			look_at(b, &threads[i], &texts[i]);
		else if (threads[i].schedule.runs) /* of one that ended: 0 */
			threads[i].state = XC_BLOCKED_MOVED;
	b->looks += count;
}

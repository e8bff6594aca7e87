#include "dwarf/sample/running_threads.h"

#include <stdlib.h>

#include "core/live/live.h"
#include "core/perf/perf_regs.h"
#include "core/perf/sampler.h"
#include "dwarf/sample/sample_stack.h"

enum { HZ = 1999, STACK = 60 << 10, MOST_THREADS = 1024, LOOK_US = 100 };
enum { WHOLE_NS = 150000000, MOST_NS = 200000000 }; /* until a stack that is cut is good enough, too */

struct running {
	struct xc_process *process;
	pid_t tids[MOST_THREADS]; /* those without a sample */
	size_t count, left;
	uint64_t started_ns;
	struct xc_sample_unwinder *unwinder;
	struct xc_sample_stack stack;
};

static bool is_running(const struct xc_thread *t)
{
	return !t->has_regs && t->state == 'R';
}

static void find_running(struct running *r)
{
	for (size_t i = 0; i < r->process->thread_count && r->count < MOST_THREADS; i++)
		if (is_running(&r->process->threads[i]))
			r->tids[r->count++] = r->process->threads[i].tid;
	r->left = r->count;
}

/* Takes a thread off the list. False: it is not on it. */
static bool take_off(struct running *r, pid_t tid)
{
	for (size_t i = 0; i < r->left; i++)
		if (r->tids[i] == tid) {
			r->tids[i] = r->tids[--r->left];
			return true;
		}
	return false;
}

/* Has its outer part been read too late? A later sample may have more luck. */
static bool is_cut(struct running *r, const struct xc_perf_record *record)
{
	if (xc_now_ns() - r->started_ns > WHOLE_NS)
		return false;
	xc_sample_unwind(r->unwinder, record, &r->stack);
	return r->stack.end == XC_SAMPLE_CUT;
}

static void take(void *ctx, const struct xc_perf_record *record)
{
	struct running *r = ctx;
	struct xc_regs regs;
	uint64_t tp;
	if (record->kind != XC_PERF_SAMPLE || !record->regs ||
	    !xc_perf_regs_read(r->process->arch, record->regs, &regs) || is_cut(r, record) || !take_off(r, record->tid))
		return;
	struct xc_thread *t = xc_process_thread(r->process, record->tid);
	if (!xc_sample_hold(r->unwinder, record, &r->stack)) {
		t->why_no_regs = "running on a CPU, and there is no room for a copy of its stack";
		return;
	}
	if (xc_regs_get(&t->regs, r->process->arch->tls.tp, &tp)) /* samples do not have it */
		xc_regs_set(&regs, r->process->arch->tls.tp, tp);
	t->regs = regs;
	t->has_regs = true;
	t->regs_how = "sampled while it ran";
}

static void sample(struct running *r, struct xc_sampler *sampler)
{
	r->started_ns = xc_now_ns();
	while (r->left && xc_now_ns() - r->started_ns < MOST_NS && !xc_sampler_counts(sampler).execed) {
		xc_sampler_wait(sampler, LOOK_US);
		xc_sampler_drain(sampler, take, r);
	}
}

static void say_why(struct running *r, const char *why)
{
	for (size_t i = 0; i < r->left; i++)
		xc_process_thread(r->process, r->tids[i])->why_no_regs = why;
}

void xc_running_threads_sample(struct xc_process *process)
{
	xc_auto(xc_freep) struct running *r = xc_alloc(sizeof *r);
	struct xc_sampler *sampler = NULL;
	r->process = process;
	find_running(r);
	if (!process->live || !r->count)
		return;
	const struct xc_sampler_options options = {
		.hz = HZ, .stack = STACK, .tids = r->tids, .tid_count = r->count, .few = true};
	struct xc_error *err = xc_sampler_start(xc_live_task_dir(process), &options, &sampler);
	if (err) {
		say_why(r, xc_arena_printf(&process->arena, "running on a CPU, and no sample could be taken: %s",
					   err->message));
		xc_error_free(err);
		return;
	}
	r->unwinder = xc_sample_unwinder_new(process);
	sample(r, sampler);
	say_why(r, "running or waiting for a CPU: no sample of it was taken in 200 ms");
	xc_sample_unwinder_free(r->unwinder);
	xc_sampler_free(sampler);
}

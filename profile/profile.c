#include "profile/profile.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "core/live/live.h"
#include "dwarf/sample/sample_guest.h"
#include "profile/wait_targets.h"

/* Deep stacks are drained at once: their outer frames are read after the sample (sample_stack.h). So are those of
 * interpreted languages. */
enum { DRAIN_US = 50000, DEEP_FOR_MS = 1000, ALIVE_MS = 500, US = 1000, MS = 1000000 };
enum { MORE_NS = 1000000000 }; /* for the samples that are there at the end */

static xc_waiting_take take_wait;

static void begin(struct xc_profile *p)
{
	p->started_ns = xc_now_ns();
	xc_slices_init(&p->slices, p->started_ns);
	p->times_known = xc_live_times(p->process, p->options.tid, &p->user_ns, &p->system_ns);
}

struct xc_error *xc_profile_start(struct xc_process *process, const struct xc_profile_options *options,
				  struct xc_profile **profile_out)
{
	struct xc_sampler_options how = options->sampler;
	how.no_cpu = options->clock == XC_CLOCK_OFF;
	how.waits = options->clock != XC_CLOCK_CPU;
	how.tids = options->tid ? &options->tid : NULL;
	how.tid_count = how.tids != NULL;
	struct xc_profile *p = xc_alloc(sizeof *p);
	p->process = process;
	p->options = *options;
	p->stack = xc_alloc(sizeof *p->stack);
	p->unwinder = xc_sample_unwinder_new(process);
	p->targets = how.waits ? xc_wait_targets_new(process) : NULL;
	xc_stack_store_init(&p->store);
	struct xc_error *err = xc_sampler_start(xc_live_task_dir(process), &how, &p->sampler);
	if (err) {
		xc_profile_free(p);
		return err;
	}
	begin(p);
	xc_waiting_init(&p->waiting, xc_sampler_setup(p->sampler)->period_ns, take_wait, p);
	*profile_out = p;
	return NULL;
}

void xc_profile_guests(struct xc_profile *p, struct xc_sample_guest *guest)
{
	p->store.guests = &guest->places;
	xc_sample_unwinder_guest(p->unwinder, guest);
	xc_live_brief(p->process, true);
	xc_sampler_skip(p->sampler);
	p->maps_changed = true;
	begin(p);
}

void xc_profile_free(struct xc_profile *p)
{
	if (!p)
		return;
	xc_sample_unwinder_free(p->unwinder);
	xc_sampler_free(p->sampler);
	xc_stack_store_fini(&p->store);
	xc_hashtable_fini(&p->by_stack);
	xc_slices_fini(&p->slices);
	xc_waiting_fini(&p->waiting);
	xc_wait_targets_free(p->targets);
	free(p->counts);
	free(p->stack);
	free(p);
}

/* Samples that stand for the time between two instants, or for one. */
struct span {
	uint64_t from_ns, to_ns, samples;
};

static void count_stack(struct xc_profile *p, uint32_t stack, uint32_t what, pid_t tid, struct span span)
{
	const uint64_t key = (uint64_t)what << 32 | stack;
	union xc_hashtable_value *found = xc_hashtable_at(&p->by_stack, NULL, key, (uint64_t)tid + 1);
	if (!found->number) {
		p->counts = xc_grow(p->counts, p->count, &p->count_capacity, sizeof *p->counts);
		p->counts[p->count++] = (struct xc_profile_count){.stack = stack, .what = what, .tid = tid};
		found->number = p->count;
	}
	struct xc_profile_count *count = &p->counts[found->number - 1];
	count->samples += span.samples;
	count->squares += span.samples * span.samples;
	xc_slices_add(&p->slices, (uint32_t)found->number - 1, span.from_ns, span.to_ns, span.samples);
}

/* Libraries that were loaded since; and where a stack lies in no known mapping, the mappings: the kernel tells of code
 * only. Reading them takes at most a tenth of the time, and nothing beyond the end. */
static void update_maps(struct xc_profile *p, const struct xc_perf_record *sample, uint64_t now)
{
	if (now < p->next_remap_ns || now + p->remap_ns > p->until_ns)
		return;
	if (p->maps_changed)
		xc_live_find_modules(p->process);
	else if (!xc_sample_stack_mapped(p->process, sample))
		xc_live_remap(p->process);
	else
		return;
	p->remap_ns = xc_now_ns() - now;
	p->next_remap_ns = now + 10 * p->remap_ns;
	p->maps_changed = false;
}

/* Is there no time left to unwind samples? After an interrupt there is as much as at the end. */
static bool is_over(struct xc_profile *p, uint64_t now)
{
	if (*p->interrupted && p->until_ns > now + MORE_NS)
		p->until_ns = now + MORE_NS;
	return now > p->until_ns;
}

/* The number of its stack. False: there is no time for it. */
static bool unwind(struct xc_profile *p, const struct xc_perf_record *record, uint32_t *stack_out)
{
	const uint64_t now = xc_now_ns();
	bool whole;
	if (is_over(p, now)) {
		p->unread++;
		return false;
	}
	update_maps(p, record, now);
	xc_sample_unwind(p->unwinder, record, p->stack);
	p->ends[p->stack->end]++;
	p->late += p->stack->late;
	p->guests += p->stack->guest;
	p->torn += p->stack->torn;
	if (p->stack->late || p->stack->guest || p->stack->end == XC_SAMPLE_CUT)
		p->deep_ns = xc_now_ns();
	*stack_out = xc_stack_store_add(&p->store, p->stack, &whole);
	p->unkept += !whole;
	return true;
}

static void take_sample(struct xc_profile *p, const struct xc_perf_record *record)
{
	uint32_t stack;
	if (!unwind(p, record, &stack))
		return;
	count_stack(p, stack, 0, record->tid, (struct span){record->time_ns, record->time_ns, 1});
	p->samples++;
	p->in_kernel += record->in_kernel;
}

/* What a thread waits for is told instead of the kernel's frames in which it does. */
static void take_wait(void *ctx, const struct xc_perf_record *sample, uint64_t periods, bool preempted)
{
	struct xc_profile *p = ctx;
	struct xc_perf_record record = *sample;
	record.kernel_count = 0;
	uint32_t stack;
	if (!unwind(p, &record, &stack))
		return;
	count_stack(p, stack, xc_wait_targets_find(p->targets, sample, stack, preempted), sample->tid,
		    (struct span){sample->time_ns, p->last_ns, periods});
	p->wait_samples += periods;
}

static void take_record(void *ctx, const struct xc_perf_record *record)
{
	struct xc_profile *p = ctx;
	const bool wanted =
		!p->gone && record->pid == p->process->pid && (!p->options.tid || record->tid == p->options.tid);
	p->last_ns = record->time_ns > p->last_ns ? record->time_ns : p->last_ns;
	if (wanted && (record->kind == XC_PERF_SWITCH || (record->kind == XC_PERF_SAMPLE && record->at_switch)))
		xc_waiting_add(&p->waiting, record);
	else if (wanted && record->kind == XC_PERF_SAMPLE)
		take_sample(p, record);
	if (record->kind == XC_PERF_EXIT)
		xc_waiting_exit(&p->waiting, record->tid);
	p->maps_changed |= record->kind == XC_PERF_MMAP;
	p->gone |= record->kind == XC_PERF_COMM && record->exec && record->pid == p->process->pid;
}

static void drain(struct xc_profile *p)
{
	const uint64_t begun = xc_thread_cpu_ns();
	xc_sampler_drain(p->sampler, take_record, p);
	p->unwind_ns += xc_thread_cpu_ns() - begun;
}

/* A wait from the start of the profile on. */
static void count_wait(struct xc_profile *p, uint32_t stack, uint32_t what, pid_t tid, uint64_t until_ns)
{
	const uint64_t periods = xc_waiting_count(&p->waiting, until_ns - p->started_ns);
	count_stack(p, stack, what, tid, (struct span){p->started_ns, until_ns, periods});
	p->wait_samples += periods;
}

/* A thread that has slept since the process was opened was never switched. Its stack is where it was then. */
static void take_sleeper(struct xc_profile *p, const struct xc_thread *thread)
{
	bool whole;
	xc_sample_unwind_thread(p->unwinder, thread, p->stack);
	const uint32_t what = xc_wait_targets_of_thread(p->targets, thread);
	if (!xc_live_thread_slept(p->process, thread))
		return;
	p->ends[p->stack->end]++;
	count_wait(p, xc_stack_store_add(&p->store, p->stack, &whole), what, thread->tid, p->ended_ns);
	p->unkept += !whole;
}

/* The threads whose waits began before the profile. */
static void take_early_waits(struct xc_profile *p)
{
	for (size_t i = 0; i < p->process->thread_count; i++) {
		const struct xc_thread *thread = &p->process->threads[i];
		const uint64_t back = xc_waiting_back(&p->waiting, thread->tid);
		if (p->options.tid && p->options.tid != thread->tid)
			continue;
		if (back > p->started_ns)
			count_wait(p, 0, xc_wait_targets_early(p->targets), thread->tid, back);
		else if (xc_waiting_knows(&p->waiting, thread->tid) || !thread->has_regs)
			continue;
		else if (p->gone || is_over(p, xc_now_ns()))
			count_wait(p, 0, xc_wait_targets_early(p->targets), thread->tid, p->ended_ns);
		else
			take_sleeper(p, thread);
	}
}

static void end(struct xc_profile *p)
{
	uint64_t user, system;
	xc_sampler_stop(p->sampler);
	p->ended_ns = xc_now_ns();
	drain(p);
	xc_live_brief(p->process, false);
	if (p->gone && p->last_ns > p->started_ns)
		p->ended_ns = p->last_ns;
	p->last_ns = p->ended_ns;
	xc_waiting_end(&p->waiting, p->ended_ns);
	if (p->targets)
		take_early_waits(p);
	xc_slices_merge(&p->slices);
	p->times_known = p->times_known && xc_live_times(p->process, p->options.tid, &user, &system);
	if (p->times_known) {
		p->user_ns = user - p->user_ns;
		p->system_ns = system - p->system_ns;
	}
}

static void wait(struct xc_profile *p, uint64_t now, uint64_t until)
{
	const bool deep = p->deep_ns && now - p->deep_ns < (uint64_t)DEEP_FOR_MS * MS;
	const uint64_t left = (until - now) / US + 1, us = left < DRAIN_US ? left : DRAIN_US;
	if (deep)
		xc_sampler_wait_next(p->sampler, us);
	else
		xc_sampler_wait(p->sampler, us);
}

void xc_profile_run(struct xc_profile *p, uint64_t ns, const volatile int *interrupted)
{
	const uint64_t until = p->started_ns + ns;
	uint64_t checked = p->started_ns;
	prctl(PR_SET_TIMERSLACK, (unsigned long)US); /* of nanoseconds; usually 50 us */
	p->until_ns = until + MORE_NS;
	p->interrupted = interrupted;
	for (uint64_t now; (now = xc_now_ns()) < until && !*interrupted && !p->gone;) {
		wait(p, now, until);
		drain(p);
		if (now - checked > (uint64_t)ALIVE_MS * MS) {
			checked = now;
			p->gone |= !xc_live_is_there(p->process);
		}
	}
	end(p);
}

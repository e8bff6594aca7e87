#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "core/live/live.h"
#include "dwarf/sample/sample_guest.h"
#include "profile/profile_impl.h"
#include "profile/reader_priority.h"
#include "profile/threads/random.h"
#include "profile/threads/wait_targets.h"

/* Deep stacks are drained at once: their outer frames are read after the sample (sample_stack.h). So are those of
 * interpreted languages. Those who wait are looked at meanwhile, if they wait for long enough; a tenth of a CPU is
 * enough for that. */
enum { DRAIN_US = 50000, LOOK_US = 5000, DEEP_FOR_MS = 1000, ALIVE_MS = 500, US = 1000, MS = 1000000 };
enum { WAITED_NS = 2000000, LOOK_NS = LOOK_US * 1000 / 10, LAST_LOOK_NS = 50000000 };
enum { MOST_COUNTS = 1 << 20 }; /* then threads are not told apart */
enum { MORE_NS = 1000000000 };  /* for the samples that are there at the end */

static xc_waiting_take take_wait;

static struct xc_error *start_sampler(struct xc_profile *p)
{
	struct xc_sampler_options how = p->options.sampler;
	how.no_cpu = p->options.clock == XC_CLOCK_OFF;
	how.waits = p->options.clock != XC_CLOCK_CPU;
	how.tids = p->options.tid ? &p->options.tid : NULL;
	how.tid_count = how.tids != NULL;
	struct xc_error *err = xc_sampler_start(xc_live_task_dir(p->process), &how, &p->sampler);
	p->period_ns = err ? UINT64_C(1000000000) / how.hz : xc_sampler_setup(p->sampler)->period_ns;
	p->sees_kernel = !err && xc_sampler_setup(p->sampler)->kernel;
	return err;
}

static bool is_refusal(const struct xc_error *err)
{
	return err->code == XC_ERR_PERMISSION || err->code == XC_ERR_UNSUPPORTED || err->code == XC_ERR_LIMIT;
}

/* What takes long comes before the samples, which fill the rings. */
static struct xc_error *start(struct xc_profile *p)
{
	if (p->options.clock != XC_CLOCK_CPU)
		p->targets = xc_wait_targets_new(p->process);
	p->refused = start_sampler(p);
	if (p->refused && (!is_refusal(p->refused) || p->options.sampler.counter))
		return xc_take(p->refused);
	if (p->refused && p->options.any_clock)
		p->options.clock = XC_CLOCK_WALL;
	if (p->refused && !p->targets)
		p->targets = xc_wait_targets_new(p->process);
	if (!p->targets || p->sees_kernel)
		return NULL;
	return xc_blocked_new(p->process, p->unwinder, &p->store, p->targets, &p->blocked);
}

static void begin(struct xc_profile *p)
{
	p->started_ns = p->checked_ns = xc_now_ns();
	xc_slices_init(&p->slices, p->started_ns);
	p->times_known = xc_live_times(p->process, p->options.tid, &p->user_before_ns, &p->system_before_ns);
}

struct xc_error *xc_profile_start(struct xc_process *process, const struct xc_profile_options *options,
				  struct xc_profile **profile_out)
{
	struct xc_profile *p = xc_alloc(sizeof *p);
	p->process = process;
	p->options = *options;
	p->stack = xc_alloc(sizeof *p->stack);
	p->unwinder = xc_sample_unwinder_new(process);
	xc_stack_store_init(&p->store);
	p->values = options->by && strcmp(options->by, "cpu") == 0 ? &p->cpus : NULL;
	struct xc_error *err = start(p);
	if (err) {
		xc_profile_free(p);
		return err;
	}
	begin(p);
	xc_waiting_init(&p->waiting, p->period_ns, p->sees_kernel, take_wait, p);
	p->waiting.random = p->started_ns | 1;
	if (p->refused)
		xc_polling_init(&p->polling, p->blocked, p->period_ns, xc_profile_take_polled, p);
	p->polling.only = options->tid;
	*profile_out = p;
	return NULL;
}

void xc_profile_guests(struct xc_profile *p, struct xc_sample_guest *guest)
{
	p->store.guests = &guest->places;
	p->values = guest->values ? guest->values : p->values;
	xc_sample_unwinder_guest(p->unwinder, guest);
	xc_live_brief(p->process, true);
	if (p->sampler)
		xc_sampler_skip(p->sampler);
	p->maps_changed = true;
	begin(p);
	p->deep_ns = p->started_ns; /* the first are read at once, too */
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
	xc_polling_fini(&p->polling);
	xc_thread_names_fini(&p->names);
	xc_sample_values_fini(&p->cpus);
	xc_blocked_free(p->blocked);
	xc_error_free(p->refused);
	xc_wait_targets_free(p->targets);
	free(p->counts);
	free(p->stack);
	free(p);
}

void xc_profile_count_stack(struct xc_profile *p, uint32_t stack, uint32_t what, pid_t tid, struct xc_profile_span span)
{
	const uint64_t key = (uint64_t)what << 32 | stack;
	if (p->count >= MOST_COUNTS && !xc_hashtable_find(&p->by_stack, key, (uint64_t)tid + 1))
		tid = 0;
	union xc_hashtable_value *found = xc_hashtable_at(&p->by_stack, NULL, key, (uint64_t)tid + 1);
	if (!found->number) {
		p->counts = xc_grow(p->counts, p->count, &p->count_capacity, sizeof *p->counts);
		p->counts[p->count++] = (struct xc_profile_count){.stack = stack, .what = what, .tid = tid};
		found->number = p->count;
	}
	struct xc_profile_count *count = &p->counts[found->number - 1];
	count->samples += span.samples;
	uint64_t square;
	if (__builtin_mul_overflow(span.samples, span.samples, &square) ||
	    __builtin_add_overflow(count->squares, square, &count->squares))
		count->squares = UINT64_MAX;
	xc_slices_add(&p->slices, (uint32_t)found->number - 1, span.from_ns, span.to_ns, span.samples);
}

/* Libraries that were loaded since; and where a stack lies in no known mapping, the mappings: the kernel tells of code
 * only. Reading them takes at most a tenth of the time, and nothing beyond the end. */
void xc_profile_update_maps(struct xc_profile *p, bool code, bool stack, uint64_t now)
{
	if ((!code && !stack) || now < p->next_remap_ns || now + p->remap_ns > p->until_ns)
		return;
	if (code)
		xc_live_find_modules(p->process);
	else
		xc_live_remap(p->process);
	xc_sample_unwinder_forget(p->unwinder);
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

static void tell_cpu(struct xc_profile *p, const struct xc_perf_record *record)
{
	char text[16];
	const int len = snprintf(text, sizeof text, "cpu %u", record->cpu);
	xc_sample_stack_add_value(p->stack, xc_sample_values_add(&p->cpus, text, (size_t)len));
}

static void count_end(struct xc_profile *p, enum xc_sample_end end, bool late)
{
	p->ends[end]++;
	p->late += late;
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
	xc_profile_update_maps(p, p->maps_changed, !xc_sample_stack_mapped(p->process, record), now);
	xc_sample_unwind(p->unwinder, record, p->stack);
	p->guests += p->stack->guest;
	p->torn += p->stack->torn;
	p->torn_whole += xc_sample_stack_torn_inside(p->stack);
	if (p->stack->late || p->stack->guest || p->stack->value || p->stack->end == XC_SAMPLE_CUT)
		p->deep_ns = xc_now_ns();
	if (p->values == &p->cpus && !record->at_switch)
		tell_cpu(p, record);
	*stack_out = xc_stack_store_add(&p->store, p->stack, &whole);
	p->unkept += !whole;
	return true;
}

/* To when it had been read: an upper bound. */
static void add_delay(struct xc_profile *p, const struct xc_perf_record *record)
{
	const uint64_t now = xc_now_ns();
	xc_read_delays_add(&p->delays, now > record->time_ns ? now - record->time_ns : 0);
}

static void take_sample(struct xc_profile *p, const struct xc_perf_record *record)
{
	uint32_t stack;
	if (!unwind(p, record, &stack))
		return;
	if (p->stack->guest)
		add_delay(p, record);
	p->guest_cpu = p->stack->guest ? record->cpu : p->guest_cpu;
	const uint64_t weight = p->options.sampler.counter ? record->period : 1;
	count_end(p, p->stack->end, p->stack->late);
	xc_profile_count_stack(p, stack, 0, record->tid,
			       (struct xc_profile_span){record->time_ns, record->time_ns, weight});
	p->samples += weight;
	p->unwound++;
	p->in_kernel += record->in_kernel;
}

/* ---- waits ---- */

void xc_profile_count_waits(struct xc_profile *p, uint32_t stack, uint32_t what, pid_t tid, struct xc_profile_span span)
{
	xc_profile_count_stack(p, stack, what, tid, span);
	p->wait_samples += span.samples;
}

/* What a thread waits for is told instead of the kernel's frames in which it does. */
static struct xc_perf_record without_kernel(const struct xc_perf_record *sample)
{
	struct xc_perf_record record = *sample;
	record.kernel_count = 0;
	return record;
}

static void take_sampled_wait(struct xc_profile *p, const struct xc_waiting_thread *t, struct xc_profile_span span)
{
	const struct xc_perf_record record = without_kernel(&t->sample);
	uint32_t stack;
	if (!unwind(p, &record, &stack))
		return;
	count_end(p, p->stack->end, p->stack->late);
	xc_profile_count_waits(p, stack, xc_wait_targets_find(p->targets, &t->sample, stack, t->preempted).text, t->tid,
			       span);
}

static void take_wait(void *ctx, const struct xc_waiting_thread *t, enum xc_waiting_kind kind, uint64_t periods)
{
	struct xc_profile *p = ctx;
	const struct xc_waiting_look *look = &t->look;
	const struct xc_profile_span span = {t->begun_ns, p->last_ns, periods};
	if (kind == XC_WAIT_UNSEEN) {
		xc_profile_count_waits(p, 0, xc_wait_targets_unseen(p->targets), t->tid, span);
	} else if (kind == XC_WAITED && look->at_ns) {
		count_end(p, look->end, look->late);
		xc_profile_count_waits(p, look->stack, xc_wait_targets_held(p->targets, look->what, look->owner),
				       t->tid, span);
	} else if (p->waiting.sampled) {
		take_sampled_wait(p, t, span);
	} else {
		xc_profile_count_waits(p, 0, xc_wait_targets_cpu(p->targets, false), t->tid, span);
	}
}

/* Of the looks at a lock, each as likely as another is kept: of a wait that outlasts several owners, all are told, as
 * often as they held it. */
static void look_at_owner(struct xc_profile *p, struct xc_waiting_look *look)
{
	if (!look->owner_word || xc_random(&p->waiting.random) % ++look->owners)
		return;
	look->owner = xc_wait_targets_owner(p->targets, look->owner_word);
	look->owner_ns = xc_now_ns();
}

/* Of a wait that has a sample, only locks are of interest. */
static void look_at_sampled(struct xc_profile *p, struct xc_waiting_thread *t)
{
	struct xc_waiting_look *look = &t->look;
	const struct xc_perf_record record = without_kernel(&t->sample);
	if (!xc_wait_targets_is_futex(p->targets, &t->sample) || !unwind(p, &record, &look->stack))
		return;
	const struct xc_wait_target target = xc_wait_targets_find(p->targets, &t->sample, look->stack, false);
	look->what = target.text;
	look->owner_word = target.owner_word;
	look->end = p->stack->end;
	look->late = p->stack->late;
	look->at_ns = t->begun_ns;
}

static void look_at_blocked(struct xc_profile *p, struct xc_waiting_thread *t)
{
	struct xc_waiting_look *look = &t->look;
	struct xc_blocked_thread thread = {.tid = t->tid};
	xc_blocked_look(p->blocked, &thread, 1);
	if (thread.state != XC_BLOCKED_WAITS)
		return;
	look->stack = thread.stack;
	look->what = thread.target.text;
	look->owner_word = thread.target.owner_word;
	look->end = p->blocked->stack.end;
	look->late = false;
	look->at_ns = xc_now_ns();
}

static void look_at(void *ctx, struct xc_waiting_thread *t)
{
	struct xc_profile *p = ctx;
	if (!t->look.done && p->blocked)
		look_at_blocked(p, t);
	else if (!t->look.done)
		look_at_sampled(p, t);
	t->look.done = true;
	look_at_owner(p, &t->look);
}

static void look(struct xc_profile *p, uint64_t ns)
{
	const uint64_t now = xc_now_ns();
	if (!p->targets || p->gone)
		return;
	xc_waiting_look(&p->waiting, WAITED_NS, now + ns, look_at);
	if (!p->blocked)
		return;
	xc_profile_update_maps(p, p->blocked->unmapped, false, xc_now_ns());
	p->blocked->unmapped = false;
}

/* ---- records ---- */

static void take_task(struct xc_profile *p, const struct xc_perf_record *record)
{
	if (record->kind == XC_PERF_LOST)
		xc_waiting_lost(&p->waiting);
	else if (record->kind == XC_PERF_FORK && record->pid == p->process->pid)
		xc_waiting_fork(&p->waiting, record->tid);
	else if (record->kind == XC_PERF_EXIT)
		xc_waiting_exit(&p->waiting, record->tid);
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
	if (p->targets)
		take_task(p, record);
	if (record->pid == p->process->pid)
		xc_thread_names_take(&p->names, p->process, record);
	p->forks += record->kind == XC_PERF_FORK && record->pid != p->process->pid;
	p->maps_changed |= record->kind == XC_PERF_MMAP;
	p->gone |= record->kind == XC_PERF_COMM && record->exec && record->pid == p->process->pid;
}

static void drain(struct xc_profile *p)
{
	const uint64_t begun = xc_thread_cpu_ns();
	xc_sampler_drain(p->sampler, take_record, p);
	look(p, LOOK_NS);
	p->unwind_ns += xc_thread_cpu_ns() - begun;
}

/* A wait from the start of the profile on. */
static void count_wait(struct xc_profile *p, uint32_t stack, uint32_t what, pid_t tid, uint64_t until_ns)
{
	const uint64_t periods = xc_waiting_count(&p->waiting, until_ns - p->started_ns);
	xc_profile_count_waits(p, stack, what, tid, (struct xc_profile_span){p->started_ns, until_ns, periods});
}

/* A thread that has slept since the process was opened was never switched. Its stack is where it was then. */
static void take_sleeper(struct xc_profile *p, const struct xc_thread *thread)
{
	bool whole;
	xc_sample_unwind_thread(p->unwinder, thread, p->stack);
	const uint32_t stack = xc_stack_store_add(&p->store, p->stack, &whole);
	const struct xc_wait_target target = xc_wait_targets_of_thread(p->targets, thread, stack);
	const pid_t owner = xc_wait_targets_owner(p->targets, target.owner_word);
	if (!xc_live_thread_slept(p->process, thread))
		return;
	count_end(p, p->stack->end, false);
	count_wait(p, stack, xc_wait_targets_held(p->targets, target.text, owner), thread->tid, p->ended_ns);
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

/* ---- the run ---- */

static void end_sampling(struct xc_profile *p)
{
	look(p, LAST_LOOK_NS);
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
	p->sampled = xc_sampler_counts(p->sampler);
}

static void end(struct xc_profile *p)
{
	p->ended_ns = xc_now_ns();
	if (p->sampler)
		end_sampling(p);
	else
		xc_profile_end_polling(p); /* with a last look, which may take long */
	xc_slices_merge(&p->slices);
	xc_profile_end_times(p);
}

static void wait(struct xc_profile *p, uint64_t now, uint64_t until)
{
	const bool deep = p->deep_ns && now - p->deep_ns < (uint64_t)DEEP_FOR_MS * MS;
	const uint64_t left = (until - now) / US + 1, pause = p->targets ? LOOK_US : DRAIN_US;
	const uint64_t us = left < pause ? left : pause;
	if (deep) {
		xc_reader_priority_follow(p->guest_cpu);
		xc_sampler_wait_next(p->sampler, us, !xc_reader_priority_is_real_time());
	} else {
		xc_sampler_wait(p->sampler, us);
	}
}

/* One step, at most until then. */
static void step(struct xc_profile *p, uint64_t now, uint64_t until)
{
	if (p->sampler) {
		wait(p, now, until);
		drain(p);
	} else if (now < p->due_ns) {
		xc_profile_pause(now, p->due_ns < until ? p->due_ns : until);
	} else {
		xc_profile_poll(p);
	}
}

void xc_profile_sample(struct xc_profile *p, uint64_t until, const volatile int *interrupted)
{
	prctl(PR_SET_TIMERSLACK, (unsigned long)US); /* of nanoseconds; usually 50 us */
	p->until_ns = until + MORE_NS;
	p->interrupted = interrupted;
	if (p->store.guests)
		xc_reader_priority_raise();
	p->real_time |= xc_reader_priority_is_real_time();
	for (uint64_t now; (now = xc_now_ns()) < until && !*interrupted && !p->gone;) {
		step(p, now, until);
		if (now - p->checked_ns > (uint64_t)ALIVE_MS * MS) {
			p->checked_ns = now;
			p->gone |= !xc_live_is_there(p->process);
		}
	}
	p->real_time &= xc_reader_priority_is_real_time();
	xc_reader_priority_restore();
}

void xc_profile_run(struct xc_profile *p, uint64_t ns, const volatile int *interrupted)
{
	xc_profile_sample(p, p->started_ns + ns, interrupted);
	end(p);
}

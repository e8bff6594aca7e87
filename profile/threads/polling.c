#include "profile/threads/polling.h"

#include <stdlib.h>

#include "core/live/live.h"
#include "core/live/live_proc.h"
#include "profile/threads/random.h"

enum { MOST_THREADS = 1 << 16 };
enum { SHARE = 10, MOST_PAUSE_NS = 1000000000 }; /* of a CPU, for ticks: one in so many */
/* The first tick only lists the threads. At the second all stacks are new, which is dear, and happens once. */
enum { FIRST = 1, DEAR = 2 };

void xc_polling_init(struct xc_polling *p, struct xc_blocked *blocked, uint64_t period_ns, xc_polling_take *take,
		     void *ctx)
{
	*p = (struct xc_polling){.blocked = blocked, .period_ns = period_ns, .take = take, .ctx = ctx};
	p->random = xc_now_ns() | 1;
}

void xc_polling_fini(struct xc_polling *p)
{
	free(p->threads);
	free(p->unused);
	xc_hashtable_fini(&p->by_tid);
	*p = (struct xc_polling){0};
}

/* A thread that was not there at the tick before has begun since. The first period of each ends anywhere in it. */
static void begin_thread(struct xc_polling *p, struct xc_polled *t, pid_t tid, const struct xc_live_schedule *now,
			 uint64_t now_ns)
{
	*t = (struct xc_polled){.tid = tid, .first_ns = now_ns, .first = *now, .last = *now};
	if (p->ticks > FIRST) {
		const uint64_t busy = now->ran_ns + now->queued_ns;
		t->first = (struct xc_live_schedule){0};
		t->first_ns = busy < now_ns - p->last_ns ? now_ns - busy : p->last_ns;
	}
	t->seen_ns = t->first_ns;
	for (size_t i = 0; i < XC_POLL_KINDS; i++)
		t->handed_out[i] = -(int64_t)(xc_random(&p->random) % p->period_ns);
}

static void hand_out(struct xc_polling *p, struct xc_polled *t, enum xc_polling_kind kind, enum xc_polling_kind as)
{
	const int64_t ran = (int64_t)(t->last.ran_ns - t->first.ran_ns);
	const int64_t queued = (int64_t)(t->last.queued_ns - t->first.queued_ns);
	const int64_t all = (int64_t)(t->seen_ns - t->first_ns);
	const int64_t total = kind == XC_POLL_RUNS ? ran : kind == XC_POLL_QUEUED ? queued : all - ran - queued;
	const int64_t due = total - t->handed_out[kind], period = (int64_t)p->period_ns;
	if (due < period)
		return;
	t->handed_out[kind] += due / period * period;
	p->take(p->ctx, t, as, (uint64_t)(due / period));
}

static void spend(struct xc_polling *p, struct xc_polled *t, const struct xc_live_schedule *now, uint64_t now_ns)
{
	const uint64_t ran = now->ran_ns - t->last.ran_ns, queued = now->queued_ns - t->last.queued_ns;
	const uint64_t all = now_ns - t->seen_ns, busy = ran + queued;
	p->spent_ns[XC_POLL_RUNS] += ran;
	p->spent_ns[XC_POLL_QUEUED] += queued;
	p->spent_ns[XC_POLL_WAITS] += all > busy ? all - busy : 0;
	t->last = *now;
	t->seen_ns = now_ns;
}

/* The time since the last tick. That of waiting stays for later ticks when the thread runs now. moved: it ran while it
 * was looked at, as threads do whose waits are short: where it waited is not known. */
static void charge(struct xc_polling *p, struct xc_polled *t, const struct xc_live_schedule *now, uint64_t now_ns,
		   bool moved)
{
	spend(p, t, now, now_ns);
	hand_out(p, t, XC_POLL_RUNS, XC_POLL_RUNS);
	hand_out(p, t, XC_POLL_QUEUED, XC_POLL_QUEUED);
	if (t->waits || moved)
		hand_out(p, t, XC_POLL_WAITS, moved ? XC_POLL_UNSEEN : XC_POLL_WAITS);
}

static void end_thread(struct xc_polling *p, struct xc_polled *t)
{
	hand_out(p, t, XC_POLL_WAITS, t->waits ? XC_POLL_WAITS : XC_POLL_UNSEEN);
	p->unused = xc_grow(p->unused, p->unused_count, &p->unused_capacity, sizeof *p->unused);
	p->unused[p->unused_count++] = (size_t)(t - p->threads);
	t->tid = 0;
}

static struct xc_polled *thread_of(struct xc_polling *p, pid_t tid, const struct xc_live_schedule *now, uint64_t now_ns)
{
	union xc_hashtable_value *found = xc_hashtable_at(&p->by_tid, NULL, (uint64_t)tid, 1);
	struct xc_polled *t = found->number ? &p->threads[found->number - 1] : NULL;
	if (t && t->tid == tid && now->runs >= t->last.runs && now->ran_ns >= t->last.ran_ns)
		return t;
	if (t && t->tid == tid)
		end_thread(p, t); /* another one has its id */
	if (!p->unused_count) {
		p->threads = xc_grow(p->threads, p->thread_count, &p->thread_capacity, sizeof *p->threads);
		p->unused = xc_grow(p->unused, p->unused_count, &p->unused_capacity, sizeof *p->unused);
		p->unused[p->unused_count++] = p->thread_count++;
	}
	const size_t index = p->unused[--p->unused_count];
	found->number = index + 1;
	begin_thread(p, &p->threads[index], tid, now, now_ns);
	return &p->threads[index];
}

/* ---- a tick ---- */

struct batch {
	struct xc_blocked_thread looks[XC_CALL_BATCH];
	size_t threads[XC_CALL_BATCH]; /* their indexes */
	size_t count;
};

static void look(struct xc_polling *p, struct batch *batch)
{
	if (batch->count)
		xc_blocked_look(p->blocked, batch->looks, batch->count);
	for (size_t i = 0; i < batch->count; i++) {
		const struct xc_blocked_thread *look = &batch->looks[i];
		struct xc_polled *t = &p->threads[batch->threads[i]];
		t->waits = look->state == XC_BLOCKED_WAITS;
		t->stack = look->stack;
		t->target = look->target;
		t->owner = t->waits ? xc_wait_targets_owner(p->blocked->targets, t->target.owner_word) : 0;
		if (look->schedule.runs >= t->last.runs && look->state != XC_BLOCKED_ENDED)
			charge(p, t, &look->schedule, xc_now_ns(), look->state == XC_BLOCKED_MOVED);
	}
	batch->count = 0;
}

static void visit(struct xc_polling *p, struct batch *batch, pid_t tid)
{
	struct xc_live_schedule schedule;
	const uint64_t now = xc_now_ns();
	if (!xc_live_facts_schedule(xc_live_task_dir(p->blocked->process), tid, &schedule))
		return;
	struct xc_polled *t = thread_of(p, tid, &schedule, now);
	t->listed = p->ticks;
	if (p->ticks == FIRST)
		return;
	if (t->waits && schedule.runs == t->last.runs && schedule.ran_ns == t->last.ran_ns) {
		t->owner = xc_wait_targets_owner(p->blocked->targets, t->target.owner_word);
		charge(p, t, &schedule, now, false);
		return;
	}
	batch->looks[batch->count] = (struct xc_blocked_thread){.tid = tid};
	batch->threads[batch->count++] = (size_t)(t - p->threads);
	if (batch->count == XC_CALL_BATCH)
		look(p, batch);
}

static void visit_all(struct xc_polling *p, size_t *count_out)
{
	struct batch batch = {.count = 0};
	xc_auto(xc_freep) pid_t *tids =
		xc_live_proc_tids(xc_live_task_dir(p->blocked->process), MOST_THREADS, count_out);
	p->ticks++;
	for (size_t i = 0; i < *count_out; i++)
		if (!p->only || p->only == tids[i])
			visit(p, &batch, tids[i]);
	look(p, &batch);
	for (size_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid && p->threads[i].listed != p->ticks)
			end_thread(p, &p->threads[i]);
}

/* The child that reads for us costs about as much as we. */
static uint64_t pause_for(const struct xc_polling *p, uint64_t cost_ns)
{
	const uint64_t pause = 2 * cost_ns * SHARE;
	return p->ticks == FIRST ? 0 : p->ticks == DEAR && pause > MOST_PAUSE_NS ? MOST_PAUSE_NS : pause;
}

/* Between half a period and one and a half: a program that does everything at a fixed rate is seen in all that it
 * does. */
uint64_t xc_polling_tick(struct xc_polling *p)
{
	const uint64_t begun = xc_now_ns(), cpu = xc_thread_cpu_ns();
	const uint64_t wanted = p->period_ns / 2 + xc_random(&p->random) % p->period_ns;
	size_t count;
	visit_all(p, &count);
	p->last_ns = begun;
	const uint64_t least = pause_for(p, xc_thread_cpu_ns() - cpu);
	return count ? begun + (wanted > least ? wanted : least) : 0;
}

void xc_polling_end(struct xc_polling *p)
{
	size_t count;
	visit_all(p, &count);
	for (size_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid)
			end_thread(p, &p->threads[i]);
}

#include "profile/threads/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "core/perf/perf_regs.h"
#include "profile/threads/random.h"

void xc_waiting_init(struct xc_waiting *w, uint64_t period_ns, bool sampled, xc_waiting_take *take, void *ctx)
{
	*w = (struct xc_waiting){.period_ns = period_ns, .sampled = sampled, .take = take, .ctx = ctx};
}

void xc_waiting_fini(struct xc_waiting *w)
{
	for (size_t i = 0; i < w->thread_count; i++)
		free(w->threads[i].bytes);
	free(w->threads);
	free(w->unused);
	xc_hashtable_fini(&w->by_tid);
	*w = (struct xc_waiting){0};
}

/* The first period of a thread ends anywhere in it: of threads that live for less, some have a sample. */
static void begin_thread(struct xc_waiting *w, struct xc_waiting_thread *t, pid_t tid)
{
	*t = (struct xc_waiting_thread){.tid = tid};
	for (size_t i = 0; i < XC_WAITING_KINDS; i++)
		t->sums[i] = w->random ? xc_random(&w->random) % w->period_ns : 0;
}

static struct xc_waiting_thread *find_thread(const struct xc_waiting *w, pid_t tid)
{
	const union xc_hashtable_value *found = xc_hashtable_find(&w->by_tid, (uint64_t)tid, 1);
	struct xc_waiting_thread *t = found && found->number ? &w->threads[found->number - 1] : NULL;
	return t && t->tid == tid ? t : NULL;
}

static struct xc_waiting_thread *thread_of(struct xc_waiting *w, pid_t tid)
{
	struct xc_waiting_thread *t = find_thread(w, tid);
	if (t)
		return t;
	if (!w->unused_count) {
		w->threads = xc_grow(w->threads, w->thread_count, &w->thread_capacity, sizeof *w->threads);
		w->unused = xc_grow(w->unused, w->unused_count, &w->unused_capacity, sizeof *w->unused);
		w->unused[w->unused_count++] = w->thread_count++;
	}
	const size_t index = w->unused[--w->unused_count];
	xc_hashtable_at(&w->by_tid, NULL, (uint64_t)tid, 1)->number = index + 1;
	begin_thread(w, &w->threads[index], tid);
	return &w->threads[index];
}

static const uint64_t *keep(uint64_t **at, const void *from, size_t len)
{
	uint64_t *kept = *at;
	if (!from)
		return NULL;
	memcpy(kept, from, len);
	*at += (len + 7) / 8;
	return kept;
}

static void keep_sample(struct xc_waiting_thread *t, const struct xc_perf_record *sample)
{
	const size_t registers = (size_t)__builtin_popcountll(xc_perf_regs_mask());
	const size_t need = sample->kernel_count + registers + sample->stack_len / 8 + 1;
	if (need > t->capacity) {
		free(t->bytes);
		t->bytes = xc_alloc(need * sizeof *t->bytes);
		t->capacity = need;
	}
	uint64_t *at = t->bytes;
	t->sample = *sample;
	t->sample.kernel = keep(&at, sample->kernel, sample->kernel_count * sizeof *at);
	t->sample.regs = keep(&at, sample->regs, registers * sizeof *at);
	t->sample.stack = (const uint8_t *)keep(&at, sample->stack, sample->stack_len);
}

static void begin_wait(struct xc_waiting *w, struct xc_waiting_thread *t, uint64_t now)
{
	w->unpaired += t->waits;
	t->waits = t->left = true;
	t->preempted = false;
	t->begun_ns = now;
	t->look = (struct xc_waiting_look){0};
}

/* A look that ended only after the wait may be of another one. */
static enum xc_waiting_kind kind_of(const struct xc_waiting *w, struct xc_waiting_thread *t, uint64_t now)
{
	if (t->look.at_ns > now)
		t->look.at_ns = 0;
	if (t->look.owner_ns > now)
		t->look.owner = 0;
	return t->preempted ? XC_WAIT_PREEMPTED : w->sampled || t->look.at_ns != 0 ? XC_WAITED : XC_WAIT_UNSEEN;
}

static void end_wait(struct xc_waiting *w, struct xc_waiting_thread *t, uint64_t now)
{
	const uint64_t length = now > t->begun_ns ? now - t->begun_ns : 0;
	const enum xc_waiting_kind kind = kind_of(w, t, now);
	t->waits = false;
	w->spent_ns[kind] += length;
	w->counts[kind]++;
	t->sums[kind] += length;
	if (t->sums[kind] < w->period_ns)
		return;
	w->take(w->ctx, t, kind, t->sums[kind] / w->period_ns);
	t->sums[kind] %= w->period_ns;
}

void xc_waiting_add(struct xc_waiting *w, const struct xc_perf_record *record)
{
	struct xc_waiting_thread *t = thread_of(w, record->tid);
	if (record->kind == XC_PERF_SAMPLE) {
		begin_wait(w, t, record->time_ns);
		keep_sample(t, record);
	} else if (record->out) {
		if (!w->sampled)
			begin_wait(w, t, record->time_ns);
		t->preempted = record->preempted;
	} else if (t->waits) {
		end_wait(w, t, record->time_ns);
	} else if (!t->left && !t->back_ns) {
		t->back_ns = record->time_ns;
	}
}

void xc_waiting_lost(struct xc_waiting *w)
{
	for (size_t i = 0; i < w->thread_count; i++)
		w->threads[i].look = (struct xc_waiting_look){0};
}

void xc_waiting_look(struct xc_waiting *w, uint64_t least_ns, uint64_t until_ns, xc_waiting_look_at *look)
{
	for (size_t i = 0; i < w->thread_count; i++, w->next_look++) {
		struct xc_waiting_thread *t = &w->threads[w->next_look %= w->thread_count];
		const uint64_t now = t->waits && !t->preempted ? xc_now_ns() : 0;
		if (now > until_ns)
			return;
		if (now > t->begun_ns + least_ns)
			look(w->ctx, t);
	}
}

void xc_waiting_fork(struct xc_waiting *w, pid_t tid)
{
	xc_waiting_exit(w, tid); /* of another one of that id */
	thread_of(w, tid)->left = true;
}

/* What is known of the first wait is asked for at the end. */
void xc_waiting_exit(struct xc_waiting *w, pid_t tid)
{
	struct xc_waiting_thread *t = find_thread(w, tid);
	if (!t)
		return;
	free(t->bytes);
	*t = (struct xc_waiting_thread){.tid = tid, .back_ns = t->back_ns, .left = true};
	if (t->back_ns)
		return;
	t->tid = 0;
	w->unused = xc_grow(w->unused, w->unused_count, &w->unused_capacity, sizeof *w->unused);
	w->unused[w->unused_count++] = (size_t)(t - w->threads);
}

uint64_t xc_waiting_back(const struct xc_waiting *w, pid_t tid)
{
	const struct xc_waiting_thread *t = find_thread(w, tid);
	return t ? t->back_ns : 0;
}

void xc_waiting_split(struct xc_waiting *w, uint64_t now)
{
	for (size_t i = 0; i < w->thread_count; i++) {
		struct xc_waiting_thread *t = &w->threads[i];
		if (!t->waits)
			continue;
		end_wait(w, t, now);
		t->waits = true;
		t->begun_ns = now;
	}
}

void xc_waiting_end(struct xc_waiting *w, uint64_t now)
{
	for (size_t i = 0; i < w->thread_count; i++)
		if (w->threads[i].waits)
			end_wait(w, &w->threads[i], now);
}

bool xc_waiting_knows(const struct xc_waiting *w, pid_t tid)
{
	return find_thread(w, tid) != NULL;
}

uint64_t xc_waiting_count(struct xc_waiting *w, uint64_t ns)
{
	w->spent_ns[XC_WAITED] += ns;
	w->counts[XC_WAITED]++;
	return ns / w->period_ns;
}

#include "profile/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "core/perf/perf_regs.h"

void xc_waiting_init(struct xc_waiting *w, uint64_t period_ns, xc_waiting_take *take, void *ctx)
{
	*w = (struct xc_waiting){.period_ns = period_ns, .take = take, .ctx = ctx};
}

void xc_waiting_fini(struct xc_waiting *w)
{
	for (size_t i = 0; i < w->thread_count; i++)
		free(w->threads[i].bytes);
	free(w->threads);
	xc_hashtable_fini(&w->by_tid);
	*w = (struct xc_waiting){0};
}

static struct xc_waiting_thread *thread_of(struct xc_waiting *w, pid_t tid)
{
	union xc_hashtable_value *found = xc_hashtable_at(&w->by_tid, NULL, (uint64_t)tid, 1);
	if (!found->number) {
		w->threads = xc_grow(w->threads, w->thread_count, &w->thread_capacity, sizeof *w->threads);
		w->threads[w->thread_count++] = (struct xc_waiting_thread){.tid = tid};
		found->number = w->thread_count;
	}
	return &w->threads[found->number - 1];
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

static void end_wait(struct xc_waiting *w, struct xc_waiting_thread *t, uint64_t now)
{
	const uint64_t length = now > t->sample.time_ns ? now - t->sample.time_ns : 0;
	uint64_t *sum = &t->sums[t->preempted];
	t->waits = false;
	*(t->preempted ? &w->preempted_ns : &w->waited_ns) += length;
	*(t->preempted ? &w->preemptions : &w->waits) += 1;
	*sum += length;
	if (*sum < w->period_ns)
		return;
	w->take(w->ctx, &t->sample, *sum / w->period_ns, t->preempted);
	*sum %= w->period_ns;
}

void xc_waiting_add(struct xc_waiting *w, const struct xc_perf_record *record)
{
	struct xc_waiting_thread *t = thread_of(w, record->tid);
	if (record->kind == XC_PERF_SAMPLE) {
		w->unpaired += t->waits;
		keep_sample(t, record);
		t->waits = true;
		t->preempted = false;
	} else if (record->out) {
		t->preempted = record->preempted;
	} else if (t->waits) {
		end_wait(w, t, record->time_ns);
	} else if (!t->bytes && !t->back_ns) {
		t->back_ns = record->time_ns;
	}
}

void xc_waiting_exit(struct xc_waiting *w, pid_t tid)
{
	struct xc_waiting_thread *t = thread_of(w, tid);
	free(t->bytes);
	t->bytes = NULL;
	t->capacity = 0;
	t->waits = false;
}

uint64_t xc_waiting_back(const struct xc_waiting *w, pid_t tid)
{
	const union xc_hashtable_value *found = xc_hashtable_find(&w->by_tid, (uint64_t)tid, 1);
	return found ? w->threads[found->number - 1].back_ns : 0;
}

void xc_waiting_end(struct xc_waiting *w, uint64_t now)
{
	for (size_t i = 0; i < w->thread_count; i++)
		if (w->threads[i].waits)
			end_wait(w, &w->threads[i], now);
}

bool xc_waiting_knows(const struct xc_waiting *w, pid_t tid)
{
	return xc_hashtable_find(&w->by_tid, (uint64_t)tid, 1) != NULL;
}

uint64_t xc_waiting_count(struct xc_waiting *w, uint64_t ns)
{
	w->waited_ns += ns;
	w->waits++;
	return ns / w->period_ns;
}

#include "core/perf/sample_weight.h"

enum { TOO_MANY = 4, WINDOW_NS = 20000000, MOST_THREADS = 1 << 17 };

static uint64_t *inherited(const struct xc_sample_weight *w, pid_t tid)
{
	union xc_hashtable_value *found = xc_hashtable_find(&w->inherited, (uint64_t)tid, 1);
	return found && found->number ? &found->number : NULL;
}

static uint64_t period_of(const struct xc_sample_weight *w, pid_t tid, uint64_t time_ns)
{
	const uint64_t *own = inherited(w, tid);
	return own ? *own : time_ns < w->changed_ns ? w->before : w->period;
}

/* Slots of threads that ended, once they are half of all. */
static void forget_ended(struct xc_sample_weight *w)
{
	struct xc_hashtable kept = {0};
	if (w->inherited.count < MOST_THREADS || w->ended < MOST_THREADS / 2)
		return;
	for (size_t i = 0; i < 2 * w->inherited.room; i++) {
		const struct xc_hashtable_slot *slot = &w->inherited.slots[i];
		if (slot->value.number)
			*xc_hashtable_at(&kept, NULL, slot->a, slot->b) = slot->value;
	}
	xc_hashtable_fini(&w->inherited);
	w->inherited = kept;
	w->ended = 0;
}

static void begin(struct xc_sample_weight *w, const struct xc_perf_record *r)
{
	const uint64_t period = period_of(w, r->parent, r->time_ns);
	if (!period)
		return;
	forget_ended(w);
	union xc_hashtable_value *known = xc_hashtable_find(&w->inherited, (uint64_t)r->tid, 1);
	if (known)
		w->ended -= !known->number;
	else if (w->inherited.count < MOST_THREADS)
		known = xc_hashtable_at(&w->inherited, NULL, (uint64_t)r->tid, 1);
	if (known)
		known->number = period;
}

static void end(struct xc_sample_weight *w, pid_t tid)
{
	uint64_t *own = inherited(w, tid);
	if (own) {
		*own = 0;
		w->ended++;
	}
}

void xc_sample_weight_take(struct xc_sample_weight *w, struct xc_perf_record *r)
{
	if (r->kind == XC_PERF_SAMPLE) {
		r->period = period_of(w, r->tid, r->time_ns);
		w->samples++;
	} else if (r->kind == XC_PERF_FORK) {
		begin(w, r);
	} else if (r->kind == XC_PERF_EXIT) {
		end(w, r->tid);
	}
}

void xc_sample_weight_set(struct xc_sample_weight *w, uint64_t period, uint64_t now_ns)
{
	w->before = w->period;
	w->period = period | 1;
	w->changed_ns = w->window_ns = now_ns;
	w->samples = 0;
}

uint64_t xc_sample_weight_better(struct xc_sample_weight *w, uint32_t hz, uint64_t now_ns)
{
	const uint64_t length = now_ns - w->window_ns;
	if (length < WINDOW_NS)
		return 0;
	const uint64_t wanted = hz * length / 1000000000 + 1, times = w->samples / wanted;
	w->window_ns = now_ns;
	w->samples = 0;
	return times > TOO_MANY ? w->period * times : 0;
}

void xc_sample_weight_fini(struct xc_sample_weight *w)
{
	xc_hashtable_fini(&w->inherited);
}

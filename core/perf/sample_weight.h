/* sample_weight: how many events a sample of a counter stands for.
 *
 * The kernel takes a sample each `period` events. What it offers to choose that number itself (freq) fails where events
 * come in bursts, as page faults do. So we choose: few enough events for the rate that was measured, and more when
 * samples come too fast. A change reaches the events that we opened; threads that had begun by then, and inherited
 * theirs, keep what they had. */
#ifndef XC_SAMPLE_WEIGHT_H
#define XC_SAMPLE_WEIGHT_H

#include "core/base/hashtable.h"
#include "core/perf/perf_record.h"

struct xc_sample_weight {
	uint64_t period, before, changed_ns; /* now; before that instant */
	struct xc_hashtable inherited;       /* of threads that began later: tid → period; 0: it ended */
	size_t ended;                        /* of these */
	uint64_t window_ns, samples;         /* since then so many */
};

/* Take a record, in the order of time: samples get their weight. */
void xc_sample_weight_take(struct xc_sample_weight *weight, struct xc_perf_record *record);

/* From now on. The period is made odd: a program that does the same thing every 2^n events is sampled in all of it. */
void xc_sample_weight_set(struct xc_sample_weight *weight, uint64_t period, uint64_t now_ns);

/* Have there been far more than hz samples per second? Then the period that is better; else 0. */
uint64_t xc_sample_weight_better(struct xc_sample_weight *weight, uint32_t hz, uint64_t now_ns);

void xc_sample_weight_fini(struct xc_sample_weight *weight);

#endif

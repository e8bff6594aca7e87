/* random_profile: a profile's data made by chance, for tests that read and write such data. */
#ifndef RANDOM_PROFILE_H
#define RANDOM_PROFILE_H

#include <stdlib.h>

#include "profile/data/profile_data.h"

enum { SLICES = 50, FUNCTIONS = 12, DEPTH = 9, THREADS = 3 };

static inline uint32_t random_stack(struct xc_profile_data *d)
{
	uint32_t node = 0;
	for (int depth = rand() % DEPTH; depth > 0; depth--) {
		const int f = rand() % FUNCTIONS;
		xc_auto(xc_freep) char *name = xc_asprintf("f%d", f);
		const uint32_t function = xc_profile_data_add_function(d, name, f % 3 == 0 ? NULL : "lib.so",
								       f == FUNCTIONS - 1 ? "lua" : NULL);
		node = xc_profile_data_add_node(
			d, node,
			xc_profile_data_add_frame(d, function, f % 2 ? "/src/a.c" : NULL, (unsigned)(f % 2 * (f + 1)),
						  f == 0 ? XC_PROFILE_KERNEL : XC_PROFILE_NATIVE));
	}
	return node;
}

static inline struct xc_profile_data *random_profile(size_t sums)
{
	struct xc_profile_data *d = xc_profile_data_new();
	d->head->title = xc_profile_data_add_text(d, "CPU time of pid:1");
	d->head->account = xc_profile_data_add_text(d, "some samples");
	d->head->target = xc_profile_data_add_text(d, "pid:1   it");
	d->head->period = 10000000;
	d->head->slices = SLICES;
	d->head->slice_ns = 1000000;
	d->head->runs = d->head->waits = 1;
	d->head->by = xc_profile_data_add_text(d, "shop.path");
	for (size_t i = 0; i < sums; i++) {
		const uint64_t samples = 1 + (uint64_t)rand() % 9;
		const uint32_t wait =
			rand() % 3 ? 0 : xc_profile_data_add_wait(d, rand() % 2 ? "a lock" : "a file", rand() % 2);
		const pid_t tid = 1 + rand() % THREADS;
		const struct xc_profile_sum sum = {
			.stack = random_stack(d),
			.wait = wait,
			.thread = xc_profile_data_add_thread(d, 1, tid, tid == THREADS ? NULL : "worker"),
			.value = i % 3 ? xc_profile_data_add_text(d, i % 3 == 1 ? "/buy" : "f1") : 0,
			.samples = samples,
			.squares = samples};
		const struct xc_profile_part part = {xc_profile_data_add_sum(d, &sum), (uint32_t)rand() % SLICES,
						     samples};
		xc_profile_data_add_part(d, &part);
	}
	xc_profile_data_sort(d);
	return d;
}

#endif

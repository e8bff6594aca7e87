#include "core/base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct crew {
	xc_parallel_fn *work;
	void *context;
	size_t count;
	atomic_size_t next;
};

struct worker {
	struct crew *crew;
	unsigned number;
	pthread_t thread;
};

static void *take_pieces(void *argument)
{
	const struct worker *worker = argument;
	struct crew *crew = worker->crew;
	size_t piece;
	while ((piece = atomic_fetch_add(&crew->next, 1)) < crew->count)
		crew->work(crew->context, piece, worker->number);
	return NULL;
}

unsigned xc_parallel_workers(unsigned jobs, size_t count)
{
	long processors = jobs ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
	size_t workers = jobs ? jobs : processors > 0 ? (size_t)processors : 1;
	workers = workers < count ? workers : count;
	return (unsigned)(workers > XC_PARALLEL_MAX ? XC_PARALLEL_MAX : workers > 0 ? workers : 1);
}

void xc_parallel(unsigned jobs, size_t count, xc_parallel_fn *work, void *context)
{
	struct crew crew = {.work = work, .context = context, .count = count};
	struct worker workers[XC_PARALLEL_MAX] = {{.crew = &crew}};
	unsigned wanted = xc_parallel_workers(jobs, count), started = 1;
	for (unsigned i = 1; i < wanted; i++)
		workers[i] = (struct worker){.crew = &crew, .number = i};
	while (started < wanted && pthread_create(&workers[started].thread, NULL, take_pieces, &workers[started]) == 0)
		started++;
	take_pieces(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

/* threads: many of them, each with its own blocks in its arena, a tcache that is full in every class, and blocks freed in every way:
 * by their owner, by another thread, into fastbins, bins and the end of the arena.
 *
 * threads COUNT ARENAS */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "account.h"

enum { CLASSES = 64, CACHED = 7, KEPT = 40 };

struct job {
	int id, thread;
	struct job *next;
	void *payload;
};

struct worker {
	pthread_t thread;
	int id;
	struct job *jobs;
	struct job *volatile inbox; /* freed by the next worker */
	char *buffer;
};

HELD struct worker *workers;
HELD int worker_count = 64;
HELD pthread_barrier_t filled, done;

/* Seven of each class stay in the tcache; further freed blocks go to fastbins or to the bins. */
static PART void fill_caches(int beyond)
{
	static __thread void *freed[CLASSES][CACHED + 6];
	for (int class = 0; class < CLASSES; class ++)
		for (int i = 0; i < CACHED + beyond; i++)
			freed[class][i] = malloc((size_t)(24 + 16 * class));
	for (int class = 0; class < CLASSES; class ++)
		for (int i = 0; i < CACHED + beyond; i++)
			free(freed[class][i]);
	memset(freed, 0, sizeof freed);
}

static PART void keep_jobs(struct worker *worker)
{
	for (int i = 0; i < KEPT; i++) {
		struct job *job = NEW(struct job);
		job->id = i;
		job->thread = worker->id;
		job->payload = account_is(calloc(1, 16 + (size_t)i * 40), "char|void|unsigned char", 1);
		job->next = worker->jobs;
		worker->jobs = job;
	}
	for (int i = 0; i < 12; i++) {
		struct job *job = NEW(struct job);
		job->next = worker->inbox;
		worker->inbox = job;
	}
	worker->buffer = account_is(calloc(1, 5000), "char", 5000);
	account_leaked(NEW(struct job));
	account_leaked(account_is(calloc(1, 777), "char|void", 777));
}

/* A block that another thread allocated. */
static PART void free_neighbours(struct worker *worker)
{
	struct worker *other = &workers[(worker->id + 1) % worker_count];
	while (other->inbox) {
		struct job *job = other->inbox;
		other->inbox = job->next;
		free(job);
	}
}

static PART void fall_asleep(void)
{
	for (;;)
		pause();
}

static void *run(void *argument)
{
	struct worker *worker = argument;
	keep_jobs(worker);
	fill_caches(worker->id % 6);
	pthread_barrier_wait(&filled);
	free_neighbours(worker);
	if (worker->id % 2)
		fill_caches(0);
	account_scrub();
	pthread_barrier_wait(&done);
	fall_asleep();
	return NULL;
}

static PART void start(void)
{
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	workers = NEWS(struct worker, worker_count);
	pthread_barrier_init(&filled, NULL, (unsigned)worker_count);
	pthread_barrier_init(&done, NULL, (unsigned)worker_count + 1);
	for (int i = 0; i < worker_count; i++) {
		workers[i].id = i;
		pthread_create(&workers[i].thread, &small, run, &workers[i]);
	}
	pthread_attr_destroy(&small);
	pthread_barrier_wait(&done);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		worker_count = atoi(argv[1]);
#ifdef M_ARENA_MAX
	if (argc > 2)
		mallopt(M_ARENA_MAX, atoi(argv[2]));
#endif
	start();
	fill_caches(5);
	usleep(300000); /* until all of them wait */
	account_die();
}

/* Hangs since a thread was not woken: the signal came too early, or not at all, or there are too few threads. Workers
 * without work wait, too, and are well. */
#include <semaphore.h>

#include "hang.h"

enum { WORKERS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct {
	int queued, finished;
	int stop;
} pool;
static int answered;
static pthread_barrier_t meeting;

static NOINLINE void work_once(void)
{
	pthread_mutex_lock(&lock);
	while (!pool.queued && !pool.stop)
		pthread_cond_wait(&work, &lock); /* dies: queued unstopped */
	pool.queued--;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *argument)
{
	while (!pool.stop)
		work_once();
	return argument;
}

static pthread_t start_workers(void)
{
	pthread_t first = start(worker, NULL);
	for (int i = 1; i < WORKERS; i++)
		start(worker, NULL);
	return first;
}

static NOINLINE void await_results(int count)
{
	pthread_mutex_lock(&lock);
	while (pool.finished < count)
		pthread_cond_wait(&done, &lock); /* dies: results */
	pthread_mutex_unlock(&lock);
}

static NOINLINE void await_answer(void)
{
	pthread_mutex_lock(&lock);
	while (!answered)
		pthread_cond_wait(&done, &lock); /* dies: unsignalled */
	pthread_mutex_unlock(&lock);
}

static NOINLINE void await_signal(void)
{
	pthread_mutex_lock(&lock);
	pthread_cond_wait(&done, &lock); /* dies: too-early */
	pthread_mutex_unlock(&lock);
}

static void *answer(void *argument)
{
	usleep(50000);
	pthread_mutex_lock(&lock);
	answered = 1; /* and signals nobody */
	pthread_mutex_unlock(&lock);
	return argument;
}

static void *signal_done(void *argument)
{
	pthread_mutex_lock(&lock);
	pthread_cond_signal(&done);
	pthread_mutex_unlock(&lock);
	return argument;
}

static NOINLINE void meet(void)
{
	pthread_barrier_wait(&meeting); /* dies: barrier */
}

static void *visitor(void *argument)
{
	meet();
	return argument;
}

/* ---- */

/* One of four results was not counted. */
static void die_results(void)
{
	start_workers();
	pool.finished = 3;
	start(tell_later, NULL);
	await_results(4);
}

/* There is work, and nobody was told. */
static void die_queued(void)
{
	start_workers();
	usleep(50000);
	pthread_mutex_lock(&lock);
	pool.queued = 2;
	pthread_mutex_unlock(&lock);
	start(tell_later, NULL);
	await_results(1);
}

static void die_unsignalled(void)
{
	start_workers();
	start(answer, NULL);
	start(tell_later, NULL);
	await_answer();
}

static void die_too_early(void)
{
	pthread_join(start(signal_done, NULL), NULL);
	start(tell_later, NULL);
	await_signal();
}

/* It waits for the end of workers that nobody told to stop. */
static NOINLINE void end_workers(pthread_t first)
{
	pthread_join(first, NULL); /* dies: unstopped */
	pool.finished++;
}

static void die_unstopped(void)
{
	pthread_t first = start_workers();
	start(tell_later, NULL);
	end_workers(first);
}

static void die_barrier(void)
{
	pthread_t first;
	pthread_barrier_init(&meeting, NULL, 4);
	first = start(visitor, NULL);
	start(visitor, NULL);
	start(visitor, NULL);
	start(tell_later, NULL);
	pthread_join(first, NULL);
}

/* A program that is well: its workers wait, and it waits for its input. */
static void die_rests(void)
{
	char byte;
	start_workers();
	start(tell_later, NULL);
	while (read(0, &byte, 1) >= 0)
		usleep(1000);
}

DEATHS({"results", die_results}, {"queued", die_queued}, {"unsignalled", die_unsignalled}, {"too-early", die_too_early},
       {"unstopped", die_unstopped}, {"barrier", die_barrier}, {"rests", die_rests})

/* Dies of SIGSEGV in one of N threads (first argument, 2 to 4000) while all others wait for a condition, each 8 to 40
 * frames deep, with arguments and locals in every frame. The core is sparse: stacks of 256 KiB, mostly untouched. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "asleep.h"
#include "crash.h"

#define MAX_THREADS 4000

struct job {
	int id, depth;
	double weight;
	char label[24];
};

struct point {
	short x, y;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, parked_changed = PTHREAD_COND_INITIALIZER;
static int parked, thread_count;
static struct job jobs[MAX_THREADS];

static NOINLINE void park(struct job *job)
{
	pthread_mutex_lock(&lock);
	parked++;
	pthread_cond_signal(&parked_changed);
	for (;;)
		pthread_cond_wait(&wake, &lock);
	KEEP(job);
}

/* The others have given up the lock, so each is on its way to its futex, and main to its pause. */
static NOINLINE void fail(struct job *job)
{
	pthread_mutex_lock(&lock);
	while (parked < thread_count - 1)
		pthread_cond_wait(&parked_changed, &lock);
	await_others();
	KEEP(job);
	crash();
}

static NOINLINE int descend(struct job *job, int level, struct point at)
{
	char label[24];
	long square = (long)level * level;
	double share = job->weight / (level + 1);
	int below;

	snprintf(label, sizeof label, "level-%d", level);
	if (level < job->depth)
		below = descend(job, level + 1, (struct point){at.x + 1, at.y - 1});
	else
		below = (job->id == thread_count / 2 ? fail(job) : park(job), 0);
	KEEP(label);
	KEEP(square);
	KEEP(share);
	return below + level;
}

static void *thread_main(void *arg)
{
	struct job *job = arg;
	char name[32];

	snprintf(name, sizeof name, "worker-%d", job->id); /* at most 15 bytes: ids end at 3999 */
	pthread_setname_np(pthread_self(), name);
	descend(job, 1, (struct point){0, 0});
	return NULL;
}

static void start(pthread_attr_t *attr, int id)
{
	struct job *job = &jobs[id];
	pthread_t thread;

	job->id = id;
	job->depth = 8 + id * 7 % 33;
	job->weight = id * 0.5;
	snprintf(job->label, sizeof job->label, "job %d", id);
	if (pthread_create(&thread, attr, thread_main, job)) {
		perror("pthread_create");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;

	thread_count = argc == 2 ? atoi(argv[1]) : 0;
	if (thread_count < 2 || thread_count > MAX_THREADS)
		return 2;
	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 256 * 1024))
		return 2;
	for (int id = 0; id < thread_count; id++)
		start(&attr, id);
	pause();
	return 2;
}

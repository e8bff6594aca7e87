/* Every thread waits, in the way that the argument names, for what the program forgot to do. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEEP __attribute__((noinline))

struct pool {
	sem_t free;
	int errors;
};
static struct pool pool;

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t ready;
	int count, closed, kept;
};
static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static pthread_barrier_t step;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static int ends[2];

/* Keeps a slot when there is an error. */
static DEEP int handle(struct pool *p, int n)
{
	sem_wait(&p->free);
	if (n % 3 == 2) {
		p->errors++;
		return -1;
	}
	sem_post(&p->free);
	return 0;
}

static void *serve(void *argument)
{
	for (int n = 0;; n++)
		handle(&pool, n);
	return argument;
}

static void *listen_to(void *argument)
{
	char c;
	return read(ends[0], &c, 1) < 0 ? argument : NULL;
}

static void *advance(void *argument)
{
	if (!argument)
		pthread_barrier_wait(&step);
	return argument;
}

static DEEP void learn(int n)
{
	pthread_rwlock_wrlock(&table);
	pool.errors = n;
	pthread_rwlock_unlock(&table);
}

static void *look_up(void *argument)
{
	pthread_rwlock_rdlock(&table);
	learn(1);
	pthread_rwlock_unlock(&table);
	return argument;
}

static DEEP int take(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (!q->count && !(q->closed && q->kept))
		pthread_cond_wait(&q->ready, &q->lock);
	int left = q->count;
	q->count -= left > 0;
	pthread_mutex_unlock(&q->lock);
	return left;
}

static void *work(void *argument)
{
	while (take(&queue))
		pool.errors++;
	return argument;
}

static int both(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, threads);
	usleep(100000);
	puts("ready");
	fflush(stdout);
	return pthread_join(threads[0], NULL) + pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (pipe(ends) || sem_init(&pool.free, 0, 1) || pthread_barrier_init(&step, NULL, 2))
		return 1;
	if (!strcmp(how, "slots"))
		return both(serve, serve);
	if (!strcmp(how, "slots-and-input"))
		return both(serve, listen_to);
	if (!strcmp(how, "barrier"))
		return both(advance, advance);
	if (!strcmp(how, "upgrade"))
		return both(look_up, look_up);
	queue.closed = !strcmp(how, "closed");
	return both(work, work);
}

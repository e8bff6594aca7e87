/* A thread waits, in the way that the argument names, for what nobody does. */
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEEP __attribute__((noinline))

struct batch {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int outstanding, failed;
};
static struct batch batch = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 4, 0};

static sem_t items;
static pthread_spinlock_t spin;
static volatile int polled, turns;

static void ready(void)
{
	usleep(50000);
	puts("ready");
	fflush(stdout);
}

/* Forgets to count where there is an error. */
static DEEP int process(struct batch *b, long n)
{
	if (n == 2) {
		b->failed++;
		return -1;
	}
	pthread_mutex_lock(&b->lock);
	if (--b->outstanding == 0)
		pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
	return 0;
}

static DEEP void await(struct batch *b)
{
	pthread_mutex_lock(&b->lock);
	while (b->outstanding > 0)
		pthread_cond_wait(&b->changed, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

static void *run(void *argument)
{
	process(&batch, (long)argument);
	return NULL;
}

static void *rest(void *argument)
{
	pause();
	return argument;
}

static void *consume(void *argument)
{
	for (int i = 0; i < 3; i++)
		sem_wait(&items);
	return argument;
}

static void *keep_spin(void *argument)
{
	pthread_spin_lock(&spin);
	pause();
	return argument;
}

static DEEP void take_spin(void)
{
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
}

static DEEP void poll_flag(void)
{
	while (!polled)
		sleep(1);
}

static DEEP void poll_turns(void)
{
	for (turns = 0; turns < 1000; turns++)
		sleep(1);
}

/* 0.1 is not exact: the sum is never 1. */
static DEEP double steps(void)
{
	double sum = 0;
	for (double at = 0; at != 1.0; at += 0.1)
		sum += sqrt(at);
	return sum;
}

static void post(int signal)
{
	if (signal)
		sem_post(&items);
}

static pthread_t start(void *(*routine)(void *), void *argument)
{
	pthread_t thread;
	pthread_create(&thread, NULL, routine, argument);
	return thread;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	alarm(60);
#ifdef HANDLES
	signal(SIGUSR1, post);
#endif
	if (!strcmp(how, "count") || !strcmp(how, "count-and-rest")) {
		for (long i = 0; i < 4; i++)
			pthread_detach(start(run, (void *)i));
		if (strcmp(how, "count"))
			start(rest, NULL);
		ready();
		await(&batch);
	} else if (!strcmp(how, "items")) {
		sem_init(&items, 0, 2);
		pthread_t thread = start(consume, NULL);
		ready();
		pthread_join(thread, NULL);
	} else if (!strcmp(how, "spin")) {
		pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
		start(keep_spin, NULL);
		ready();
		take_spin();
	} else if (!strcmp(how, "steps")) {
		ready();
		return (int)steps();
	} else {
		ready();
		!strcmp(how, "poll") ? poll_flag() : poll_turns();
		post(0);
	}
	return 0;
}

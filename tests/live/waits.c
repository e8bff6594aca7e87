/* waits: threads that wait in known ways, for lengths that they measure: for a mutex that another thread holds, a pipe, a
 * timer, a condition, a socket pair by poll, and many short ones. Prints "ready"; when its input ends, a line "NAME
 * NANOSECONDS" for each, and "holder TID" of the thread that holds the mutex. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum kind { MUTEX, PIPE, TIMER, CONDITION, SOCKET, SHORT, KINDS };

static const char *const names[KINDS] = {"wait_mutex",     "wait_pipe",   "wait_timer",
					 "wait_condition", "wait_socket", "wait_short"};
static uint64_t spent[KINDS];
pthread_mutex_t treasure = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static int water[2], wire[2], ring[2];
static volatile int ended, holder_tid;

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ms(double ms)
{
	const struct timespec t = {0, (long)(ms * 1e6)};
	nanosleep(&t, NULL);
}

NOINLINE void wait_mutex(void)
{
	pthread_mutex_lock(&treasure);
	pthread_mutex_unlock(&treasure);
}

NOINLINE void wait_pipe(void)
{
	char byte;
	while (read(water[0], &byte, 1) < 0)
		;
}

NOINLINE void wait_timer(void)
{
	sleep_ms(40);
}

NOINLINE void wait_condition(void)
{
	pthread_mutex_lock(&guard);
	pthread_cond_wait(&bell, &guard);
	pthread_mutex_unlock(&guard);
}

NOINLINE void wait_socket(void)
{
	struct pollfd p = {.fd = wire[0], .events = POLLIN};
	char byte;
	poll(&p, 1, -1);
	while (read(wire[0], &byte, 1) < 0)
		;
}

NOINLINE void wait_short(void)
{
	sleep_ms(0.2);
}

static void (*const ways[KINDS])(void) = {wait_mutex, wait_pipe, wait_timer, wait_condition, wait_socket, wait_short};

static void *waiter(void *kind)
{
	const enum kind k = (enum kind)(uintptr_t)kind;
	while (!ended) {
		const uint64_t begun = now();
		ways[k]();
		__atomic_fetch_add(&spent[k], now() - begun, __ATOMIC_RELAXED);
		if (k == MUTEX)
			sleep_ms(5); /* the holder gets it again */
	}
	return NULL;
}

static void *sleeper(void *unused)
{
	pause();
	return unused;
}

static void *holder(void *unused)
{
	holder_tid = gettid();
	while (!ended) {
		pthread_mutex_lock(&treasure);
		sleep_ms(30);
		pthread_mutex_unlock(&treasure);
		sleep_ms(2);
	}
	return unused;
}

int main(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	pthread_t thread;
	if (pipe(water) || socketpair(AF_UNIX, SOCK_STREAM, 0, wire) || pipe(ring))
		return 1;
	pthread_create(&thread, NULL, holder, NULL);
	pthread_create(&thread, NULL, sleeper, NULL);
	for (uintptr_t k = 0; k < KINDS; k++)
		pthread_create(&thread, NULL, waiter, (void *)k);
	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 25) == 0) {
		if (write(water[1], "x", 1) != 1 || write(wire[1], "x", 1) != 1)
			return 1;
		pthread_cond_broadcast(&bell);
	}
	ended = 1;
	for (int i = 0; i < KINDS; i++)
		printf("%s %llu\n", names[i], (unsigned long long)spent[i]);
	printf("holder %d\n", holder_tid);
	return 0;
}

/* hands: three threads that hold one mutex for 10, 20 and 40 ms, in turn as they come. Prints "ready"; from the first line
 * of its input on it counts for four seconds, and at the second prints for each thread "TID NANOSECONDS": how long others
 * waited while it held the mutex. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t one_lock = PTHREAD_MUTEX_INITIALIZER;
static int waiters, tids[THREADS];
static uint64_t waited_for[THREADS];
static volatile int counting;

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *hold(void *index)
{
	const uintptr_t i = (uintptr_t)index;
	tids[i] = gettid();
	for (;;) {
		__atomic_fetch_add(&waiters, 1, __ATOMIC_RELAXED);
		pthread_mutex_lock(&one_lock);
		__atomic_fetch_sub(&waiters, 1, __ATOMIC_RELAXED);
		uint64_t at = now();
		for (int slice = 10 << i; slice--;) {
			usleep(1000);
			const uint64_t next = now();
			if (counting)
				__atomic_fetch_add(&waited_for[i], (next - at) * (uint64_t)waiters, __ATOMIC_RELAXED);
			at = next;
		}
		pthread_mutex_unlock(&one_lock);
		usleep(1000);
	}
	return NULL;
}

int main(void)
{
	char line[16];
	pthread_t t;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t, NULL, hold, (void *)i);
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof line, stdin))
		return 1;
	counting = 1;
	sleep(4);
	counting = 0;
	if (!fgets(line, sizeof line, stdin))
		return 1;
	for (int i = 0; i < THREADS; i++)
		printf("%d %llu\n", tids[i], (unsigned long long)waited_for[i]);
	return 0;
}

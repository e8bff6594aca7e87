/* forks: works itself for a third of the time, and forks a child every 0.7 seconds that works all that time, until
 * its input ends. Work is 20 ms of CPU time in each 60 ms, so that the times are the same on a busy host. Says what it
 * and its children have spent, in nanoseconds. */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile unsigned sink;

static uint64_t cpu(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

NOINLINE void work(unsigned pieces)
{
	while (pieces--) {
		for (const uint64_t until = cpu() + 20000000; cpu() < until;)
			for (unsigned i = 0; i < 100000; i++)
				sink += i;
		usleep(40000);
	}
}

NOINLINE void of_child(unsigned pieces)
{
	work(pieces);
	sink++;
}

NOINLINE void of_parent(unsigned pieces)
{
	work(pieces);
	sink++;
}

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

int main(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	uint64_t children = 0, own = 0;
	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 0) == 0) {
		struct rusage usage;
		const pid_t child = fork();
		if (child == 0) {
			of_child(12);
			_exit(0);
		}
		const uint64_t before = cpu();
		of_parent(4);
		own += cpu() - before;
		if (wait4(child, NULL, 0, &usage) == child)
			children += ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
	}
	printf("of_parent %llu\nof_child %llu\n", (unsigned long long)own, (unsigned long long)children);
	return 0;
}

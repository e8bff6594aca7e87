/* faults: touches new pages all the time, three in touch_much() for one in touch_little(). Prints "ready"; when its input
 * ends, "rate N": page faults per second, as the kernel counts them. */
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long faults(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

__attribute__((noinline)) static void touch(volatile char *at, int count)
{
	for (int i = 0; i < count; i++)
		at[i * PAGE] = 1;
}

__attribute__((noinline)) void touch_much(volatile char *at)
{
	touch(at, 3 * PAGES);
	__asm__ volatile("");
}

__attribute__((noinline)) void touch_little(volatile char *at)
{
	touch(at, PAGES);
	__asm__ volatile("");
}

int main(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	char *at = mmap(NULL, 4 * PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	puts("ready");
	fflush(stdout);
	madvise(at, 4 * PAGES * PAGE, MADV_NOHUGEPAGE);
	const double begun = now();
	const long before = faults();
	while (poll(&input, 1, 2) == 0) {
		touch_much(at);
		touch_little(at + 3 * PAGES * PAGE);
		madvise(at, 4 * PAGES * PAGE, MADV_DONTNEED);
	}
	printf("rate %.1f\n", (double)(faults() - before) / (now() - begun));
	return 0;
}

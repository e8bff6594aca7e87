/* unruly: a process that makes a profiler's work endless.
 *
 *	unruly maps COUNT THREADS
 *				maps COUNT pages of files; then maps and unmaps code all the time, beside threads that
 *				compute
 *	unruly stacks		computes on stacks of thousands of frames, each time others, of code without unwind tables
 *	unruly threads COUNT	has so many threads that wait, and one that computes
 *	unruly files COUNT	maps COUNT pages of files as code
 *	unruly leaderless	its first thread ends, another one computes
 *
 * Prints a line when it is ready, and never ends. x86-64. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, FRAMES = 20000, CODE = 1 << 20, CALL = 8 };

static volatile long sink;

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void *compute(void *arg)
{
	for (;;)
		sink++;
	return arg;
}

static void start_threads(unsigned count)
{
	pthread_t thread;
	while (count--)
		pthread_create(&thread, NULL, compute, NULL);
}

static void *wait_long(void *arg)
{
	pause();
	return arg;
}

static void wait_in_threads(int count)
{
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 4 * PAGE);
	for (pthread_t thread; count--;)
		pthread_create(&thread, &small, wait_long, NULL);
	start_threads(1);
	ready();
	pause();
}

/* Pages of different rights, so that the kernel does not join them. */
static int map_files(int count, int rights, int others)
{
	const int fd = open("/proc/self/exe", O_RDONLY);
	for (int i = 0; i < count; i++)
		mmap(NULL, PAGE, i & 1 ? rights : others, MAP_PRIVATE, fd, 0);
	return fd;
}

static void map_all_the_time(int count, int threads)
{
	const int fd = map_files(count, PROT_READ, PROT_READ | PROT_WRITE);
	start_threads((unsigned)threads);
	ready();
	for (;;) {
		void *page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (page != MAP_FAILED)
			munmap(page, PAGE);
	}
}

/* Count down with both stack registers there. */
static void compute_on(const uint64_t *stack)
{
	__asm__ volatile("mov %%rsp, %%r12; mov %%rbp, %%r13; mov %0, %%rsp; mov %0, %%rbp; mov $20000000, %%ecx;"
			 "1: dec %%ecx; jnz 1b; mov %%r12, %%rsp; mov %%r13, %%rbp"
			 :
			 : "r"(stack)
			 : "r12", "r13", "rcx", "memory");
}

static void change_stacks(void)
{
	uint64_t *stack = mmap(NULL, FRAMES * 16 + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *code = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(code, 0x90, CODE);
	for (size_t i = 0; i < CODE; i += CALL) /* a call of what follows it, and three no-ops */
		memcpy(code + i, "\xe8\0\0\0\0", 5);
	ready();
	for (uint64_t seed = 1;;) {
		for (size_t i = 0; i < FRAMES; i++) {
			seed = seed * 6364136223846793005u + 1;
			stack[2 * i] = (uint64_t)&stack[2 * i + 2];
			stack[2 * i + 1] = (uint64_t)code + CALL * ((seed >> 40) % (CODE / CALL)) + 5;
		}
		compute_on(stack);
	}
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	if (!strcmp(what, "maps") && count > 3)
		map_all_the_time(atoi(words[2]), atoi(words[3]));
	if (!strcmp(what, "threads") && count > 2)
		wait_in_threads(atoi(words[2]));
	if (!strcmp(what, "files") && count > 2) {
		map_files(atoi(words[2]), PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC);
		ready();
		pause();
	}
	if (!strcmp(what, "stacks"))
		change_stacks();
	start_threads(1);
	ready();
	pthread_exit(NULL);
}

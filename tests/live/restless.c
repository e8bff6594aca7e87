/* restless: a process that keeps changing.
 *
 *	restless exit|exec|unmap MICROSECONDS
 *
 * Prints its pid, once. exit: exits after that time. exec: execs itself repeatedly. unmap: maps, writes and unmaps
 * memory and starts and ends threads, forever. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SIZE = 1 << 20, KEPT = 8 };

void *restless_memory[KEPT];

static void *end_soon(void *arg)
{
	usleep(500);
	return arg;
}

static void change_memory(void)
{
	for (unsigned i = 0;; i++) {
		void **slot = &restless_memory[i % KEPT];
		pthread_t thread;
		if (*slot)
			munmap(*slot, SIZE);
		*slot = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(*slot, 'r', SIZE);
		if (pthread_create(&thread, NULL, end_soon, NULL) == 0)
			pthread_detach(thread);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc == 3) {
		printf("%d\n", (int)getpid());
		fflush(stdout);
	}
	if (!strcmp(argv[1], "unmap"))
		change_memory();
	restless_memory[0] = malloc(SIZE);
	memset(restless_memory[0], 'r', SIZE);
	usleep((useconds_t)atoi(argv[2]));
	if (!strcmp(argv[1], "exec"))
		execl("/proc/self/exe", argv[0], argv[1], argv[2], "again", (char *)NULL);
	return 0;
}

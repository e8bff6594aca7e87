/* target: a process for inspection while it runs.
 *
 *	target COUNTER-FILE
 *
 * Prints the pid of its child and waits for the end of its standard input. One thread of the child counts (in
 * COUNTER-FILE, 8 bytes), the main thread sleeps with a mutex locked that another thread waits for. At the end it
 * prints "stops N": how often the child was stopped or continued, which the kernel reports to the parent. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
	struct node *next;
	int number;
};

struct node *target_list;
int target_answer = 42;
enum { COUNTS = 200000 };

static volatile uint64_t *counter;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *count_on(void *arg)
{
	prctl(PR_SET_NAME, "counter");
	for (;;) { /* works for a part of the time: a whole processor would prove no more */
		for (int i = 0; i < COUNTS; i++)
			++*counter;
		usleep(4000);
	}
	return arg;
}

static void *wait_for_mutex(void *arg)
{
	prctl(PR_SET_NAME, "waiter");
	pthread_mutex_lock(&held);
	return arg;
}

static void child_main(void)
{
	pthread_t thread;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "target");
	for (int i = 0; i < 1000; i++) {
		struct node *node = malloc(sizeof *node);
		*node = (struct node){target_list, i};
		target_list = node;
	}
	pthread_mutex_lock(&held);
	pthread_create(&thread, NULL, count_on, NULL);
	pthread_create(&thread, NULL, wait_for_mutex, NULL);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid_t pid = fork();
	if (pid == 0)
		child_main();
	printf("%d\n", (int)pid);
	fflush(stdout);
	char byte;
	while (read(0, &byte, 1) > 0)
		;
	int stops = 0;
	siginfo_t info = {.si_pid = 0};
	while (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 && info.si_pid) {
		stops++;
		info.si_pid = 0;
	}
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED);
	printf("stops %d\n", stops);
	return 0;
}

/* blocked: a process with threads that wait at known places.
 *
 *	blocked [undumpable]
 *
 * Prints its pid once all threads are in place: the main thread below wait_inside(2), (1), (0) in pause; "listener" in
 * poll below listen_on, called through a pointer; "spinner" on a CPU. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int blocked_answer = 4711;
static volatile int ready;

__attribute__((noinline)) static void wait_inside(int depth)
{
	volatile int twice = depth * 2; /* must be kept on the stack */
	if (depth > 0)
		wait_inside(depth - 1);
	else
		pause();
	ready += twice;
}

__attribute__((noinline)) static int listen_on(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};
	ready++;
	return poll(&one, 1, -1);
}

static int (*volatile listener)(int) = listen_on;

static void *listen_forever(void *arg)
{
	int pipes[2];
	prctl(PR_SET_NAME, "listener");
	if (pipe(pipes) == 0)
		ready += listener(pipes[0]);
	return arg;
}

static void *spin(void *arg)
{
	prctl(PR_SET_NAME, "spinner");
	for (ready++;; ready = ready + 0)
		;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	if (argc > 1)
		prctl(PR_SET_DUMPABLE, 0);
	pthread_create(&thread, NULL, listen_forever, NULL);
	while (ready < 1)
		usleep(1000);
	pthread_create(&thread, NULL, spin, NULL);
	usleep(50000);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	wait_inside(2);
	return 0;
}

/* Killed from outside (SIGABRT after "ready") while each of its six threads is blocked in another system call:
 * main in read, then poll, nanosleep, futex, accept and sigtimedwait. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "crash.h"

static int pipe_fds[2];

static NOINLINE void wait_poll(void)
{
	struct pollfd fds[1] = {{.fd = pipe_fds[0], .events = POLLIN}};

	poll(fds, 1, -1);
	KEEP(fds);
}

static NOINLINE void wait_sleep(void)
{
	struct timespec hour = {.tv_sec = 3600};

	nanosleep(&hour, NULL);
	KEEP(hour);
}

static NOINLINE void wait_mutex(void)
{
	static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&held);
	pthread_mutex_lock(&held);
}

static NOINLINE void wait_accept(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, &(struct sockaddr){.sa_family = AF_UNIX}, sizeof(sa_family_t)) || listen(fd, 1))
		exit(2);
	accept(fd, NULL, NULL);
	KEEP(fd);
}

static NOINLINE void wait_signal(void)
{
	sigset_t set;
	siginfo_t info;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwaitinfo(&set, &info);
	KEEP(info);
}

static void *thread_main(void *arg)
{
	void (*wait)(void) = *(void (**)(void))arg;

	wait();
	return NULL;
}

static NOINLINE void wait_read(void)
{
	char buffer[32];
	ssize_t got = read(pipe_fds[0], buffer, sizeof buffer);

	KEEP(got);
	KEEP(buffer);
}

int main(void)
{
	static void (*waits[])(void) = {wait_poll, wait_sleep, wait_mutex, wait_accept, wait_signal};
	static pthread_t threads[sizeof waits / sizeof waits[0]];
	pthread_attr_t attr;

	if (pipe(pipe_fds) || pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 64 * 1024))
		return 2;
	for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
		if (pthread_create(&threads[i], &attr, thread_main, &waits[i]))
			return 2;
	puts("ready");
	fflush(stdout);
	wait_read();
	return 2;
}

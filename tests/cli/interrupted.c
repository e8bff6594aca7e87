/* A signal handler waits for a lock of the C library that the code has which it interrupted. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define DEEP __attribute__((noinline))

static DEEP void stamp(void)
{
	const time_t now = 1;
	struct tm fields;
	localtime_r(&now, &fields);
}

static void on_tick(int signal)
{
	(void)signal;
	stamp();
}

/* Sooner or later a signal comes while localtime_r() has its lock, which the handler wants as well. */
int main(void)
{
	const struct itimerval often = {{0, 300}, {0, 300}};
	if (fork() == 0) {
		usleep(400000);
		puts("ready");
		fflush(stdout);
		_exit(0);
	}
	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &often, NULL);
	for (;;)
		stamp();
}

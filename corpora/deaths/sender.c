/* Dies of a signal that it sends to itself, and that another of its threads takes; flags: -pthread */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"

volatile long sink;

static NOINLINE void give_up(int number)
{
	const pid_t own = getpid();
	for (;;)                   /* another thread takes the signal while this one goes on */
		kill(own, number); /* dies: thread blocked sleepers quit */
}

static NOINLINE void *work(void *number)
{
	give_up((int)(long)number);
	sink++;
	return number;
}

static NOINLINE void *sleep_on(void *number)
{
	for (;;)
		pause();
	return number;
}

static void start(void *(*function)(void *), int number)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, (void *)(long)number))
		_exit(1);
}

/* The kernel gives the signal to the main thread, if that does not block it. */
static void die_thread(void)
{
	start(work, (int)opaque_long(SIGABRT));
	sleep_on(NULL);
}

static void die_quit(void)
{
	start(work, (int)opaque_long(SIGQUIT));
	sleep_on(NULL);
}

static void block(int number)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void die_blocked(void)
{
	start(sleep_on, 0);
	block(SIGABRT);
	give_up((int)opaque_long(SIGABRT));
}

static void die_sleepers(void)
{
	for (int i = 0; i < 3; i++)
		start(sleep_on, 0);
	block(SIGABRT);
	give_up((int)opaque_long(SIGABRT));
}

static NOINLINE void on_alarm(int number)
{
	signal(SIGABRT, SIG_DFL);
	raise(number == SIGALRM ? SIGABRT : number); /* dies: alarm */
	sink++;
}

/* The kernel tells this handler nothing of the signal. */
static void die_alarm(void)
{
	signal(SIGALRM, on_alarm);
	alarm(1);
	sleep_on(NULL);
}

DEATHS({"thread", die_thread}, {"quit", die_quit}, {"blocked", die_blocked}, {"sleepers", die_sleepers},
       {"alarm", die_alarm})

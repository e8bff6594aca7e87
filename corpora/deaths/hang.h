/* What the programs that hang share: they start threads, and say "ready" when all of them wait. */
#ifndef HANG_H
#define HANG_H

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"

static void tell(void)
{
	static const char ready[] = "ready\n";
	usleep(100000); /* for the others to fall asleep */
	if (write(1, ready, sizeof ready - 1) < 0)
		exit(2);
}

static pthread_t start(void *(*routine)(void *), void *argument)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, routine, argument))
		exit(2);
	return thread;
}

/* For the thread that is going to wait itself. */
static void *tell_later(void *argument)
{
	tell();
	return argument;
}

#endif

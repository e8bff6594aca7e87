/* Dies of SIGSEGV by stack overflow. Arguments: self (one function, small frames), mutual (three functions in turn),
 * thread (in a thread with a stack of 64 KiB, against its guard page), big (frames of 16 KiB).
 * The main stack is limited to 256 KiB first: the kernel asks the limit at each growth, so the core stays small. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "asleep.h"
#include "crash.h"

static volatile unsigned long bottom; /* never reached */

static NOINLINE unsigned long descend(unsigned long depth)
{
	unsigned long below = depth == bottom ? depth : descend(depth + 1);

	return below + depth;
}

static NOINLINE unsigned long parse_list(unsigned long depth, const char *text);

static NOINLINE unsigned long parse_atom(unsigned long depth, const char *text)
{
	char copy[24] = "atom";

	KEEP(copy);
	return depth == bottom ? depth : parse_list(depth + 1, text) + 1;
}

static NOINLINE unsigned long parse_value(unsigned long depth, const char *text)
{
	return depth == bottom ? depth : parse_atom(depth + 1, text) + 1;
}

static NOINLINE unsigned long parse_list(unsigned long depth, const char *text)
{
	return depth == bottom ? depth : parse_value(depth + 1, text) + 1;
}

static NOINLINE unsigned long big_frames(unsigned long depth)
{
	unsigned char buffer[16384];

	memset(buffer, (int)depth, sizeof buffer);
	KEEP(buffer);
	return depth == bottom ? depth : big_frames(depth + 1) + buffer[depth % sizeof buffer];
}

static void *thread_main(void *arg)
{
	await_others(); /* main is in pthread_join then */
	descend(1);
	return arg;
}

static void run_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 64 * 1024) ||
	    pthread_create(&thread, &attr, thread_main, NULL))
		exit(2);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	const char *how = argc == 2 ? argv[1] : "";

	if (getrlimit(RLIMIT_STACK, &limit))
		return 2;
	limit.rlim_cur = 256 * 1024;
	if (setrlimit(RLIMIT_STACK, &limit))
		return 2;
	if (strcmp(how, "self") == 0)
		return (int)descend(1);
	if (strcmp(how, "mutual") == 0)
		return (int)parse_list(1, "((((");
	if (strcmp(how, "big") == 0)
		return (int)big_frames(1);
	if (strcmp(how, "thread") == 0)
		run_thread();
	return 2;
}

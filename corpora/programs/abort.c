/* Dies of SIGABRT. Arguments: abort (called outright), assert (a false assertion, with its text),
 * raise (SIGABRT sent to itself by kill). */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash.h"

struct queue {
	unsigned head, tail, size;
};

static NOINLINE void check_queue(const struct queue *queue)
{
	assert(queue->head < queue->size && "head inside the ring");
}

static NOINLINE void give_up(int code, const char *why)
{
	KEEP(code);
	KEEP(why);
	abort();
}

static NOINLINE void kill_self(int signum)
{
	kill(getpid(), signum);
}

int main(int argc, char **argv)
{
	struct queue queue = {.head = 9, .tail = 1, .size = 8};
	const char *how = argc == 2 ? argv[1] : "";

	if (strcmp(how, "abort") == 0)
		give_up(42, "no way forward");
	if (strcmp(how, "assert") == 0)
		check_queue(&queue);
	if (strcmp(how, "raise") == 0)
		kill_self(SIGABRT);
	return 2;
}

/* Dies of SIGSEGV below functions that show where names live: shadowed names in blocks, static locals, thread-local
 * variables, globals of several kinds, register variables, variable-length arrays, more than one thread's TLS. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asleep.h"
#include "crash.h"

/* The least that each machine allows: aarch64 and ppc64 want 128 KiB (PTHREAD_STACK_MIN). */
#if defined(__x86_64__) || defined(__i386__)
enum { STACK_SIZE = 64 * 1024 };
#else
enum { STACK_SIZE = 128 * 1024 };
#endif

struct config {
	int verbose;
	const char *name;
};

int global_counter = 42;
const double global_ratio = 0.75;
static struct config file_config = {3, "file scope"};
int shadowed = 1000;
extern int elsewhere; /* declared, never defined */
__thread int tls_value = 5;
static __thread struct config tls_config = {6, "thread"};
__thread char tls_zero[8];

static NOINLINE int static_locals(int step)
{
	static int calls = 10;
	static const char *last = "none";

	calls += step;
	last = "static";
	KEEP(last), KEEP(calls);
	crash();
	return calls;
}

static NOINLINE int other_static(int step)
{
	static int calls = -10; /* the same name as in static_locals */

	calls -= step;
	return static_locals(step) + calls;
}

static NOINLINE int blocks(int shadowed_argument)
{
	int shadowed = 1, outer = 10, result;

	KEEP(shadowed), KEEP(outer);
	{
		int shadowed = 2;
		const char *inner = "first block";

		KEEP(shadowed), KEEP(inner);
	}
	for (int index = 0; index < 3; index++) {
		long shadowed = 3;

		KEEP(shadowed), KEEP(index);
		if (index == 2) {
			char shadowed[8] = "four", *deepest = shadowed;

			result = other_static(index);
			KEEP(shadowed), KEEP(deepest), KEEP(result);
		}
		KEEP(shadowed);
	}
	KEEP(shadowed), KEEP(outer), KEEP(shadowed_argument);
	return outer;
}

static NOINLINE int variable_length(size_t rows, size_t columns)
{
	int grid[rows][columns];
	char text[rows * 4];
	int result;

	for (size_t i = 0; i < rows * columns; i++)
		(&grid[0][0])[i] = (int)i;
	memset(text, 'v', sizeof text);
	KEEP(grid), KEEP(text);
	result = blocks(7);
	KEEP(grid), KEEP(text), KEEP(rows), KEEP(columns);
	return result;
}

static NOINLINE int registers(register int first, register long second)
{
	register int kept = first * 3;
	register char *pointer = (char *)&file_config;
	int result = variable_length((size_t)first, (size_t)second);

	KEEP_VALUE(kept), KEEP_VALUE(pointer), KEEP_VALUE(first), KEEP_VALUE(second);
	return result + kept;
}

static void *thread_main(void *arg)
{
	await_others(); /* the main thread waits in pthread_join then: in clone, debuggers see what they like */
	tls_value = 500;
	tls_config.verbose = 600;
	strcpy(tls_zero, "own");
	global_counter++;
	registers(2, 3);
	return arg;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	tls_value = 50;
	tls_config.verbose = 60;
	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK_SIZE) ||
	    pthread_create(&thread, &attr, thread_main, &shadowed))
		return 2;
	pthread_join(thread, NULL);
	KEEP(global_ratio), KEEP(shadowed);
	return 2;
}

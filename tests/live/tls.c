/* tls: threads that hold lists only through thread-local variables; one of them runs all the time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ITEMS = 25 };

struct item {
	struct item *next;
	long number;
};

struct box {
	char name[24];
	struct item *first;
	long owner;
};

__thread struct box *mine;
__thread struct item *chain;
static volatile int never;
static int ready;

static struct item *item(struct item *next, long number)
{
	struct item *made = calloc(1, sizeof *made);
	made->next = next;
	made->number = number;
	return made;
}

static void fill(long owner)
{
	mine = calloc(1, sizeof *mine);
	mine->owner = owner;
	for (long i = 0; i < ITEMS; i++) {
		mine->first = item(mine->first, owner * 100 + i);
		chain = item(chain, owner * 100 + i);
	}
	free(malloc(100)); /* so that the thread's cache of blocks has one */
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
}

static void *wait_forever(void *owner)
{
	fill((long)owner);
	for (;;)
		pause();
	return NULL;
}

static void *run_forever(void *owner)
{
	fill((long)owner);
	while (!never)
		;
	return NULL;
}

int main(void)
{
	pthread_t thread;
	for (long i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, i == 1 ? run_forever : wait_forever, (void *)i))
			return 1;
	fill(0);
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

/* same: a process with two waiting threads and data of each kind that scripts can read. Prints "here". */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum color { RED, GREEN = 5 };

struct node {
	struct node *next;
	const char *name;
	uint64_t big;
	double weight;
	enum color color;
	unsigned flags : 3;
	bool odd;
	int (*call)(const char *);
};

static struct node *head;
static char marked[] = "needle-of-the-same-process";
static struct node *table[4];

static void *wait_here(void *arg)
{
	pause();
	return arg;
}

int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 1000; i++) {
		struct node *node = calloc(1, sizeof *node);
		*node = (struct node){head,
				      i % 3 ? marked : NULL,
				      UINT64_MAX - (unsigned)i,
				      i / 8.0,
				      i % 2 ? RED : GREEN,
				      i % 8,
				      i & 1,
				      puts};
		head = table[i % 4] = node;
	}
	pthread_create(&thread, NULL, wait_here, NULL);
	usleep(100000); /* until it waits */
	puts("here");
	fflush(stdout);
	return pthread_join(thread, NULL);
}

/* roots: blocks that are held from everywhere a process can hold something: globals of every storage, frames, registers, TLS, keys, mappings,
 * the environment, streams, handlers that the C library keeps. Dies with some of them in registers only. */
#include <locale.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "account.h"

struct thing {
	int id;
	struct thing *next;
	char name[32];
};

struct outer {
	int first;
	struct {
		struct thing *things[3];
		union {
			struct thing *one;
			uintptr_t word;
		} either;
	} inner;
};

struct thing *exported;
HELD struct outer initialised = {.first = 1};
HELD struct outer zeroed;
HELD void *untyped[4];
HELD uintptr_t number; /* an address that is not declared as one */
HELD __thread struct thing *own;
HELD pthread_key_t key;
HELD struct thing *const *constant_table[1];

static PART struct thing *chain(int count)
{
	struct thing *head = NULL;
	for (int i = 0; i < count; i++) {
		struct thing *thing = NEW(struct thing);
		thing->id = i;
		strcpy(thing->name, "a thing of the chain");
		thing->next = head;
		head = thing;
	}
	return head;
}

static void at_exit(int status, void *things)
{
	(void)status;
	(void)things;
}

static PART void fill_globals(void)
{
	HELD struct thing *local_static;
	exported = chain(200);
	local_static = chain(200);
	initialised.inner.things[1] = chain(200);
	initialised.inner.either.one = chain(100);
	zeroed.inner.things[2] = chain(200);
	zeroed.inner.either.one = chain(100);
	untyped[2] = chain(100);
	number = (uintptr_t)chain(100);
	struct thing **table = NEWS(struct thing *, 3);
	table[1] = chain(50);
	constant_table[0] = table;
	local_static->id = 1;
}

static PART void fill_library(void)
{
	own = chain(100);
	pthread_key_create(&key, NULL);
	pthread_setspecific(key, chain(100));
	putenv(account_is(strdup("XCORE_HELD=by the environment"), "char", 30));
	FILE *stream = tmpfile(); /* its own block and its buffer */
	fputs("held by a stream", stream);
	setlocale(LC_ALL, "C.UTF-8");
#ifdef __GLIBC__
	on_exit(at_exit, chain(100));
#else
	untyped[0] = chain(100);
	(void)at_exit;
#endif
	void **page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[700] = chain(100);
	// cppcheck-suppress resourceLeak; held by the library until the end
}

static PART void wait_with(struct thing *argument)
{
	struct {
		struct thing *things[2];
	} frame = {{argument, chain(100)}};
	account_scrub();
	for (;;) {
		HOLD(&frame);
		pause();
	}
}

static void *run(void *argument)
{
	own = chain(100);
	wait_with(chain(100));
	return argument;
}

/* In a register that no frame has saved. */
static PART void die_holding(struct thing *held)
{
	account_write();
	account_scrub();
	__asm__ volatile("mov %0, %%r15; xor %%eax, %%eax; xor %%edi, %%edi; xor %%ebx, %%ebx; ud2"
			 :
			 : "r"(held)
			 : "r15", "rax", "rbx");
}

int main(void)
{
	struct thing *mine = chain(100);
	pthread_t thread;
	fill_globals();
	fill_library();
	pthread_create(&thread, NULL, run, NULL);
	usleep(200000); /* until it waits */
	die_holding(chain(100));
	HOLD(mine);
}

/* Runs in a loop, in the way that the argument names, after it has written "ready". */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct job {
	volatile int done;
	int failed;
};
static struct job job;
static int stop;
static volatile long sum;

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Fails, and so never says that it is done. */
static void *fail(void *argument)
{
	((struct job *)argument)->failed = 1;
	return NULL;
}

/* Ends the wait one day. */
static void *finish(void *argument)
{
	sleep(1000);
	((struct job *)argument)->done = 1;
	return NULL;
}

static __attribute__((noinline)) long wait_for(struct job *j)
{
	long turns = 0;
	ready();
	while (!j->done)
		turns++;
	return turns;
}

static __attribute__((noinline)) void wait_plain(void)
{
	ready();
	while (!stop)
		;
}

static __attribute__((noinline)) void count(volatile long *upto)
{
	ready();
	for (long i = 0; i < *upto; i++)
		sum += i;
}

struct parser {
	const char *text;
	size_t at, length;
};

static __attribute__((noinline)) int next(struct parser *p)
{
	if (p->text[p->at] < 'a' || p->text[p->at] > 'z')
		return 0; /* and it stays there */
	p->at++;
	return 1;
}

static __attribute__((noinline)) long parse(struct parser *p)
{
	long words = 0;
	ready();
	while (p->at < p->length)
		words += next(p);
	return words;
}

struct record {
	unsigned short kind, length;
};

/* A record of length 0, and of kind 0: only the length keeps it there. */
static __attribute__((noinline)) long scan(const char *bytes, size_t size)
{
	size_t at = 0;
	long kinds = 0;
	static long seen;
	ready();
	while (at < size) {
		const struct record *record = (const void *)(bytes + at);
		__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
		kinds += record->kind;
		at += record->length;
	}
	return kinds;
}

#ifdef __x86_64__
extern char stub_call[];

/* The stub of getppid() jumps to itself, and so stays in the procedure linkage table. */
static __attribute__((noinline)) void call_stub(void)
{
	for (;;) {
		asm volatile("stub_call: call getppid@plt" ::: "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi");
		sum++;
	}
}

static void wait_in_stub(void)
{
	int distance;
	memcpy(&distance, stub_call + 1, sizeof distance);
	char *stub = stub_call + 5 + distance, *at = stub;
	at += memcmp(at, "\xf3\x0f\x1e\xfa", 4) ? 0 : 4;
	at += *at == '\xf2';
	if (memcmp(at, "\xff\x25", 2) != 0)
		return;
	memcpy(&distance, at + 2, sizeof distance);
	*(char **)(at + 6 + distance) = stub;
	ready();
	call_stub();
}
#else
static void wait_in_stub(void)
{
}
#endif

int main(int argc, char **argv)
{
	static volatile long upto = 1L << 62;
	static struct parser parser = {"abc;def", 0, 7};
	static const struct record records[] = {{3, 4}, {1, 4}, {0, 0}, {1, 4}};
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;
	if (!strcmp(how, "flag")) {
		pthread_create(&thread, NULL, fail, &job);
		pthread_join(thread, NULL);
		return (int)wait_for(&job);
	}
	if (!strcmp(how, "finish")) {
		pthread_create(&thread, NULL, finish, &job);
		return (int)wait_for(&job);
	}
	if (!strcmp(how, "plain"))
		wait_plain();
	else if (!strcmp(how, "stub"))
		wait_in_stub();
	else if (!strcmp(how, "parse"))
		return (int)parse(&parser);
	else if (!strcmp(how, "scan"))
		return (int)scan((const char *)records, sizeof records);
	else
		count(&upto);
	return 0;
}

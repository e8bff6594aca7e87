/* Runs in a loop whose numbers are not exact enough, or too small, or in one that tries the same again; in the way that
 * the argument names, after it has written "ready". */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct range {
	float from, to, step;
	double far, near;
	long seen;
	int rows;
	unsigned char row[300];
};
static struct range range = {1e9f, 2e9f, 1.0f, 1e17, 1.0, 0, 300, {0}};
static volatile int done;
static volatile long sum;

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static __attribute__((noinline)) float place(const struct range *r, float x)
{
	return (x - r->from) * 0.5f + (float)r->row[(int)((x - r->from) / r->step) & 255];
}

static __attribute__((noinline)) void grow(struct range *r)
{
	ready();
	for (float x = r->from; x < r->to; x += r->step)
		r->seen += place(r, x) > 0;
}

static __attribute__((noinline)) void shrink(struct range *r)
{
	ready();
	for (double x = r->far; x > 0; x -= r->near)
		r->seen += x < r->near;
}

/* It gets there, in a long time. */
static __attribute__((noinline)) void creep(const volatile double *step)
{
	ready();
	for (double x = 0; x < 1e9; x += *step)
		sum++;
}

static __attribute__((noclone, noinline, optimize("no-tree-vectorize"))) int weight(const struct range *r, int i)
{
	int w = 0;
	for (int k = 0; k < 20; k++)
		w = w * 31 + r->row[(i + k) % 256];
	return w;
}

static __attribute__((noinline)) long bytes(struct range *r)
{
	ready();
	for (unsigned char i = 0; i < r->rows; i++)
		if (weight(r, i) == 7)
			r->seen++;
	return r->seen;
}

static __attribute__((noinline)) long words(const volatile int *rows, const unsigned char *row)
{
	long found = 0;
	ready();
	for (unsigned short i = 0; i < *rows; i++)
		found += row[i & 255] * (i % 11) > 9;
	return found;
}

/* A counter of one byte that gets to its bound, again and again, until another thread says so. */
static __attribute__((noinline)) long passes(struct range *r)
{
	ready();
	while (!done)
		for (unsigned char i = 0; i < r->rows; i++)
			sum += r->row[i];
	return sum;
}

static void *finish(void *argument)
{
	sleep(1000);
	done = 1;
	return argument;
}

static __attribute__((noinline)) int push(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		if (n > 0)
			bytes += n, size -= (size_t)n;
	}
	return 0;
}

static int push_much(void)
{
	static char much[1 << 22];
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		return 1;
	ready();
	return push(ends[0], much, sizeof much);
}

enum { SLOTS = 1024 };
enum state { EMPTY, LIVE, DEAD };
static struct slot {
	enum state state;
	unsigned hash;
	unsigned long token;
} slots[SLOTS];

/* No slot is empty: most were left by what was removed. With a free slot it would end. */
static __attribute__((noinline)) struct slot *find(unsigned hash, unsigned long token)
{
	size_t i = hash & (SLOTS - 1);
	ready();
	while (slots[i].state != EMPTY) {
		struct slot *s = &slots[i];
		if (s->state == LIVE && s->hash == hash && s->token == token)
			return s;
		i = (i + 1) & (SLOTS - 1);
	}
	return NULL;
}

static void fill_slots(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		slots[i] = (struct slot){i % 8 ? DEAD : LIVE, i * 2654435761u, i};
}

int main(int argc, char **argv)
{
	static volatile double step = 1e-6;
	static volatile int rows = 70000;
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;
	if (!strcmp(how, "grow"))
		grow(&range);
	else if (!strcmp(how, "shrink"))
		shrink(&range);
	else if (!strcmp(how, "creep"))
		creep(&step);
	else if (!strcmp(how, "bytes"))
		return (int)bytes(&range);
	else if (!strcmp(how, "words"))
		return (int)words(&rows, range.row);
	else if (!strcmp(how, "push"))
		return push_much();
	else if (!strcmp(how, "find")) {
		fill_slots();
		return find(77, 5000) != NULL;
	}
	range.rows = 200;
	pthread_create(&thread, NULL, finish, NULL);
	return (int)passes(&range);
}

/* Objects whose owner is not who uses them: each death as an argument. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct request;

struct conn {
	int id, uses;
	struct request *owner;
	struct conn *next_free;
};

struct request {
	int id;
	char path[36];
	struct conn *conn;
};

struct pool {
	struct conn conns[6];
	struct conn *free_list;
} pool;

struct request *requests[8];
unsigned count;

static struct conn *acquire(struct request *r)
{
	struct conn *c = pool.free_list;
	pool.free_list = c->next_free;
	c->next_free = NULL;
	c->uses++;
	c->owner = r;
	r->conn = c;
	return c;
}

static void release(struct conn *c)
{
	c->owner = NULL;
	c->next_free = pool.free_list;
	pool.free_list = c;
}

static struct request *begin(void)
{
	struct request *r = calloc(1, sizeof *r);
	r->id = 1000 + (int)count;
	snprintf(r->path, sizeof r->path, "/item/%u", count);
	requests[count++] = r;
	return r;
}

static void start(void)
{
	for (int i = 5; i >= 0; i--) {
		pool.conns[i].id = i;
		pool.conns[i].next_free = pool.free_list;
		pool.free_list = &pool.conns[i];
	}
}

__attribute__((noinline)) static int answer(struct conn *c)
{
	return c->owner->id;
}

/* Released twice: two requests have it, and the answer to the second one arrives when the first is done. */
static int twice(void)
{
	start();
	acquire(begin());
	struct conn *c = acquire(begin());
	release(c);
	release(c);
	requests[1]->conn = NULL;
	acquire(begin());
	struct conn *same = acquire(begin());
	release(same);
	return answer(c);
}

/* Each has its own, and one has no owner yet. */
static int apart(void)
{
	start();
	acquire(begin());
	acquire(begin());
	struct conn *c = acquire(begin());
	c->owner = NULL;
	return answer(c);
}

struct item;

struct list {
	int size;
	struct item *current;
};

struct item {
	int id;
	struct list *list;
	struct item *next;
};

struct list *lists[2];

__attribute__((noinline)) static int current(struct list *l)
{
	return l->current->id;
}

/* A list has many items, which is no mistake. */
static int many(void)
{
	for (int i = 0; i < 2; i++) {
		lists[i] = calloc(1, sizeof *lists[i]);
		for (int k = 0; k < 3; k++) {
			struct item *item = calloc(1, sizeof *item);
			item->list = lists[i];
			item->next = lists[i]->current;
			lists[i]->current = item;
		}
	}
	static struct item *heads[2];
	heads[0] = lists[0]->current;
	heads[1] = lists[1]->current;
	lists[1]->current = NULL;
	return current(lists[1]) + heads[0]->id + heads[1]->id;
}

/* ---- blocks with another owner ---- */

struct peer {
	char host[16];
	long pings;
};

struct session {
	int fd, errors;
	struct peer *peer;
	long received, sent;
	char user[24];
	long lines;
};

struct reply {
	unsigned short code, len;
	char text[60];
};

struct peer peer = {"10.1.0.7", 0};
struct timer {
	void (*call)(void *);
	void *context;
} timer;

__attribute__((noinline)) static void ping(void *context)
{
	struct session *s = context;
	s->peer->pings++;
	s->sent++;
}

static void fire(void)
{
	timer.call(timer.context);
}

static unsigned long answers;

__attribute__((noinline)) static void note(struct reply *r)
{
	answers += r->len;
}

__attribute__((noinline)) static void reject(const char *why)
{
	struct reply *r = malloc(sizeof *r + 8);
	r->code = 501;
	r->len = (unsigned short)snprintf(r->text, sizeof r->text, "%s", why);
	note(r);
}

__attribute__((noinline)) static void clear_stack(void)
{
	volatile char bytes[512];
	memset((char *)bytes, 0, sizeof bytes);
}

/* Its timer was not cancelled, and its block has a reply now, which nobody keeps. */
static int reused(void)
{
	struct session *volatile kept = calloc(1, sizeof *kept);
	kept->fd = 7;
	kept->peer = &peer;
	timer = (struct timer){ping, kept};
	free(kept);
	reject("syntax error in <HELO mail.example>, closing");
	clear_stack();
	fire();
	return kept->fd;
}

/* Its own text, which is too long, began in a member of characters. */
struct named {
	char name[8];
	struct peer *peer;
	long numbers[3];
};

__attribute__((noinline)) static void touch(struct named *n)
{
	n->peer->pings++;
}

__attribute__((noinline)) static void copy(char *to, const char *from)
{
	while ((*to++ = *from++))
		;
}

static int own(void)
{
	struct named *volatile kept = calloc(1, sizeof *kept);
	kept->peer = &peer;
	copy(kept->name, "a name that is too long for it");
	touch(kept);
	return kept->name[0];
}

/* ---- pointers and pages that are only half there ---- */

char *arena;

__attribute__((noinline)) char *intern(const char *text)
{
	char *copy = arena;
	strcpy(copy, text);
	arena += 64;
	return copy;
}

/* As a unit that does not include its declaration calls it. */
int intern_without_declaration(const char *text) __asm__("intern");

struct record {
	int type;
	const char *owner;
};

__attribute__((noinline)) static int find(const struct record *r)
{
	return r->owner[0] == 'w';
}

static int cut(void)
{
	struct record *r = calloc(1, sizeof *r);
	arena = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	r->owner = (const char *)(long)intern_without_declaration("www.example");
	return find(r);
}

/* mmap() succeeds without a huge page; the first access does not. */
static int huge(void)
{
	char *pool = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
	pool[8] = 1;
	return pool[8];
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} deaths[] = {{"cut", cut},   {"huge", huge},     {"twice", twice}, {"apart", apart},
		      {"many", many}, {"reused", reused}, {"own", own}};
	for (size_t i = 0; argc > 1 && i < sizeof deaths / sizeof *deaths; i++)
		if (strcmp(argv[1], deaths[i].name) == 0)
			return deaths[i].run();
	return 2;
}

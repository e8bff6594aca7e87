/* layer: triage tier: long */
/* Programs that go along a list until another process kills them. Lists that lead back to themselves are told; rings
 * whose loop ends, or is meant to go on, are not. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

/* The other process kills this one when it has used 50 ms of CPU time. */
static const char program[] =
	"#define _GNU_SOURCE\n#include <signal.h>\n#include <stddef.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"#include <time.h>\n#include <unistd.h>\n"
	"#define DEEP __attribute__((noinline)) int\n"
	"static void doom(void) {\n"
	"	pid_t parent = getpid();\n"
	"	if (fork()) return;\n"
	"	clockid_t clock; struct timespec used = {0}, pause = {0, 1000000};\n"
	"	while (!clock_getcpuclockid(parent, &clock) && !clock_gettime(clock, &used) && used.tv_nsec < "
	"50000000)\n"
	"		nanosleep(&pause, NULL);\n"
	"	kill(parent, SIGABRT);\n	_exit(0);\n}\n"
	"struct node { char name[16]; int key; struct node *next, *up; };\n"
	"struct link { struct link *next, *prev; };\n"
	"struct item { long cost; struct link list; };\n"
	"struct table { struct node *bucket[4]; struct link head; };\n"
	"struct entry { int key; struct entry *next, *prev; };\n"
	"struct cache { struct entry *bucket[2]; struct { struct entry *head, *tail; } lru; };\n"
	"volatile int sink;\n"
	/* ---- that never end ---- */
	"DEEP find(struct node *n, int key) { while (n && n->key != key) n = n->next; return n != NULL; }\n"
	"DEEP cut(struct table *t, struct node *n) { struct node **p = &t->bucket[2];\n"
	"	while (*p && *p != n) p = &(*p)->next; if (*p) *p = n->next; return 1; }\n"
	"DEEP cost(struct link *head) { int sum = 0;\n"
	"	for (struct link *l = head->next; l != head; l = l->next)\n"
	"		sink += sum += ((struct item *)((char *)l - offsetof(struct item, list)))->cost; return sum; "
	"}\n"
	"DEEP named(struct node *n, const char *name) { while (n && strcmp(n->name, name)) n = n->up; return !!n; }\n"
	"DEEP write_back(struct cache *c) { int n = 0;\n"
	"	for (struct entry *e = c->lru.head; e; e = e->next) sink = n += e->key; return n; }\n"
	"static void push(struct cache *c, struct entry *e) { e->prev = NULL; e->next = c->lru.head;\n"
	"	if (c->lru.head) c->lru.head->prev = e; c->lru.head = e; }\n"
	/* ---- that end, or are meant to go on ---- */
	"DEEP around(struct node *start) { struct node *n = start; int sum = 0;\n"
	"	do { sink = sum += n->key; n = n->next; } while (n != start); return sum; }\n"
	"DEEP some(struct node *n, int count) { int sum = 0;\n"
	"	for (int i = 0; i < count && n; i++, n = n->next) sink = sum += n->key; return sum; }\n"
	"DEEP turns(struct node *n) { for (;;) { if (n->up) sink++; n = n->next; if (sink == -5) return 1; } }\n"
	"DEEP compute(struct node *n, unsigned x) { while (x != 7) { x = x * 3 + 2; sink = x; } return n->key; }\n"
	"static struct node nodes[4] = {{\"zero\", 0}, {\"one\", 1}, {\"two\", 2}, {\"three\", 3}};\n"
	"static struct item items[3]; static struct table table; static struct entry entries[3]; static struct cache "
	"cache;\n"
	"static void join(struct link *a, struct link *b) { a->next = b; b->prev = a; }\n"
	"int main(int argc, char **argv) {\n"
	"	for (int i = 0; i < 3; i++) nodes[i].next = nodes[i].up = &nodes[i + 1];\n"
	"	join(&table.head, &items[0].list); join(&items[0].list, &items[1].list);\n"
	"	join(&items[1].list, &items[2].list); join(&items[2].list, &table.head);\n"
	"	table.bucket[2] = &nodes[1]; doom();\n"
	"	switch (atoi(argv[argc - 1])) {\n"
	"	case 0: nodes[3].next = &nodes[3]; return find(nodes, 9);\n"
	"	case 1: nodes[3].next = &nodes[1]; return cut(&table, nodes);\n"
	"	case 2: items[2].list.next = &items[1].list; return cost(&table.head);\n"
	"	case 3: nodes[3].up = &nodes[2]; return named(nodes, \"four\");\n"
	"	case 4: for (;;) cost(&table.head);\n"
	"	case 5: nodes[3].next = nodes; for (;;) around(nodes);\n"
	"	case 6: nodes[3].next = nodes; for (;;) some(nodes, 1000000);\n"
	"	case 7: nodes[3].next = nodes; return turns(nodes);\n"
	"	case 9: cache.bucket[0] = &entries[1];\n"
	"		for (int i = 0; i < 4; i++) push(&cache, &entries[i % 3 * (i < 3)]);\n"
	"		return write_back(&cache);\n"
	"	case 8: nodes[3].next = nodes; return compute(nodes, 1); } }\n";

static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O2 -x c"};

static void expect(const struct wanted *want)
{
	GRID(c, XC_COUNT(compilers))
		judged_expect(compilers[c], program, false, want);
}

static void a_node_that_follows_itself(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "hang",
					   .kind = "cyclic list",
					   .function = "find",
					   .argument = "0",
					   .says = "whose `next` is itself",
					   .also = "name = \"three\""};
	expect(&want);
}

static void a_chain_through_a_pointer_to_its_links(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "hang",
					   .kind = "cyclic list",
					   .function = "cut",
					   .argument = "1",
					   .says = "whose `next` leads back to it after 3 steps",
					   .also = "`t->bucket[2]` leads into that list"};
	expect(&want);
}

static void a_ring_that_does_not_reach_its_head(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "hang",
					   .kind = "cyclic list",
					   .function = "cost",
					   .argument = "2",
					   .says = "`next` leads back to it after 2 steps",
					   .also = "sent by process"};
	expect(&want);
}

static void an_entry_that_was_pushed_twice(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "hang",
					   .kind = "cyclic list",
					   .function = "write_back",
					   .argument = "9",
					   .says = "`c->lru.head` leads into that list",
					   .also = "but its `prev` is NULL: perhaps it was put into the list again"};
	expect(&want);
}

static void a_loop_that_calls_a_library(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "hang",
					   .kind = "cyclic list",
					   .function = "named",
					   .argument = "3",
					   .says = "whose `up` leads back to it after 2 steps"};
	expect(&want);
}

static void rings_that_are_meant(void **state)
{
	(void)state;
	static const char *const arguments[] = {"4", "5", "6", "7", "8"};
	static const char *const functions[] = {"cost", "around", "some", "turns", "compute"};
	for (size_t i = 0; i < XC_COUNT(arguments); i++) {
		xc_auto(xc_freep) char *says = xc_asprintf("in a loop of %s", functions[i]);
		struct wanted want = {.class_name = "killed",
				      .kind = "",
				      .argument = arguments[i],
				      .without = "leads back",
				      .says = says};
		/* The loop around a short call may be the caller's. */
		want.says = i < 2 ? "in no system call, in a loop of " : want.says;
		expect(&want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_that_follows_itself),
		cmocka_unit_test(a_chain_through_a_pointer_to_its_links),
		cmocka_unit_test(a_ring_that_does_not_reach_its_head),
		cmocka_unit_test(an_entry_that_was_pushed_twice),
		cmocka_unit_test(a_loop_that_calls_a_library),
		cmocka_unit_test(rings_that_are_meant),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

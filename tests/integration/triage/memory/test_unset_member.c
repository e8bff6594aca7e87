/* layer: triage tier: long */
/* Members that nothing has set: they hold what the last owner of their memory left. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\n#define NOINLINE __attribute__((noinline))\n"                       \
	"volatile long sink, zero; void *volatile way;\n"                                                              \
	"static inline void *hidden(void *p) { way = p; return way; }\n"                                               \
	"struct part { long weight; }; struct node { long key, more; struct part *part; long last; };\n"               \
	"NOINLINE long weigh(const struct node *node) { return node->part->weight; }\n"

static const char *const compilers[] = {"gcc -g -O0 -x c", "clang -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O2 -x c"};

/* Four blocks of the size, filled and freed; one of them is the node's. */
static const char left_over[] =
	HEAD "NOINLINE void use(void)\n{\n	long *blocks[4];\n	for (int i = 0; i < 4; i++) {\n"
	     "		blocks[i] = hidden(malloc(sizeof(struct node)));\n"
	     "		for (int k = 0; k < 4; k++) blocks[i][k] = 0x0123456700000000 + k;\n	}\n"
	     "	for (int i = 0; i < 4; i++) free(hidden(blocks[i]));\n}\n"
	     "NOINLINE struct node *new_node(long key)\n{\n	struct node *node = malloc(sizeof *node);\n"
	     "	node->key = key; node->more = 0; node->last = key; return hidden(node);\n}\n"
	     "int main(void) { use(); return (int)weigh(new_node(3)); }\n";

static void what_the_last_owner_left_is_told(void **state)
{
	(void)state;
	GRID(i, XC_COUNT(compilers))
		judged_expect(
			compilers[i], left_over, true,
			&(struct wanted){.class_name = "wild-read",
					 .function = "weigh",
					 .says = "`node->part` was never set",
					 .also = "3 free blocks of 40 bytes have 0x123456700000002 at the same place",
					 .without = "after it was freed"});
}

/* That another object of the same list is gone, as it should be, is no reason. */
static void freed_neighbours_are_no_reason(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"NOINLINE void use(void) { long *blocks[4];\n"
		" for (int i = 0; i < 4; i++) { blocks[i] = hidden(malloc(sizeof(struct node)));\n"
		"  for (int k = 0; k < 4; k++) blocks[i][k] = 0x0123456700000000 + k; }\n"
		" for (int i = 0; i < 4; i++) free(hidden(blocks[i])); }\n"
		"struct queue { struct node *items[3]; }; struct part one = {1};\n"
		"NOINLINE struct node *new_node(long key, struct part *part) { struct node *node = malloc(sizeof "
		"*node);\n"
		" node->key = key; node->more = 0; node->last = key; if (part) node->part = part; return hidden(node); "
		"}\n"
		"NOINLINE long drain(struct queue *q) { long all = 0; for (int i = 0; i < 3; i++) { all += "
		"weigh(q->items[i]); free(q->items[i]); } return all; }\n"
		"int main(void) { struct queue q; use(); q.items[0] = new_node(1, &one); q.items[1] = new_node(2, 0); "
		"q.items[2] = new_node(3, &one); return (int)drain(&q); }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "wild-read",
					       .says = "was never set",
					       .without = "perhaps because"});
}

/* The first word of a block that was in a list of glibc's thread cache. */
static void the_link_of_a_free_list_is_told(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "struct first { struct part *part; long key, more, last; };\n"
		     "NOINLINE long weigh_first(const struct first *first) { return first->part->weight; }\n"
		     "int main(void)\n{\n	void *a = hidden(malloc(32)), *b = hidden(malloc(32));\n	"
		     "free(a); free(b);\n"
		     "	struct first *first = malloc(32);\n	first->key = 1; first->more = first->last = 0;\n"
		     "	return (int)weigh_first(hidden(first));\n}\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "wild-read",
					       .function = "weigh_first",
					       .says = "`first->part` was never set",
					       .also = "is a link of the allocator's list of free blocks"});
}

/* The free objects had the same pointer, to what is gone. */
static void a_pointer_that_all_had_was_set(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"int main(void)\n{\n	struct node *nodes[3];\n	struct part *part = hidden(malloc(1 << 20));\n"
		"	for (int i = 0; i < 3; i++) {\n		nodes[i] = hidden(malloc(sizeof *nodes[i]));\n"
		"		nodes[i]->part = part;\n	}\n	free(nodes[0]); free(part);\n"
		"	return (int)weigh(hidden(nodes[2]));\n}\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "use-after-free", .without = "never set"});
}

/* A text ran over it, in the free objects, too. */
static void a_member_that_text_ran_over_was_set(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"struct entry { char body[16]; struct part *part; };\n"
		"NOINLINE void fill(struct entry *e, const char *text, size_t size) { memcpy(e->body, text, size); }\n"
		"NOINLINE long weigh_entry(const struct entry *e) { return e->part->weight; }\n"
		"int main(void)\n{\n	struct entry *all[4];\n	for (int i = 0; i < 4; i++) {\n"
		"		all[i] = hidden(malloc(sizeof *all[i]));\n		all[i]->part = 0;\n"
		"		fill(all[i], \"0123456789abcdefGHIJKLMN\", 24);\n	}\n	free(all[0]); "
		"free(all[1]);\n"
		"	return (int)weigh_entry(hidden(all[3]));\n}\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "wild-read",
					       .says = "a string was written over",
					       .without = "was never set"});
}

#define LOCALS                                                                                                         \
	HEAD "NOINLINE void scribble(void) { volatile unsigned long w[160];\n"                                         \
	     "for (int i = 0; i < 160; i++) w[i] = 0x1122334455660000 + i; sink = w[7]; }\n"                           \
	     "NOINLINE void init(struct node *node, long key) { node->key = key; node->last = key; }\n"                \
	     "NOINLINE void set(struct node *node, struct part *part) { node->part = part; }\n"                        \
	     "NOINLINE void pass(struct node *node, struct part *part) { set(node, part); sink++; }\n"
#define MAIN                                                                                                           \
	"NOINLINE long below(long key) { volatile long room[8]; room[3] = key; return work(key) + room[3]; }\n"        \
	"int main(void) { scribble(); return (int)below(5); }\n"

static void a_local_object_that_nothing_set_is_possible(void **state)
{
	(void)state;
	static const char source[] = LOCALS "NOINLINE long work(long key) { struct node node; init(&node, key); return "
					    "weigh(&node) + 1; }\n" MAIN;
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "wild-read",
					       .function = "weigh",
					       .says = "possibly `node.part` of work() was never set"});
}

static void one_that_another_function_set_is_not(void **state)
{
	(void)state;
	static const char direct[] =
		LOCALS "NOINLINE long work(long key) { struct node node; init(&node, key); "
		       "set(&node, hidden((void *)0x1122334455660000)); return weigh(&node) + 1; }\n" MAIN;
	static const char passed[] =
		LOCALS "NOINLINE long work(long key) { struct node node; init(&node, key); "
		       "pass(&node, hidden((void *)0x1122334455660000)); return weigh(&node) + 1; }\n" MAIN;
	GRID(i, XC_COUNT(compilers)) {
		judged_expect(compilers[i], direct, true,
			      &(struct wanted){.class_name = "wild-read", .without = "never set"});
		judged_expect(compilers[i], passed, true,
			      &(struct wanted){.class_name = "wild-read", .without = "never set"});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_last_owner_left_is_told),
		cmocka_unit_test(freed_neighbours_are_no_reason),
		cmocka_unit_test(the_link_of_a_free_list_is_told),
		cmocka_unit_test(a_pointer_that_all_had_was_set),
		cmocka_unit_test(a_member_that_text_ran_over_was_set),
		cmocka_unit_test(a_local_object_that_nothing_set_is_possible),
		cmocka_unit_test(one_that_another_function_set_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* layer: triage tier: long */
/* Pointers to what was freed, returned from or reset. */
#include "tests/integration/triage/memory/diagnosed.h"

static void values_read_from_freed_blocks(void **state)
{
	(void)state;
	static const struct told cases[] = {
		{MAIN("struct node *n = head; free(n); sum = n->back->id; sum += n->id;"),
		 "use-after-free (read), high", "a block was used after it was freed", "the allocator put it there"},
		{MAIN("free(head); head->back->id = 3;"), "use-after-free (write), high",
		 "a block was used after it was freed", "still pointed to by head"},
		{MAIN("table = calloc(1, sizeof *table); table->n = head; free(table->n); sum = table->n->back->id;"),
		 "use-after-free (read), high", "a block was used after it was freed", "still pointed to by"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		expect(&cases[i]);
}

#define ITEMS(body)                                                                                                    \
	HEAD "struct item { long id; char *host; long port; char room[40]; }; struct item *items[4], *last;\n"         \
	     "volatile uintptr_t kept; volatile long seen;\n"                                                          \
	     "__attribute__((noinline)) void drop1(uintptr_t h) { volatile uintptr_t left[4] = "                       \
	     "{(uintptr_t)items[3],\n"                                                                                 \
	     " (uintptr_t)items[2], (uintptr_t)items[3], 0}; seen = left[1]; free(((struct item *)h)->host);\n"        \
	     " seen = left[0]; }\n"                                                                                    \
	     "__attribute__((noinline)) void drop2(uintptr_t h) { drop1(h); seen = 2; }\n"                             \
	     "__attribute__((noinline)) void drop3(uintptr_t h) { drop2(h); seen = 3; }\n"                             \
	     "__attribute__((noinline)) void drop(struct item *it) { drop3((uintptr_t)it); seen = it->id; }\n"         \
	     "__attribute__((noinline)) long read_kept(void) { return ((struct node *)kept)->id; }\n"                  \
	     "int main(void) { for (int i = 0; i < 4; i++) { items[i] = calloc(1, sizeof **items); "                   \
	     "items[i]->host = strdup(\"a host\"); }\n"                                                                \
	     " last = items[1]; for (int i = 0; i < 4; i++) free(items[i]); " body " return 0; }\n"

/* All blocks of a thread's cache hold the same key: which of them it was read from, the code shows, or nothing. */
static void the_block_is_that_which_the_code_read(void **state)
{
	(void)state;
	static const struct told way = {ITEMS("drop(last);"), "use-after-free (read), high",
					"a block was used after it was freed",
					"the freed block is still pointed to by last"};
	static const struct told unknown = {
		ITEMS("kept = (uintptr_t)last->host; items[0] = items[1] = items[2] = last = 0; seen = read_kept();"),
		"use-after-free (read), high", "a block was used after it was freed",
		"is stored in several freed blocks; the allocator put it there when they were freed: the one from "
		"which it was read is not known"};
	expect_of_two("gcc -g -O0", "clang -g -O0", &way);
	expect_of_two("gcc -g -O1", "clang -g -O1", &way);
	expect_of_two("gcc -g -O0", "clang -g -O0", &unknown);
}

static void calls_through_freed_blocks(void **state)
{
	(void)state;
	static const struct told c = {HEAD "struct job { long pad; void (*run)(struct job *); };\n"
					   "int main(void) { struct job *volatile j = malloc(sizeof *j); j->run = 0; "
					   "free(j); j->run(j); return 0; }\n",
				      "use-after-free (call), high", "a block was used after it was freed: the target",
				      "j (struct job *"};
	static const struct told cxx = {
		"#include <cstdlib>\nstruct base { long a = 1; virtual void first() {} virtual void run() { a++; } "
		"virtual ~base() {} };\n"
		"struct child : base { void run() override { a += 2; } };\n"
		"base *volatile object; int main() { object = new child; delete object; object->run(); return 0; }\n",
		"use-after-free (read), high", "a block was used after it was freed", "still pointed to by object"};
	expect(&c);
	expect_of("g++ -g -O0", "c++", &cxx);
}

/* The index may be wrong, with the pointer not examined further. */
static void a_far_index_off_a_freed_block_is_likely_only(void **state)
{
	(void)state;
	struct xc_process *process =
		died("gcc -g -O2 -x c", MAIN("volatile long i = 1L << 34; char *volatile p = head->name; long k = i; "
					     "char *q = p; free(head); sum = q[k]; q[k + 5] = 1; sum += q[3];"));
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, xc_heap_of(process, NULL));
	if (strcmp(report->verdict->class_name, "use-after-free") != 0 ||
	    strcmp(report->verdict->confidence, "likely") != 0 || !strstr(report->verdict->cause, "far beyond it"))
		print(report->verdict);
	assert_string_equal(report->verdict->class_name, "use-after-free");
	assert_string_equal(report->verdict->confidence, "likely");
	assert_non_null(strstr(report->verdict->cause, "far beyond it"));
	xc_report_free(report);
	xc_heap_forget(process);
	close_process(process);
}

/* An iterator's node was erased; what was in it is still there, but for its links. */
static void what_is_left_in_the_freed_block_is_told(void **state)
{
	(void)state;
	static const struct told told = {
		"#include <map>\nstruct order { long id, open; }; typedef std::map<long, order> book; book asks; "
		"volatile long sum;\n"
		"__attribute__((noinline)) void filled(long id) { asks.erase(id); }\n"
		"__attribute__((noinline)) void buy() { for (auto it = asks.begin(); it != asks.end(); ++it) {\n"
		" sum += it->second.open; if (it->first == 501) filled(501); } }\n"
		"int main() { for (long i = 499; i < 504; i++) asks[i] = {i, i * 2}; buy(); return (int)sum; }\n",
		"use-after-free (read), high", "a block was used after it was freed",
		": {first = 501, second = {id = 501, open = 1002}}"};
	static const struct told plain = {
		MAIN("struct node *n = head; n->id = 4711; free(n); sum = n->back->id; sum += n->id;"),
		"use-after-free (read), high", "a block was used after it was freed",
		"of which the allocator has overwritten the first 16 bytes: {"};
	expect_of("g++ -g -O0", "c++", &told);
	expect_of_two("gcc -g -O0", "clang -g -O0", &plain);
}

/* A timer's `void *` to a session whose block has a text now, that another variable holds. */
static void a_context_that_was_freed_is_stale(void **state)
{
	(void)state;
	static const struct told told = {
		"#include <stdlib.h>\n#include <string.h>\nstruct session { const long *ops; int id, seq; char "
		"name[48]; "
		"};\n"
		"struct timer { void (*fire)(void *); void *context; } timers[4]; char *history[4]; volatile long "
		"sum;\n"
		"const long ops[2] = {1, 2};\n"
		"__attribute__((noinline)) void on_retry(void *context) { struct session *s = context; sum = "
		"s->ops[1]; "
		"sum += s->id; }\n"
		"__attribute__((noinline)) void run(struct timer *t) { t->fire(t->context); sum++; }\n"
		"int main(void) { struct session *s = calloc(1, sizeof *s); s->ops = ops; timers[1].fire = on_retry;\n"
		" timers[1].context = s; run(&timers[1]); free(s);\n"
		" history[1] = strdup(\"session 102 was closed by the remote side after 520 ms, reason: none\"); "
		"run(&timers[1]);\n"
		" return 0; }\n",
		"use-after-free (read), high", "likely `s` (struct session *) is stale",
		"is held as another type by history [1]"};
	expect_of_two("gcc -g -O0", "clang -g -O2", &told);
}

#define CONNECTIONS(conn)                                                                                              \
	"#include <stdlib.h>\n#include <string.h>\nstruct conn { const long *ops; long idle; char peer[40]; };\n"      \
	"struct timer { void (*fire)(void *); void *context; } *timer; volatile long sum; const long ops[2] = {1, 2};" \
	"\n__attribute__((noinline)) void on_idle(void *context) { struct conn *c = context; sum = c->ops[1]; "        \
	"sum += c->idle; }\n"                                                                                          \
	"__attribute__((noinline)) void run(struct timer *t) { t->fire(t->context); sum++; }\n"                        \
	"int main(void) { " conn " = calloc(1, sizeof(struct conn)); timer = malloc(sizeof *timer); timer->fire = "    \
	"on_idle; timer->context = c; free(c);\n"                                                                      \
	"char *line = malloc(56); memset(line, 0, 56); strcpy(line, \"GET / HTTP/1.1 Host: example.org\"); "           \
	"run(timer); free(line); return 0; }\n"

/* The variable that had made the object shows that nothing was cast; without it that is possible. */
static void another_pointer_of_its_type_shows_what_the_context_was(void **state)
{
	(void)state;
	static const struct told stale = {CONNECTIONS("struct conn *c"), "use-after-free (read), high",
					  "likely `c` (struct conn *) is stale",
					  "that block is pointed to by struct timer (heap, live, 24 bytes) .context"};
	static const struct told cast = {CONNECTIONS("void *c"), "wild-read, high",
					 "points to text: the object was overwritten, its block has another owner",
					 "is held as another type by stack"};
	expect_of_two("gcc -g -O0", "clang -g -O0", &stale);
	expect_of_two("gcc -g -O0", "clang -g -O0", &cast);
}

static void frames_that_returned(void **state)
{
	(void)state;
	static const struct told returned = {
		HEAD "__attribute__((noinline)) struct node *volatile *give(void) { struct node *volatile a[200];\n"
		     " a[3] = (struct node *)0x123456789000; struct node *volatile *p = &a[3]; __asm__(\"\" : "
		     "\"+r\"(p)); return p; }\n"
		     "int main(void) { struct node *volatile *volatile p = give(); sum = (*p)->id; return 0; }\n",
		"use-after-return (read), high", "a function that has returned", "below the stack pointer"};
	expect_of_two("gcc -g -O0", "clang -g -O0", &returned);
}

/* The block of an arena was never freed: only the piece in it has another owner. */
static void pieces_of_an_arena_that_was_reset(void **state)
{
	(void)state;
	static const struct told told = {
		"#include <stdlib.h>\n#include <string.h>\n"
		"struct sink { void (*emit)(struct sink *); long lines; }; struct doc { struct sink *errors; };\n"
		"struct arena { char *base; size_t used; } scratch; volatile int sum;\n"
		"__attribute__((noinline)) void work(struct doc *d) { d->errors->emit(d->errors); sum = 1; }\n"
		"int main(void) { scratch.base = malloc(4096); struct doc *volatile d = malloc(sizeof *d);\n"
		" d->errors = (struct sink *)(void *)scratch.base; strcpy(scratch.base, \"specification of it\");\n"
		" work(d); return sum; }\n",
		"use-after-free (call), high", "is stale: the memory that it points to has another owner now",
		"is held as another type by scratch .base"};
	expect(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_read_from_freed_blocks),
		cmocka_unit_test(the_block_is_that_which_the_code_read),
		cmocka_unit_test(calls_through_freed_blocks),
		cmocka_unit_test(a_far_index_off_a_freed_block_is_likely_only),
		cmocka_unit_test(what_is_left_in_the_freed_block_is_told),
		cmocka_unit_test(a_context_that_was_freed_is_stale),
		cmocka_unit_test(another_pointer_of_its_type_shows_what_the_context_was),
		cmocka_unit_test(frames_that_returned),
		cmocka_unit_test(pieces_of_an_arena_that_was_reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

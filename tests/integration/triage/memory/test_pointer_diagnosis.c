/* layer: triage */
/* The diagnosis of a bad pointer, on programs that crash from it while the test runs. */
#include "tests/support/grid.h"
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "heap/session/session.h"
#include "triage/cause.h"

struct told {
	const char *source, *verdict; /* "use-after-free (read), high" */
	const char *cause, *evidence; /* parts of them */
};

static const char *const compilers[] = {"gcc -g -O0", "gcc -g -O2", "gcc -g -O3", "clang -g -O0", "clang -g -O2"};

static bool has_evidence(const struct xc_verdict *v, const char *part)
{
	for (size_t i = 0; i < v->evidence_count; i++)
		if (strstr(v->evidence[i], part))
			return true;
	return false;
}

static void print(const struct xc_verdict *v)
{
	print_message("%s (%s), %s, %s: %s\n%s\n", v->class_name, v->kind ? v->kind : "-", v->severity, v->confidence,
		      v->cause ? v->cause : "", v->headline);
	for (size_t i = 0; i < v->evidence_count; i++)
		print_message("  %s\n", v->evidence[i]);
}

static void expect_of(const char *compiler, const char *language, const struct told *told)
{
	char command[200], verdict[200];
	snprintf(command, sizeof command, "%s -x %s", compiler, language);
	struct xc_process *process = died(command, told->source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, xc_heap_of(process, NULL));
	const struct xc_verdict *v = report->verdict;
	assert_non_null(v);
	snprintf(verdict, sizeof verdict, v->kind ? "%s (%s), %s" : "%s%s, %s", v->class_name, v->kind ? v->kind : "",
		 v->severity);
	bool good = strcmp(verdict, told->verdict) == 0 && v->cause && strstr(v->cause, told->cause) &&
		    has_evidence(v, told->evidence);
	if (!good || getenv("STORY"))
		print(v);
	if (!good)
		fail_msg("%s\n%s", command, told->source);
	xc_report_free(report);
	xc_heap_forget(process);
	close_process(process);
}

static void expect(const struct told *told)
{
	GRID(i, XC_COUNT(compilers))
		expect_of(compilers[i], "c", told);
}

/* By one of two, because optimisation levels differ. */
static void expect_of_two(const char *one, const char *other, const struct told *told)
{
	GRID(i, 2)
		expect_of(i ? other : one, "c", told);
}

#define HEAD                                                                                                           \
	"#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n"                          \
	"struct node { struct node *next; struct node *back; long id; void (*on)(void); char name[24]; };\n"           \
	"struct node *volatile head, *volatile other; volatile long sum; struct { long key; struct node *n; } "        \
	"*volatile "                                                                                                   \
	"table;\n"                                                                                                     \
	"__attribute__((noinline)) struct node *make(void) { struct node *n = calloc(1, sizeof *n); n->next = "        \
	"n->back = "                                                                                                   \
	"n; return n; }\n"
#define MAIN(body)                                                                                                     \
	HEAD "static void *hide(void *p) { __asm__ volatile(\"\" : \"+r\"(p) : : \"memory\"); return p; }\n"           \
	     "struct entry { long id; char key[16]; struct entry *next; struct entry *more; }; char *volatile "        \
	     "other_line;\n"                                                                                           \
	     "__attribute__((noinline)) long next_of(struct entry *e) { return e->next->id; }\n"                       \
	     "__attribute__((noinline)) long back_of(struct node *n) { return n->back->id; }\n"                        \
	     "int main(void) { head = make(); other = make(); " body " return 0; }\n"

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

static void pointers_over_the_end_of_a_block(void **state)
{
	(void)state;
	static const struct told index = {
		MAIN("volatile long i = 1 << 28; char *p = head->name; sum = p[i]; p[i + 5] = 1; "
		     "sum += p[3];"),
		"wild-read, medium", "past the end of a block of", "struct node (heap, live"};
	static const struct told run = {
		HEAD "__attribute__((noinline)) long add(const long *p, long n) { long t = 0; for (long i = 0; i < n; "
		     "i++) t "
		     "+= ((const volatile long *)p)[i]; return t; }\n"
		     "int main(void) { long *volatile p = malloc(300); sum = add(p, 1 << 30); return p[0] != 0; }\n",
		"heap-overrun (read), medium", "block", ""};
	static const struct told loop = {
		HEAD "__attribute__((noinline)) void fill(char *p, long n) { for (long i = 0; i < n; i++) p[i] = "
		     "(char)(i * 3); }\n"
		     "int main(void) { char *volatile big = malloc(400000); fill(big, 1 << 30); return big[0]; }\n",
		"heap-overrun (write), high", "block", "the block at"};
	expect(&index);
	expect(&run);
	expect_of_two("gcc -g -O0", "gcc -g -O2", &loop);
}

static void texts_over_pointers(void **state)
{
	(void)state;
	static const struct told cases[] = {
		{MAIN("strcpy(other->name, \"say hello me now\"); strcpy((char *)head, other->name); sum = "
		      "head->back->id;"),
		 "wild-read, high", "the object was overwritten, its block has another owner now, or it never was one",
		 "o me now"},
		{MAIN("strcpy(other->name, \"a longer text\"); memcpy((void *)&head->on, other->name, 8); head->on();"),
		 "pc-control (call), critical", "its bytes are text", "a longer text"},
		{MAIN("struct entry *e = calloc(1, sizeof *e); __asm__ volatile(\"\" : \"+r\"(e) : : \"memory\");\n"
		      "strcpy((char *)hide(e->key), \"sixteen letters.and more\"); sum = next_of(e);"),
		 "wild-read, high", "likely a string was written over the pointer: `key` of struct entry runs 9 bytes",
		 "sixteen letters.and more"},
		{MAIN("char *volatile line = malloc(24); head = make(); memcpy(hide(line), \"a text that is much "
		      "longer "
		      "than its block of 24 bytes\", 48); sum = back_of(head);"),
		 "wild-read, high", "likely a string was written over the pointer, from what lies before it in memory",
		 "the text begins at"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		expect(&cases[i]);
}

/* What is there is a text of somebody else, or left from one: no string was written over the pointer. */
static void texts_that_are_no_overrun(void **state)
{
	(void)state;
	static const struct told reused = {
		MAIN("struct entry *e = malloc(sizeof *e); free(hide(e)); other_line = malloc(sizeof *e);\n"
		     "strcpy(hide(other_line), \"text of somebody else, 40 bytes long..\"); sum = next_of(e);"),
		"use-after-free (read), high", "`e` (struct entry *) is stale",
		"is held as another type by other_line"};
	static const struct told cast = {
		MAIN("void **volatile any = malloc(8); *any = malloc(40); strcpy(hide(*any), \"text of its own, which "
		     "is "
		     "no entry\"); sum = next_of(*any);"),
		"wild-read, high", "points to text: the object was overwritten, its block has another owner now, or it",
		"where the type has none"};
	static const struct told unset = {
		MAIN("char *line = hide(malloc(40)); strcpy(line, \"login of guest number 2 ok, welcome\");\n"
		     "free(hide(line)); struct entry *e = hide(malloc(40)); e->id = 3; memset(e->key, 0, 16);\n"
		     "e->more = (struct entry *)0x1f2f3f4f5f61f; sum = next_of(hide(e));"),
		"wild-read, high", "and no others around them: likely it was never set", "it was"};
	expect(&reused);
	expect(&cast);
	expect(&unset);
}

static void letters_that_are_a_mapped_address_are_no_text(void **state)
{
	(void)state;
	static const struct told mapped = {
		"#include <sys/mman.h>\nint main(void) { char *p = mmap((void *)0x6b6b6b6b6000, 0x1000, PROT_READ, "
		"MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0); p[0x61] = 3; return 0; }\n",
		"write-rodata, medium", "read-only memory", "mapped r--"};
	/* 0x564142434448: no memory has these letters */
	static const struct told computed = {
		HEAD
		"#include <sys/mman.h>\n"
		"__attribute__((noinline)) long *at(long *p, int n) { __asm__(\"\" : \"+r\"(p)); return p + n; }\n"
		"int main(void) { long *numbers = mmap((void *)0x564142400000, 0x1000, PROT_READ | PROT_WRITE,\n"
		" MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0); volatile int far = 0x6889; int n = far;\n"
		" long *p = at(numbers, n); sum = *p; return n; }\n",
		"wild-read, medium", "points to unmapped memory", "rax = 0x564142434448"};
	expect(&mapped);
	expect_of_two("gcc -g -O2", "clang -g -O2", &computed);
}

static void poison(void **state)
{
	(void)state;
	static const struct told freed = {MAIN("memset(head, 0x5a, sizeof *head); sum = head->back->id;"),
					  "wild-read, high", "the value is one byte repeated",
					  "0x5a, repeated: a fill pattern, which no known allocator"};
	static const struct told dead = {MAIN("head->back = (struct node *)0xdeadbeefdeadbeef; sum = head->back->id;"),
					 "wild-read, high", "likely used after it was freed",
					 "that programs put where"};
	static const struct told unset = {HEAD "__attribute__((noinline)) void set(struct node **n) { sum++; }\n"
					       "int main(void) { struct node *n; set(&n); sum = n->id; return 0; }\n",
					  "wild-read, high", "likely never set", "0xaaaaaaaaaaaaaaaa"};
	expect(&freed);
	expect(&dead);
	expect_of_two("clang -g -O0 -ftrivial-auto-var-init=pattern", "clang -g -O2 -ftrivial-auto-var-init=pattern",
		      &unset);
}

static void flipped_bits(void **state)
{
	(void)state;
	static const struct told flipped = {
		MAIN("head->next = (struct node *)((uintptr_t)other ^ (uintptr_t)1 << 40); sum = head->next->id;"),
		"wild-read, medium", "one bit away", "bit 40"};
	static const struct told high = {
		MAIN("head->next = (struct node *)((uintptr_t)other ^ (uintptr_t)1 << 62); sum = head->next->id;"),
		"wild-read, medium", "one bit away", "bit 62"};
	expect(&flipped);
	expect(&high);
}

/* 2^31 elements away is one bit away, too. */
static void indexes_that_overflowed(void **state)
{
	(void)state;
	static const struct told told = {
		HEAD "__attribute__((noinline)) long *at(long *p, int n) { __asm__(\"\" : \"+r\"(p)); return p + n; }\n"
		     "int main(void) { long *numbers = malloc(80); volatile int least = INT32_MIN; int n = least;\n"
		     " long *p = at(numbers, n); sum = *p; return n; }\n",
		"wild-read, medium", "likely an index that is wrong or has overflowed", "is -2147483648"};
	expect_of_two("gcc -g -O2", "clang -g -O2", &told);
}

#define ROUTES(death)                                                                                                  \
	HEAD "#include <string.h>\nstruct route { char host[32]; int port; void (*call)(int); };\n"                    \
	     "struct table { int n; struct route *r; }; struct flex { long n; struct route r[]; };\n"                  \
	     "__attribute__((noinline)) int find(struct table *t, const char *h) { for (int i = 0; i < t->n; i++)\n"   \
	     " if (!strcmp(t->r[i].host, h)) return i; return -1; }\n"                                                 \
	     "__attribute__((noinline)) void hit(struct table *t, unsigned i) { sum = t->r[i].port; }\n"               \
	     "__attribute__((noinline)) void set(int *v, unsigned i) { v[i] = 1; }\n"                                  \
	     "int main(void) { struct table t = {2, calloc(2, sizeof *t.r)}; " death " return (int)sum; }\n"

/* The index is told as the source counts, and what is remarkable in it. */
static void indexes_are_told_in_elements(void **state)
{
	(void)state;
	static const struct told negative = {
		ROUTES("hit(&t, find(&t, \"h7\"));"), "wild-read, medium",
		"4294967295, that is (unsigned)-1, of elements of 0x30 bytes (struct route)", "instruction: mov"};
	static const struct told reversed = {
		ROUTES("hit(&t, __builtin_bswap32(t.n));"), "wild-read, medium",
		"33554432, that is 2 with its bytes reversed, of elements of 0x30 bytes (struct route)",
		"instruction: mov"};
	static const struct told number = {
		ROUTES("int *v = malloc(40); set(v, find(&t, \"h7\") - 1); sum = v[1];"), "wild-write, high",
		"`i` = 4294967294, that is (unsigned)-2, of elements of 0x4 bytes (int)", "int"};
	/* 300 elements; the block has room for 301 */
	static const struct told before = {
		"#include <stdlib.h>\nstruct hop { char dev[8]; long packets; } **hops; volatile long sum;\n"
		"__attribute__((noinline)) void work(int i) { sum += hops[i]->packets; }\n"
		"int main(void) { hops = malloc(300 * sizeof *hops); struct hop *h = calloc(1, sizeof *h);\n"
		" for (int i = 0; i < 300; i++) hops[i] = h; work(3); work(-127); return (int)sum; }\n",
		"heap-overrun (read), medium", "= -127, of elements of 0x8 bytes (struct hop *)",
		"struct hop * [up to 301] (heap, live, 2408 bytes)"};
	expect_of_two("gcc -g -O0", "clang -g -O0", &before);
	expect_of_two("gcc -g -O2", "clang -g -O2", &negative);
	expect_of_two("gcc -g -O2", "clang -g -O2", &reversed);
	expect_of_two("gcc -g -O0", "clang -g -O2", &number);
}

#define FIELDS(death)                                                                                                  \
	HEAD "#include <string.h>\nstruct user { int id; char name[12]; struct { char city[8]; char *street; } at;\n"  \
	     " struct user *boss; }; struct user all[3];\n"                                                            \
	     "struct shape { double v[4]; struct shape *next; int n; int i[3]; int *ids; };\n"                         \
	     "__attribute__((noinline)) void call(struct user *u, const char *n) { strcpy(u->name, n); }\n"            \
	     "__attribute__((noinline)) int boss(struct user *u) { return u->boss->id; }\n"                            \
	     "__attribute__((noinline)) void fill(double *v, int n) { for (int i = 0; i < n; i++) v[i] = i * 0.5; }\n" \
	     "__attribute__((noinline)) void count(int *v, int n) { for (int i = 0; i < n; i++) v[i] = i; }\n"         \
	     "__attribute__((noinline)) double next(struct shape *s) { return s->next->v[0]; }\n"                      \
	     "__attribute__((noinline)) int ids(struct shape *s) { return *s->ids; }\n"                                \
	     "int main(int argc, char **argv) { const char *n = argc ? \"Maximilian von Habsburg-Lothringen\" : "      \
	     "*argv;\n"                                                                                                \
	     " struct shape *s = calloc(1, sizeof *s); struct user *u = calloc(4, sizeof *u), me = {0};\n" death       \
	     " sum = u->id + me.id + s->n; return 0; }\n"

static const char over_text[] =
	"the text \"Maximilian von Habsburg-Lothringen\", 34 bytes and a NUL, runs 23 bytes over, "
	"into `at`, `boss`";

static void the_field_that_ran_over_is_told(void **state)
{
	(void)state;
	static const struct told heap = {FIELDS("call(&u[2], n); sum = boss(&u[2]);"), "wild-read, high",
					 "`name` of struct user runs 23 bytes over, into `at`, `boss`", over_text};
	static const struct told stack = {FIELDS("call(&me, n); sum = boss(&me);"), "wild-read, high",
					  "`me.name` runs 23 bytes over, into `at`, `boss`", over_text};
	static const struct told data = {FIELDS("call(&all[1], n); sum = boss(&all[1]);"), "wild-read, high",
					 "`all[1].name` runs 23 bytes over, into `at`, `boss`", over_text};
	/* a member behind the array is set again: the text is in two pieces */
	static const struct told again = {
		FIELDS("call(u, n); u->at.street = malloc(9); sum = boss(u);"), "wild-read, high",
		"`name` of struct user runs 23 bytes over, into `at`, `boss`", "set again since"};
	expect_of_two("gcc -g -O0", "clang -g -O2", &heap);
	expect_of_two("gcc -g -O2", "clang -g -O0", &stack);
	expect_of_two("gcc -g -O2", "clang -g -O0", &data);
	expect_of_two("gcc -g -O0", "clang -g -O2", &again);
}

static void numbers_are_told_as_such(void **state)
{
	(void)state;
	static const struct told twice = {
		FIELDS("fill(s->v, 5); sum = next(s);"), "wild-read, medium",
		"its bytes are the double 2.0: likely no pointer was stored there; likely `v` of "
		"struct shape was written past its end",
		"4 elements of double"};
	static const struct told pair = {
		FIELDS("count(s->i, 5); sum = ids(s);"), "wild-read, medium",
		"its bytes are the numbers 3 and 4 if they are two of 32 bits: likely no pointer "
		"was stored there; likely `i` of struct shape was written past its end",
		"3 elements of int"};
	static const struct told failed = {FIELDS("s->ids = (int *)-1L; sum = ids(s);"), "wild-read, medium",
					   "its bytes are the number -1, as MAP_FAILED", "the number -1"};
	expect_of_two("gcc -g -O0", "clang -g -O2", &twice);
	expect_of_two("gcc -g -O0", "clang -g -O2", &pair);
	expect_of_two("gcc -g -O2", "clang -g -O0", &failed);
}

/* Crashes from a pointer 3 << 30 longs after a block, with that number and another one in registers. */
#define TWO_NUMBERS(other)                                                                                             \
	"int main(void) { struct node *from = make(), *to = make(); long a = 3L << 30, b = " other ";\n"               \
	" char *p = (char *)from + a * 8; __asm__ volatile(\".rept 9; nop; .endr; mov (%0), %%rax\" : : \"r\"(p), "    \
	"\"r\"(a), \"r\"(b), \"r\"(from), "                                                                            \
	"\"r\"(to) : \"rax\"); return 0; }\n"

static void expect_no_diagnosis(const char *source)
{
	struct xc_process *process = died("gcc -g -O1 -x c", source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, xc_heap_of(process, NULL));
	if (strchr(report->verdict->cause, ';'))
		print(report->verdict);
	assert_string_equal(report->verdict->class_name, "wild-read");
	assert_string_equal(report->verdict->severity, "medium");
	assert_null(strchr(report->verdict->cause, ';'));
	xc_report_free(report);
	xc_heap_forget(process);
	close_process(process);
}

/* If two numbers can be the index, the block is ambiguous. */
static void two_indexes_that_lead_to_two_blocks_have_no_diagnosis(void **state)
{
	(void)state;
	expect_no_diagnosis(HEAD TWO_NUMBERS("a + ((char *)from - (char *)to) / 8"));
}

/* An index and its product lead to the same place: neither is reported as the index. */
static void an_index_and_its_product_lead_to_one_place(void **state)
{
	(void)state;
	static const struct told told = {HEAD TWO_NUMBERS("a * 8"), "wild-read, medium",
					 "by a multiple of a number in a register: likely an index",
					 "where a live block begins"};
	expect_of_two("gcc -g -O1", "clang -g -O1", &told);
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
		"use-after-free (call), high", "is stale: what it points to has another owner now",
		"is held as another type by scratch .base"};
	expect(&told);
}

/* Pointers that are merely wild, and pointers to live blocks, get no diagnosis. */
static void wild_values_have_no_diagnosis(void **state)
{
	(void)state;
	expect_no_diagnosis(MAIN("free(other); head->next = (void *)0x7123456789a0; sum = head->next->id;"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_read_from_freed_blocks),
		cmocka_unit_test(calls_through_freed_blocks),
		cmocka_unit_test(a_far_index_off_a_freed_block_is_likely_only),
		cmocka_unit_test(pointers_over_the_end_of_a_block),
		cmocka_unit_test(texts_over_pointers),
		cmocka_unit_test(texts_that_are_no_overrun),
		cmocka_unit_test(letters_that_are_a_mapped_address_are_no_text),
		cmocka_unit_test(poison),
		cmocka_unit_test(flipped_bits),
		cmocka_unit_test(indexes_that_overflowed),
		cmocka_unit_test(indexes_are_told_in_elements),
		cmocka_unit_test(the_field_that_ran_over_is_told),
		cmocka_unit_test(numbers_are_told_as_such),
		cmocka_unit_test(two_indexes_that_lead_to_two_blocks_have_no_diagnosis),
		cmocka_unit_test(an_index_and_its_product_lead_to_one_place),
		cmocka_unit_test(frames_that_returned),
		cmocka_unit_test(pieces_of_an_arena_that_was_reset),
		cmocka_unit_test(wild_values_have_no_diagnosis),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

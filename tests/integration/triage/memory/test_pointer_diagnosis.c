/* layer: triage */
/* The diagnosis of a bad pointer, on programs that crash from it while the test runs. */
#include "tests/support/grid.h"
#include "tests/support/opened.h"
#include "tests/support/run_verdict.h"

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
		"is stored in several freed blocks; the allocator put it there when they were freed: from which of "
		"them it was read is not known"};
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
	/* a row above the first one, of an image */
	static const struct told row = {
		HEAD
		"struct image { int stride, rows; unsigned char *px; };\n"
		"__attribute__((noinline)) long pixel(struct image *i, uint32_t x, uint32_t y, uint32_t radius) {\n"
		" uint32_t row = y - radius; return i->px[(size_t)row * i->stride + x]; }\n"
		"int main(void) { struct image i = {640, 300, calloc(300, 640)}; sum = pixel(&i, 5, 4, 4);\n"
		" sum = pixel(&i, 3, 3, 4); return 0; }\n",
		"wild-read, medium", "that is 640 × 4294967295, (unsigned)-1, + 3, of elements of 0x1 bytes",
		"unsigned char"};
	expect_of_two("gcc -g -O0", "clang -g -O2", &row);
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
	/* a member after the array is set again: the text is in two pieces */
	static const struct told again = {
		FIELDS("call(u, n); u->at.street = malloc(9); sum = boss(u);"), "wild-read, high",
		"`name` of struct user runs 23 bytes over, into `at`, `boss`", "set again since"};
	/* what the pointer leads to is a part of the object with the array */
	static const struct told inner = {
		"#include <stdlib.h>\n#include <string.h>\nstruct codec { long *table; int n; };\n"
		"struct channel { int id; char header[12]; struct codec codec; } *all[2]; volatile long sum;\n"
		"__attribute__((noinline)) void store(struct channel *c, const char *h) { char *to = c->header;\n"
		" __asm__(\"\" : \"+r\"(to)); strcpy(to, h); }\n"
		"__attribute__((noinline)) long first(struct codec *k) { return k->table[0]; }\n"
		"int main(void) { for (int i = 0; i < 2; i++) { all[i] = calloc(1, sizeof **all); all[i]->codec.table "
		"= "
		"calloc(4, 8); }\n store(all[1], \"ABCDEFGHIJKLMNOPQRSTUVW\"); sum = first(&all[1]->codec); return 0; "
		"}\n",
		"wild-read, high", "`header` of struct channel runs 12 bytes over, into `codec`",
		"was likely written past"};
	expect_of_two("gcc -g -O0", "clang -g -O2", &inner);
	expect_of_two("gcc -g -O0", "clang -g -O2", &heap);
	expect_of_two("gcc -g -O2", "clang -g -O0", &stack);
	expect_of_two("gcc -g -O2", "clang -g -O0", &data);
	expect_of_two("gcc -g -O0", "clang -g -O2", &again);
}

#define PEERS(death)                                                                                                   \
	"#include <stdlib.h>\n#include <string.h>\nstruct queue { long head; };\n"                                     \
	"struct peer { struct queue *q; int address; int sent; long bytes; char label[24]; };\n"                       \
	"volatile long sum; struct peer *made(void) { struct peer *p = calloc(1, sizeof *p);\n"                        \
	" p->q = calloc(1, sizeof *p->q); return p; }\n"                                                               \
	"__attribute__((noinline)) void set_label(struct peer *p, const char *text) { char *to = p->label;\n"          \
	" __asm__(\"\" : \"+r\"(to)); strcpy(to, text); }\n"                                                           \
	"__attribute__((noinline)) long flush(struct peer *p) { return p->q->head; }\n"                                \
	"int main(void) { struct queue *first = calloc(1, sizeof *first); struct peer *peers[3];\n"                    \
	" for (int i = 0; i < 3; i++) { peers[i] = calloc(1, sizeof **peers); peers[i]->q = first; }\n" death          \
	" sum += peers[0]->sent; return 0; }\n"

/* What typed pointers lead to keeps its type when text runs over it from the block before. */
static void text_from_the_block_before_is_no_text_of_this_one(void **state)
{
	(void)state;
	static const struct told type = {
		PEERS("set_label(peers[1], \"warehouse gateway, building 7 east, second rack from the door\");"
		      " sum = flush(peers[2]);"),
		"wild-read, high", "likely a string was written over the pointer, from what lies before it in memory",
		", in struct peer (heap, live, 56 bytes) .q, within"};
	struct told length = type;
	length.evidence = "61 bytes and a NUL, begins in that block at +0x18, `label`, which has 24 bytes from there "
			  "on: 38 too many";
	expect_of_two("gcc -g -O0", "clang -g -O0", &type);
	expect_of_two("gcc -g -O0", "clang -g -O0", &length);
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

/* A reference has no name where a function returned it: the function is told. */
static void a_reference_to_unmapped_memory_is_no_function(void **state)
{
	(void)state;
	static const struct told told = {
		"#include <string_view>\n#include <cstdlib>\n#include <sys/mman.h>\nstruct table { long *slots; };\n"
		"__attribute__((noinline)) long &slot(table &t, int i) { return t.slots[i]; }\n"
		"int main() { table t = {(long *)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, "
		"-1, "
		"0)};\n munmap(t.slots, 4096); return (int)slot(t, 3); }\n",
		"wild-read, medium", "reading `slot()`: `slot()` returned a reference to unmapped memory",
		"is not mapped"};
	expect_of("g++ -g -O0", "c++", &told);
	expect_of("clang++ -g -O0", "c++", &told);
	static const struct told view = {
		"#include <string_view>\n#include <sys/mman.h>\n"
		"__attribute__((noinline)) int expand(std::string_view body, size_t i) { return body[i] == '{'; }\n"
		"int main() { char *text = (char *)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, "
		"-1, 0);\n munmap(text, 4096); return expand(std::string_view(text + 26, 17), 3); }\n",
		"wild-read, medium", "reading `body[i]`: `body[i]` is in unmapped memory", "is not mapped"};
	expect_of("g++ -std=c++17 -g -O0", "c++", &view);
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
	/* written past the end of the element before; the reader has a pointer to its own element only */
	static const struct told before = {
		"#include <stdlib.h>\nstruct sensor { const char *unit; int id, count; long window[6]; };\n"
		"struct gateway { char site[16]; struct sensor sensors[4]; } *gateway; volatile long sum;\n"
		"__attribute__((noinline)) void push(struct sensor *s, long v) { long *w = s->window;\n"
		" __asm__(\"\" : \"+r\"(w)); w[s->count++] = v; }\n"
		"__attribute__((noinline)) long letters(struct sensor *s) { long n = 0; while (s->unit[n]) n++; return "
		"n; "
		"}\n int main(void) { gateway = calloc(1, sizeof *gateway); struct gateway *g = gateway;\n"
		" for (int i = 0; i < 4; i++) g->sensors[i].unit = \"bar\"; for (long i = 0; i < 7; i++)\n"
		" push(&g->sensors[1], 101300 + i); sum = letters(&g->sensors[2]); return g->site[0]; }\n",
		"wild-read, medium",
		"its bytes are the number 101306: likely no pointer was stored there; likely `sensors[1].window` of "
		"struct gateway was written past its end",
		"6 elements of long"};
	expect_of_two("gcc -g -O0", "clang -g -O0", &before);
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

#define CLASSES                                                                                                        \
	"#include <vector>\n#include <string>\n#include <stdlib.h>\n"                                                  \
	"struct value { virtual ~value() {} virtual long weight() const = 0; };\n"                                     \
	"struct word : value { std::string s; word(const char *t) : s(t) {} long weight() const override "             \
	"{ return (long)s.size(); } };\n"                                                                              \
	"struct list : value { std::vector<value *> items; long weight() const override { return 0; } };\n"            \
	"struct long_list : list { long more = 0; long weight() const override { return more; } };\n"                  \
	"__attribute__((noinline)) long total(const list &all) { long sum = 0;\n"                                      \
	"  for (value *one : all.items) sum += one->weight(); return sum; }\n"                                         \
	"template <typename T> T *hide(T *p) { __asm__ volatile(\"\" : \"+r\"(p) : : \"memory\"); return p; }\n"

/* A cast to the wrong class: the vtable has the right one. An object of a derived class is no conflict. */
static void objects_of_another_class(void **state)
{
	static const struct told cast = {
		CLASSES "int main() { value *v = new word(\"backend-7.internal:9000\"); list empty;\n"
			"return (int)(total(empty) + total(*static_cast<list *>(hide(v)))); }\n",
		"wild-read (tainted), high", "is no list: at it is a word, by its vtable: likely a wrong cast",
		"the object there is a word, by its vtable"};
	static const char derived[] =
		CLASSES "int main() { long_list *l = new long_list; l->items.push_back((value *)0x123456789000);\n"
			"return (int)total(*hide(l)); }\n";
	(void)state;
	static const char *const builds[] = {"g++ -g -O0", "clang++ -g -O0"};
	GRID(i, XC_COUNT(builds)) {
		char command[100];
		snprintf(command, sizeof command, "%s -x c++", builds[i]);
		expect_of(builds[i], "c++", &cast);
		struct judged j = judge(command, derived, true);
		assert_false(judged_says(&j, "by its vtable"));
		judged_free(&j);
	}
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
		cmocka_unit_test(the_block_is_that_which_the_code_read),
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
		cmocka_unit_test(text_from_the_block_before_is_no_text_of_this_one),
		cmocka_unit_test(what_is_left_in_the_freed_block_is_told),
		cmocka_unit_test(a_context_that_was_freed_is_stale),
		cmocka_unit_test(another_pointer_of_its_type_shows_what_the_context_was),
		cmocka_unit_test(a_reference_to_unmapped_memory_is_no_function),
		cmocka_unit_test(numbers_are_told_as_such),
		cmocka_unit_test(two_indexes_that_lead_to_two_blocks_have_no_diagnosis),
		cmocka_unit_test(an_index_and_its_product_lead_to_one_place),
		cmocka_unit_test(frames_that_returned),
		cmocka_unit_test(objects_of_another_class),
		cmocka_unit_test(pieces_of_an_arena_that_was_reset),
		cmocka_unit_test(wild_values_have_no_diagnosis),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* layer: triage tier: long */
/* What the value of a bad pointer tells: poison, indexes, numbers, objects of another class; or nothing. */
#include "tests/integration/triage/memory/diagnosed.h"

#include "tests/support/run_verdict.h"

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
	static const struct told narrowed = {
		HEAD
		"struct slot { long key, more[511]; }; struct ring { struct slot *slots; unsigned short head; };\n"
		"static struct slot *at(struct ring *r, short i) { return &r->slots[i]; }\n"
		"__attribute__((noinline)) void put(struct ring *r, int k) { struct slot *s = at(r, (short)r->head);\n"
		" s->key = k; r->head++; }\n"
		"int main(void) { struct ring r = {calloc(40000, sizeof *r.slots), 32760};\n"
		" for (int i = 0; i < 10; i++) put(&r, i); return 0; }\n",
		"wild-write, high", "-32768, that is 32768 as a signed number of 16 bits, ", "is not mapped"};
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
	expect_of_two("gcc -g -O2", "gcc -g -O1", &narrowed);
	expect_of_two("gcc -g -O0", "clang -g -O0", &before);
	expect_of_two("gcc -g -O2", "clang -g -O2", &negative);
	expect_of_two("gcc -g -O2", "clang -g -O2", &reversed);
	expect_of_two("gcc -g -O0", "clang -g -O2", &number);
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
	/* the wrong member of a union, and what was not meant by it */
	static const struct told tagged = {
		"#include <stdlib.h>\nenum kind { TEXT, NUMBER }; struct text { long refs; char bytes[8]; };\n"
		"struct value { enum kind kind; union { long number; struct text *text; } u; }; volatile long sum;\n"
		"__attribute__((noinline)) void set(struct value *v, long n) { v->u.number = n; }\n"
		"__attribute__((noinline)) long drop(struct value *v) { return v->kind == TEXT ? --v->u.text->refs : "
		"0; }\n"
		"int main(void) { struct value *v = calloc(1, sizeof *v); set(v, 33000); sum = drop(v); return 0; }\n",
		"wild-read, medium", "is 0x80e8, which is not a pointer: the number 33000",
		"that struct value is {kind = TEXT, u = {number = 33000, text = 0x80e8}}"};
	expect_of_two("gcc -g -O0", "gcc -g -O0", &tagged);
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

/* Pointers that are merely wild, and pointers to live blocks, get no diagnosis. */
static void wild_values_have_no_diagnosis(void **state)
{
	(void)state;
	expect_no_diagnosis(MAIN("free(other); head->next = (void *)0x7123456789a0; sum = head->next->id;"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poison),
		cmocka_unit_test(indexes_that_overflowed),
		cmocka_unit_test(indexes_are_told_in_elements),
		cmocka_unit_test(a_reference_to_unmapped_memory_is_no_function),
		cmocka_unit_test(numbers_are_told_as_such),
		cmocka_unit_test(two_indexes_that_lead_to_two_blocks_have_no_diagnosis),
		cmocka_unit_test(an_index_and_its_product_lead_to_one_place),
		cmocka_unit_test(objects_of_another_class),
		cmocka_unit_test(wild_values_have_no_diagnosis),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

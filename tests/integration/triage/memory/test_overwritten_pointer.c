/* layer: triage tier: long */
/* Pointers over the end of a block, and texts that ran over pointers. */
#include "tests/integration/triage/memory/diagnosed.h"

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
		 "wild-read, high", "likely a string was written over the pointer, from the object before it in memory",
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
		"wild-read, high", "and the bytes around them are not: likely it was never set", "it was"};
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
		"wild-read, high", "likely a string was written over the pointer, from the object before it in memory",
		", in struct peer (heap, live, 56 bytes) .q, within"};
	struct told length = type;
	length.evidence = "61 bytes and a NUL, begins in that block at +0x18, `label`, which has 24 bytes from there "
			  "on: 38 too many";
	expect_of_two("gcc -g -O0", "clang -g -O0", &type);
	expect_of_two("gcc -g -O0", "clang -g -O0", &length);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_over_the_end_of_a_block),
		cmocka_unit_test(texts_over_pointers),
		cmocka_unit_test(texts_that_are_no_overrun),
		cmocka_unit_test(letters_that_are_a_mapped_address_are_no_text),
		cmocka_unit_test(the_field_that_ran_over_is_told),
		cmocka_unit_test(text_from_the_block_before_is_no_text_of_this_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

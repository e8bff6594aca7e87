/* layer: heap tier: long */
/* Programs whose blocks resemble those of another type, or are told by doubtful pointers: a wrong type is worse than
 * none, and a guess makes nothing certain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/booked.h"

/* No block has another type than it has; `least` of them have one. */
static struct tally expect_none_wrong(const char *source, unsigned least)
{
	struct tally t = compared("gcc -g -O0 -x c", source);
	assert_int_equal(t.right, t.typed);
	assert_true(t.typed >= least);
	return t;
}

/* Nothing leads to the words but their texts: what lies in them is a guess, and so is what they point to. */
static void guess_makes_nothing_certain(void **state)
{
	(void)state;
	struct tally t = expect_none_wrong(
		"struct word { int kind; char *text; int len; struct word *next; };\n"
		"char *text(int i) { char t[40]; int n = sprintf(t, \"this is the text of word %d\", i);\n"
		"return memcpy(note(malloc(n + 1), \"char\"), t, n + 1); }\n"
		"void lose(void) { struct word *list = NULL; for (int i = 0; i < 50; i++) {\n"
		"struct word *w = NEW(struct word); w->text = text(i); w->kind = 1; w->next = list; list = w; } }\n"
		"int main(void) { lose(); scrub(); abort(); }\n",
		90);
	assert_int_equal(t.strong, 0);
}

/* A pointer in a small block may be one of several: the words after it say so. */
static void small_arrays_of_pointers_are_followed(void **state)
{
	(void)state;
	struct tally t = expect_none_wrong(
		"struct timer { long when; const char *name; void (*fire)(struct timer *); int period; };\n"
		"struct heap { struct timer **v; unsigned n, cap; } heaps[6]; struct timer **alone;\n"
		"void fire(struct timer *t) { t->when++; }\n"
		"struct timer *timer(int i) { struct timer *t = NEW(struct timer); t->when = i; t->name = \"tick\";\n"
		"t->fire = fire; t->period = 10; return t; }\n"
		"int main(void) { for (int i = 0; i < 6; i++) { heaps[i].n = heaps[i].cap = i + 1;\n"
		"heaps[i].v = calloc(i + 1, sizeof(struct timer *)); for (int k = 0; k <= i; k++) heaps[i].v[k] = "
		"timer(k); }\n"
		"alone = malloc(sizeof *alone); *alone = timer(9); scrub(); abort(); }\n",
		22);
	assert_int_equal(t.typed, t.blocks);
}

/* Two structs of one name: that of a function and that of the file. */
static void types_of_one_name_are_told_apart(void **state)
{
	(void)state;
	struct tally t = expect_none_wrong(
		"struct timer { long when; const char *name; long period; }; struct timer **table;\n"
		"void *own(void) { struct timer { int id; short set[10]; void *owner; }; static struct timer **mine;\n"
		"mine = calloc(40, sizeof *mine); for (int i = 0; i < 40; i++) { mine[i] = calloc(1, 60);\n"
		"mine[i]->id = i; mine[i]->owner = mine; } return mine; }\n"
		"void *kept; int main(void) { kept = own(); table = calloc(40, sizeof *table);\n"
		"for (int i = 0; i < 40; i++) { table[i] = NEW(struct timer); table[i]->when = i; table[i]->name = "
		"\"t\"; }\n"
		"scrub(); abort(); }\n",
		40);
	assert_int_equal(t.strong, 40);
}

/* A block that was freed, and handed out again: two variables have it, and what is in it speaks for one of them. */
static void what_is_in_a_block_decides_between_two_owners(void **state)
{
	(void)state;
	struct tally t = expect_none_wrong(
		"struct session { unsigned id, hits; struct session *next; char user[24]; long *account; long expires; "
		"};\n"
		"struct request { unsigned id; short method, flags; char path[48]; };\n"
		"struct { struct session *recent; } store; struct request *pending[4];\n"
		"int main(void) { store.recent = calloc(1, sizeof *store.recent); free(store.recent);\n"
		"struct request *r = NEW(struct request); r->id = 1002; r->method = 1; r->flags = 1;\n"
		"strcpy(r->path, \"/api/v1/users/bob/settings/notifications/email/\"); pending[2] = r; r = NULL; "
		"scrub(); abort(); }\n",
		1);
	assert_int_equal(t.right, 1);
}

#define NODES                                                                                                          \
	"struct link { struct link *next, *prev; };\n"                                                                 \
	"struct pipe { int readers, writers; unsigned char *ring; };\n"                                                \
	"struct disk { int major, minor; struct link bufs; };\n"                                                       \
	"struct buf { unsigned long block; struct link l; int dirty; };\n"                                             \
	"struct ops { const char *name; void (*evict)(void *); };\n"                                                   \
	"struct node { long number; union { struct pipe *pipe; struct disk *disk; char *link; void *any; } u;\n"       \
	"const struct ops *ops; };\n"                                                                                  \
	"void evict(void *p) { free(p); }\n"                                                                           \
	"const struct ops pipes = {\"pipe\", evict}, disks = {\"disk\", evict}; struct node *nodes[200];\n"            \
	"void add(struct disk *d, struct buf *b) { struct link *h = &d->bufs, *n = &b->l;\n"                           \
	"n->prev = h->prev; n->next = h; h->prev->next = n; h->prev = n; }\n"

/* Either fits the blocks of the other, as the allocator rounds up: what their lists' links lead to decides. */
static void fit_chooses_no_arm_of_a_union(void **state)
{
	(void)state;
	expect_none_wrong(
		NODES "void *pipe_of(int i) { struct pipe *p = NEW(struct pipe); p->readers = 1;\n"
		      "p->ring = note(malloc(128), \"unsigned char\"); memset(p->ring, 1 + i, 128); return p; }\n"
		      "void *disk_of(int i) { struct disk *d = NEW(struct disk); d->major = 8; d->minor = i;\n"
		      "d->bufs.next = d->bufs.prev = &d->bufs;\n"
		      "for (int k = 0; k < i % 3; k++) { struct buf *b = NEW(struct buf); b->block = k; add(d, b); } "
		      "return d; }\n"
		      "int main(void) { for (int i = 0; i < 200; i++) { struct node *n = nodes[i] = NEW(struct node);\n"
		      "n->number = i; n->ops = i % 2 ? &pipes : &disks; n->u.any = i % 2 ? pipe_of(i) : disk_of(i); }\n"
		      "scrub(); abort(); }\n",
		400);
}

/* A string fits a block of any size. Some pairs have more room than they need, as what glibc leaves of a split chunk; of
 * that size there are no other objects. */
static void objects_of_one_kind_have_one_type(void **state)
{
	(void)state;
	expect_none_wrong(
		"typedef struct object { struct object *next; unsigned char kind, marked; } object;\n"
		"struct value { int tag; union { long i; double d; object *o; } as; };\n"
		"typedef struct { object head; struct value car, cdr; } pair;\n"
		"typedef struct { object head; unsigned hash; int len; char chars[]; } string;\n"
		"typedef struct { object head; double low, high; long many[8]; } range;\n"
		"object *all; void add(void *p, int kind) { object *o = p; o->kind = kind; o->next = all; all = o; }\n"
		"void add_string(int i) { char t[99]; int n = sprintf(t, \"%0*d\", 1 + i % 30, i);\n"
		"string *s = note(malloc(sizeof *s + n + 1), \"string\"); s->hash = i * 977; s->len = n; "
		"strcpy(s->chars, t);\n"
		"add(s, 4); }\n"
		"void add_pair(int i) { pair *p = note(calloc(1, i % 20 ? sizeof *p : 64), \"pair\"); p->car.tag = 2;\n"
		"p->car.as.i = i; add(p, 5); }\n"
		"int main(void) { for (int i = 0; i < 400; i++) {\n"
		"if (i % 3 == 1) add_pair(i); else if (i % 3 == 2) add_string(i); else add(NEW(range), 6); }\n"
		"scrub(); abort(); }\n",
		320);
}

/* Of the program's types only one fits blocks with two pointers. Taken for it, they would point to bytes and ints that
 * are pointers. */
static void arrays_of_addresses_are_no_numbers(void **state)
{
	(void)state;
	expect_none_wrong(
		"struct code { int count, room; unsigned char *bytes; int *lines; int n, most; struct code *next; };\n"
		"struct function { int arity; struct code code; } *functions;\n"
		"long *pair(void) { long *p = note(calloc(2, 8), \"long\"); p[0] = (long)note(calloc(1, 16), \"?\");\n"
		"p[1] = (long)note(calloc(1, 16), \"?\"); return p; }\n"
		"void lose(void) { long *last = NULL; for (int i = 0; i < 100; i++) { long *p = note(calloc(5, 8), "
		"\"long\");\n"
		"p[0] = 3; p[1] = (long)pair(); p[2] = (long)pair(); p[4] = (long)last; last = p; } }\n"
		"int main(void) { functions = NEW(struct function); lose(); scrub(); abort(); }\n",
		1);
}

/* A number whose bytes are characters is at the beginning of an object of which nothing else is known. */
static void few_characters_make_no_text_of_a_large_block(void **state)
{
	(void)state;
	expect_none_wrong(
		"struct page { unsigned long number; unsigned char bytes[480]; };\n"
		"struct slot { unsigned long key; void *value; }; struct slot *slots;\n"
		"int main(void) { slots = note(calloc(64, sizeof(struct slot)), \"struct slot\"); for (int i = 0; i < "
		"60; i++) {\n"
		"struct page *p = NEW(struct page); p->number = i % 2 ? 0x4142434445 : 0x8081828384;\n"
		"for (int k = 20; k < 480; k++) p->bytes[k] = k * i;\n"
		"slots[i].key = p->number; slots[i].value = p; p = NEW(struct page); p->number = 0x4142434445; }\n"
		"scrub(); abort(); }\n",
		1);
}

/* Large blocks of which the program uses the beginning: only zeros follow. */
static void texts_before_zeros_are_texts_in_large_blocks(void **state)
{
	(void)state;
	expect_none_wrong(
		"struct slot { unsigned long key; void *value; }; struct slot *slots;\n"
		"char *value(int i) { char t[40]; int n = sprintf(t, \"value %d\", i);\n"
		"return memcpy(note(calloc(1, 130), \"char\"), t, n + 1); }\n"
		"int main(void) { slots = note(calloc(64, sizeof(struct slot)), \"struct slot\");\n"
		"for (int i = 0; i < 60; i++) { slots[i].key = i; slots[i].value = value(i + 100); value(i + 100); }\n"
		"scrub(); abort(); }\n",
		121);
}

/* A value and a member of a dictionary fit the block, and both may begin with a name: in the value it is one of a
 * union's pointers. */
static void what_a_union_may_be_is_doubt(void **state)
{
	(void)state;
	expect_none_wrong(
		"struct name { long hash; char text[40]; } *names[20]; struct list { long n; struct value *v; };\n"
		"struct value { union { long i; struct name *name; struct list *list; } u; char t; };\n"
		"struct member { struct name *key; struct value value; } *members;\n"
		"struct test { int what; void *operand; } *tests;\n"
		"int main(void) { members = note(calloc(20, sizeof *members), \"struct member\");\n"
		"tests = note(calloc(20, sizeof *tests), \"struct test\"); for (int i = 0; i < 20; i++) {\n"
		"members[i].key = names[i] = NEW(struct name); names[i]->hash = i * 7919; struct value *v = NEW(struct "
		"value);\n"
		"v->u.name = names[i]; v->t = 5; tests[i].operand = v; } scrub(); abort(); }\n",
		22);
}

/* The same for objects that nothing leads to. */
static void what_a_union_may_be_is_doubt_about_contents(void **state)
{
	(void)state;
	expect_none_wrong(
		"struct symbol { long id; struct symbol *next; } *symbols[40];\n"
		"struct name { struct name *chain; long len; struct symbol *bound; char text[8]; } *names;\n"
		"enum what { ALIGN, SECTION, CLEANUP }; struct mark { struct mark *next; enum what what;\n"
		"union { long align; char *section; struct symbol *cleanup; } u; long from; };\n"
		"void lose(void) { struct mark *last = NULL; for (int i = 0; i < 40; i++) { struct mark *m = "
		"NEW(struct "
		"mark);\n"
		"m->what = CLEANUP; m->u.cleanup = symbols[i]; m->next = i % 2 ? last : NULL; last = m; } }\n"
		"int main(void) { for (int i = 0; i < 40; i++) { symbols[i] = NEW(struct symbol); symbols[i]->id = i; "
		"}\n"
		"for (int i = 0; i < 5; i++) { struct name *n = NEW(struct name); n->chain = names; n->bound = "
		"symbols[i];\n"
		"n->len = 3; strcpy(n->text, \"abc\"); names = n; } lose(); scrub(); abort(); }\n",
		45);
}

/* Many types of libraries have an array of such numbers somewhere. */
static void numbers_behind_a_header_are_of_no_library(void **state)
{
	(void)state;
	expect_none_wrong(
		"struct head { unsigned len, room; void (*drop)(void *); }; unsigned long *all;\n"
		"int main(void) { struct head *h = note(calloc(1, 536), \"unsigned long\"); h->len = 50; "
		"h->room = 65;\n"
		"all = (unsigned long *)(h + 1); for (int i = 0; i < 50; i++) all[i] = i * 4096 + 3; scrub(); "
		"abort(); }\n",
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_union_may_be_is_doubt),
		cmocka_unit_test(what_a_union_may_be_is_doubt_about_contents),
		cmocka_unit_test(numbers_behind_a_header_are_of_no_library),
		cmocka_unit_test(guess_makes_nothing_certain),
		cmocka_unit_test(small_arrays_of_pointers_are_followed),
		cmocka_unit_test(types_of_one_name_are_told_apart),
		cmocka_unit_test(what_is_in_a_block_decides_between_two_owners),
		cmocka_unit_test(fit_chooses_no_arm_of_a_union),
		cmocka_unit_test(objects_of_one_kind_have_one_type),
		cmocka_unit_test(arrays_of_addresses_are_no_numbers),
		cmocka_unit_test(few_characters_make_no_text_of_a_large_block),
		cmocka_unit_test(texts_before_zeros_are_texts_in_large_blocks),
	};
	return cmocka_run_group_tests_name("typing_doubt", tests, NULL, NULL);
}

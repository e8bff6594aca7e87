/* layer: heap tier: long */
/* What the members of an object say of its type: which of several types of one size it has, and when nothing tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/booked.h"

#define BEHIND                                                                                                         \
	"struct slot { struct slot *next; void *it; } *slots;\n"                                                       \
	"void put(void *it) { struct slot *s = NEW(struct slot); s->it = it; s->next = slots; slots = s; }\n"

/* No block has another type than it has; all have one if `all`. */
static struct tally expect(const char *compiler, const char *source, bool all)
{
	struct tally t = compared(compiler, source);
	assert_int_equal(t.right, t.typed);
	if (all)
		assert_int_equal(t.typed, t.blocks);
	return t;
}

static const char gcc[] = "gcc -g -O0 -x c";

/* Of the types of that size, only one has numbers with a fraction there. */
static void doubles_tell(void **state)
{
	(void)state;
	expect(gcc,
	       BEHIND
	       "struct range { double low, high, step; }; struct account { long number, owner, sum; } *accounts;\n"
	       "struct matrix { struct account *of; double m[4]; }; struct table { struct account *of; long m[4]; } "
	       "*t;\n"
	       "int main(void) { accounts = NEW(struct account); accounts->number = 7; t = NEW(struct table);\n"
	       "for (int i = 0; i < 30; i++) { struct range *r = NEW(struct range); r->low = i / 3.0; r->high = i + "
	       "100;\n"
	       "r->step = 0.25; put(r); struct matrix *m = NEW(struct matrix); m->m[0] = m->m[3] = 1; m->m[1] = i * "
	       "0.1;\n"
	       "put(m); } scrub(); abort(); }\n",
	       true);
}

#define HOOKS                                                                                                          \
	BEHIND "struct hook { void (*call)(void); const void *from; long calls; };\n"                                  \
	       "struct named { const char *name; const void *of; long uses; } *some;\n"                                \
	       "void hooked(void) { abort(); } const char *const names[] = {\"Ann\", \"Bob\"};\n"                      \
	       "void *hook(int i) { struct hook *h = NEW(struct hook); h->call = hooked; h->calls = i; return h; }\n"  \
	       "void *named(int i) { struct named *n = NEW(struct named); n->name = names[i % 2]; n->uses = i; "       \
	       "return n; }\n"

/* Functions are among the instructions, texts are not. */
static void addresses_of_code_tell(void **state)
{
	(void)state;
	expect(gcc,
	       HOOKS "int main(void) { for (int i = 0; i < 30; i++) put(hook(i)); some = NEW(struct named); scrub(); "
		     "abort(); }\n",
	       true);
}

/* Linked in the older way, a program has its texts among its instructions. */
static void texts_among_code_are_texts(void **state)
{
	(void)state;
	expect("gcc -g -O0 -Wl,-z,noseparate-code -x c",
	       HOOKS "int main(void) { for (int i = 0; i < 30; i++) put(named(i)); put(hook(1)); scrub(); abort(); }\n",
	       false);
}

#define HEADS                                                                                                          \
	"struct head { int kind, marked; void *owner; } *heads[40]; int count;\n"                                      \
	"void *add(struct head *h, int kind) { h->kind = kind; return heads[count++] = h; }\n"

/* char * leads to text, unsigned char * to anything; an empty text says nothing. */
static void what_characters_are_tells(void **state)
{
	(void)state;
	expect(gcc,
	       HEADS
	       "struct title { struct head h; char *text; }; struct picture { struct head h; unsigned char *pixels; "
	       "};\n"
	       "int main(void) { for (int i = 0; i < 20; i++) {\n"
	       "struct title *t = add(&NEW(struct title)->h, 1); t->text = note(malloc(40), \"char\");\n"
	       "sprintf(t->text, \"a title that fills it: %d...........\", i);\n"
	       "struct picture *p = add(&NEW(struct picture)->h, 2); p->pixels = note(malloc(40), \"unsigned char\");\n"
	       "for (int k = 0; k < 40; k++) p->pixels[k] = 128 + k * 7 % 100; } scrub(); abort(); }\n",
	       true);
}

/* Two types differ only in what they point to, of which nothing else is known. */
static void targets_tell(void **state)
{
	(void)state;
	expect(gcc,
	       HEADS
	       "struct point { double x, y; } *point; struct action { const char *name; void (*act)(void); } *action;\n"
	       "struct place { struct head h; struct point *at; }; struct deed { struct head h; struct action *act; "
	       "};\n"
	       "int main(void) { point = NEW(struct point); action = NEW(struct action); for (int i = 0; i < 20; i++) "
	       "{\n"
	       "struct place *p = add(&NEW(struct place)->h, 1); p->at = NEW(struct point); p->at->x = i / 7.0;\n"
	       "p->at->y = 1; struct deed *d = add(&NEW(struct deed)->h, 2); d->act = NEW(struct action);\n"
	       "d->act->name = \"go\"; d->act->act = (void (*)(void))add; } scrub(); abort(); }\n",
	       true);
}

/* Neither of two types that begin with the header, nor the header itself. */
static void what_nothing_tells_is_not_guessed(void **state)
{
	(void)state;
	expect(gcc,
	       HEADS "struct size { struct head h; int width, height; }; struct span { struct head h; long length; };\n"
		     "struct span *span; int main(void) { span = NEW(struct span); for (int i = 0; i < 20; i++) {\n"
		     "struct size *s = add(&NEW(struct size)->h, 1); s->width = i; s->height = 2;\n"
		     "struct span *l = add(&NEW(struct span)->h, 2); l->length = i; } scrub(); abort(); }\n",
	       false);
}

/* There are many objects of one type, but another one explains more of the memory. */
static void the_usual_type_is_not_always_meant(void **state)
{
	(void)state;
	expect(gcc,
	       BEHIND "struct usual { void *of, *by; long n[3]; } *usual[100]; struct leaf { long id, count[7]; };\n"
		      "struct rare { struct leaf *leaf; void *of; long n[3]; } *rare; int main(void) { rare = "
		      "NEW(struct rare);\n"
		      "for (int i = 0; i < 100; i++) { usual[i] = NEW(struct usual); usual[i]->of = &slots; }\n"
		      "for (int i = 0; i < 20; i++) { struct rare *r = NEW(struct rare); r->leaf = NEW(struct leaf);\n"
		      "r->leaf->id = i; r->of = malloc(90); r->n[0] = i; put(r); } scrub(); abort(); }\n",
	       false);
}

/* The numbers in `op` tell which of two types of one size the work's argument has. */
static void operations_tell_their_arguments(void **state)
{
	(void)state;
	expect(gcc,
	       "struct work { int op; void *arg; } *work; struct move { double x, y, z; };\n"
	       "struct call { void (*function)(void); const char *name; long count; };\n"
	       "int main(void) { work = note(calloc(40, sizeof *work), \"struct work\"); for (int i = 0; i < 40; i++) "
	       "{\n"
	       "if (i % 4 == 0) { struct call *c = NEW(struct call); c->function = scrub; c->name = \"scrub\";\n"
	       "work[i].op = 1; work[i].arg = c; } else { struct move *m = NEW(struct move); m->x = i / 3.0; m->z = "
	       "2;\n"
	       "work[i].op = 2; work[i].arg = m; } } scrub(); abort(); }\n",
	       true);
}

/* The room behind the used elements was used for something else before. */
static void arrays_that_grow_are_arrays(void **state)
{
	(void)state;
	expect(gcc,
	       "struct item { long id; double weight; }; struct bag { struct bag *next; struct item **items; long "
	       "used; } *bags;\n"
	       "int main(void) { for (int i = 0; i < 20; i++) { void *old = malloc(256); memset(old, 0x5a, 256); "
	       "free(old);\n"
	       "struct bag *b = NEW(struct bag); b->items = note(malloc(256), \"struct item *\"); b->next = bags; bags "
	       "= b;\n"
	       "for (b->used = 0; b->used < 3; b->used++) b->items[b->used] = NEW(struct item); }\n"
	       "scrub(); abort(); }\n",
	       true);
}

/* The pointer of a union that is meant leads to a header, and so to an object that begins with it. */
static void headers_in_unions_are_only_beginnings(void **state)
{
	(void)state;
	expect(gcc,
	       "enum what { NUMBER, TEXT, OBJECT }; struct head { int kind, marked; struct head *next; };\n"
	       "struct file { struct head h; int fd, mode; }; struct timer { struct head h; long due; } *timer;\n"
	       "struct value { enum what what; union { double number; char *text; struct head *object; } u; } "
	       "*values;\n"
	       "int main(void) { timer = NEW(struct timer); values = note(calloc(60, sizeof *values), \"struct "
	       "value\");\n"
	       "for (int i = 0; i < 60; i++) { struct file *f = NEW(struct file); f->h.kind = 3; f->fd = i;\n"
	       "f->h.next = i ? values[i - 1].u.object : NULL; values[i].what = OBJECT; values[i].u.object = &f->h; }\n"
	       "scrub(); abort(); }\n",
	       false);
}

/* Bytes are no text: that excludes char *, and not the pointer to bytes beside it. */
static void bytes_in_unions_need_be_no_text(void **state)
{
	(void)state;
	struct tally t = expect(gcc,
				"struct sums { long sum[5]; };\n"
				"struct field { unsigned char form; union { char *text; unsigned char *bytes; struct "
				"sums *sums; } u; } *all;\n"
				"int main(void) { all = note(calloc(60, sizeof *all), \"struct field\"); for (int i = "
				"0; i < 60; i++) {\n"
				"all[i].form = i % 2; if (i % 2) { all[i].u.text = note(malloc(40), \"char\");\n"
				"sprintf(all[i].u.text, \"%039d\", i); } else { unsigned char *b = note(malloc(40), "
				"\"unsigned char\");\n"
				"for (int k = 0; k < 40; k++) b[k] = 128 + (k * 37 + i) % 120; all[i].u.bytes = b; } } "
				"scrub(); abort(); }\n",
				false);
	assert_true(t.typed >= 31);
}

/* A few bits beside a union, by any name. */
static void narrow_numbers_beside_unions_are_tags(void **state)
{
	(void)state;
	struct tally t = expect(
		gcc,
		"struct place { double x, y, z; }; struct deed { void (*act)(void); const char *name; long times; };\n"
		"struct any { unsigned t : 4, rest : 28; union { struct place *place; struct deed *deed; } u; } *all;\n"
		"int main(void) { all = note(calloc(60, sizeof *all), \"struct any\"); for (int i = 0; i < 60; i++) {\n"
		"all[i].t = 1 + i % 2; all[i].rest = i * 1000; if (i % 2) { all[i].u.place = NEW(struct place);\n"
		"all[i].u.place->x = i * 0.1; all[i].u.place->y = 1; } else { all[i].u.deed = NEW(struct deed);\n"
		"all[i].u.deed->act = scrub; all[i].u.deed->name = \"scrub\"; } } scrub(); abort(); }\n",
		true);
	assert_int_equal(t.strong, t.blocks);
}

/* A stale pointer typed the object first. When the others outvote it, what only the object leads to has a type, too. */
static void what_the_winner_points_to_is_followed(void **state)
{
	(void)state;
	struct tally t = expect(gcc,
				"struct leaf { long id, count; }; struct wrong { long a, b; void *c; }; struct good { "
				"long a, b; struct leaf *l; };\n"
				"struct wrong *a_stale; struct good *first, *second, *third;\n"
				"int main(void) { first = second = third = NEW(struct good); a_stale = (void *)first;\n"
				"first->l = NEW(struct leaf); first->l->id = 3; scrub(); abort(); }\n",
				true);
	assert_int_equal(t.blocks, 2);
}

/* An optional and a pair begin with their element, and a record with its first member: but nobody refers to them by a
 * pointer to that. */
static void elements_of_library_classes_are_no_headers(void **state)
{
	(void)state;
	struct tally t =
		expect("g++ -std=c++17 -g -O0 -x c++",
		       "#include <any>\n#include <optional>\n#include <utility>\n"
		       "struct place { double x, y, z; long n; }; struct label { std::any text; long at; };\n"
		       "std::optional<place> perhaps; std::pair<place, long> pair; label some;\n"
		       "struct level { place *at; std::any *what; level *next; } *levels;\n"
		       "int main() { for (int i = 0; i < 20; i++) { level *l = NEW(level); l->at = NEW(place);\n"
		       "l->at->x = i; l->at->n = i; l->what = NEW(std::any); l->next = levels; levels = l; }\n"
		       "scrub(); abort(); }\n",
		       true);
	assert_int_equal(t.blocks, 60);
	assert_int_equal(t.strong, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_of_library_classes_are_no_headers),
		cmocka_unit_test(doubles_tell),
		cmocka_unit_test(addresses_of_code_tell),
		cmocka_unit_test(texts_among_code_are_texts),
		cmocka_unit_test(what_characters_are_tells),
		cmocka_unit_test(targets_tell),
		cmocka_unit_test(what_nothing_tells_is_not_guessed),
		cmocka_unit_test(the_usual_type_is_not_always_meant),
		cmocka_unit_test(operations_tell_their_arguments),
		cmocka_unit_test(arrays_that_grow_are_arrays),
		cmocka_unit_test(headers_in_unions_are_only_beginnings),
		cmocka_unit_test(bytes_in_unions_need_be_no_text),
		cmocka_unit_test(narrow_numbers_beside_unions_are_tags),
		cmocka_unit_test(what_the_winner_points_to_is_followed),
	};
	return cmocka_run_group_tests_name("typing_member", tests, NULL, NULL);
}

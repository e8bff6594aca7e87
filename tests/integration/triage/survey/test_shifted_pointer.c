/* layer: triage tier: long */
/* Pointers that were changed by a few bytes, and what is read through them. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\n#include <sys/select.h>\n"                                          \
	"struct timer { struct timer *next; long due; char name[16]; };\n"                                             \
	"struct relay { int highest; fd_set watched; struct timer *timers; struct timer *idle; };\n"                   \
	"struct tree { long key; struct tree *left, *right; };\n"                                                      \
	"static struct relay relay; static volatile int zero;\n"                                                       \
	"static void add(struct timer **list, long due) { struct timer *t = calloc(1, sizeof *t); t->due = due; "      \
	"t->next = *list; *list = t; }\n"                                                                              \
	"__attribute__((noinline)) long earliest(struct relay *r) { long n = 0; for (struct timer *t = r->timers; t; " \
	"t = t->next) n += t->due; return n; }\n"                                                                      \
	"__attribute__((noinline)) long deepest(struct tree *t) { return t->left ? deepest(t->left) : t->key; }\n"

static void expect(const char *source, const struct wanted *want)
{
	static const char *const compilers[] = {"gcc -x c -g -O0", "gcc -x c -g -O1", "clang -x c -g -O0"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void a_pointer_that_something_has_changed_is_told(void **state)
{
	(void)state;
	expect(HEAD "int main(void) { add(&relay.timers, 3); add(&relay.timers, 5); int fd = 1024 + zero; "
		    "((unsigned long *)&relay.watched)[fd / 64] |= 1UL << fd % 64; return earliest(&relay); }\n",
	       &(struct wanted){.class_name = "wild-read",
				.says = "likely it came from `r->timers->next`, and `r->timers` itself was changed",
				.also = "by FD_SET() for a descriptor of FD_SETSIZE or more"});
	expect(HEAD "int main(void) { add(&relay.timers, 3); add(&relay.timers, 5); relay.timers = (struct timer "
		    "*)((char *)relay.timers + 3); return earliest(&relay); }\n",
	       &(struct wanted){
		       .class_name = "wild-read",
		       .says = "is not where a struct timer would begin, but 3 bytes behind the beginning of a block",
		       .also = "`r->timers` itself was changed"});
}

/* The bad pointer is where it was stored; nothing that leads there was changed. */
static void a_bad_pointer_behind_good_ones_is_not_blamed_on_them(void **state)
{
	(void)state;
	expect(HEAD "int main(void) { add(&relay.timers, 3); add(&relay.timers, 5); relay.timers->next = (struct timer "
		    "*)(0x1122334455667700UL + zero); return earliest(&relay); }\n",
	       &(struct wanted){.class_name = "wild-read", .without = "itself was changed"});
	expect(HEAD "int main(void) { struct tree *t = calloc(1, sizeof *t); t->left = (struct tree "
		    "*)(0x1122334455667701UL + zero); return deepest(t); }\n",
	       &(struct wanted){.class_name = "wild-read", .without = "itself was changed"});
}

/* A record may begin at an odd address if it is packed; and among equal bytes any address reads the same. */
static void a_pointer_that_may_be_odd_is_not_blamed(void **state)
{
	(void)state;
	expect(HEAD
	       "struct __attribute__((packed)) record { char kind; struct record *next; }; struct log { struct record "
	       "*first; }; __attribute__((noinline)) int walk(struct log *l) { int n = 0; for (struct record *r = "
	       "l->first; r; r = r->next) n += r->kind; return n; } int main(void) { char *bytes = calloc(1, 64); "
	       "struct log *l = malloc(sizeof *l); l->first = (struct record *)(bytes + 9); l->first->next = (struct "
	       "record *)(0x1122334455667700UL + zero); return walk(l); }\n",
	       &(struct wanted){.class_name = "wild-read", .without = "itself was changed"});
	expect(HEAD
	       "struct node { struct node *red; long key; }; struct set { struct node *root; }; "
	       "__attribute__((noinline)) long key(struct set *s) { struct node *n = s->root->red; return n->key; } "
	       "int main(void) { struct set *s = malloc(sizeof *s); s->root = malloc(sizeof *s->root + 16); "
	       "memset(s->root, 'A', sizeof *s->root + 16); s->root = (struct node *)((char *)s->root + 1); return "
	       "key(s) + zero; }\n",
	       &(struct wanted){.class_name = "wild-read", .without = "itself was changed"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pointer_that_something_has_changed_is_told),
		cmocka_unit_test(a_bad_pointer_behind_good_ones_is_not_blamed_on_them),
		cmocka_unit_test(a_pointer_that_may_be_odd_is_not_blamed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

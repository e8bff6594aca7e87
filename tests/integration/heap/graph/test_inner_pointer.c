/* layer: heap tier: long
 *
 * A typed pointer to the links of an intrusive list, or to a second base class, keeps its block as one to the block's
 * beginning does; a pointer to anything else in the middle does not. The program knows which is which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap/session/session.h"
#include "heap/types/typing.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"
#include "tests/support/told.h"

#define MADE                                                                                                           \
	"#define NOINLINE __attribute__((noinline))\n"                                                                 \
	"static NOINLINE void *made(unsigned long *told, unsigned long size) { void *n = calloc(1, size); *told = "    \
	"~(unsigned long)n; return n; }\n"                                                                             \
	"static NOINLINE void end(void) { volatile char c[16384]; memset((void *)c, 0, sizeof c); DIE; }\n"

static const char links[] = TOLD_DIE
	"#include <stdlib.h>\n#include <string.h>\n" MADE
	"struct list { struct list *next, *prev; }; struct tree { unsigned long up; struct tree *right, *left; };\n"
	"struct in { int n; struct list link; };\n"
	"struct dev { long id; char name[24]; struct list node; void *priv; struct in in; struct tree by_id; };\n"
	"unsigned long held_first, held_next, held_priv, held_first_priv, held_nested, held_tree, held_child, "
	"held_local, "
	"possible_void, possible_text, possible_gap, possible_moved;\n"
	"struct list devs, inner; struct tree *root; void *unknown; char *text;\n"
	"struct list *gap; struct in *items;\n"
	"static NOINLINE struct dev *dev(unsigned long *told) { struct dev *d = made(told, sizeof *d); d->id = 7; "
	"strcpy(d->name, \"a device\"); d->priv = made(&held_priv, 100); return d; }\n"
	"static NOINLINE void add(struct list *n, struct list *to) { n->next = to; n->prev = to->prev; "
	"to->prev->next = n; to->prev = n; }\n"
	"static NOINLINE void fill(void) {\n"
	"	devs.next = devs.prev = &devs; inner.next = inner.prev = &inner;\n"
	"	add(&dev(&held_first)->node, &devs); held_first_priv = held_priv;\n"
	"	add(&dev(&held_next)->node, &devs); for (int i = 0; i < 5; i++) { unsigned long u; "
	"add(&dev(&u)->node, &devs); }\n"
	"	struct dev *d = dev(&held_nested); add(&d->in.link, &inner);\n"
	"	root = &dev(&held_tree)->by_id; root->left = &dev(&held_child)->by_id;\n"
	"	unknown = &dev(&possible_void)->node; text = dev(&possible_text)->name;\n"
	"	gap = (struct list *)&dev(&possible_gap)->priv;\n"
	"	items = made(&possible_moved, 9 * sizeof *items); items += 3; }\n"
	"int main(void) { fill(); struct list *volatile local = &dev(&held_local)->node; end(); return local == gap; "
	"}\n";

static const char bases[] = TOLD_DIE
	"#include <cstdlib>\n#include <cstring>\n#include <vector>\n" MADE
	"struct A { virtual ~A() {} long a = 1; }; struct B { virtual void f() {} virtual ~B() {} long b = 2; };\n"
	"struct D : A, B { long d[4] = {}; void f() override {} }; struct E : D { long e = 0; };\n"
	"struct V { virtual ~V() {} long n = 1; };\n"
	"extern \"C\" { unsigned long held_second, held_derived, held_counted, possible_inside; }\n"
	"std::vector<B *> all; B *one; V *counted; long *inside;\n"
	"template<class T> static NOINLINE T *told(unsigned long *at, T *p) { *at = ~(unsigned long)p; return p; }\n"
	"static NOINLINE void fill() { for (int i = 0; i < 9; i++) all.push_back(told(&held_second, new D));\n"
	"	one = told(&held_derived, new E); counted = told(&held_counted, new V[5]);\n"
	"	inside = &told(&possible_inside, new D)->d[1]; }\n"
	"int main() { unsigned long u; made(&u, 8); fill(); end(); return 0; }\n";

static void check(const struct xc_graph *graph, const char *by, const char *const *names, bool possibly)
{
	for (size_t i = 0; names[i]; i++) {
		uint32_t block = told_block(graph, names[i]);
		if (xc_graph_leaked(graph, block))
			fail_msg("%s: %s is leaked", by, names[i]);
		if (xc_graph_possibly_leaked(graph, block) != possibly)
			fail_msg("%s: %s is %s", by, names[i], possibly ? "held" : "possibly leaked");
	}
}

static void check_both(const char *by, const char *source, const char *const *held, const char *const *possible)
{
	struct xc_process *process = died(by, source);
	struct xc_heap *heap = xc_heap_of(process, NULL);
	struct xc_graph *graph;
	struct xc_typing *typing;
	CHECK_OK(xc_graph_of(heap, &graph));
	check(graph, by, possible, true);
	CHECK_OK(xc_typing_of(heap, &typing));
	check(graph, by, held, false);
	check(graph, by, possible, true);
	xc_heap_forget(process);
	heap = xc_heap_of(process, NULL); /* types first */
	CHECK_OK(xc_typing_of(heap, &typing));
	CHECK_OK(xc_graph_of(heap, &graph));
	check(graph, by, held, false);
	check(graph, by, possible, true);
	xc_heap_forget(process);
	close_process(process);
}

/* Blocks of new memory link to the next one, as do the items of a list that is made in order. */
static const char lists[] = TOLD_DIE
	"#include <stdlib.h>\n#include <string.h>\n" MADE
	"struct item { struct item *next; long v; char name[48]; }; struct item *head, **tail = &head, *unused;\n"
	"unsigned long held_second, held_last, possible_next;\n"
	"static NOINLINE void fill(void) {\n"
	"	for (int i = 0; i < 300; i++) { struct item *n = made(i == 1 ? &held_second : &held_last, sizeof *n);\n"
	"		n->v = i; *tail = n; tail = &n->next; }\n"
	"	for (int i = 0; i < 500 && !possible_next; i++) { unused = malloc(sizeof *unused); struct item *n = "
	"malloc(sizeof *n);\n"
	"		memset(n, 0, sizeof *n); n->v = 7; if (n == unused + 1 && unused->next == n && !unused->v) "
	"possible_next = ~(unsigned long)n; } }\n"
	"int main(void) { fill(); tail = 0; end(); return 0; }\n";

static void links_of_lists_and_trees_keep_their_blocks(void **state)
{
	(void)state;
	static const char *const by[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O1 -x c"};
	static const char *const held[] = {"held_first", "held_next",  "held_first_priv", "held_nested",
					   "held_tree",  "held_child", "held_local",      NULL};
	static const char *const possible[] = {"possible_void", "possible_text", "possible_gap", "possible_moved",
					       NULL};
	GRID(i, XC_COUNT(by))
		check_both(by[i], links, held, possible);
}

static void second_bases_keep_their_blocks(void **state)
{
	(void)state;
	static const char *const by[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -x c++", "clang++ -g -O0 -x c++"};
	static const char *const held[] = {"held_second", "held_derived", "held_counted", NULL};
	static const char *const possible[] = {"possible_inside", NULL};
	GRID(i, XC_COUNT(by))
		check_both(by[i], bases, held, possible);
}

static void lists_that_were_made_in_order_are_no_free_lists(void **state)
{
	(void)state;
	static const char *const by[] = {"gcc -g -O0 -x c -Wl,--no-as-needed -l:libmimalloc.so.2",
					 "gcc -g -O0 -x c -Wl,--no-as-needed -l:libtcmalloc_minimal.so.4"};
	static const char *const held[] = {"held_second", "held_last", NULL}, *const possible[] = {"possible_next",
												   NULL};
	GRID(i, XC_COUNT(by))
		check_both(by[i], lists, held, possible);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_of_lists_and_trees_keep_their_blocks),
		cmocka_unit_test(second_bases_keep_their_blocks),
		cmocka_unit_test(lists_that_were_made_in_order_are_no_free_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* layer: heap
 *
 * What only the room behind a vector's last element, or the end of an array, leads to is possibly leaked; elements are
 * held. The program knows which is which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "heap/session/session.h"
#include "heap/types/typing.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"
#include "tests/support/told.h"

static const char source[] = TOLD_DIE
	"#include <cstdlib>\n#include <cstring>\n#include <vector>\n#include <string>\n#include <stack>\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"struct item { item *next; long id; char name[40]; };\n"
	"struct pair { long key; item *value; };\n"
	"struct owner { long n; std::vector<item *> items; };\n"
	"#define N(name) unsigned long name;\n"
	"extern \"C\" { N(cleared) N(cleared_next) N(popped) N(kept) N(kept_next) N(cleared_pair) N(kept_pair) "
	"N(cleared_owned) N(kept_owned) N(cleared_local) N(kept_local) N(cleared_elsewhere) N(nested_cleared) "
	"N(nested_kept) N(erased) N(kept_stack) }\n"
	"std::vector<item *> all, other; std::vector<pair> pairs; owner *owned; std::vector<std::vector<item *>> "
	"nested;\n"
	"std::stack<item *, std::vector<item *>> stacked; item *elsewhere; std::vector<std::string> texts;\n"
	"static NOINLINE item *made(unsigned long *told) { item *n = (item *)calloc(1, sizeof *n); *told = ~(unsigned "
	"long)n; return n; }\n"
	"static NOINLINE void fill(void) {\n"
	"	for (int i = 0; i < 5; i++) { all.push_back(made(&cleared)); all.back()->next = made(&cleared_next); "
	"}\n"
	"	all.push_back(elsewhere = made(&cleared_elsewhere)); all.clear();\n"
	"	other.push_back(made(&kept)); other.back()->next = made(&kept_next); "
	"other.push_back(made(&popped)); other.pop_back();\n"
	"	pairs.push_back({1, made(&kept_pair)}); pairs.push_back({1, made(&cleared_pair)}); "
	"pairs.pop_back();\n"
	"	owned = new owner(); owned->items.push_back(made(&kept_owned)); "
	"owned->items.push_back(made(&cleared_owned)); owned->items.pop_back();\n"
	"	nested.resize(2); nested[1].push_back(made(&nested_kept)); nested[1].push_back(made(&nested_cleared)); "
	"nested[1].pop_back();\n"
	"	stacked.push(made(&kept_stack)); stacked.push(made(&erased)); stacked.pop(); "
	"texts.push_back(std::string(100, 'x')); }\n"
	"static NOINLINE void end(std::vector<item *> &v) {\n"
	"	volatile char c[16384]; memset((void *)c, 0, sizeof c);\n"
	"	DIE; v.clear(); }\n"
	"int main() { fill(); std::vector<item *> local; local.push_back(made(&kept_local)); "
	"local.push_back(made(&cleared_local));\n"
	"	local.pop_back(); end(local); return 0; }\n";

static void room_behind_elements_holds_nothing_firmly(void **state)
{
	(void)state;
	static const char *const by[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -x c++", "clang++ -g -O0 -x c++"};
	static const char *const possible[] = {"cleared",       "cleared_next",   "popped", "cleared_pair",
					       "cleared_owned", "nested_cleared", "erased"};
	static const char *const held[] = {"kept",       "kept_next",   "kept_pair",  "kept_owned",
					   "kept_local", "nested_kept", "kept_stack", "cleared_elsewhere"};
	GRID(i, XC_COUNT(by)) {
		struct xc_process *process = died(by[i], source);
		struct xc_heap *heap = xc_heap_of(process, NULL);
		CHECK_OK(xc_heap_analyze(heap));
		for (size_t k = 0; k < XC_COUNT(possible); k++)
			if (!xc_graph_only_stale(heap->graph, told_block(heap->graph, possible[k])))
				fail_msg("%s: %s is held", by[i], possible[k]);
		for (size_t k = 0; k < XC_COUNT(held); k++)
			if (xc_graph_leaked(heap->graph, told_block(heap->graph, held[k])) ||
			    xc_graph_only_stale(heap->graph, told_block(heap->graph, held[k])))
				fail_msg("%s: %s is not held", by[i], held[k]);
		xc_heap_forget(process);
		close_process(process);
	}
}

static void check_text(const struct xc_graph *graph, const char *name, const char *wanted)
{
	struct xc_text text = {0};
	assert_true(xc_graph_stale_text(graph, told_block(graph, name), &text));
	if (!strstr(xc_text_string(&text), wanted))
		fail_msg("%s: %s", name, xc_text_string(&text));
	xc_text_fini(&text);
}

/* Before and after types are known. */
static void the_vector_is_told(void **state)
{
	(void)state;
	struct xc_process *process = died("g++ -g -O0 -x c++", source);
	struct xc_heap *heap = xc_heap_of(process, NULL);
	struct xc_graph *graph;
	struct xc_typing *typing;
	struct xc_text text = {0};
	CHECK_OK(xc_graph_of(heap, &graph));
	assert_false(xc_graph_only_stale(graph, told_block(graph, "cleared")));
	CHECK_OK(xc_typing_of(heap, &typing));
	check_text(graph, "cleared", "an element behind the end of `all`");
	check_text(graph, "cleared_owned", "an element behind the end of a vector in `owner`");
	check_text(graph, "cleared_local", "an element behind the end of `local of main`");
	assert_false(xc_graph_stale_text(graph, told_block(graph, "kept"), &text));
	assert_false(xc_graph_stale_text(graph, told_block(graph, "cleared_next"), &text));
	xc_heap_forget(process);
	close_process(process);
}

/* Where blocks have no headers, the end of a full vector is the beginning of the next block. */
static const char full[] = TOLD_DIE
	"#include <cstdlib>\n#include <cstring>\n#include <vector>\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"#define N(name) unsigned long name;\n"
	"extern \"C\" { N(neighbour) N(neighbour_owned) N(kept) N(element) N(storage) }\n"
	"struct owner { long n; std::vector<void *> items; };\n"
	"std::vector<void *> all, other; owner *owned; void *plain; void *spare[2000]; int spares;\n"
	"static NOINLINE void fill(std::vector<void *> &v, unsigned long *next) {\n"
	"	v.reserve(8); for (int i = 0; i < 8; i++) { void *p = calloc(1, 200); element = ~(unsigned long)p; "
	"v.push_back(p); }\n"
	"	storage = ~(unsigned long)v.data();\n"
	"	for (int i = 0; i < 500 && !*next; i++) { void *p = calloc(1, 64);\n"
	"		if (p == (void *)(v.data() + 8)) *next = ~(unsigned long)p; else spare[spares++] = p; } }\n"
	"static NOINLINE void end(void) { volatile char c[16384]; memset((void *)c, 0, sizeof c);\n"
	"	DIE; }\n"
	"int main() { fill(all, &neighbour); owned = new owner(); fill(owned->items, &neighbour_owned); fill(other, "
	"&kept);\n"
	"	plain = (void *)~kept; end(); return 0; }\n";

static void ends_of_arrays_hold_nothing_firmly(void **state)
{
	(void)state;
	struct xc_process *process = died("g++ -g -O0 -x c++ -Wl,--no-as-needed -l:libmimalloc.so.2", full);
	struct xc_heap *heap = xc_heap_of(process, NULL);
	struct xc_graph *graph;
	CHECK_OK(xc_graph_of(heap, &graph));
	assert_false(xc_graph_possibly_leaked(graph, told_block(graph, "neighbour")));
	CHECK_OK(xc_heap_analyze(heap));
	assert_true(xc_graph_only_stale(graph, told_block(graph, "neighbour")));
	assert_true(xc_graph_only_stale(graph, told_block(graph, "neighbour_owned")));
	check_text(graph, "neighbour", "the end of what comes before it, of `all`");
	check_text(graph, "neighbour_owned", "the end of what comes before it, of a vector in `owner`");
	assert_false(xc_graph_possibly_leaked(graph, told_block(graph, "kept")));
	assert_false(xc_graph_possibly_leaked(graph, told_block(graph, "element")));
	assert_false(xc_graph_possibly_leaked(graph, told_block(graph, "storage")));
	xc_heap_forget(process);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_behind_elements_holds_nothing_firmly),
		cmocka_unit_test(the_vector_is_told),
		cmocka_unit_test(ends_of_arrays_hold_nothing_firmly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* layer: heap tier: long
 *
 * What only the room after a vector's last element, or the end of an array, leads to is possibly leaked; elements are
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
	"#include <queue>\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"struct item { item *next; long id; char name[40]; };\n"
	"struct pair { long key; item *value; };\n"
	"struct owner { long n; std::vector<item *> items; };\n"
	"#define N(name) unsigned long name;\n"
	"extern \"C\" { N(cleared) N(cleared_next) N(popped) N(kept) N(kept_next) N(cleared_pair) N(kept_pair) "
	"N(cleared_owned) N(kept_owned) N(cleared_local) N(kept_local) N(cleared_elsewhere) N(nested_cleared) "
	"N(nested_kept) N(erased) N(kept_stack) "
	"N(served) N(dropped) N(kept_queue) N(kept_queue_next) N(unlinked) }\n"
	"std::vector<item *> all, other; std::vector<pair> pairs; owner *owned; std::vector<std::vector<item *>> "
	"nested;\n"
	"std::stack<item *, std::vector<item *>> stacked; item *elsewhere; std::vector<std::string> texts;\n"
	"std::deque<item *> line; struct owner_of_queue { long n; std::queue<pair> waiting; } *queued;\n"
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
	"texts.push_back(std::string(100, 'x'));\n"
	"	for (int i = 0; i < 100; i++) line.push_back(made(i == 70 ? &served : i == 99 ? &dropped : "
	"&kept_queue));\n"
	"	line[80]->next = made(&kept_queue_next); for (int i = 0; i < 75; i++) line.pop_front(); "
	"line.pop_back();\n"
	"	queued = new owner_of_queue(); queued->waiting.push({1, made(&unlinked)}); queued->waiting.push({2, "
	"made(&kept_pair)});\n"
	"	queued->waiting.pop(); }\n"
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
					       "cleared_owned", "nested_cleared", "erased", "served",
					       "dropped",       "unlinked"};
	static const char *const held[] = {"kept",       "kept_next",      "kept_pair",  "kept_owned",
					   "kept_local", "nested_kept",    "kept_stack", "cleared_elsewhere",
					   "kept_queue", "kept_queue_next"};
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
	check_text(graph, "cleared", "outside of the elements of `all`");
	check_text(graph, "cleared_owned", "outside of the elements of a container in `owner`");
	check_text(graph, "served", "outside of the elements of `line`");
	check_text(graph, "unlinked", "outside of the elements of a container in `owner_of_queue`");
	check_text(graph, "cleared_local", "outside of the elements of `local of main`");
	assert_false(xc_graph_stale_text(graph, told_block(graph, "kept"), &text));
	assert_false(xc_graph_stale_text(graph, told_block(graph, "cleared_next"), &text));
	xc_heap_forget(process);
	close_process(process);
}

/* What was removed from a hash table of Rust stays in its bucket. */
static void empty_buckets_hold_nothing_firmly(void **state)
{
	static const char table[] =
		"use std::collections::HashMap;\n"
		"#[no_mangle] pub static mut removed: usize = 0; #[no_mangle] pub static mut kept: usize = 0;\n"
		"type Table = HashMap<u32, *mut [u8; 200]>;\n"
		"#[inline(never)] fn fill(all: &mut Table) { for i in 0..5u32 { all.insert(i, "
		"Box::into_raw(Box::new([i as u8; "
		"200]))); }\n"
		"  unsafe { removed = !(all[&2] as usize); kept = !(all[&3] as usize); } all.remove(&2); }\n"
		"#[inline(never)] fn end(all: &Table) { let mut room = [0u8; 16384]; for i in 0..room.len() {\n"
		"  unsafe { std::ptr::write_volatile(&mut room[i], 0) } } if all.len() > 0 { std::process::abort() } "
		"}\n"
		"fn main() { let mut all = Table::new(); fill(&mut all); end(&all); end(&all); }\n";
	(void)state;
	check_needs("rustc");
	struct xc_process *process =
		died("sh -c 'rustc --crate-name program -g -C opt-level=0 -A warnings -o \"$3\" -' sh", table);
	struct xc_heap *heap = xc_heap_of(process, NULL);
	CHECK_OK(xc_heap_analyze(heap));
	assert_true(xc_graph_only_stale(heap->graph, told_block(heap->graph, "removed")));
	assert_false(xc_graph_only_stale(heap->graph, told_block(heap->graph, "kept")));
	check_text(heap->graph, "removed", "an empty bucket of `all");
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
	check_text(graph, "neighbour_owned", "the end of what comes before it, of a container in `owner`");
	assert_false(xc_graph_possibly_leaked(graph, told_block(graph, "kept")));
	assert_false(xc_graph_possibly_leaked(graph, told_block(graph, "element")));
	assert_false(xc_graph_possibly_leaked(graph, told_block(graph, "storage")));
	xc_heap_forget(process);
	close_process(process);
}

/* The map of a deque and the room of a vector come from malloc as they are: with what their memory was used for before.
 * It holds nothing, and says nothing about the types of what it leads to. */
static const char reused[] = TOLD_DIE
	"#include <cstdlib>\n#include <cstring>\n#include <vector>\n#include <deque>\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"#define N(name) unsigned long name;\n"
	"extern \"C\" { N(in_map) N(in_room) N(after_map) N(after_room) N(element) N(first) N(pushed) }\n"
	"struct item { item *next; long id; char name[200]; };\n"
	"std::deque<item *> line; std::vector<item *> all; void *held[8];\n"
	"static NOINLINE void *lost(unsigned long *told, size_t size) { void *p = calloc(1, size); *told = ~(unsigned "
	"long)p; return p; }\n"
	"static NOINLINE void used_before(size_t size, unsigned long *told, size_t other, unsigned long *kept) {\n"
	"	void **p = (void **)malloc(size); memset(p, 0, size); p[6] = lost(told, other);\n"
	"	p[7] = held[kept == &after_map] = lost(kept, other); free(p); }\n"
	"static NOINLINE item *made(unsigned long *told) { return (item *)lost(told, sizeof(item)); }\n"
	"static NOINLINE void fill(void) {\n"
	"	item *one = made(&first);\n"
	"	used_before(64, &in_map, 512, &after_map); line = std::deque<item *>(); line.push_back(one);\n"
	"	used_before(64, &in_room, sizeof(item), &after_room); all.reserve(8); all.push_back(made(&element));\n"
	"	for (int i = 0; i < 70; i++) line.push_back(made(&pushed)); }\n"
	"static NOINLINE void end(void) { volatile char c[16384]; memset((void *)c, 0, sizeof c);\n"
	"	DIE; }\n"
	"int main() { fill(); end(); return 0; }\n";

static const char *type_of(const struct xc_heap *heap, const char *name)
{
	uint32_t block = told_block(heap->graph, name);
	return heap->typing->by_block[block] ? xc_typing_name(heap->typing, block) : NULL;
}

static void what_room_held_before_says_nothing(void **state)
{
	static const char *const lost[] = {"in_map", "in_room"}, *const kept[] = {"after_map", "after_room"},
				 *const items[] = {"element", "first", "pushed"};
	(void)state;
	struct xc_process *process = died("g++ -g -O0 -x c++", reused);
	struct xc_heap *heap = xc_heap_of(process, NULL);
	CHECK_OK(xc_heap_analyze(heap));
	for (size_t i = 0; i < XC_COUNT(lost); i++) {
		if (!xc_graph_only_stale(heap->graph, told_block(heap->graph, lost[i])))
			fail_msg("%s is held", lost[i]);
		assert_false(xc_graph_possibly_leaked(heap->graph, told_block(heap->graph, kept[i])));
		if (type_of(heap, lost[i]) || type_of(heap, kept[i]))
			fail_msg("%s is %s, %s is %s", lost[i], type_of(heap, lost[i]), kept[i],
				 type_of(heap, kept[i]));
	}
	for (size_t i = 0; i < XC_COUNT(items); i++)
		assert_string_equal(type_of(heap, items[i]), "item");
	xc_heap_forget(process);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_room_held_before_says_nothing),
		cmocka_unit_test(room_behind_elements_holds_nothing_firmly),
		cmocka_unit_test(the_vector_is_told),
		cmocka_unit_test(empty_buckets_hold_nothing_firmly),
		cmocka_unit_test(ends_of_arrays_hold_nothing_firmly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

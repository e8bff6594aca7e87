/* layer: heap
 *
 * Packed structs hold pointers that are not aligned: those that a type tells keep blocks alive. Bytes that no type
 * calls a pointer do not. The program knows which is which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap/graph/misaligned.h"
#include "heap/graph/retention.h"
#include "heap/query/refs.h"
#include "heap/session/session.h"
#include "heap/types/typing.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"
#include "tests/support/told.h"

static const char source[] = TOLD_DIE
	"#include <stdlib.h>\n#include <string.h>\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"struct item { struct item *next; long id; char name[40]; };\n"
	"struct __attribute__((packed)) pk { char c; struct item *p; short s; struct item *q; };\n"
	"struct around { long n; char c; struct pk in; };\n"
	"struct __attribute__((packed)) three { char c; struct item *p[3]; };\n"
	"struct __attribute__((packed)) either { char kind; union { struct item *it; long number; } u; };\n"
	"unsigned long held_global, held_second, held_next, held_nested, held_array, held_union, held_thread, "
	"held_static,\n"
	"	held_block, held_in_block, held_local, held_middle, leaked_bytes, leaked_number, leaked_plain;\n"
	"struct pk one[2]; struct around around; struct three three; struct either either;\n"
	"static __thread struct pk own; struct pk *block; char bytes[40]; struct __attribute__((packed)) { char c; "
	"long n; } number;\n"
	"static NOINLINE struct item *made(unsigned long *told) { struct item *n = calloc(1, sizeof *n); *told = "
	"~(unsigned long)n; return n; }\n"
	"static NOINLINE void fill(void) { static struct pk inside;\n"
	"	one[0].p = made(&held_global); one[0].p->next = made(&held_next); one[1].q = made(&held_second);\n"
	"	around.in.q = made(&held_nested); three.p[2] = made(&held_array); either.u.it = made(&held_union);\n"
	"	own.p = made(&held_thread); inside.p = made(&held_static);\n"
	"	block = calloc(3, sizeof *block); held_block = ~(unsigned long)block; block[1].q = "
	"made(&held_in_block);\n"
	"	one[1].p = (struct item *)(made(&held_middle)->name + 8);\n"
	"	struct item *b = made(&leaked_bytes); memcpy(bytes + 3, &b, sizeof b); number.n = "
	"(long)made(&leaked_number);\n"
	"	made(&leaked_plain); }\n"
	"static NOINLINE void end(struct pk *local) {\n"
	"	volatile char c[8192]; memset((void *)c, 0, sizeof c);\n"
	"	DIE; local->s = 2; }\n"
	"int main(void) { struct pk local = {0}; fill(); local.p = made(&held_local); end(&local); return local.s; }\n";

static struct xc_process *process;
static struct xc_heap *heap;

static void open_as(const char *by)
{
	process = died(by, source);
	heap = xc_heap_of(process, NULL);
}

static void close_it(void)
{
	xc_heap_forget(process);
	close_process(process);
}

static void check(const struct xc_graph *graph, const char *by)
{
	static const char *const names[] = {"held_global", "held_second",   "held_next",   "held_nested",
					    "held_array",  "held_union",    "held_thread", "held_static",
					    "held_block",  "held_in_block", "held_local",  "held_middle"};
	static const char *const leaked[] = {"leaked_bytes", "leaked_number", "leaked_plain"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (xc_graph_leaked(graph, told_block(graph, names[i])))
			fail_msg("%s: %s is leaked", by, names[i]);
	for (size_t i = 0; i < XC_COUNT(leaked); i++)
		if (!xc_graph_leaked(graph, told_block(graph, leaked[i])))
			fail_msg("%s: %s is held", by, leaked[i]);
	assert_true(xc_graph_possibly_leaked(graph, told_block(graph, "held_middle")));
	assert_false(xc_graph_possibly_leaked(graph, told_block(graph, "held_in_block")));
}

/* Types may be known before the graph, or after it. */
static void pointers_of_packed_structs_hold_blocks(void **state)
{
	(void)state;
	static const char *const by[] = {"gcc -g -O0 -x c", "clang -g -O0 -x c", "g++ -g -O0 -fpermissive -w -x c++"};
	GRID(i, XC_COUNT(by)) {
		struct xc_graph *graph;
		struct xc_typing *typing;
		open_as(by[i]);
		CHECK_OK(xc_heap_analyze(heap));
		check(heap->graph, by[i]);
		close_it();
		open_as(by[i]);
		CHECK_OK(xc_typing_of(heap, &typing));
		CHECK_OK(xc_graph_of(heap, &graph));
		check(graph, by[i]);
		close_it();
	}
}

/* What was made of the graph is made again, and the words are found by who asks for them. */
static void the_words_are_told(void **state)
{
	(void)state;
	struct xc_retention *retention;
	struct xc_graph *graph;
	struct xc_typing *typing;
	open_as("gcc -g -O0 -x c");
	CHECK_OK(xc_retention_of(heap, &retention));
	graph = heap->graph;
	uint32_t target = told_block(graph, "held_in_block"), from = told_block(graph, "held_block");
	assert_true(xc_graph_leaked(graph, target));
	assert_int_equal(retention->bytes[target], 0);
	CHECK_OK(xc_typing_of(heap, &typing));
	CHECK_OK(xc_retention_of(heap, &retention));
	assert_int_equal(retention->dominator[target], from);
	xc_addr at = xc_refs_word(heap, from, target);
	assert_int_equal(at, xc_block_addr(&heap->blocks, from) + 19 + 11);
	size_t count;
	assert_int_equal(xc_misaligned_to(heap, target, &count)->at, at);
	assert_int_equal(count, 1);
	assert_null(xc_misaligned_to(heap, told_block(graph, "leaked_plain"), &count));
	close_it();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_of_packed_structs_hold_blocks),
		cmocka_unit_test(the_words_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

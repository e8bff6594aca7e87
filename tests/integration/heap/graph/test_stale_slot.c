/* layer: heap
 *
 * What a variable of an ended scope still holds is possibly leaked; what a variable in scope holds, or a place without
 * a name, is not. The program knows which is which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "heap/graph/graph.h"
#include "heap/query/stackword.h"
#include "heap/session/session.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"
#include "tests/support/told.h"

/* Numbers are stored inverted, so that they are not pointers. Names tell what is expected. */
static const char source[] = TOLD_DIE
	"#include <stdlib.h>\n#include <string.h>\n#include <pthread.h>\n#include <unistd.h>\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"struct node { struct node *next; long value; char pad[40]; };\n"
	"unsigned long ended_block, ended_loop, ended_list, ended_tail, ended_twice, ended_branch, ended_array, "
	"ended_struct,\n"
	"	ended_inlined, ended_middle, held_local, held_argument, held_again, held_global, held_thread, "
	"ended_thread,\n"
	"	held_same; struct node *global; volatile int ready; volatile long sink; struct box { long n; struct "
	"node *in; };\n"
	"static NOINLINE struct node *made(unsigned long *told) { struct node *n = calloc(1, sizeof *n); *told = "
	"~(unsigned long)n; return n; }\n"
	"static NOINLINE void keep(void *p) { sink = *(long *)p; }\n"
	"static inline __attribute__((always_inline)) void inlined(void) { struct node *volatile in = "
	"made(&ended_inlined); keep(in); }\n"
	"static NOINLINE void wipe(void) { volatile char c[16384]; memset((void *)c, 0, sizeof c); }\n"
	"static NOINLINE void end(struct node *argument) {\n"
	"	volatile char c[4096]; memset((void *)c, 0, sizeof c);\n"
	"	DIE; keep(argument); }\n"
	"static NOINLINE void *lives(void *u) { struct node *volatile here = made(&held_thread);\n"
	"	{ struct node *volatile inner = made(&ended_thread); keep(inner); }\n"
	"	wipe(); ready = 1; for (;;) pause(); keep(here); return u; }\n"
	"static NOINLINE void work(struct node *argument) {\n"
	"	struct node *volatile local = made(&held_local); struct node *volatile other = made(&held_same);\n"
	"	{ struct node *volatile block = made(&ended_block); keep(block); }\n"
	"	for (int i = 0; i < 3; i++) { struct node *volatile loop = made(&ended_loop); keep(loop); free(i < 2 ? "
	"loop : 0); }\n"
	"	{ struct node *volatile list = made(&ended_list), *tail = made(&ended_tail); list->next = tail; tail = "
	"0; keep(&tail); }\n"
	"	{ { struct node *volatile twice = made(&ended_twice); keep(twice); } }\n"
	"	if (sink == 0) { struct node *volatile branch = made(&ended_branch); keep(branch); }\n"
	"	{ struct node *volatile array[3]; array[0] = 0; array[1] = made(&ended_array); array[2] = 0; "
	"keep(array[1]); }\n"
	"	{ volatile struct box box; box.n = 1; box.in = made(&ended_struct); keep(box.in); }\n"
	"	{ char *volatile middle = (char *)made(&ended_middle) + 16; keep(middle); }\n"
	"	{ struct node *volatile same = other; keep(same); }\n"
	"	inlined();\n"
	"	{ struct node *volatile again = made(&held_again); wipe(); end(argument); keep(again); }\n"
	"	keep(local); keep(other); }\n"
	"int main(void) { pthread_t t; pthread_create(&t, 0, lives, 0); while (!ready) usleep(1000);\n"
	"	global = made(&held_global); { struct node *volatile also = global; keep(also); }\n"
	"	work(made(&held_argument)); return 0; }\n";

static struct xc_process *process;
static struct xc_graph *graph;

static void open_as(const char *by)
{
	process = died(by, source);
	CHECK_OK(xc_graph_of(xc_heap_of(process, NULL), &graph));
}

static void close_it(void)
{
	xc_heap_forget(process);
	close_process(process);
}

static void check_ended(const char *const *names, const char *by)
{
	for (; *names; names++) {
		uint32_t block = told_block(graph, *names);
		if (xc_graph_leaked(graph, block) || !xc_graph_only_stale(graph, block))
			fail_msg("%s: %s is %s", by, *names,
				 xc_graph_leaked(graph, block) ? "leaked" : "not held by stale words only");
	}
}

static void check_held(const char *by)
{
	static const char *const names[] = {"held_local",  "held_argument", "held_again",
					    "held_global", "held_same",     NULL};
	for (size_t i = 0; names[i]; i++) {
		uint32_t block = told_block(graph, names[i]);
		if (xc_graph_leaked(graph, block) || xc_graph_only_stale(graph, block))
			fail_msg("%s: %s is held", by, names[i]);
	}
}

static void variables_of_ended_scopes_hold_nothing_firmly(void **state)
{
	(void)state;
	static const char *const by[] = {"gcc -g -O0 -pthread -x c", "clang -g -O0 -pthread -x c",
					 "gcc -g -O0 -pthread -gdwarf-4 -x c"};
	static const char *const ended[] = {"ended_block",  "ended_loop",    "ended_list",  "ended_tail",
					    "ended_twice",  "ended_branch",  "ended_array", "ended_struct",
					    "ended_middle", "ended_inlined", NULL};
	GRID(i, XC_COUNT(by)) {
		open_as(by[i]);
		check_ended(ended, by[i]);
		check_held(by[i]);
		close_it();
	}
}

/* Optimised code shares places: what is in a variable in scope stays held. */
static void optimised_code_holds_what_is_in_scope(void **state)
{
	(void)state;
	static const char *const by[] = {"gcc -g -O2 -pthread -x c", "clang -g -O2 -pthread -x c",
					 "gcc -g -O1 -pthread -x c"};
	GRID(i, XC_COUNT(by)) {
		open_as(by[i]);
		check_held(by[i]);
		close_it();
	}
}

static void the_word_and_its_variable_are_told(void **state)
{
	(void)state;
	struct xc_text text = {0};
	open_as("gcc -g -O0 -pthread -x c");
	uint32_t block = told_block(graph, "ended_list");
	assert_true(xc_graph_stale_text(graph, block, &text));
	assert_non_null(strstr(text.bytes, "`list` of work, which is not in scope there"));
	xc_text_fini(&text);
	assert_false(xc_graph_stale_text(graph, told_block(graph, "ended_tail"), &text));
	assert_false(xc_graph_stale_text(graph, told_block(graph, "held_local"), &text));
	for (size_t i = 0; i < graph->root_count; i++)
		if (graph->roots[i].kind == XC_ROOT_STACK && graph->roots[i].block == block)
			xc_stackword_text(process, &process->threads[graph->roots[i].owner], graph->roots[i].at, &text);
	assert_non_null(strstr(text.bytes, "work, `list`, which is not in scope"));
	xc_text_fini(&text);
	close_it();
}

/* Only a function that calls no others uses the memory below its stack pointer. The pointers are put there by hand. */
static const char below[] =
	"#include <stdlib.h>\n#define NOINLINE __attribute__((noinline))\n"
	"unsigned long ended_below, ended_list; volatile long sink;\n"
	"static NOINLINE void keep(long n) { sink = n; }\n"
	"static NOINLINE void make(void) { void **p = calloc(1, 64); *p = calloc(1, 48); ended_list = ~(unsigned "
	"long)*p; ended_below = ~(unsigned long)p; }\n"
	"#define DIE(n) asm volatile(\"mov %0, %%rax; not %%rax; mov %%rax, -48(%%rsp); xor %%eax, %%eax; xor %%ebx, "
	"%%ebx; xor %%ecx, %%ecx; xor %%edx, %%edx;\" \\\n"
	"	\"xor %%esi, %%esi; xor %%edi, %%edi; xor %%r8d, %%r8d; xor %%r9d, %%r9d; xor %%r10d, %%r10d; xor "
	"%%r11d, %%r11d; xor %%r12d, %%r12d;\" \\\n"
	"	\"xor %%r13d, %%r13d; xor %%r14d, %%r14d; xor %%r15d, %%r15d; pxor %%xmm0, %%xmm0; ud2\" \\\n"
	"	:: \"r\"(n) : \"rax\", \"rbx\", \"r12\", \"r13\", \"r14\", \"r15\", \"memory\")\n"
	"NOINLINE void calls(unsigned long n) { DIE(n); keep(1); keep(2); }\n"
	"NOINLINE void calls_none(unsigned long n) { DIE(n); }\n"
	"int main(int argc, char **argv) { make(); if (argc > 1) calls_none(ended_below); else calls(ended_below); "
	"(void)argv; return (int)sink; }\n";

static void below_a_frame_that_calls_nothing_is_held(void **state)
{
	(void)state;
	static const char *const by[] = {"gcc -g -O2 -x c", "clang -g -O2 -x c", "gcc -O2 -x c"};
	GRID(i, XC_COUNT(by)) {
		struct xc_text text = {0};
		process = died_of(by[i], below, NULL);
		CHECK_OK(xc_graph_of(xc_heap_of(process, NULL), &graph));
		check_ended((const char *const[]){"ended_below", "ended_list", NULL}, by[i]);
		assert_true(xc_graph_stale_text(graph, told_block(graph, "ended_below"), &text));
		assert_non_null(strstr(text.bytes, "below the frame of calls, which calls others"));
		xc_text_fini(&text);
		close_it();
		process = died_of(by[i], below, "leaf");
		CHECK_OK(xc_graph_of(xc_heap_of(process, NULL), &graph));
		assert_false(xc_graph_leaked(graph, told_block(graph, "ended_below")));
		assert_false(xc_graph_only_stale(graph, told_block(graph, "ended_below")));
		close_it();
	}
}

/* The C library's kill() does not touch the registers, and its caller needs not all of them afterwards. */
static const char called[] =
	"#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n#define NOINLINE __attribute__((noinline))\n"
	"unsigned long left_vector, left_scratch, held_saved, held_argument, called;\n"
	"static NOINLINE void make(unsigned long *told) { *told = ~(unsigned long)calloc(1, 64); }\n"
	"static NOINLINE void wipe(void) { volatile char c[16384]; for (int i = 0; i < 16384; i++) c[i] = 0; }\n"
	"#define LOAD(name, to) \"mov \" name \"(%%rip), %%\" to \"; not %%\" to \"; \"\n"
	"int main(int argc, char **argv) { make(&left_vector); make(&left_scratch); make(&held_saved); "
	"make(&held_argument); (void)argv;\n"
	"	pid_t pid = getpid(); called = (unsigned long)(argc > 1 ? 0 : kill); wipe();\n"
	"	asm volatile(LOAD(\"left_vector\", \"rax\") \"movq %%rax, %%xmm3; \" LOAD(\"left_scratch\", \"r9\") "
	"LOAD(\"held_saved\", \"rbx\")\n"
	"		LOAD(\"held_argument\", \"rdx\") \"xor %%r8d, %%r8d; xor %%r10d, %%r10d; xor %%r12d, %%r12d; "
	"xor "
	"%%r13d, %%r13d; \"\n"
	"		\"mov called(%%rip), %%rax; test %%rax, %%rax; jz 1f; call *%%rax; 1: ud2\"\n"
	"		:: \"D\"((long)pid), \"S\"((long)SIGABRT) : \"rax\", \"rbx\", \"rcx\", \"rdx\", \"r8\", "
	"\"r9\", "
	"\"r10\", \"r11\", \"r12\", \"r13\", \"memory\");\n"
	"	return 0; }\n";

static void check_held_firmly(const char *name)
{
	uint32_t block = told_block(graph, name);
	if (xc_graph_leaked(graph, block) || xc_graph_possibly_leaked(graph, block))
		fail_msg("%s is not held", name);
}

/* A debugger's core may lack the vector registers. */
static bool open_called(const char *argument)
{
	process = died_of("gcc -g -O0 -x c", called, argument);
	CHECK_OK(xc_graph_of(xc_heap_of(process, NULL), &graph));
	return process->threads[0].vector;
}

static void scratch_registers_hold_nothing_during_a_system_call(void **state)
{
	(void)state;
	struct xc_text text = {0};
	bool vectors = open_called(NULL);
	check_ended((const char *const[]){"left_scratch", vectors ? "left_vector" : NULL, NULL}, "in kill()");
	check_held_firmly("held_saved");
	check_held_firmly("held_argument");
	assert_true(xc_graph_stale_text(graph, told_block(graph, "left_scratch"), &text));
	assert_non_null(strstr(text.bytes, "only r9 leads to it, which nobody needs after the system call in "));
	xc_text_fini(&text);
	close_it();
	vectors = open_called("here");
	check_held_firmly("left_scratch");
	check_held_firmly(vectors ? "left_vector" : "left_scratch");
	check_held_firmly("held_saved");
	close_it();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_of_ended_scopes_hold_nothing_firmly),
		cmocka_unit_test(optimised_code_holds_what_is_in_scope),
		cmocka_unit_test(below_a_frame_that_calls_nothing_is_held),
		cmocka_unit_test(the_word_and_its_variable_are_told),
		cmocka_unit_test(scratch_registers_hold_nothing_during_a_system_call),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

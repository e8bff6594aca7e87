/* layer: heap
 *
 * Roots in a program with threads: one that ended, with its stack kept by glibc; one that lives, but is missing in the
 * core (which has the registers of the main thread only); and blocks that the program knows to be reached or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dwarf/elf/symbol.h"
#include "heap/graph/graph.h"
#include "heap/session/session.h"
#include "tests/support/opened.h"

/* Numbers are stored inverted, so that they are not pointers. */
static const char source[] =
	"#define _GNU_SOURCE\n#include <link.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"#include <sys/mman.h>\n#include <unistd.h>\n"
	"unsigned long ended_local, ended_own, living_local, living_own, main_local, main_own, below, constant, gone, "
	"before;\n"
	"__thread void *own; volatile int ready; void *kept, *volatile dropped;\n"
	"static __attribute__((noinline)) void hold(unsigned long *local, unsigned long *mine, int forever)\n"
	"{ void *volatile here = malloc(40); own = malloc(56); *local = ~(unsigned long)here; *mine = ~(unsigned "
	"long)own;\n"
	"	if (forever) { ready = 1; for (;;) pause(); } }\n"
	"static void *ends(void *u) { hold(&ended_local, &ended_own, 0); return u; }\n"
	"static void *lives(void *u) { hold(&living_local, &living_own, 1); return u; }\n"
	"static __attribute__((noinline)) void deep(void) { void *volatile stale[64]; volatile char pad[32768]; pad[0] "
	"= 0; stale[9] = malloc(72); below = "
	"~(unsigned long)stale[9]; }\n"
	"static __attribute__((noinline)) void leak(void) { dropped = malloc(88); gone = ~(unsigned long)dropped; "
	"dropped = 0; }\n"
	"static __attribute__((noinline)) void wipe(void) { volatile char c[16384]; for (int i = 0; i < 16384; i++) "
	"c[i] = 0; }\n"
	"static __attribute__((noinline)) void end(void) { volatile char c[4096]; memset((void *)c, 0, sizeof c);\n"
	"	register long a asm(\"rax\") = 0, b asm(\"rdx\") = 0, d asm(\"rcx\") = 0;\n"
	"	asm volatile(\"pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1; xor %%esi, %%esi; xor %%edi, %%edi;\"\n"
	"		\"xor %%r8d, %%r8d; xor %%r9d, %%r9d; xor %%r10d, %%r10d; xor %%r11d, %%r11d; ud2\" :: "
	"\"r\"(a), \"r\"(b), \"r\"(d)); }\n"
	/* In the first page of the data, before them, is what the file has there: the end of the constants. */
	"static int first(struct dl_phdr_info *i, size_t n, void *u) { for (int k = 0; k < i->dlpi_phnum; k++) {\n"
	"	const ElfW(Phdr) *p = &i->dlpi_phdr[k]; unsigned long at = i->dlpi_addr + p->p_vaddr, page = at & "
	"-4096;\n"
	"	if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;\n"
	"	if (at - page < 16 || mprotect((void *)page, 4096, PROT_READ | PROT_WRITE)) abort();\n"
	"	void **volatile word = (void **)page; *word = malloc(152); before = ~(unsigned long)*word;\n"
	"	mprotect((void *)page, 4096, PROT_READ); return n > 0; } return u != 0; }\n"
	"int main(void) { pthread_t t; void *volatile here; dl_iterate_phdr(first, 0);\n"
	"	pthread_create(&t, 0, ends, 0); pthread_join(t, 0);\n"
	"	usleep(1000); pthread_attr_t larger; pthread_attr_init(&larger); pthread_attr_setstacksize(&larger, 64 "
	"<< 20);\n"
	"	pthread_create(&t, &larger, lives, 0); while (!ready) usleep(1000);\n"
	"	leak(); wipe(); here = malloc(104); main_local = ~(unsigned long)here; own = malloc(120); main_own = "
	"~(unsigned long)own;\n"
	"	kept = malloc(136); constant = ~(unsigned long)kept;\n"
	"	deep(); end(); return here != 0; }\n";

static struct xc_process *process;
static struct xc_graph *graph;

static int set_up(void **state)
{
	(void)state;
	process = died("gcc -g -O0 -pthread -x c", source);
	CHECK_OK(xc_graph_of(xc_heap_of(process, NULL), &graph));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	xc_heap_forget(process);
	close_process(process);
	return 0;
}

static uint32_t block_in(const char *name)
{
	xc_addr addr;
	uint64_t value;
	assert_non_null(xc_symbol_find(process, name, NULL, &addr));
	assert_true(xc_space_peek_uint(process->space, addr, 8, &value));
	uint32_t block = xc_blocks_find(&graph->heap->blocks, ~value);
	assert_int_not_equal(block, XC_NO_BLOCK);
	assert_int_equal(xc_block_addr(&graph->heap->blocks, block), ~value);
	return block;
}

static void expect(const char *name, bool leaked)
{
	if (xc_graph_leaked(graph, block_in(name)) != leaked)
		fail_msg("%s is %sleaked", name, leaked ? "not " : "");
}

static const struct xc_root *root_of(const char *name)
{
	uint32_t block = block_in(name);
	for (size_t i = 0; i < graph->root_count; i++)
		if (graph->roots[i].block == block)
			return &graph->roots[i];
	fail_msg("%s has no root", name);
	return NULL;
}

static void what_only_an_ended_thread_held_is_leaked(void **state)
{
	(void)state;
	expect("ended_local", true);
	expect("ended_own", true);
}

static void what_a_thread_without_registers_holds_is_not(void **state)
{
	(void)state;
	expect("living_local", false);
	expect("living_own", false);
}

static void the_main_thread_holds_by_stack_and_thread_local_data(void **state)
{
	(void)state;
	expect("main_local", false);
	expect("main_own", false);
	assert_int_equal(root_of("main_local")->kind, XC_ROOT_STACK);
	assert_int_equal(root_of("main_own")->kind, XC_ROOT_TLS);
	assert_int_equal(root_of("main_own")->owner, 0);
	assert_int_equal(root_of("constant")->kind, XC_ROOT_GLOBAL);
}

static void what_the_file_has_before_the_data_holds_nothing(void **state)
{
	(void)state;
	expect("before", true);
}

static void what_lies_below_the_stack_pointer_holds_nothing(void **state)
{
	(void)state;
	expect("below", true);
	expect("gone", true);
}

/* libc's own blocks (tcaches, dtv, thread stacks' descriptors) and the program's: nothing else is leaked. */
static void nothing_else_is_leaked(void **state)
{
	(void)state;
	size_t leaked = 0;
	for (uint32_t i = 0; i < graph->heap->blocks.count; i++)
		leaked += xc_graph_leaked(graph, i);
	assert_int_equal(leaked, 5); /* ended_local, ended_own, below, gone, before */
}

/* Like a sanitizer's shadow memory, which MADV_DONTDUMP keeps out of cores. The last test, since it adds to the
 * process. */
static void memory_that_is_not_in_the_core_costs_nothing_and_is_counted(void **state)
{
	(void)state;
	const xc_addr lo = UINT64_C(0x100000000000), size = UINT64_C(16) << 40;
	struct xc_graph *again;
	struct xc_mapping *mappings = xc_alloc((process->mapping_count + 1) * sizeof *mappings);
	mappings[0] = (struct xc_mapping){.lo = lo, .hi = lo + size - 1, .readable = true, .writable = true};
	memcpy(mappings + 1, process->mappings, process->mapping_count * sizeof *mappings);
	assert_true(process->mappings[0].lo > lo + size);
	free(process->mappings);
	process->mappings = mappings;
	process->mapping_count++;
	xc_space_add(process->space, &(struct xc_segment){.lo = lo, .hi = lo + size - 1, .provenance = XC_NOT_DUMPED});
	xc_space_seal(process->space);
	clock_t start = clock();
	struct xc_heap *heap = xc_heap_open(process, NULL);
	CHECK_OK(xc_graph_of(heap, &again));
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
	assert_true(again->missing_roots >= size);
	assert_int_equal(heap->blocks.count, graph->heap->blocks.count);
	xc_heap_close(heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_only_an_ended_thread_held_is_leaked),
		cmocka_unit_test(what_a_thread_without_registers_holds_is_not),
		cmocka_unit_test(the_main_thread_holds_by_stack_and_thread_local_data),
		cmocka_unit_test(what_the_file_has_before_the_data_holds_nothing),
		cmocka_unit_test(what_lies_below_the_stack_pointer_holds_nothing),
		cmocka_unit_test(nothing_else_is_leaked),
		cmocka_unit_test(memory_that_is_not_in_the_core_costs_nothing_and_is_counted),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

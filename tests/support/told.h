/* told: the blocks that a program tells of, each in a global of its own. The numbers are stored inverted, so that they
 * are no pointers. */
#ifndef XC_TEST_TOLD_H
#define XC_TEST_TOLD_H

#include "dwarf/elf/symbol.h"
#include "heap/graph/graph.h"
#include "tests/support/check.h"

/* For such a program's source: the statement `DIE`, which leaves no pointers in registers. */
#define TOLD_DIE                                                                                                       \
	"#define DIE asm volatile(\"xor %%eax, %%eax; xor %%ebx, %%ebx; xor %%ecx, %%ecx; xor %%edx, %%edx; xor "      \
	"%%esi, %%esi;\" \\\n"                                                                                         \
	"	\"xor %%edi, %%edi; xor %%r8d, %%r8d; xor %%r9d, %%r9d; xor %%r10d, %%r10d; xor %%r11d, %%r11d;\" "          \
	"\\\n"                                                                                                         \
	"	\"xor %%r12d, %%r12d; xor %%r13d, %%r13d; xor %%r14d, %%r14d; xor %%r15d, %%r15d;\" \\\n"                    \
	"	\"pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1; ud2\" \\\n"                                                      \
	"	::: \"rbx\", \"r12\", \"r13\", \"r14\", \"r15\", \"memory\")\n"

static inline uint32_t told_block(const struct xc_graph *graph, const char *name)
{
	const struct xc_process *process = graph->heap->process;
	xc_addr addr;
	uint64_t value;
	assert_non_null(xc_symbol_find(process, name, NULL, &addr));
	assert_true(xc_space_peek_uint(process->space, addr, 8, &value));
	uint32_t block = xc_blocks_find(&graph->heap->blocks, ~value);
	assert_int_not_equal(block, XC_NO_BLOCK);
	return block;
}

#endif

/* told: the blocks that a program tells of, each in a global of its own. The numbers are stored inverted, so that they
 * are no pointers. */
#ifndef XC_TEST_TOLD_H
#define XC_TEST_TOLD_H

#include "dwarf/elf/symbol.h"
#include "heap/graph/graph.h"
#include "tests/support/check.h"

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

/* heaped: programs that log their malloc results, and the check of a heap against that log.
 *
 * The log is in the program's memory and is read from its core. `account` is an array of `account_count` rows: the
 * address and malloc_usable_size of an allocated (live 1) or freed (live 0) block, and the kind of free list it must be
 * on, if the program knows: the letter of enum xc_block_state's word, or 0. */
#ifndef XC_TEST_HEAPED_H
#define XC_TEST_HEAPED_H

#include <stdio.h>

#include "dwarf/elf/symbol.h"
#include "heap/blocks/heap.h"
#include "tests/support/opened.h"

#define HEAPED_PROLOGUE                                                                                                \
	"#include <malloc.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n"                        \
	"#include <unistd.h>\n"                                                                                        \
	"struct row { void *addr; unsigned long usable; int live, kind; };\n"                                          \
	"struct row account[1 << 20]; unsigned long account_count, own;\n"                                             \
	"static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;\n"                                           \
	"static void note(void *p, int live, int kind) { pthread_mutex_lock(&account_lock);\n"                         \
	"	account[account_count++] = (struct row){p, malloc_usable_size(p), live, kind};\n"                            \
	"	pthread_mutex_unlock(&account_lock); }\n"                                                                    \
	"static void *live(void *p) { note(p, 1, 0); return p; }\n"                                                    \
	"static void gone(void *p, int kind) { note(p, 0, kind); free(p); }\n"

struct heaped_row {
	uint64_t addr, usable;
	int32_t live, kind;
};

static inline uint64_t heaped_number(const struct xc_process *process, const char *name)
{
	xc_addr addr;
	uint64_t value;
	assert_non_null(xc_symbol_find(process, name, NULL, &addr));
	assert_true(xc_space_peek_uint(process->space, addr, 8, &value));
	return value;
}

static inline void heaped_expect(const struct xc_heap *heap, const struct heaped_row *row)
{
	static const char kinds[] = {'l', 't', 'f', 'b', 'p', 'u'}; /* by enum xc_block_state */
	uint32_t block = xc_blocks_find(&heap->blocks, row->addr);
	if (!row->live && row->kind == 0)
		return;
	if (block == XC_NO_BLOCK || xc_block_addr(&heap->blocks, block) != row->addr)
		fail_msg("no block begins at 0x%lx", (unsigned long)row->addr);
	int kind = kinds[xc_block_state(&heap->blocks, block)];
	if (kind != (row->live ? 'l' : row->kind))
		fail_msg("0x%lx of %lu bytes is '%c' instead of '%c'", (unsigned long)row->addr,
			 (unsigned long)row->usable, kind, row->live ? 'l' : row->kind);
	if (xc_block_size(&heap->blocks, block) != row->usable)
		fail_msg("0x%lx has %lu bytes instead of %lu", (unsigned long)row->addr,
			 (unsigned long)xc_block_size(&heap->blocks, block), (unsigned long)row->usable);
}

/* Every row is a block of its state and size. Returns the number of live rows. */
static inline uint64_t heaped_check_rows(const struct xc_process *process, const struct xc_heap *heap)
{
	uint64_t count = heaped_number(process, "account_count"), known = 0;
	struct heaped_row *rows = xc_alloc((count + 1) * sizeof *rows);
	xc_addr account;
	assert_non_null(xc_symbol_find(process, "account", NULL, &account));
	assert_int_equal(xc_space_peek(process->space, account, rows, count * sizeof *rows), count * sizeof *rows);
	for (uint64_t i = 0; i < count; i++) {
		heaped_expect(heap, &rows[i]);
		known += rows[i].live != 0;
	}
	free(rows);
	return known;
}

/* The same. In addition, at most `own` further blocks are live (of libc itself), and there is no damage. */
static inline void heaped_check(const struct xc_process *process, const struct xc_heap *heap)
{
	uint64_t known = heaped_check_rows(process, heap), own = heaped_number(process, "own");
	uint64_t live = xc_heap_totals(heap).count[XC_BLOCK_LIVE];
	if (live - known > own)
		fail_msg("%lu blocks are live, %lu more than the %lu of the account and %lu of libc",
			 (unsigned long)live, (unsigned long)(live - known - own), (unsigned long)known,
			 (unsigned long)own);
	if (heap->damage_count)
		fail_msg("%zu damages, the first one at 0x%lx: %s", heap->damage_count,
			 (unsigned long)heap->damages[0].addr, heap->damages[0].what);
	assert_int_equal(heap->blocks.left_out, 0);
}

#endif

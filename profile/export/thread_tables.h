/* thread_tables: the part of a profile's tables that the samples of one thread need, with numbers of its own, from 0 on
 * in the order of first need: for formats in which each thread has its tables. A wait is a frame below its stack; a
 * missing stack is a frame, too. */
#ifndef XC_THREAD_TABLES_H
#define XC_THREAD_TABLES_H

#include "profile/data/profile_data.h"

/* Things by their number in the data, behind those of the data waits: their number here, and the other way round. */
struct xc_thread_rows {
	uint32_t *number, *round; /* of each; the thread for which it got its number */
	uint32_t *items;
	size_t count;
};

struct xc_thread_stack {
	uint32_t caller; /* a stack, plus one; 0: none */
	uint32_t frame;
};

struct xc_thread_tables {
	const struct xc_profile_data *data; /* borrowed */
	uint32_t round;
	struct xc_thread_rows frames, functions, modules; /* modules: by their text */
	struct xc_thread_stack *stacks;                   /* callers first */
	size_t stack_count, stack_room;
	struct xc_hashtable by_node; /* (node, wait + 1) → stack, plus one */
};

void xc_thread_tables_init(struct xc_thread_tables *tables, const struct xc_profile_data *data);
void xc_thread_tables_fini(struct xc_thread_tables *tables);

/* Empty, for the next thread. */
void xc_thread_tables_next(struct xc_thread_tables *tables);

/* The stack of a sum; a missing stack is a frame, too. All its parts get their numbers. O(new frames). */
uint32_t xc_thread_tables_stack(struct xc_thread_tables *tables, const struct xc_profile_sum *sum);

/* By row; NULL: a wait, or a missing stack. */
const struct xc_profile_frame *xc_thread_tables_frame(const struct xc_thread_tables *tables, size_t row);

/* Rows of the function of a frame, of the module of a function; -1: it has none. And the function in the data; NULL: it
 * is the wait *wait_out, or with 0 a missing stack. */
uint32_t xc_thread_tables_function_of(struct xc_thread_tables *tables, size_t frame);
int64_t xc_thread_tables_module_of(struct xc_thread_tables *tables, size_t function);
const struct xc_profile_function *xc_thread_tables_function(const struct xc_thread_tables *tables, size_t row,
							    uint32_t *wait_out);

#endif

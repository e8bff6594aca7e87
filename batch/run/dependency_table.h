/* dependency_table: the files that the records of one checkpoint were made with and without, each once, by number. */
#ifndef XC_DEPENDENCY_TABLE_H
#define XC_DEPENDENCY_TABLE_H

#include "batch/record/file_dependency.h"

struct xc_dependency_table {
	struct xc_arena *arena;            /* of what is in it */
	struct xc_file_dependency **files; /* by number; NULL: what says it was lost */
	size_t count, capacity;
	void *tree; /* the same ones, of tsearch(3) */
};

/* A record's list for its line in the checkpoint: the number of each that is in the book, and of each that is not also what it is; new. */
json_t *xc_dependency_table_json(const struct xc_dependency_table *book, const struct xc_record *record);

/* When that line is written: give those that were new the next numbers, in its order. */
void xc_dependency_table_learn(struct xc_dependency_table *book, const struct xc_record *record);

/* Read such a list, set the record's and learn what is new; lists that the pool has are shared. False when it is none, or has a number of
 * which nothing said what it is, as the line that did was lost: then the book is as before. */
bool xc_dependency_table_read(struct xc_dependency_table *book, const json_t *array, struct xc_pool *pool,
			      struct xc_record *record);

/* Then it is empty, and can be used again. */
void xc_dependency_table_fini(struct xc_dependency_table *book);

#endif

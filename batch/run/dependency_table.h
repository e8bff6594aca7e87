/* dependency_table: the files on which the records of one checkpoint depend, each once, by number. */
#ifndef XC_DEPENDENCY_TABLE_H
#define XC_DEPENDENCY_TABLE_H

#include "batch/record/file_dependency.h"

struct xc_dependency_table {
	struct xc_arena *arena;            /* owns the content */
	struct xc_file_dependency **files; /* by number; NULL: its definition was lost */
	size_t count, capacity;
	void *tree; /* the same files, in a tree of tsearch(3) */
};

/* A record's list for its line in the checkpoint: the number of each file, and the definition of each that is not in
 * the table yet. New. */
json_t *xc_dependency_table_json(const struct xc_dependency_table *table, const struct xc_record *record);

/* To be called when that line has been written: gives the new files the next numbers, in the line's order. */
void xc_dependency_table_learn(struct xc_dependency_table *table, const struct xc_record *record);

/* Reads such a list, sets the record's list, and adds the new files; equal lists are shared through the pool. False if
 * the list is malformed, or has a number whose definition was lost; the table is then unchanged. */
bool xc_dependency_table_read(struct xc_dependency_table *table, const json_t *array, struct xc_pool *pool,
			      struct xc_record *record);

/* Empties the table, which can be used again. */
void xc_dependency_table_fini(struct xc_dependency_table *table);

#endif

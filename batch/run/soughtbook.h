/* soughtbook: the files that the records of one ledger were made with and without, each once, by number. */
#ifndef XC_SOUGHTBOOK_H
#define XC_SOUGHTBOOK_H

#include "batch/record/sought.h"

struct xc_soughtbook {
	struct xc_arena *arena;   /* of what is in it */
	struct xc_sought **files; /* by number; NULL: what says it was lost */
	size_t count, capacity;
	void *tree; /* the same ones, of tsearch(3) */
};

/* A record's list for its line in the ledger: the number of each that is in the book, and of each that is not also what it is; new. */
json_t *xc_soughtbook_json(const struct xc_soughtbook *book, const struct xc_record *record);

/* When that line is written: give those that were new the next numbers, in its order. */
void xc_soughtbook_learn(struct xc_soughtbook *book, const struct xc_record *record);

/* Read such a list, set the record's and learn what is new; lists that the pool has are shared. False when it is none, or has a number of
 * which nothing said what it is, as the line that did was lost: then the book is as before. */
bool xc_soughtbook_read(struct xc_soughtbook *book, const json_t *array, struct xc_pool *pool,
			struct xc_record *record);

/* Then it is empty, and can be used again. */
void xc_soughtbook_fini(struct xc_soughtbook *book);

#endif

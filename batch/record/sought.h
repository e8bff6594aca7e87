/* sought: the files that a core's worker asked for, at places where modules and their debug information may be.
 *
 * What is finished need not be looked at again while all of them are as they were. So a ledger has with each record what the broker
 * (broker.h) opened for it, with what it was, and what could not be opened. Whether the worker used it is not asked. */
#ifndef XC_SOUGHT_H
#define XC_SOUGHT_H

#include "batch/record/record.h"

enum {
	XC_SOUGHT_MAX = 128 << 10, /* bytes of all that one record has */
	XC_SOUGHT_STATE = 96,
};

enum xc_sought_look { XC_SOUGHT_UNSEEN, XC_SOUGHT_STAYS, XC_SOUGHT_CHANGED };

struct xc_sought {
	const char *root, *path; /* as the broker is asked; root may be NULL */
	const char *was;         /* xc_sought_state of what was opened; NULL: nothing was */
	size_t number;           /* in a ledger */
	enum xc_sought_look now; /* whether another file is there, or none any more, when this run has looked */
};

/* In the order in which they were asked for; zeroed in the beginning. */
struct xc_sought_list {
	struct xc_arena arena;
	struct xc_sought *files;
	size_t count, capacity;
	bool cut; /* there were more */
};

/* Add one, copied, but for number and now. */
void xc_sought_add(struct xc_sought_list *list, const struct xc_sought *sought);
void xc_sought_fini(struct xc_sought_list *list);

/* Which file this is: its number, size and times; "" where that cannot be had. */
void xc_sought_state(int fd, char state[XC_SOUGHT_STATE]);

/* Set the record's list to what is in the list, each once, sorted; in the arena. Of one that was cut or is beyond XC_SOUGHT_MAX nothing is kept:
 * nobody could tell whether the record still holds, and it is `passing`. */
void xc_sought_keep(const struct xc_sought_list *list, struct xc_record *record, struct xc_arena *arena);

/* A new one that says the same, not looked at, in the arena. */
struct xc_sought *xc_sought_copy(const struct xc_sought *sought, struct xc_arena *arena);

/* The order by root, path and what it was. */
int xc_sought_compare(const void *a, const void *b);

/* As JSON: [number, "root", "path", "was"], names as rawtext.h has them, the root empty and the last left out where there is none; and back,
 * in the arena: NULL when it is no such thing. */
json_t *xc_sought_json(const struct xc_sought *sought);
struct xc_sought *xc_sought_parse(const json_t *array, struct xc_arena *arena);

#endif

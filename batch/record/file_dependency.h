/* file_dependency: the files that a core's worker asked for, at places where modules and their debug information may be.
 *
 * What is finished need not be looked at again while all of them are as they were. So a checkpoint has with each record what the broker
 * (broker.h) opened for it, with what it was, and what could not be opened. Whether the worker used it is not asked. */
#ifndef XC_FILE_DEPENDENCY_H
#define XC_FILE_DEPENDENCY_H

#include "batch/record/record.h"

enum {
	XC_FILE_DEPENDENCY_MAX = 128 << 10, /* bytes of all that one record has */
	XC_FILE_DEPENDENCY_STATE = 96,
};

enum xc_file_dependency_look { XC_FILE_DEPENDENCY_UNSEEN, XC_FILE_DEPENDENCY_STAYS, XC_FILE_DEPENDENCY_CHANGED };

struct xc_file_dependency {
	const char *root, *path; /* as the broker is asked; root may be NULL */
	const char *was;         /* xc_file_dependency_state of what was opened; NULL: nothing was */
	size_t number;           /* in a checkpoint */
	enum xc_file_dependency_look
		now; /* whether another file is there, or none any more, when this run has looked */
};

/* In the order in which they were asked for; zeroed in the beginning. */
struct xc_file_dependency_list {
	struct xc_arena arena;
	struct xc_file_dependency *files;
	size_t count, capacity;
	bool cut; /* there were more */
};

/* Add one, copied, but for number and now. */
void xc_file_dependency_add(struct xc_file_dependency_list *list, const struct xc_file_dependency *dependency);
void xc_file_dependency_fini(struct xc_file_dependency_list *list);

/* Which file this is: its number, size and times; "" where that cannot be had. */
void xc_file_dependency_state(int fd, char state[XC_FILE_DEPENDENCY_STATE]);

/* Set the record's list to what is in the list, each once, sorted; in the arena. Of one that was cut or is beyond XC_FILE_DEPENDENCY_MAX nothing is kept:
 * nobody could tell whether the record still holds, and it is `passing`. */
void xc_file_dependency_store(const struct xc_file_dependency_list *list, struct xc_record *record,
			      struct xc_arena *arena);

/* A new one that says the same, not looked at, in the arena. */
struct xc_file_dependency *xc_file_dependency_copy(const struct xc_file_dependency *dependency, struct xc_arena *arena);

/* The order by root, path and what it was. */
int xc_file_dependency_compare(const void *a, const void *b);

/* As JSON: [number, "root", "path", "was"], names as rawtext.h has them, the root empty and the last left out where there is none; and back,
 * in the arena: NULL when it is no such thing. */
json_t *xc_file_dependency_json(const struct xc_file_dependency *dependency);
struct xc_file_dependency *xc_file_dependency_parse(const json_t *array, struct xc_arena *arena);

#endif

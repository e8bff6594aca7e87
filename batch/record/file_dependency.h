/* file_dependency: the files that a core's worker requested, at places where modules and their debug information may
 * be.
 *
 * A finished record stays valid while all of them are unchanged. So a checkpoint stores with each record what the
 * broker (broker.h) opened for it and in which state, and what could not be opened; whether or not the worker used
 * it. */
#ifndef XC_FILE_DEPENDENCY_H
#define XC_FILE_DEPENDENCY_H

#include "batch/record/record.h"

enum {
	XC_FILE_DEPENDENCY_MAX = 128 << 10, /* total bytes per record */
	XC_FILE_DEPENDENCY_STATE = 96,
};

enum xc_file_dependency_look { XC_FILE_DEPENDENCY_UNSEEN, XC_FILE_DEPENDENCY_STAYS, XC_FILE_DEPENDENCY_CHANGED };

struct xc_file_dependency {
	const char *root, *path; /* as requested from the broker; root may be NULL */
	const char *was;         /* xc_file_dependency_state of the opened file; NULL: it could not be opened */
	size_t number;           /* in a checkpoint */
	enum xc_file_dependency_look now; /* whether it is another file or absent now, if this run has checked */
};

/* In order of request. A zeroed list is empty. */
struct xc_file_dependency_list {
	struct xc_arena arena;
	struct xc_file_dependency *files;
	size_t count, capacity;
	bool cut; /* some are missing */
};

/* Adds a copy, without number and now. */
void xc_file_dependency_add(struct xc_file_dependency_list *list, const struct xc_file_dependency *dependency);
void xc_file_dependency_fini(struct xc_file_dependency_list *list);

/* The identity of a file: its inode number, size and times; "" if unavailable. */
void xc_file_dependency_state(int fd, char state[XC_FILE_DEPENDENCY_STATE]);

/* Stores the list in the record, sorted and without duplicates; in the arena. A list that was cut, or exceeds
 * XC_FILE_DEPENDENCY_MAX, is not stored: since nobody could tell whether the record is still valid, it becomes
 * `passing`. */
void xc_file_dependency_store(const struct xc_file_dependency_list *list, struct xc_record *record,
			      struct xc_arena *arena);

/* A copy in the arena, not checked yet. */
struct xc_file_dependency *xc_file_dependency_copy(const struct xc_file_dependency *dependency, struct xc_arena *arena);

/* Orders by path, root and state. */
int xc_file_dependency_compare(const void *a, const void *b);

/* As JSON: [number, "root", "path", "was"], names encoded by rawtext.h, an absent root empty, an absent state omitted;
 * and back, in the arena: NULL if malformed. */
json_t *xc_file_dependency_json(const struct xc_file_dependency *dependency);
struct xc_file_dependency *xc_file_dependency_parse(const json_t *array, struct xc_arena *arena);

#endif

/* store_walk: finds the ELF files of a tree, with several threads.
 *
 * Walks the directories below a root. Follows no symbolic link and enters no pseudo file system (/proc, /sys). A file
 * that the old state knows and that is unchanged is not read again. The results so far can be taken at any time, so
 * that a long walk can be saved while it continues. */
#ifndef XC_STORE_WALK_H
#define XC_STORE_WALK_H

#include "dwarf/symstore/store_state.h"

struct xc_store_walk;

struct xc_store_walk_options {
	const char *root;                 /* absolute, links resolved: a directory, or one regular file */
	const struct xc_store_state *old; /* borrowed until the end */
	unsigned jobs;                    /* threads; 0: as many as processors */
	uint32_t mark;                    /* added to `has` of every entry found */
	const struct stat *skip;          /* directories that are not entered */
	size_t skip_count;
	int64_t now; /* seconds since the epoch: recorded as the time of the walk */
};

/* The results. The arrays belong to the receiver (xc_store_harvest_fini); the paths live as long as the walk and the
 * old state. */
struct xc_store_harvest {
	struct xc_store_entry *entries; /* in no order */
	size_t entry_count, entry_capacity;
	struct xc_store_dull *dull;
	size_t dull_count, dull_capacity;
	uint64_t files;         /* regular files met */
	uint64_t read;          /* files that were opened and read */
	uint64_t packages;      /* .deb and .rpm files, which are not read */
	uint64_t unreadable;    /* files and directories that could not be opened */
	char *first_unreadable; /* "PATH: why", or NULL; malloc'ed */
};

struct xc_store_walk *xc_store_walk_start(const struct xc_store_walk_options *options);

/* Wait up to `ms` milliseconds; true once the whole tree was walked, or the walk was stopped. */
bool xc_store_walk_wait(struct xc_store_walk *walk, unsigned ms);

/* Files met so far. */
uint64_t xc_store_walk_files(struct xc_store_walk *walk);

/* A copy of the results so far. */
struct xc_store_harvest xc_store_walk_take(struct xc_store_walk *walk);
void xc_store_harvest_fini(struct xc_store_harvest *harvest);

/* Stop early: each thread finishes its current file. */
void xc_store_walk_stop(struct xc_store_walk *walk);

/* Wait for the threads and free. */
void xc_store_walk_end(struct xc_store_walk *walk);

#endif

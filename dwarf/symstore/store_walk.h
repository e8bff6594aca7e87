/* store_walk: the ELF files of a tree, by several threads.
 *
 * Goes through directories below a root, follows no symbolic link, enters no file system of the kernel's own making
 * (/proc, /sys). A file that the old state knows, unchanged, is not read again. What was found so far can be taken
 * at any time, so that a long walk can be saved while it goes on. */
#ifndef XC_STORE_WALK_H
#define XC_STORE_WALK_H

#include "dwarf/symstore/store_state.h"

struct xc_store_walk;

struct xc_store_walk_options {
	const char *root;                 /* absolute, links resolved: a directory, or one regular file */
	const struct xc_store_state *old; /* borrowed until the end */
	unsigned jobs;                    /* threads; 0: as many as processors */
	uint32_t mark;                    /* added to `has` of all that is found */
	const struct stat *skip;          /* directories that are not entered */
	size_t skip_count;
	int64_t now; /* seconds since the epoch: when this is seen */
};

/* What was found: arrays of the receiver's (xc_store_harvest_fini); paths live as long as the walk and the old
 * state. */
struct xc_store_harvest {
	struct xc_store_entry *entries; /* in no order */
	size_t entry_count, entry_capacity;
	struct xc_store_dull *dull;
	size_t dull_count, dull_capacity;
	uint64_t files;         /* regular files met */
	uint64_t read;          /* of these: opened and looked into */
	uint64_t packages;      /* .deb and .rpm files, whose content is not seen */
	uint64_t unreadable;    /* files and directories that could not be opened */
	char *first_unreadable; /* "PATH: why", or NULL; malloc'ed */
};

struct xc_store_walk *xc_store_walk_start(const struct xc_store_walk_options *options);

/* Wait up to `ms` milliseconds; true once the whole tree was gone through, or the walk was stopped. */
bool xc_store_walk_wait(struct xc_store_walk *walk, unsigned ms);

/* Files met so far. */
uint64_t xc_store_walk_files(struct xc_store_walk *walk);

/* A copy of what was found so far. */
struct xc_store_harvest xc_store_walk_take(struct xc_store_walk *walk);
void xc_store_harvest_fini(struct xc_store_harvest *harvest);

/* Stop early: threads end after the file they are at. */
void xc_store_walk_stop(struct xc_store_walk *walk);

/* Wait for the threads and free. */
void xc_store_walk_end(struct xc_store_walk *walk);

#endif

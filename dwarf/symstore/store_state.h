/* store_state: the whole store in memory, to be changed and written again. Private to store_*.c. */
#ifndef XC_STORE_STATE_H
#define XC_STORE_STATE_H

#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/store/store.h"

/* A file and its split units. */
struct xc_store_entry {
	struct xc_store_file file;
	const uint64_t *dwo_ids;
	size_t dwo_count;
};

/* A file that need not be read again. `tree` is a hash of the root under which it was found, `file` of its device,
 * inode, size and time. */
struct xc_store_dull {
	uint64_t tree, file;
};

struct xc_store_state {
	struct xc_arena arena;
	struct xc_store *store;         /* owns the strings; NULL when there was no store */
	struct xc_store_entry *entries; /* sorted by path */
	size_t entry_count, entry_capacity;
	struct xc_store_dull *dull; /* sorted */
	size_t dull_count, dull_capacity;
	struct xc_store_root *roots;
	size_t root_count, root_capacity;
	bool damaged; /* the kept file was damaged, so entries are missing */
};

/* Read the store; what is missing or damaged is left out. Errors: DIR/index cannot be read (XC_ERR_PERMISSION,
 * XC_ERR_IO). */
XC_MUST_CHECK struct xc_error *xc_store_state_read(const char *dir, struct xc_store_state *state_out);
XC_MUST_CHECK struct xc_error *xc_store_state_write(const char *dir, const struct xc_store_state *state);
void xc_store_state_fini(struct xc_store_state *state);

/* Lock DIR/lock, creating both when missing; the result is a descriptor to be closed. Waits up to wait_ms. */
enum { XC_STORE_WAIT_MS = 30000 };
XC_MUST_CHECK struct xc_error *xc_store_lock(const char *dir, int wait_ms, int *lock_out);

/* NULL when the path is unknown. */
const struct xc_store_entry *xc_store_state_find(const struct xc_store_state *state, const char *path);
bool xc_store_state_is_dull(const struct xc_store_state *state, struct xc_store_dull dull);
struct xc_store_root *xc_store_state_root(struct xc_store_state *state, const char *path);

int xc_store_entry_order(const void *a, const void *b); /* by path, for qsort */
int xc_store_dull_order(const void *a, const void *b);

/* Is the file still the one that was read? Device, inode, size and time are equal. */
bool xc_store_unchanged(const struct xc_store_file *file, const struct stat *st);
bool xc_store_gone(const struct xc_store_file *file); /* the file no longer exists */
struct xc_store_dull xc_store_dull_of(const char *root, const struct stat *st);

/* Is the path the root itself, or below it? */
bool xc_store_below(const char *path, const char *root);

static inline int64_t xc_store_mtime(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

#endif

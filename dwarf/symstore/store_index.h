/* store_index: fills the store (core/store/store.h).
 *
 * Indexing walks trees, saves its results every few seconds and at the end, and drops references to files that are
 * gone. Any number of processes may index at once: each reads, merges and replaces the store under a lock. When one
 * is killed, the store is as last saved; when the disk is full, it is unchanged. Must not be used inside the sandbox
 * of live mode. */
#ifndef XC_STORE_INDEX_H
#define XC_STORE_INDEX_H

#include <signal.h>

#include "core/base/progress.h"
#include "core/store/store.h"

struct xc_store_index_options {
	const char *dir; /* the store; created when missing */
	unsigned jobs;   /* threads; 0: as many as processors */
	/* link: keep a hard link in the store; copy: copy the file where a link cannot be made, or always. */
	bool link, copy;
	const char *cache_dir;             /* not searched, because its files are xcore's own; may be NULL */
	struct xc_progress *progress;      /* may be NULL */
	const volatile sig_atomic_t *stop; /* when it becomes nonzero: save what was found, then return; may be NULL */
};

/* The result for one tree. */
struct xc_store_totals {
	uint64_t files;          /* regular files met */
	uint64_t read;           /* files that were new or changed, and so were opened and read */
	uint64_t found;          /* files that can be looked up */
	uint64_t added, dropped; /* of the store's references: new ones, and those whose file is gone or changed */
	uint64_t linked, copied, not_kept;       /* with link or copy */
	uint64_t packages;                       /* .deb and .rpm files, which must be unpacked first */
	uint64_t unreadable;                     /* files and directories */
	char *first_unreadable, *first_not_kept; /* "PATH: why", or NULL; malloc'ed */
	bool interrupted;
	bool damaged; /* the kept file was damaged, and part of its entries was lost */
};

/* Index one tree (or one file). Errors: the path cannot be resolved, XC_ERR_UNSUPPORTED for a .deb or .rpm, and
 * those of writing the store. */
XC_MUST_CHECK struct xc_error *xc_store_index(const struct xc_store_index_options *options, const char *root,
					      struct xc_store_totals *totals_out);
void xc_store_totals_fini(struct xc_store_totals *totals);

/* Index the files kept in the store itself (DIR/kept); part of every indexing. */
XC_MUST_CHECK struct xc_error *xc_store_index_kept(const struct xc_store_index_options *options);

#endif

/* store_index: filling the store (core/store/store.h).
 *
 * Indexing walks trees, keeps what it found every few seconds and at the end, and forgets what is gone. Any number
 * of processes may do so at once: the store is read, merged and replaced under a lock. One that is killed leaves
 * the store as it was last saved; a full disk leaves it as it was. Not to be used behind the fences of live mode. */
#ifndef XC_STORE_INDEX_H
#define XC_STORE_INDEX_H

#include <signal.h>

#include "core/base/progress.h"
#include "core/store/store.h"

struct xc_store_index_options {
	const char *dir;              /* the store; made when it is not there */
	unsigned jobs;                /* threads; 0: as many as processors */
	bool link, copy;              /* also keep a hard link in the store; copy where none can be made, or always */
	const char *cache_dir;        /* not entered: what lies there is our own; or NULL */
	struct xc_progress *progress; /* may be NULL */
	const volatile sig_atomic_t *stop; /* becomes nonzero: save what was found and return; may be NULL */
};

/* What became of one tree. */
struct xc_store_totals {
	uint64_t files;          /* regular files met */
	uint64_t read;           /* of these: new or changed, so opened and looked into */
	uint64_t found;          /* files that can be looked up */
	uint64_t added, dropped; /* of the store's references: new ones, and those whose file is gone or changed */
	uint64_t linked, copied, not_kept;       /* with link or copy */
	uint64_t packages;                       /* .deb and .rpm files, which have to be unpacked first */
	uint64_t unreadable;                     /* files and directories */
	char *first_unreadable, *first_not_kept; /* "PATH: why", or NULL; malloc'ed */
	bool interrupted;
	bool damaged; /* the kept file was: what stood in it was lost in part */
};

/* Index one tree (or one file). Errors: the path cannot be resolved, XC_ERR_UNSUPPORTED for a .deb or .rpm, and
 * those of writing the store. */
XC_MUST_CHECK struct xc_error *xc_store_index(const struct xc_store_index_options *options, const char *root,
					      struct xc_store_totals *totals_out);
void xc_store_totals_fini(struct xc_store_totals *totals);

/* Read again what stands in the store itself (DIR/kept); part of every indexing. */
XC_MUST_CHECK struct xc_error *xc_store_index_kept(const struct xc_store_index_options *options);

#endif

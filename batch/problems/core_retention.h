/* core_retention: which cores are worth keeping: of each cluster the one that stands for it, and the best of each other class: memory that was freed and a
 * NULL pointer may be used at one place. All others tell nothing more. But those whose stack says too little to know that (xc_signature_doubt)
 * are all kept, but for copies: they may be of several problems. */
#ifndef XC_CORE_RETENTION_H
#define XC_CORE_RETENTION_H

#include <stdio.h>

#include "batch/problems/problem.h"

struct xc_core_kept {
	const struct xc_record *record;
	const struct xc_problem *problem; /* its cluster */
	const char *why; /* it is kept beside the one that stands for its cluster: a doubt, its class; or NULL */
};

struct xc_core_spare {
	const struct xc_record *record;
	const struct xc_problem *problem; /* its cluster */
	const struct xc_record *
		instead; /* what is kept that tells the same: what it is a copy of, where that is kept, else that of its class */
	const char *copy_of; /* as in problems.h */
};

struct xc_core_retention {
	struct xc_core_kept *kept; /* by path */
	size_t kept_count;
	struct xc_core_spare *spare; /* may be deleted: copies first, then by path */
	size_t spare_count;
	const struct xc_record *const *apart; /* that gave no verdict, by path: nobody can say what they are worth */
	size_t apart_count;
	uint64_t kept_bytes, spare_bytes; /* as stored */
};

/* The list; the problems must outlive it. Never NULL. */
struct xc_core_retention *xc_core_retention_new(const struct xc_problems *problems);
void xc_core_retention_free(struct xc_core_retention *keep); /* NULL is fine */

/* The list for people, a line a core: "keep  ID  PATH" and why it is not the only one; "spare  ID  PATH  copy of OTHER, 1.5 MiB",
 * "apart  STATUS  PATH", and the sum. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_core_retention_write(const struct xc_core_retention *keep, FILE *out);

#endif

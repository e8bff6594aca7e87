/* core_retention: which cores are worth keeping. Of each cluster: the representative, and the best core of each other
 * class (the same place may see freed memory and a NULL pointer). Other cores add nothing. Cores whose stack is too
 * weak to tell (xc_signature_doubt) are all kept, except for copies: they may belong to several problems. */
#ifndef XC_CORE_RETENTION_H
#define XC_CORE_RETENTION_H

#include <stdio.h>

#include "batch/problems/problem.h"

struct xc_core_kept {
	const struct xc_record *record;
	const struct xc_problem *problem; /* its cluster */
	const char *why;                  /* why it is kept besides the representative: a doubt or its class; or NULL */
};

struct xc_core_spare {
	const struct xc_record *record;
	const struct xc_problem *problem; /* its cluster */
	/* the kept core that makes it redundant: its original if that is kept, else the one kept for its class */
	const struct xc_record *instead;
	const char *copy_of; /* as in problem.h */
};

struct xc_core_retention {
	struct xc_core_kept *kept; /* by path */
	size_t kept_count;
	struct xc_core_spare *spare; /* may be deleted: copies first, then by path */
	size_t spare_count;
	const struct xc_record *const *apart; /* cores without a verdict, by path; their value is unknown */
	size_t apart_count;
	uint64_t kept_bytes, spare_bytes; /* stored sizes */
};

/* Makes the list; the problems must outlive it. Never NULL. */
struct xc_core_retention *xc_core_retention_new(const struct xc_problems *problems);
void xc_core_retention_free(struct xc_core_retention *keep); /* NULL is fine */

/* Writes the list for people, one line per core: "keep  ID  PATH" with the reason if it is not the only one of its
 * cluster; "spare  ID  PATH  copy of OTHER, 1.5 MiB"; "apart  STATUS  PATH"; and the totals. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_core_retention_write(const struct xc_core_retention *keep, FILE *out);

#endif

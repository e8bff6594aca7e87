/* identity: is this the file that was mapped?
 *
 * verified     the build-ids in memory and in the file are equal, or (live) it is the mapped inode
 * refused      they differ, or something else proves another file
 * unverified   memory's build-id is lost, or neither has one, and every check that can still be made passed:
 *              class, machine and byte order; every mapping of the file lies where its program headers put it; every
 *              page of a read-only segment that the core stores is equal to the file's */
#ifndef XC_IDENTITY_CHECK_H
#define XC_IDENTITY_CHECK_H

#include "core/process/process.h"

struct xc_identity_check {
	enum xc_identity identity;   /* XC_VERIFIED, XC_UNVERIFIED or XC_REFUSED */
	struct xc_build_id build_id; /* of the file */
	const char *why;             /* for people, in the process's arena; NULL when verified */
	xc_addr bias, lo, hi;        /* of the module by the file's headers; when not refused */
};

struct xc_identity_candidate {
	const struct xc_source *file;
	const char *path; /* for messages */
	bool same_inode;  /* it is known to be the mapped file itself (live) */
	bool strict;      /* refuse what would be unverified */
};

/* Compare a candidate with the module. Cost: two headers when both have build-ids; else up to all stored
 * read-only pages of the module. */
struct xc_identity_check xc_identity_check(struct xc_process *process, const struct xc_module *module,
					   const struct xc_identity_candidate *candidate);

#endif

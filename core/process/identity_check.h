/* identity_check: compares a file with the mapped module.
 *
 * verified     the build-ids in memory and in the file are equal, or (live) it is the mapped inode; or neither has one,
 *              and both have the same one of Go's
 * refused      they differ, or another check proves a different file
 * unverified   the build-id in memory is lost, or neither has one, and every other check passed:
 *              class, machine and byte order; every mapping of the file is where its program headers place it; every
 *              page of a read-only segment in the core is equal to that of the file */
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
	bool same_inode;  /* it is the mapped file itself (live) */
	bool strict;      /* refuse unverified files */
};

/* Compare a candidate with the module. Cost: two headers when both have build-ids, else up to all read-only pages of
 * the module that are in the core. */
struct xc_identity_check xc_identity_check(struct xc_process *process, const struct xc_module *module,
					   const struct xc_identity_candidate *candidate);

#endif

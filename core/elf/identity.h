/* identity: how well the file of a module is known to be the one that was mapped. */
#ifndef XC_IDENTITY_H
#define XC_IDENTITY_H

enum xc_identity {
	XC_NO_FILE,    /* nothing was found; the module's `why` says where xcore looked */
	XC_VERIFIED,   /* the build-ids are equal, or the file is the mapped inode itself (live) */
	XC_UNVERIFIED, /* the target's build-id is lost or never was; every other check passed */
	XC_REFUSED,    /* a file was found but is not the one: never used */
};

/* "no file", "verified", "unverified", "refused". */
const char *xc_identity_text(enum xc_identity identity);

#endif

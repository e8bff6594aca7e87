/* error: why something could not be done, as a chain a person can read.
 *
 * Functions that can fail return `struct xc_error *`, NULL on success; results come through a last
 * `*_out` parameter that is left untouched on failure. The receiver owns the error: it wraps it,
 * turns it into a note, or frees it. Out of memory is never an error object (see xc_alloc). */
#ifndef XC_ERROR_H
#define XC_ERROR_H

#include "core/base/base.h"

enum xc_error_code {
	XC_ERR_IO = 1,      /* the operating system refused: open, read, map */
	XC_ERR_FORMAT,      /* bytes that do not have the form they claim */
	XC_ERR_FAULT,       /* target memory that is not there; xc_error_addr tells where */
	XC_ERR_NOT_FOUND,   /* a name, thread, file or address that does not exist */
	XC_ERR_MISMATCH,    /* two things that should belong together do not (build-ids) */
	XC_ERR_LIMIT,       /* one of our bounds was reached, or one of memory */
	XC_ERR_PERMISSION,  /* the kernel's rules forbid it */
	XC_ERR_UNSUPPORTED, /* recognised, but not handled */
	XC_ERR_USAGE,       /* the command line is wrong */
	XC_ERR_ABSENT,      /* a value the compiler optimised out or that was not saved */
	XC_ERR_TORN,        /* live: what was read changed meanwhile, each time it was tried */
};

struct xc_error {
	enum xc_error_code code;
	xc_addr addr;  /* the first unreadable address, for XC_ERR_FAULT */
	char *message; /* one line, without a final stop */
	char *hint;    /* what the user may do about it, or NULL */
	char *lines;   /* shown below the message as they are: what the user wrote with a mark at the spot; or NULL */
};

struct xc_error *xc_error_new(enum xc_error_code code, const char *format, ...) XC_PRINTF(2, 3);

/* A fault at addr; the message is "0xADDR: WHY". */
struct xc_error *xc_error_fault(xc_addr addr, const char *why);

/* From errno: "WHAT: strerror". EACCES and EPERM become XC_ERR_PERMISSION, ENOENT NOT_FOUND, ENOMEM LIMIT. */
struct xc_error *xc_error_errno(int number, const char *format, ...) XC_PRINTF(2, 3);

/* Put "what was being done: " before the message; keeps code, address and hint. Returns err. */
struct xc_error *xc_error_wrap(struct xc_error *err, const char *format, ...) XC_PRINTF(2, 3);

/* Attach a hint, replacing any; returns err. */
struct xc_error *xc_error_hint(struct xc_error *err, const char *format, ...) XC_PRINTF(2, 3);

/* Attach lines, copied, replacing any; returns err. */
struct xc_error *xc_error_lines(struct xc_error *err, const char *lines);

void xc_error_free(struct xc_error *err); /* NULL is fine */
void xc_error_freep(struct xc_error **err);

#endif

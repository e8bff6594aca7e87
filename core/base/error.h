/* error: the reason for a failure, as a chain of messages that a person can read.
 *
 * Functions that can fail return `struct xc_error *`, NULL on success. Results come through a last
 * `*_out` parameter, which a failure leaves untouched. The receiver owns the error: it wraps it,
 * turns it into a note, or frees it. Running out of memory is never an error object (see xc_alloc). */
#ifndef XC_ERROR_H
#define XC_ERROR_H

#include "core/base/base.h"

enum xc_error_code {
	XC_ERR_IO = 1,      /* the operating system refused: open, read, map */
	XC_ERR_FORMAT,      /* malformed input */
	XC_ERR_FAULT,       /* target memory that is not available; addr is the address */
	XC_ERR_NOT_FOUND,   /* a name, thread, file or address that does not exist */
	XC_ERR_MISMATCH,    /* two things that should belong together do not (build-ids) */
	XC_ERR_LIMIT,       /* a limit of xcore or of memory was reached */
	XC_ERR_PERMISSION,  /* the kernel's rules forbid it */
	XC_ERR_UNSUPPORTED, /* recognised, but not handled */
	XC_ERR_USAGE,       /* the command line is wrong */
	XC_ERR_ABSENT,      /* a value the compiler optimised out or that was not saved */
	XC_ERR_TORN,        /* live: the data changed during every attempt to read it */
};

struct xc_error {
	enum xc_error_code code;
	xc_addr addr;  /* the first unreadable address, for XC_ERR_FAULT */
	char *message; /* one line, without a full stop */
	char *hint;    /* advice for the user, or NULL */
	char *lines;   /* printed verbatim below the message: the user's input with a mark at the error; or NULL */
};

struct xc_error *xc_error_new(enum xc_error_code code, const char *format, ...) XC_PRINTF(2, 3);

/* A fault at addr; the message is "0xADDR: WHY". */
struct xc_error *xc_error_fault(xc_addr addr, const char *why);

/* From errno: "WHAT: strerror". EACCES and EPERM become XC_ERR_PERMISSION, ENOENT NOT_FOUND, ENOMEM LIMIT. */
struct xc_error *xc_error_errno(int number, const char *format, ...) XC_PRINTF(2, 3);

/* Put "CONTEXT: " before the message. Keeps code, address and hint. Returns err. */
struct xc_error *xc_error_wrap(struct xc_error *err, const char *format, ...) XC_PRINTF(2, 3);

/* Set the hint. Returns err. */
struct xc_error *xc_error_hint(struct xc_error *err, const char *format, ...) XC_PRINTF(2, 3);

/* Set the lines, which are copied. Returns err. */
struct xc_error *xc_error_lines(struct xc_error *err, const char *lines);

void xc_error_free(struct xc_error *err); /* NULL is fine */
void xc_error_freep(struct xc_error **err);

#endif

/* disas_report: code with names, source lines and values. */
#ifndef XC_DISAS_REPORT_H
#define XC_DISAS_REPORT_H

#include "core/report/report.h"
#include "dwarf/decode/disas.h"
#include "dwarf/stack/frame_scope.h"

enum { XC_DISAS_BEFORE = 20, XC_DISAS_AFTER = 10, XC_DISAS_MOST = 200 };

struct xc_disas_options {
	enum xc_syntax syntax;
	bool bytes;             /* show the bytes */
	bool no_source;         /* text without source lines */
	bool all;               /* the whole function, not only a window */
	unsigned before, after; /* instructions in the window */
	uint64_t count, length; /* instructions, or bytes, from the address on; 0: the function around it */
	bool redact;            /* leave out the contents of memory */
};

/* A document `code` (xcore.disas/1). `addr` is the address to show; NULL: the current instruction of the frame, in a
 * caller the call. The current instruction is marked wherever it is shown, with the values of its operands. Errors:
 * XC_ERR_FAULT (no code there), XC_ERR_NOT_FOUND (no frame), XC_ERR_UNSUPPORTED (a machine that cannot be decoded). */
XC_MUST_CHECK struct xc_error *xc_disas_report(struct xc_section *s, const struct xc_frame_scope *scope,
					       const xc_addr *addr, const struct xc_disas_options *options);

#endif

/* classhelp: explains the crash classes to people who meet them for the first time, in code review or on a CI page. The
 * same table is in triage/README.md, with how each class is decided. */
#ifndef XC_CLASSHELP_H
#define XC_CLASSHELP_H

#include "core/base/base.h"

struct xc_classhelp {
	const char *name;     /* "null-read" */
	const char *title;    /* "NULL pointer read": a headline */
	const char *meaning;  /* sentences */
	const char *advice;   /* where to start */
	const char *severity; /* the usual one; the worse of two */
	unsigned cwe;         /* number in the Common Weakness Enumeration; 0: none fits */
	bool memory;          /* a memory-safety violation, certain or possible: security-relevant */
};

/* Static. For an unknown class, name and title are NULL. */
const struct xc_classhelp *xc_classhelp(const char *class_name);

#endif

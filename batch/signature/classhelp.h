/* classhelp: what a class of crash means, for people who see it for the first time: in code review, on a CI page. triage/README.md has the same
 * table for those who want to know how it is decided. */
#ifndef XC_CLASSHELP_H
#define XC_CLASSHELP_H

#include "core/base/base.h"

struct xc_classhelp {
	const char *name;     /* "null-read" */
	const char *title;    /* "NULL pointer read": a headline */
	const char *meaning;  /* sentences */
	const char *advice;   /* where to begin */
	const char *severity; /* the usual one, the worse of two */
	unsigned cwe;         /* number in the Common Weakness Enumeration; 0: none fits */
	bool memory; /* memory was, or may have been, used against the language's rules: a matter of security */
};

/* Of a class that is not known, name and title are NULL. Static. */
const struct xc_classhelp *xc_classhelp(const char *class_name);

#endif

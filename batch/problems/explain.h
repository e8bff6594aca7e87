/* explain: reports, for people, which frames of each crash count, which do not, and which rule decided. */
#ifndef XC_EXPLAIN_H
#define XC_EXPLAIN_H

#include <stdio.h>

#include "batch/problems/problem.h"

/* Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_explain(const struct xc_problems *problems, FILE *out);

#endif

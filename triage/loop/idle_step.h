/* idle_step: what a loop adds in each round to the number that should end it, and which is 0. */
#ifndef XC_IDLE_STEP_H
#define XC_IDLE_STEP_H

#include "triage/dataflow/frame_code.h"

/* "likely because the value that it adds at parse.c:10, `r->len`, is 0". `pc`: of the addition. The name is left
 * out where the source has none for it, or the addition is in a function that the loop calls. In the report's arena;
 * never NULL. */
const char *xc_idle_step_words(const struct xc_frame_code *code, xc_addr pc);

#endif

/* go_lookup: values of Go that were looked up in a map: the zero value when it has no such key. */
#ifndef XC_GO_LOOKUP_H
#define XC_GO_LOOKUP_H

#include "triage/code/slice.h"

/* The call of the runtime that looked up what register `reg` has before instruction `at`. XC_BODY_NONE: it is something
 * else as well, or not known. */
long xc_go_lookup_call(const struct xc_body *body, size_t at, int reg);

/* The same for what the function returns as its first result, where it returns nothing else. */
long xc_go_lookup_returned(const struct xc_body *body);

/* The instruction with which it sets its first result to 0, where it can return no other 0: the rest it has made, or
 * its address. XC_BODY_NONE: there is none, several, or other values that may be 0. */
long xc_go_lookup_nil(const struct xc_body *body);

#endif

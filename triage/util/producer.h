/* producer: the compiler that made the code of a place. */
#ifndef XC_PRODUCER_H
#define XC_PRODUCER_H

#include "dwarf/symbolize/debuginfo.h"

/* DW_AT_producer of the place's unit: "GNU C17 12.2.0 -g -O2". NULL without debug information. Lives as long as the
 * process. */
const char *xc_producer(const struct xc_place *place);

#endif

/* local: the name that a function of the crashed stack has for the memory at an address. */
#ifndef XC_LOCAL_H
#define XC_LOCAL_H

#include "triage/crash/crash_context.h"

/* Append the variable of frames[index] that contains the address, or that points to what contains it: "line",
 * "record.name", "to->name". False when there is none. */
bool xc_local_at(const struct xc_crash_context *crash, size_t index, xc_addr addr, struct xc_text *text);

/* The variable of known type of the innermost `frames` frames that contains the address. False when there is none. */
bool xc_local_held(const struct xc_crash_context *crash, size_t frames, xc_addr addr, struct xc_held *out);

/* Append the array of frames[index] that lies nearest below an address, members of structures included. Returns how
 * many other arrays lie below: 0 when it is the only one, SIZE_MAX when there is none. *addr_out gets its address,
 * *size_out its size in bytes. */
size_t xc_local_array_below(const struct xc_crash_context *crash, size_t index, xc_addr addr, struct xc_text *text,
			    xc_addr *addr_out, uint64_t *size_out);

#endif

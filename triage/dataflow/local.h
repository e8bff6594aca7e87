/* local: what a function of the crashed stack calls the memory at an address. */
#ifndef XC_LOCAL_H
#define XC_LOCAL_H

#include "triage/crash/crash_context.h"

/* Append the variable of frames[index] that holds the address, or a pointer of it that leads to what holds it: "line", "record.name",
 * "to->name". False when no variable does. */
bool xc_local_at(const struct xc_crash_context *crash, size_t index, xc_addr addr, struct xc_text *text);

/* Append the array of frames[index] that lies nearest below an address, and return how many others do: 0 when it is the only one; SIZE_MAX
 * when there is none. *addr_out gets where it begins, *size_out its bytes. Members of structures, too. */
size_t xc_local_array_below(const struct xc_crash_context *crash, size_t index, xc_addr addr, struct xc_text *text,
			    xc_addr *addr_out, uint64_t *size_out);

#endif

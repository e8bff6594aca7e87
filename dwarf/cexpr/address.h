/* address: an address in a process, as typed by a user, for every command that takes one. */
#ifndef XC_ADDRESS_H
#define XC_ADDRESS_H

#include "core/process/process.h"

/* The address that `text` means: a number (decimal, or hexadecimal after 0x), a symbol, `module!symbol`, or a register
 * like `$rsp`; optionally with `+N` or `-N`. Otherwise an expression in C (cexpr.h): its value if it is a number or
 * pointer, or its location if it is an array, a struct or a function. Registers and locals are those of the frame with
 * index `row` of a thread; thread NULL: the crashed thread, or the first one. Cost: a name without a symbol is looked
 * up in the name index, which is built if it does not exist. Errors: XC_ERR_NOT_FOUND, with similar names as the hint,
 * and those of expressions. */
XC_MUST_CHECK struct xc_error *xc_address_parse(const struct xc_process *process, const struct xc_thread *thread,
						unsigned row, const char *text, xc_addr *addr_out);

#endif

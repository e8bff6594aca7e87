/* address: places in a process as people write them, for every command that takes one. */
#ifndef XC_ADDRESS_H
#define XC_ADDRESS_H

#include "core/process/process.h"

/* The address that `text` means: a number (decimal, or hexadecimal after 0x), a symbol, `module!symbol` for one of a certain
 * module, or a register as `$rsp`; then any `+N` or `-N`. Else an expression in C (cexpr.h): the number that it is, or where it
 * lies when it is an array, a struct or a function. Registers and locals are those of the frame with index `row` of a thread;
 * thread NULL: the crashed one, else the first.
 * Cost: what no symbol table has is looked up in the name index, which is built when it is not there.
 * Errors: XC_ERR_NOT_FOUND, with the names that may have been meant as the hint, and those of expressions. */
XC_MUST_CHECK struct xc_error *xc_address_parse(const struct xc_process *process, const struct xc_thread *thread,
						unsigned row, const char *text, xc_addr *addr_out);

#endif

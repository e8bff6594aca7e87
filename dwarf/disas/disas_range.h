/* disas_range: the piece of code around an address, where decoding may start. */
#ifndef XC_DISAS_RANGE_H
#define XC_DISAS_RANGE_H

#include "core/process/process.h"

enum { XC_CODE_MAX = 16 << 20 }; /* the largest function in bytes */

/* One contiguous piece. Each piece of a split function has a range of its own (foo.cold). */
struct xc_code_range {
	xc_addr lo, hi; /* inclusive */
	const char
		*function; /* demangled; NULL when only call frame information knows it; lives as long as the process */
	const char *how;   /* "debug information", "symbol", "call frame information", "procedure linkage table" */
	bool end_known;    /* false: a symbol without size; hi is a guess */
	bool thumb;        /* arm */
};

/* False when the start of the code around the address is not known, or it is larger than XC_CODE_MAX. */
bool xc_disas_range(const struct xc_process *process, xc_addr addr, struct xc_code_range *out);

/* The start of a function of this name in the debug information, for names that are in no symbol table. */
bool xc_disas_function(const struct xc_process *process, const char *name, xc_addr *addr_out);

#endif

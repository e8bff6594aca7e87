/* disas_range: the piece of code that an address stands in, where decoding may begin. */
#ifndef XC_DISAS_RANGE_H
#define XC_DISAS_RANGE_H

#include "core/process/process.h"

enum { XC_CODE_MAX = 16 << 20 }; /* bytes of one function that are looked at */

/* One contiguous piece: a function split in several has each by itself (foo.cold). */
struct xc_code_range {
	xc_addr lo, hi; /* inclusive */
	const char
		*function; /* demangled; NULL when only call frame information knows it; lives as long as the process */
	const char *how;   /* "debug information", "symbol", "call frame information" */
	bool end_known;    /* false: a symbol without size; hi is a guess */
	bool thumb;        /* arm */
};

/* False when nothing says where the code round the address begins, or it is larger than XC_CODE_MAX. */
bool xc_disas_range(const struct xc_process *process, xc_addr addr, struct xc_code_range *out);

/* Where a function of this name (of the debug information) begins, for names that no symbol table has. */
bool xc_disas_function(const struct xc_process *process, const char *name, xc_addr *addr_out);

#endif

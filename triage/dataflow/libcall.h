/* libcall: functions of the C library that programs hand pointers to. */
#ifndef XC_LIBCALL_H
#define XC_LIBCALL_H

#include "core/base/arena.h"
#include "triage/code/operand.h"

/* What programs call it: "__memcpy_avx512_unaligned_erms" is memcpy. Other names are as they are. */
const char *xc_libcall_name(const char *name, struct xc_arena *arena);

/* The arguments, a bit each, that point to what a function with this name reads (or writes); 0 when that is not known. */
unsigned xc_libcall_arguments(const char *name, enum xc_access access);

/* The function that gives memory back which a name (NULL: none) is a variant of: "free" of "__libc_free"; NULL when it is no such. */
const char *xc_libcall_frees(const char *name);

#endif

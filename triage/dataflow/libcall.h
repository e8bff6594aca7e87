/* libcall: functions of the C library that take pointers. */
#ifndef XC_LIBCALL_H
#define XC_LIBCALL_H

#include "core/base/arena.h"
#include "triage/code/operand.h"

/* The public name: "__memcpy_avx512_unaligned_erms" is memcpy, "_IO_new_fopen" fopen, "__mmap64" mmap. Other names are
 * returned unchanged. */
const char *xc_libcall_name(const char *name, struct xc_arena *arena);

/* Does the function set errno when it returns no pointer: fopen, opendir, mmap, malloc? name may be NULL. */
bool xc_libcall_fails(const char *name);

/* The name without the C library's own marks before it: "fclose" in "_IO_new_fclose", "printf_chk" in
 * "__printf_chk". */
const char *xc_libcall_plain(const char *name);

/* The arguments, as a bit set, that point to what the function reads (or writes); 0 when not known. */
unsigned xc_libcall_arguments(const char *name, enum xc_access access);

/* The number of the argument (from 0) that says how many bytes are written or copied; -1 when there is none, or it is
 * not known. name may be NULL. */
int xc_libcall_length(const char *name);

/* The deallocation function that a name (may be NULL) is a variant of: "free" for "__libc_free". NULL when it is
 * none. */
const char *xc_libcall_frees(const char *name);

#endif

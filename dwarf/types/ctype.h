/* ctype: C's built-in types, with the sizes of the target's ABI, and types derived from others. Expressions use them
 * where there is no debug information. They live as long as the process, each made once. */
#ifndef XC_CTYPE_H
#define XC_CTYPE_H

#include "dwarf/types/type.h"

enum xc_ctype {
	XC_C_VOID,
	XC_C_BOOL,
	XC_C_CHAR,
	XC_C_SCHAR,
	XC_C_UCHAR,
	XC_C_SHORT,
	XC_C_USHORT,
	XC_C_INT,
	XC_C_UINT,
	XC_C_LONG,
	XC_C_ULONG,
	XC_C_LLONG,
	XC_C_ULLONG,
	XC_C_INT128,
	XC_C_UINT128,
	XC_C_FLOAT16,
	XC_C_FLOAT,
	XC_C_DOUBLE,
	XC_C_LDOUBLE,
	XC_C_FLOAT128,
	XC_C_WCHAR,
	XC_C_CHAR16,
	XC_C_CHAR32,
	XC_C_COUNT,
};

const struct xc_type *xc_ctype(const struct xc_process *process, enum xc_ctype which);

/* The type with this name if a C library defines it (uint8_t, size_t, …), even if the program's debug information
 * does not; NULL for other names. */
const struct xc_type *xc_ctype_library(const struct xc_process *process, const char *name);

/* Derived types. `kind` is one of the qualifiers (CONST to ATOMIC), POINTER, REFERENCE or RVALUE_REFERENCE. */
const struct xc_type *xc_ctype_derive(const struct xc_process *process, enum xc_type_kind kind,
				      const struct xc_type *target);
const struct xc_type *xc_ctype_array(const struct xc_process *process, const struct xc_type *element, uint64_t count);
const struct xc_type *xc_ctype_unbounded(const struct xc_process *process, const struct xc_type *element); /* T[] */

/* The type of an enumeration constant: it is shown as its enum, but computes as int, as in C. */
const struct xc_type *xc_ctype_constant(const struct xc_process *process, const struct xc_type *enumeration);
bool xc_ctype_is_constant(const struct xc_type *type);

/* A function type; each call makes a new one. `parameters` are copied. */
const struct xc_type *xc_ctype_function(const struct xc_process *process, const struct xc_type *result,
					const struct xc_type *const *parameters, size_t count, bool variadic);

/* A class known by name alone, and perhaps by size (0: a declaration); each call makes a new one. `name` must live as
 * long as the process. */
const struct xc_type *xc_ctype_class(const struct xc_process *process, const char *name, uint64_t size);

/* The type of an ELF symbol without debug information: its bytes have no meaning until they are cast. */
const struct xc_type *xc_ctype_untyped(const struct xc_process *process);
const struct xc_type *xc_ctype_untyped_code(const struct xc_process *process);

/* A vector register of 16 bytes, or of 32 (wide), as a union of its views, and the flags register. */
const struct xc_type *xc_ctype_vector_register(const struct xc_process *process, bool wide);
const struct xc_type *xc_ctype_eflags(const struct xc_process *process);

#endif

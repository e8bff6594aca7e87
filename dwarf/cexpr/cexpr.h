/* cexpr: C expressions over the values of a process, as `xcore print` and scripts write them.
 *
 *	server.clients->head->value     *p@8     (struct foo *)0x55d0c0ffee     sizeof(struct foo)     {int} $rsp
 *	file.c::counter   function::static_local   libx.so!table   ns::Class<int>::member   $rip   arr[2]@3
 *
 * C's operators, conversions and constants in the target's ABI, but for what would write or run the target; with gdb's
 * additions: `@` makes an array of what stands in memory, `{type} address` reads it as a type, `.` and `->` mean the
 * same, a name in single quotes is a file's or a symbol's. Names are found as the compiler would at the scope: locals,
 * members of *this, the function's classes and namespaces, statics of its unit, then anything global, at last ELF symbols.
 * Comparisons are int in C and bool in other languages; a character constant is a char.
 *
 * Every expression ends soon: length, nesting and steps are bounded, and nothing is read before it is needed. An error tells
 * where: its lines show the expression with a caret under the spot. Not thread-safe. */
#ifndef XC_CEXPR_H
#define XC_CEXPR_H

#include "dwarf/stack/frame_scope.h"
#include "dwarf/value/value.h"

enum { XC_CEXPR_LENGTH = 1 << 14 }; /* bytes of text */

/* The value of an expression. What it borrows lives in `arena`, the types as long as the process. A value that is in memory can
 * be read at least in part; one that was optimised out is no error but an absent value.
 * Errors: XC_ERR_FORMAT (it is written wrong), XC_ERR_NOT_FOUND (a name, a member), XC_ERR_USAGE (operands that the
 * operator does not take, a name with several meanings), XC_ERR_FAULT, XC_ERR_ABSENT (of an operand), XC_ERR_LIMIT,
 * XC_ERR_UNSUPPORTED. */
XC_MUST_CHECK struct xc_error *xc_cexpr_value(const struct xc_frame_scope *scope, const char *text,
					      struct xc_arena *arena, struct xc_value *out);

/* The type that a text names ("struct foo *", "unsigned long [4]"), else the type of the expression that it is, of which
 * nothing is read. named_out (may be NULL) tells which. Errors as above. */
XC_MUST_CHECK struct xc_error *xc_cexpr_type(const struct xc_frame_scope *scope, const char *text,
					     struct xc_arena *arena, const struct xc_type **type_out, bool *named_out);

#endif

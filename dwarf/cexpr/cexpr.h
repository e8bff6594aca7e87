/* cexpr: C expressions over the values of a process, for `xcore print` and scripts.
 *
 *	server.clients->head->value     *p@8     (struct foo *)0x55d0c0ffee     sizeof(struct foo)     {int} $rsp
 *	file.c::counter   function::static_local   libx.so!table   ns::Class<int>::member   $rip   arr[2]@3
 *
 * C's operators, conversions and constants in the target's ABI, except assignments and calls, since the target is only
 * read. gdb's additions: `@` makes an array of consecutive objects in memory, `{type} address` reads memory as a type,
 * `.` and `->` are equivalent, and a name in single quotes is a file or a symbol. Names are looked up as the compiler
 * would in the frame: locals, members of *this, the function's classes and namespaces, statics of its unit, then
 * globals, and finally ELF symbols. A comparison is an int in C and a bool in other languages; a character constant is
 * a char.
 *
 * Evaluation is bounded in length, nesting and steps, and reads only what it needs. The lines of an error show the
 * expression with a caret under the spot. Not thread-safe. */
#ifndef XC_CEXPR_H
#define XC_CEXPR_H

#include "dwarf/stack/frame_scope.h"
#include "dwarf/value/value.h"

enum { XC_CEXPR_LENGTH = 1 << 14 }; /* bytes of text */

/* The value of an expression. Its buffers live in `arena`, its types as long as the process. At least part of a value
 * in memory is readable; a value that was optimised out is an absent value, not an error. Errors: XC_ERR_FORMAT
 * (syntax), XC_ERR_NOT_FOUND (a name, a member), XC_ERR_USAGE (operands of a wrong type, an ambiguous name),
 * XC_ERR_FAULT, XC_ERR_ABSENT (of an operand), XC_ERR_LIMIT, XC_ERR_UNSUPPORTED. */
XC_MUST_CHECK struct xc_error *xc_cexpr_value(const struct xc_frame_scope *scope, const char *text,
					      struct xc_arena *arena, struct xc_value *out);

/* The type that a text names ("struct foo *", "unsigned long [4]"); otherwise the type of the expression, of which
 * nothing is read. named_out (may be NULL) is true in the first case. Errors as above. */
XC_MUST_CHECK struct xc_error *xc_cexpr_type(const struct xc_frame_scope *scope, const char *text,
					     struct xc_arena *arena, const struct xc_type **type_out, bool *named_out);

#endif

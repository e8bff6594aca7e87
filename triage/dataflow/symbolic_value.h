/* symbolic_value: values and places of a function's machine code, as its source writes them: `r`, `n->next`,
 * `table[i].name`, `find()`.
 *
 * An address is a linear expression of contents of variables, values loaded from places (which are described by
 * their own addresses, and so on), results of calls, and a constant. One of the terms is a pointer. Its type turns
 * the constant into a field name, and the other terms into indexes. */
#ifndef XC_SYMBOLIC_VALUE_H
#define XC_SYMBOLIC_VALUE_H

#include "triage/code/linear_expr.h"
#include "triage/dataflow/frame_code.h"
#include "triage/code/slice.h"

enum { XC_SYMBOLIC_BUDGET = 400 }; /* steps for all queries about one crash */

/* The value of register `reg` before instruction `at`. */
struct xc_linear_expr xc_symbolic_value_register(const struct xc_frame_code *frame_code, size_t at, int reg);

/* The value that a definition of a slice set the register to. */
struct xc_linear_expr xc_symbolic_value_definition(const struct xc_frame_code *frame_code,
						   const struct xc_slice_definition *definition);

/* The address of a memory operand of instruction `at`. */
struct xc_linear_expr xc_symbolic_value_address(const struct xc_frame_code *frame_code, size_t at,
						const struct xc_insn_memory *memory);

/* The place of `size` bytes at an address, and its type: sets text and type of out. False when it has no source
 * form. */
bool xc_symbolic_value_place(const struct xc_frame_code *frame_code, size_t at, const struct xc_linear_expr *form,
			     uint32_t size, struct xc_symbolic_value *out);

/* Write the pointer of an expression as it was written for the place: of several members of a union, those that fit. */
void xc_symbolic_value_settle(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *place,
			      struct xc_linear_expr *form);

/* For a pointer to an object of the C++ library: the object itself, not its first member. */
bool xc_symbolic_value_object(const struct xc_frame_code *frame_code, size_t at, const struct xc_linear_expr *form,
			      struct xc_symbolic_value *out);

/* The code of the caller at its call, and the expression that it passed in register `reg`. A function that was
 * called and jumped on to this one may be between them: the expression is not sure then. False when the caller is
 * not certain. */
bool xc_symbolic_value_caller(const struct xc_frame_code *frame_code, int reg, struct xc_frame_code *caller_out,
			      struct xc_linear_expr *form_out);

/* The register in which the function got what `reg` has before instruction `at`, if it has only been moved and stored
 * since. -1: not known, or it is something else. */
int xc_symbolic_value_entry(const struct xc_frame_code *frame_code, size_t at, int reg);

/* Is it a pointer or reference? False when the type is not known (NULL). */
bool xc_symbolic_value_is_pointer(const struct xc_type *type);

/* The base of the expression: its only pointer. NULL when there is none. */
const struct xc_linear_expr_part *xc_symbolic_value_pointer(const struct xc_linear_expr *form);

#endif

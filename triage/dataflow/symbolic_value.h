/* symbolic_value: values and places of a function's machine code, the way its source writes them: `r`, `n->next`, `table[i].name`, `find()`.
 *
 * An address is a sum of terms: what variables hold, what was loaded from places (which are written by their own addresses, and so
 * on), results of calls, each some times, and a constant. One of the terms is a pointer whose type gives the constant a field's name and
 * the other terms the places of indexes. */
#ifndef XC_SYMBOLIC_VALUE_H
#define XC_SYMBOLIC_VALUE_H

#include "triage/code/linear_expr.h"
#include "triage/dataflow/frame_code.h"
#include "triage/code/slice.h"

enum { XC_SYMBOLIC_BUDGET = 400 }; /* steps that an inquiry begins with */

/* What register `reg` holds before instruction `at`. */
struct xc_linear_expr xc_symbolic_value_register(const struct xc_frame_code *frame_code, size_t at, int reg);

/* What a definition of a slice set the register to. */
struct xc_linear_expr xc_symbolic_value_definition(const struct xc_frame_code *frame_code,
						   const struct xc_slice_definition *definition);

/* The address of a memory operand of instruction `at`. */
struct xc_linear_expr xc_symbolic_value_address(const struct xc_frame_code *frame_code, size_t at,
						const struct xc_insn_memory *memory);

/* The place of `size` bytes at an address, and its type. False when it cannot be written. text and type of out are set. */
bool xc_symbolic_value_place(const struct xc_frame_code *frame_code, size_t at, const struct xc_linear_expr *form,
			     uint32_t size, struct xc_symbolic_value *out);

/* Of a pointer to an object of C++'s library the object itself, and not its first member. */
bool xc_symbolic_value_object(const struct xc_frame_code *frame_code, size_t at, const struct xc_linear_expr *form,
			      struct xc_symbolic_value *out);

/* A pointer or reference; false when the type is not known (NULL). */
bool xc_symbolic_value_is_pointer(const struct xc_type *type);

/* The part that the others are offsets from: the only one that is a pointer; NULL when there is none. */
const struct xc_linear_expr_part *xc_symbolic_value_pointer(const struct xc_linear_expr *form);

#endif

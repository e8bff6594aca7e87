/* symbolic_value_impl: values that code without optimization keeps in its frame. Private to symbolic_value*.c. */
#ifndef XC_SYMBOLIC_VALUE_IMPL_H
#define XC_SYMBOLIC_VALUE_IMPL_H

#include "dwarf/stack/variable.h"
#include "triage/dataflow/symbolic_value.h"

/* The argument of the program's function that came in register `reg`, and was stored at once as its variable: its first
 * word. Such code may go on to use the register. */
bool xc_symbolic_value_spilled(const struct xc_frame_code *frame_code, int reg, struct xc_held *out);

/* What the frame's slot, that no variable has, holds at an instruction, by its only store; not known: it has none, or
 * several. */
struct xc_linear_expr xc_symbolic_value_stored(const struct xc_frame_code *frame_code, size_t at,
					       const struct xc_insn_memory *slot);

#endif

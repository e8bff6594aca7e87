/* expr_impl: the stack machine that evaluates one expression, shared by dwarf/value/expr*.c and loclist.c. */
#ifndef XC_EXPR_IMPL_H
#define XC_EXPR_IMPL_H

#include "dwarf/value/expr.h"
#include "dwarf/value/stack_element.h"

enum { XC_EXPR_ELEMENTS = 64, XC_EXPR_STEPS = 20000, XC_EXPR_DEPTH = 8, XC_EXPR_PIECES = 1024 };

/* An entry value that is computed from the caller's own goes on in the caller, which may nest as deeply again as one
 * expression and its register; a recursion has many such frames. */
enum { XC_EXPR_CALLERS = 64, XC_EXPR_CALLER_DEPTH = 2 };

struct xc_machine {
	struct xc_expr_context *context;
	unsigned word;  /* bytes of an address */
	unsigned depth; /* elements in use */
	bool located;   /* `location` is set, by an operator that names something other than an address */
	struct xc_location location;
	struct xc_piece *pieces;
	size_t piece_count, piece_capacity;
	struct xc_stack_element elements[XC_EXPR_ELEMENTS];
};

const char *xc_machine_push(struct xc_machine *m, const struct xc_stack_element *element);
const char *xc_machine_push_word(struct xc_machine *m, uint64_t value);
const char *xc_machine_pop_word(struct xc_machine *m, uint64_t *value_out);

/* Run an expression on the machine's stack. NULL, or the reason for a failure. */
const char *xc_machine_run(struct xc_machine *m, const struct xc_expr *expr);

/* Operators that refer to other entries, threads and callers (expr_refer.c). *handled_out: the operator is one of
 * them. */
const char *xc_machine_refer(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op, bool *handled_out);

/* The bytes of a register, at most 16, and their number in len_out. NULL, or the reason why it is not known (in
 * scratch). */
const char *xc_expr_register(struct xc_expr_context *context, uint64_t number, uint8_t bytes[16], size_t *len_out);

/* The whole of an AVX register of x86, whose low half xc_expr_register gives; false when it is no such register or not
 * known. */
bool xc_expr_ymm(const struct xc_expr_context *context, uint64_t number, uint8_t bytes[XC_YMM_SIZE]);

/* A register that the frame's call did not preserve, where its value can be known (expr_clobbered.c). False when it is
 * lost. */
bool xc_expr_clobbered(struct xc_expr_context *context, uint64_t number, uint8_t bytes[16], size_t *len_out);

/* True when the expression names a clobbered register, and the location list entry after the call is the value of that
 * register at the function's entry. next_out gets that entry. */
bool xc_expr_after_call(struct xc_expr_context *context, const struct xc_expr *expr, struct xc_expr *next_out);

/* Is it `entry_value(register number); stack_value`? */
bool xc_expr_is_entry_of(struct xc_types *types, const struct xc_expr *expr, uint64_t number, unsigned word);

/* An entry of .debug_addr by a unit's index; false when there is none (loclist.c). */
bool xc_expr_indexed(struct xc_types *types, Dwarf_CU *unit, uint64_t index, uint64_t *value_out);

/* A number of `size` bytes in memory. NULL, or the reason for a failure. */
const char *xc_expr_read(struct xc_expr_context *context, xc_addr addr, size_t size, unsigned __int128 *bits_out);

#endif

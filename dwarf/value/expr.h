/* expr: DWARF expressions, evaluated by xcore.
 *
 * Operators have the meaning of DWARF 5 sections 2.5 and 2.6, and of the GNU extensions of DWARF 4. Every evaluation
 * ends: operators, nesting and stack are bounded. An expression that cannot be evaluated gives an absent location with
 * a reason. Not thread-safe. */
#ifndef XC_EXPR_H
#define XC_EXPR_H

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"
#include "dwarf/value/value.h"

/* A decoded expression, and the attribute it is from, for operators that refer to other entries. */
struct xc_expr {
	const Dwarf_Op *ops;
	size_t count;
	size_t size;              /* bytes, to check the targets of jumps; 0: not from a file */
	Dwarf_Attribute attr;     /* cu NULL: not from a file; then such operators fail */
	const Dwarf_Op *next_ops; /* of a location list: the expression for the next byte; NULL: none */
	size_t next_count;
	bool survives_call; /* next_ops are equal to ops: a register in them survives a call that ends here */
};

enum xc_location_kind {
	XC_LOCATION_ABSENT,   /* why */
	XC_LOCATION_MEMORY,   /* number: address */
	XC_LOCATION_REGISTER, /* number: DWARF register */
	XC_LOCATION_VALUE,    /* bits: the value itself, of `size` bytes */
	XC_LOCATION_BYTES,    /* bytes, size */
	XC_LOCATION_POINTEE,  /* a pointer to the value of `die` plus `number` bytes */
	XC_LOCATION_PIECES,   /* pieces, count */
};

struct xc_location {
	enum xc_location_kind kind;
	bool guessed;       /* an entry value was used */
	bool survives_call; /* of the expression */
	uint64_t number;
	unsigned __int128 bits;
	const void *bytes; /* lives as long as the debug file, or the arena */
	size_t size;
	Dwarf_Die die;
	struct xc_piece *pieces; /* in the scratch arena */
	size_t count;
	const char *why; /* static or in the scratch arena */
};

struct xc_piece {
	struct xc_location location;   /* not PIECES */
	uint64_t bit_offset, bit_size; /* the bits of it that the piece has */
};

/* The frame and the process that an expression is evaluated in, and results that are cached for the frame. Zero
 * whatever is not available: an expression that needs it gives an absent location. */
struct xc_expr_context {
	const struct xc_process *process;
	const struct xc_module *module; /* bias and TLS */
	const struct xc_thread *thread;
	struct xc_unwinder *unwinder;
	const struct xc_frame *frame; /* with registers; NULL for statics */
	const struct xc_place *place; /* of the frame */
	struct xc_arena *scratch;     /* results live here; must be set */
	uint64_t file_addr;           /* selects the entry of location lists, also in called expressions */
	bool has_object;              /* object is valid: the address for DW_OP_push_object_address */
	xc_addr object;
	bool guessed; /* set when an entry value was used */

	const struct xc_expr *frame_base; /* DW_AT_frame_base of the function; NULL: found when needed */

	/* private to expr*.c and entry_value.c */
	bool cfa_tried, cfa_known, base_tried;
	xc_addr cfa, base;
	const char *base_why;
	struct xc_entry_value_caller *caller;
	bool survives_call; /* of the expression that is evaluated */
	bool in_arguments;  /* evaluating an argument of the frame's own call */
	unsigned callers;   /* frames between the one whose variable is wanted and this one */
	unsigned depth;
	unsigned steps;
};

/* A context for a frame. scratch must outlive the results. */
struct xc_expr_context xc_expr_in_frame(const struct xc_process *process, const struct xc_thread *thread,
					struct xc_unwinder *unwinder, const struct xc_frame *frame,
					const struct xc_place *place, struct xc_arena *scratch);

/* The expression of a DIE's attribute (DW_AT_location, …) at a file address; the attribute may be a location list.
 * False when there is none for that address. The result lives as long as types. */
bool xc_expr_of(struct xc_types *types, Dwarf_Attribute *attr, uint64_t file_addr, struct xc_expr *expr_out);

/* Evaluate as a location description. initial (may be NULL) is pushed first. */
void xc_expr_locate(struct xc_expr_context *context, const struct xc_expr *expr, const uint64_t *initial,
		    struct xc_location *out);

/* Evaluate to a number: the top of the stack, or the bits at the location. NULL, or the reason why there is none. */
const char *xc_expr_number(struct xc_expr_context *context, const struct xc_expr *expr, uint64_t *number_out);

/* The same with all 16 bytes, for values of a type (floats as their bits). */
const char *xc_expr_bits(struct xc_expr_context *context, const struct xc_expr *expr, unsigned __int128 *bits_out);

/* The value of a type at a location. */
void xc_expr_value(struct xc_expr_context *context, const struct xc_location *location, const struct xc_type *type,
		   struct xc_value *out);

/* The value of a variable, parameter or other DIE with DW_AT_location or DW_AT_const_value. */
void xc_expr_variable(struct xc_expr_context *context, Dwarf_Die *die, struct xc_value *out);

/* The value of a DW_AT_const_value. */
void xc_expr_constant(struct xc_expr_context *context, Dwarf_Attribute *attr, const struct xc_type *type,
		      struct xc_value *out);

/* The type with array counts and member offsets computed in this frame. A type that does not depend on the frame is
 * returned unchanged. */
const struct xc_type *xc_expr_resolve(struct xc_expr_context *context, const struct xc_type *type);

#endif

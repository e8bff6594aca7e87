/* expr: DWARF expressions, decoded by libdw, evaluated by us.
 *
 * libdw tells operators and operands; their meaning is DWARF 5 sections 2.5 and 2.6, with the GNU operators of DWARF 4.
 * Every evaluation ends: operators, nesting and stack are bounded. What cannot be evaluated is an absent location
 * that says why. Not thread-safe. */
#ifndef XC_EXPR_H
#define XC_EXPR_H

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"
#include "dwarf/value/value.h"

/* A decoded expression and the attribute it came from, for operators that refer to other entries. */
struct xc_expr {
	const Dwarf_Op *ops;
	size_t count;
	size_t size;              /* bytes, to know where jumps may lead; 0 when made by hand */
	Dwarf_Attribute attr;     /* cu NULL: made by hand; then such operators fail */
	const Dwarf_Op *next_ops; /* of a location list: what holds one byte further on; NULL when nothing does */
	size_t next_count;
	bool survives_call; /* and that is the same: what it names outlives a call that ends here */
};

enum xc_location_kind {
	XC_LOCATION_ABSENT,   /* why */
	XC_LOCATION_MEMORY,   /* number: address */
	XC_LOCATION_REGISTER, /* number: DWARF register */
	XC_LOCATION_VALUE,    /* bits: the value itself, of `size` bytes */
	XC_LOCATION_BYTES,    /* bytes, size */
	XC_LOCATION_POINTEE,  /* die and number: a pointer to that entry's value plus number bytes */
	XC_LOCATION_PIECES,   /* pieces, count */
};

struct xc_location {
	enum xc_location_kind kind;
	bool guessed;       /* an entry value took part */
	bool survives_call; /* of the expression */
	uint64_t number;
	unsigned __int128 bits;
	const void *bytes; /* as long as the debug file, or the arena */
	size_t size;
	Dwarf_Die die;
	struct xc_piece *pieces; /* in the scratch arena */
	size_t count;
	const char *why; /* static or in the scratch arena */
};

struct xc_piece {
	struct xc_location location;   /* of any kind but pieces */
	uint64_t bit_offset, bit_size; /* bits to take of it */
};

/* What an expression may ask for, and what was worked out already for the frame. Zero what is not there: an
 * expression that needs it gives an absent location. */
struct xc_expr_context {
	const struct xc_process *process;
	const struct xc_module *module; /* bias and TLS */
	const struct xc_thread *thread;
	struct xc_unwinder *unwinder;
	const struct xc_frame *frame; /* with registers; NULL for statics */
	const struct xc_place *place; /* of the frame */
	struct xc_arena *scratch;     /* results live here; required */
	uint64_t file_addr;           /* selects location list entries, also of what expressions call */
	bool has_object;              /* object is the address for DW_OP_push_object_address */
	xc_addr object;
	bool guessed; /* set when an entry value was used */

	const struct xc_expr *frame_base; /* DW_AT_frame_base of the function, when known; else it is looked up */

	/* of expr.c */
	bool cfa_tried, cfa_known, base_tried;
	xc_addr cfa, base;
	const char *base_why;
	struct xc_entry_value_caller *caller;
	bool survives_call; /* of the expression that runs */
	bool in_arguments;  /* evaluating what the frame's own call passes */
	unsigned depth;
	unsigned steps;
};

/* Ready to evaluate in a frame; scratch must outlive the results. */
struct xc_expr_context xc_expr_in_frame(const struct xc_process *process, const struct xc_thread *thread,
					struct xc_unwinder *unwinder, const struct xc_frame *frame,
					const struct xc_place *place, struct xc_arena *scratch);

/* The expression that holds at a file address of a DIE's attribute (DW_AT_location, …), which may be a list. False when
 * there is none or none holds there. The result lives as long as types. */
bool xc_expr_of(struct xc_types *types, Dwarf_Attribute *attr, uint64_t file_addr, struct xc_expr *expr_out);

/* Evaluate as a location description. initial (may be NULL) is pushed first. */
void xc_expr_locate(struct xc_expr_context *context, const struct xc_expr *expr, const uint64_t *initial,
		    struct xc_location *out);

/* Evaluate to a number: the top of the stack, or what the location holds. NULL, or why there is none. */
const char *xc_expr_number(struct xc_expr_context *context, const struct xc_expr *expr, uint64_t *number_out);

/* The same with all 16 bytes, for values of a type (floats as their bits). */
const char *xc_expr_bits(struct xc_expr_context *context, const struct xc_expr *expr, unsigned __int128 *bits_out);

/* The value of a type at a location. */
void xc_expr_value(struct xc_expr_context *context, const struct xc_location *location, const struct xc_type *type,
		   struct xc_value *out);

/* The value of a variable, parameter or other DIE with DW_AT_location or DW_AT_const_value. */
void xc_expr_variable(struct xc_expr_context *context, Dwarf_Die *die, struct xc_value *out);

/* The value that a DW_AT_const_value gives. */
void xc_expr_constant(struct xc_expr_context *context, Dwarf_Attribute *attr, const struct xc_type *type,
		      struct xc_value *out);

/* The type with array counts worked out in this frame. Types that need nothing are returned as they are. */
const struct xc_type *xc_expr_resolve(struct xc_expr_context *context, const struct xc_type *type);

#endif

/* variable: arguments and locals of a frame, as text with types.
 *
 * The variables in scope at a place, and their location list entries, are computed once per place and kept. For each
 * frame, only the locations are evaluated and the values read and formatted. */
#ifndef XC_VARIABLE_H
#define XC_VARIABLE_H

#include "core/report/report.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/format/format.h"
#include "dwarf/unwind/unwind.h"
#include "dwarf/value/value.h"

/* The context of a frame that location expressions need. */
struct xc_frame_context {
	const struct xc_process *process;
	const struct xc_thread *thread; /* for TLS; may be NULL */
	struct xc_unwinder *unwinder;   /* for DW_OP_call_frame_cfa and entry values */
	const struct xc_frame *frame;
	const struct xc_place *place; /* of xc_frame_lookup(frame) */
};

/* Fill row->args, arg_count and (with_locals) row->locals, local_count of level `level` of the place. Strings are made
 * in `arena`. Arguments are in declaration order. Locals of inner blocks come first, each block in declaration order; a
 * name that an inner block hides is kept, after it. */
void xc_variables_fill(const struct xc_frame_context *context, size_t level, bool with_locals,
		       const struct xc_format_options *options, struct xc_arena *arena, struct xc_stack_row *row);

/* The argument or local of level `level` that is in DWARF register `number` at this place (*located_out is set);
 * otherwise the only pointer among them with the value `value`; otherwise NULL. The name lives as long as the debug
 * file. */
const char *xc_variables_in_register(const struct xc_frame_context *context, size_t level, int number, uint64_t value,
				     bool *located_out);

/* The argument or local of level `level` that is in register `number` (from its low end), or, with number < 0, in
 * memory that contains addr; locals of inner blocks first. Statics of the function are included. The variable is not
 * read. */
struct xc_held {
	const char *name; /* lives as long as the debug file */
	const struct xc_type *type;
	uint64_t offset; /* of addr in the variable */
	bool argument;
};
bool xc_variable_held(const struct xc_frame_context *context, size_t level, int number, xc_addr addr,
		      struct xc_held *out);

/* The local or argument with this name in scope at level `level`, that of the innermost block first. False when there
 * is none. A variable without a value is found, and is absent; a reference has the value that it had at entry. Its
 * buffers live in `arena`. */
bool xc_variable_find(const struct xc_frame_context *context, size_t level, const char *name, struct xc_arena *arena,
		      struct xc_value *out);

/* The arguments, or the locals, of a level as values, in the order of xc_variables_fill. Returns their number. The
 * array and buffers live in `arena`. */
struct xc_named_value {
	const char *name; /* lives as long as the debug file */
	struct xc_value value;
	uint64_t line; /* of its declaration; 0: not known */
};
size_t xc_variable_values(const struct xc_frame_context *context, size_t level, bool locals, struct xc_arena *arena,
			  struct xc_named_value **out);

/* The same for variables whose type `wanted` accepts. The others are not evaluated. */
typedef bool xc_variable_wanted_fn(void *user, const struct xc_type *type);
size_t xc_variable_values_of(const struct xc_frame_context *context, size_t level, bool locals,
			     xc_variable_wanted_fn *wanted, void *user, struct xc_arena *arena,
			     struct xc_named_value **out);

/* Call `each` with every name in scope at the level, arguments first, until it returns false. */
typedef bool xc_variable_name_fn(void *user, const char *name);
void xc_variable_names(const struct xc_frame_context *context, size_t level, xc_variable_name_fn *each, void *user);

/* The value of a variable that needs no frame: of a file, namespace or class, or a static local; thread-local ones are
 * those of `thread` (may be NULL). Absent when it has no location. Its buffers live in `arena`. */
void xc_variable_static(const struct xc_process *process, const struct xc_module *module,
			const struct xc_thread *thread, Dwarf_Die *die, struct xc_arena *arena, struct xc_value *out);

#endif

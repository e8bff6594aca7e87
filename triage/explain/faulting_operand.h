/* faulting_operand: the operand of a fault, by the code: how the source writes it, which part of it is bad, and the
 * value of that part. */
#ifndef XC_FAULTING_OPERAND_H
#define XC_FAULTING_OPERAND_H

#include "triage/crash/crash_context.h"
#include "triage/dataflow/symbolic_value.h"

enum { XC_NULL_PAGES = 64 << 10 }; /* nothing is ever mapped below */

struct xc_faulting_operand {
	struct xc_frame_code frame_code; /* of the function in which it is described */
	struct xc_linear_expr form;      /* the address, or the value that is called or divides */
	struct xc_symbolic_value place;  /* the accessed place; text NULL: no source form */
	struct xc_symbolic_value bad;    /* the bad value; text NULL: not known which */
	bool member;           /* passed_to got the address of `place`, a member of what the pointer leads to */
	const char *passed_to; /* the library function that made the access, "strlen()"; NULL: none */
	const char *failed;    /* the function that returned `bad`, and sets errno then; set by expression.c; or NULL */
	bool called, divides;  /* not an access: a call through it, or a division by it */
	bool value_known;
	uint64_t value;  /* of bad */
	unsigned budget; /* of code: this structure must not be copied */
};

/* Find the operand of the fault. False when the code or its debug information is insufficient. Reads the code of at
 * most six functions. */
bool xc_faulting_operand_find(struct xc_crash_context *crash, struct xc_faulting_operand *out);

/* Does the base of a write with an index point to memory that cannot be written? No index makes it good. */
bool xc_faulting_operand_unwritable(const struct xc_crash_context *crash, const struct xc_faulting_operand *operand);

#endif

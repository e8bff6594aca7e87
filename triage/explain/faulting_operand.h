/* faulting_operand: the operand of a fault, by what the code does with it: where it is written, what part of it is bad, what that holds. */
#ifndef XC_FAULTING_OPERAND_H
#define XC_FAULTING_OPERAND_H

#include "triage/crash/crash_context.h"
#include "triage/dataflow/symbolic_value.h"

enum { XC_NULL_PAGES = 64 << 10 }; /* below, nothing is ever mapped */

struct xc_faulting_operand {
	struct xc_frame_code frame_code; /* where it is told */
	struct xc_linear_expr form;      /* of the address, or of the value that is called or divides */
	struct xc_symbolic_value place;  /* what is accessed; text NULL: not written */
	struct xc_symbolic_value bad;    /* the value that is bad; text NULL: not known which */
	const char *passed_to;           /* the library function that did the access, "strlen()"; NULL: none */
	bool called, divides;            /* not an access: control went there; or it divided by it */
	bool value_known;
	uint64_t value;  /* of bad */
	unsigned budget; /* the scene's: a finding stays where it was made */
};

/* Of the inquiry's fault. False when the code or its debug information does not tell. Reads the code of at most six functions. */
bool xc_faulting_operand_find(struct xc_crash_context *crash, struct xc_faulting_operand *out);

#endif

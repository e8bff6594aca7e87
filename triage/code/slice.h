/* slice: a backward slice: the definitions of a register or stack slot that reach an instruction of one function. */
#ifndef XC_SLICE_H
#define XC_SLICE_H

#include "triage/code/body.h"

enum xc_definition_kind {
	XC_DEFINITION_INSN,    /* by the instruction `insn`, as its kind says */
	XC_DEFINITION_RESULT,  /* what the call `insn` returned */
	XC_DEFINITION_FILLED,  /* a slot whose address the call `insn` got: it may have set the slot */
	XC_DEFINITION_ENTRY,   /* the value at entry: register `reg`, or the slot `offset` above the entry's sp */
	XC_DEFINITION_UNKNOWN, /* clobbered, or set in a way that is not followed */
};

struct xc_slice_definition {
	enum xc_definition_kind kind;
	size_t insn; /* index into the body; not of ENTRY */
	int reg;     /* ENTRY: the register; -1: a slot */
	int64_t offset;
	bool before; /* the FILLED definition comes later on every path and may overwrite this one */
};

/* The possible definitions. When there are more than XC_DEFINITIONS, the last one is UNKNOWN. */
enum { XC_DEFINITIONS = 8, XC_SLICE_STEPS = 20000 };
struct xc_slice {
	struct xc_slice_definition items[XC_DEFINITIONS];
	size_t count;
	bool sure; /* complete: no indirect jump in the body, all of it decoded, no slot whose address escapes */
};

/* Of DWARF register `reg`, just before the instruction `at` runs. */
void xc_slice_register(const struct xc_body *body, size_t at, int reg, struct xc_slice *out);

/* The same for `size` bytes of the stack at register `base` (stack or frame pointer) + displacement. */
void xc_slice_slot(const struct xc_body *body, size_t at, int base, int64_t displacement, uint32_t size,
		   struct xc_slice *out);

#endif

/* frame_code: a frame of the crashed stack with the code that runs in it. */
#ifndef XC_FRAME_CODE_H
#define XC_FRAME_CODE_H

#include "triage/code/body.h"
#include "triage/crash/crash_context.h"

/* A frame with its decoded code. */
struct xc_frame_code {
	const struct xc_crash_context *crash;
	size_t frame;         /* index into crash->frames */
	struct xc_body *body; /* of its function */
	size_t at;            /* the current instruction: the faulting one, or a call that has not returned */
	unsigned *budget;     /* steps left, shared by all queries about one crash */
};

/* Set out for a frame of the crash. False when its code cannot be read. */
bool xc_frame_code_init(const struct xc_crash_context *crash, size_t frame, unsigned *budget,
			struct xc_frame_code *out);

/* Spend the cost of one slice of the function. False when the budget is exhausted: do not slice then. */
bool xc_frame_code_spend(const struct xc_frame_code *frame_code);

/* The frame with the names that are in scope at another instruction. */
struct xc_frame_context xc_frame_code_context(const struct xc_frame_code *frame_code, size_t at);

/* Is this function, or inlined call, active? A variable of an inlined call that has ended, or has not begun, would
 * be mistaken for one of the active call. */
bool xc_frame_code_in_scope(const struct xc_frame_code *frame_code, const struct xc_level *level);

/* The source lines of an instruction and of the current one, with those of the calls that were inlined there, as
 * xc_access_path_plain writes them; "" when there are none. In the report's arena. */
const char *xc_frame_code_source(const struct xc_frame_code *frame_code, size_t at);

/* Is it the stack pointer, or the frame pointer of a function that has one? */
bool xc_frame_code_is_frame_register(const struct xc_frame_code *frame_code, int reg);

/* The value of such a register at another instruction of the frame. False when it is not known. */
bool xc_frame_code_frame_value(const struct xc_frame_code *frame_code, size_t at, int reg, uint64_t *value);

/* Does the register hold now what it held before an instruction? Spends the cost of a slice; false when the budget is
 * exhausted, or when it is not known. */
bool xc_frame_code_is_kept(const struct xc_frame_code *frame_code, size_t at, int reg);

/* Is it memory of the frame's own stack, addressed by the stack or frame pointer alone? */
bool xc_frame_code_is_slot(const struct xc_frame_code *frame_code, const struct xc_insn_memory *memory);

/* Did the unfinished call of the caller call this function, as far as can be seen? A call through a pointer may have
 * called any function whose address somebody can have. */
bool xc_frame_code_calls(const struct xc_frame_code *caller, const struct xc_frame_code *callee);

#endif

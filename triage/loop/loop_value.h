/* loop_value: what the operands of a loop's instructions hold now, while the loop runs. */
#ifndef XC_LOOP_VALUE_H
#define XC_LOOP_VALUE_H

#include "triage/code/loop.h"
#include "triage/dataflow/frame_code.h"

struct xc_loop_code {
	const struct xc_frame_code *code;
	struct xc_loop loop;
};

/* The register before instruction `at` of the loop: followed back through the loop's moves and loads to registers that
 * the loop does not write, to slots of the frame, and to constants; else the register as it is now. False when it is
 * not known. */
bool xc_loop_value_register(const struct xc_loop_code *l, size_t at, int reg, uint64_t *value);

/* The word at the memory operand of instruction `at`. */
bool xc_loop_value_memory(const struct xc_loop_code *l, size_t at, uint64_t *value);

/* The address of the memory operand of instruction `at`. */
bool xc_loop_value_address(const struct xc_loop_code *l, size_t at, xc_addr *addr);

/* Does the loop count in an operand of this comparison: is nothing done to it but additions? */
bool xc_loop_value_counts(const struct xc_loop_code *l, size_t comparison);

#endif

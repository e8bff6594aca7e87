/* stackop: one instruction as an unwinder reads it: where it leads, and what it does to the stack pointer and to the
 * registers that calls preserve.
 *
 * x86-64, x32, i386 (by Zydis) and AArch64; on other machines nothing decodes. */
#ifndef XC_STACKOP_H
#define XC_STACKOP_H

#include "core/process/process.h"

enum xc_stackop_flow {
	XC_STACKOP_ON,
	XC_STACKOP_BRANCH, /* to target, or on */
	XC_STACKOP_JUMP,   /* to target; 0 when it is in a register or in memory */
	XC_STACKOP_CALL,   /* target likewise */
	XC_STACKOP_RETURN,
	XC_STACKOP_END, /* hlt, ud2 and similar: nothing runs after it */
};

/* The effects in their order: sp = frame pointer + from_fp; loads, relative to sp; sp += moves. */
struct xc_stackop {
	uint8_t length; /* bytes */
	enum xc_stackop_flow flow;
	xc_addr target;
	bool sets_sp; /* sp = frame pointer + from_fp */
	int64_t from_fp;
	uint8_t load_count;
	struct {
		int reg; /* DWARF number */
		bool by_fp;
		int64_t at; /* bytes from sp, or from the frame pointer */
	} loads[2];
	int64_t moves;
	bool sp_lost;    /* sp is written in a way that these fields do not describe */
	bool fp_from_sp; /* frame pointer = sp + fp_add, before sp moves */
	int64_t fp_add;
	uint64_t writes;    /* bit per DWARF register 0 … 63 that is written, without sp */
	int sum;            /* the register that becomes the sum of two, or -1 */
	bool through_table; /* JUMP: its address is from a table, as for a switch */
	bool stores_return; /* writes the word at sp: code that calls through a pointer replaces its return address */
};

/* Decode the instruction at addr. `before` (may be NULL): the instruction before it, for through_table. False when the
 * code cannot be read, is no instruction, or is of another machine. */
bool xc_stackop_decode(const struct xc_process *process, xc_addr addr, const struct xc_stackop *before,
		       struct xc_stackop *out);

/* Does xcore decode code of this machine so? */
bool xc_stackop_decodes(const struct xc_process *process);

#endif

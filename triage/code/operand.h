/* operand: the memory accesses of an interrupted instruction: the address of each operand, computed from the
 * registers of the frame, the kind of access and its size.
 *
 * All instructions, not only mov: push and call write below the stack pointer, rep stos a whole range. x86-64, x32
 * and i386, decoded by Zydis; on other machines nothing decodes. */
#ifndef XC_OPERAND_H
#define XC_OPERAND_H

#include "core/process/process.h"
#include "dwarf/decode/disas.h"

enum xc_access { XC_ACCESS_UNKNOWN, XC_ACCESS_READ, XC_ACCESS_WRITE, XC_ACCESS_EXECUTE };

enum { XC_OPERANDS = 6 };

/* Memory that is read or written, or a target of control flow. */
struct xc_memory_operand {
	enum xc_access access; /* WRITE also for read-modify-write; EXECUTE: the target of a jump, call or return */
	bool stack;            /* implied by push, pop, call and the like */
	bool addr_known;       /* all registers of the address are known */
	xc_addr addr;
	uint32_t size;   /* bytes; of one element when repeated; 0 when not fixed */
	uint64_t count;  /* iterations left of a repeated instruction, including this one; else 0 */
	xc_addr lo, hi;  /* the whole range, inclusive; meaningful when addr_known */
	int base, index; /* DWARF numbers of registers in the address, or of an EXECUTE target; -1: none */
};

struct xc_instruction {
	char text[XC_CODE_TEXT]; /* as `xcore disas` writes it: "mov %rdx,0x18(%rax)" */
	uint8_t length;          /* bytes */
	bool privileged;         /* privileged: hlt, in, cli, … */
	bool halts;              /* hlt, which C libraries place where execution must not continue */
	bool aligned;            /* faults when an operand of 16 bytes or more is not aligned */
	bool baseline;           /* of the base instruction set, which each processor has; no deliberate trap */
	bool calculates;         /* a division, or floating point: it may raise SIGFPE */
	bool unlisted;           /* it accesses memory that is not among the operands: of a gather, or too many */
	struct xc_memory_operand operands[XC_OPERANDS];
	size_t operand_count;
};

/* Decode the instruction at regs' pc. False when its bytes are missing or are not an instruction of this machine.
 * Bounded, never allocates. */
bool xc_operand_decode(const struct xc_process *process, const struct xc_regs *regs, struct xc_instruction *out);

/* The operand that accesses addr, preferably with this kind of access (UNKNOWN: any). NULL when there is none. */
const struct xc_memory_operand *xc_operand_at(const struct xc_instruction *instruction, xc_addr addr,
					      enum xc_access access);

/* The operand behind a general protection fault: one with a non-canonical address, else one that is not aligned as
 * the instruction requires (*misaligned_out). NULL when there is none. */
const struct xc_memory_operand *xc_operand_invalid(const struct xc_instruction *instruction, bool *misaligned_out);

/* x86-64 with four page table levels: bits 47 to 63 must be equal. */
bool xc_operand_canonical(xc_addr addr);

#endif

/* operand: what an interrupted instruction was about to do with memory: each operand's address, computed from the
 * frame's registers, the kind of access and its size.
 *
 * Every instruction, not mov only: push and call write below the stack pointer, rep stos a whole range. x86-64, x32
 * and i386, decoded by Zydis; on other machines nothing decodes. */
#ifndef XC_OPERAND_H
#define XC_OPERAND_H

#include "core/process/process.h"

enum xc_access { XC_ACCESS_UNKNOWN, XC_ACCESS_READ, XC_ACCESS_WRITE, XC_ACCESS_EXECUTE };

enum { XC_OPERANDS = 6, XC_INSTRUCTION_TEXT = 128 };

/* Memory that is read or written, or a place that control goes to. */
struct xc_memory_operand {
	enum xc_access
		access;  /* WRITE also where the bytes are read first; EXECUTE: the target of a jump, call or return */
	bool stack;      /* implied by push, pop, call and the like */
	bool addr_known; /* every register that makes up the address is known */
	xc_addr addr;
	uint32_t size;   /* bytes; of one element when repeated; 0 when not fixed */
	uint64_t count;  /* times still to be done of a repeated instruction, this one too; else 0 */
	xc_addr lo, hi;  /* all that may be touched, inclusive; meaningful when addr_known */
	int base, index; /* DWARF numbers of registers in the address, or that hold an EXECUTE target; -1: none */
};

struct xc_instruction {
	char text[XC_INSTRUCTION_TEXT]; /* as gdb writes it: "mov %rdx, 0x18(%rax)" */
	uint8_t length;                 /* bytes */
	bool privileged;                /* only the kernel may run it: hlt, in, cli, … */
	bool halts;                     /* hlt, which C libraries put where a program must not go on */
	bool aligned;                   /* faults when an operand of 16 bytes or more is not aligned */
	struct xc_memory_operand operands[XC_OPERANDS];
	size_t operand_count;
};

/* Decode the instruction at regs' pc. False when its bytes are not there or are none of this machine's. Bounded, never
 * allocates. */
bool xc_operand_decode(const struct xc_process *process, const struct xc_regs *regs, struct xc_instruction *out);

/* The operand that touches addr, one with this access before others (UNKNOWN: any); NULL when none does. */
const struct xc_memory_operand *xc_operand_at(const struct xc_instruction *instruction, xc_addr addr,
					      enum xc_access access);

/* The operand behind a general protection fault: one whose address is not canonical, else one that is not aligned as the
 * instruction demands (*misaligned_out); NULL when none is. */
const struct xc_memory_operand *xc_operand_invalid(const struct xc_instruction *instruction, bool *misaligned_out);

/* x86-64 with four page table levels: bits 47 to 63 must be equal. */
bool xc_operand_canonical(xc_addr addr);

#endif

/* insn: one instruction as a slice needs it, without register values: its sources and its destination.
 *
 * x86-64, x32 and i386, decoded by Zydis; on other machines nothing decodes. */
#ifndef XC_INSN_H
#define XC_INSN_H

#include "core/process/process.h"

enum xc_insn_kind {
	XC_INSN_OTHER,          /* only `writes` is known */
	XC_INSN_NOP,            /* nothing: padding */
	XC_INSN_MOVE,           /* to = from */
	XC_INSN_CONSTANT,       /* to = constant */
	XC_INSN_LOAD,           /* to = memory */
	XC_INSN_STORE,          /* memory = from; from is -1 when it is not a general register */
	XC_INSN_STORE_CONSTANT, /* memory = constant */
	XC_INSN_ADDRESS,        /* to = address of memory */
	XC_INSN_ADD,            /* to += constant */
	XC_INSN_ADD_REGISTER,   /* to += from */
	XC_INSN_ADD_MEMORY,     /* to += memory */
	XC_INSN_SHIFT,          /* to <<= constant */
	XC_INSN_MULTIPLY,       /* to = from * constant; from is -1: memory * constant */
	XC_INSN_CHOOSE,         /* to = from, or unchanged (cmov) */
	XC_INSN_CHOOSE_MEMORY,  /* to = memory, or unchanged */
	XC_INSN_PUSH,           /* memory = from, and the stack pointer moves */
	XC_INSN_CALL,
	XC_INSN_JUMP,
	XC_INSN_BRANCH,
	XC_INSN_RETURN,
};

/* segment + base + index * scale + displacement; -1 for none. */
struct xc_insn_memory {
	int segment, base, index; /* DWARF numbers */
	unsigned scale;
	int64_t displacement; /* the address itself when relative to pc */
	uint32_t size;        /* bytes; 0 when not fixed */
	bool complex;         /* not fully described by these fields */
};

struct xc_insn {
	xc_addr addr;
	uint8_t length;
	enum xc_insn_kind kind;
	int to, from; /* DWARF numbers; -1: none. Of CALL and JUMP `from` holds the target */
	int64_t constant;
	bool has_memory; /* an explicit memory operand: the first one */
	struct xc_insn_memory memory;
	bool reads_memory, writes_memory;
	bool has_target; /* of JUMP, BRANCH, CALL that name it */
	xc_addr target;
	uint64_t writes;     /* bit per DWARF register 0 … 63, of general registers and those implied */
	uint32_t part;       /* bytes of `to` that are written when the rest is kept; 0: all */
	uint32_t taken;      /* of MOVE: bytes of `from`, of which the rest of `to` is made; 0: all of it */
	bool extends_signed; /* of MOVE and LOAD: by their sign, else by 0 */
	int64_t stack_moves; /* added to the stack pointer, when stack_known */
	bool stack_known;    /* also true when it does not change */
	bool subtracts; /* to - register or memory; meaningful with it: less, the register, or -1: the memory operand */
	int reduced, less; /* DWARF numbers; reduced: the register that is both source and destination */
	int added;         /* DWARF number of the register that is added to memory; -1: none */
	int divisor;       /* of a division: the register's low bytes, or -1 (memory, or ah to bh) */
	bool divides;      /* by an integer; meaningful with it: divisor, divisor_size, divides_signed */
	bool divides_signed;
	uint32_t divisor_size; /* bytes */
	bool compares;         /* cmp, or test of a register with itself; meaningful with it: */
	int left, right;       /* DWARF numbers; -1: the memory operand, or the constant */
	bool compares_zero;    /* with the constant 0 */
	uint32_t compare_size; /* bytes */
	bool compares_floats;  /* single floating-point numbers, in vector registers; `compares` is false */
};

/* Decode the instruction at the start of len bytes, which lie at addr. False when it is not an instruction of this
 * machine. */
bool xc_insn_decode(const struct xc_process *process, const uint8_t *bytes, size_t len, xc_addr addr,
		    struct xc_insn *out);

/* Does xcore decode code of this machine? */
bool xc_insn_decodes(const struct xc_process *process);

#endif

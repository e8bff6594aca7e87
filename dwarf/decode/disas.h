/* disas: machine code as text, one instruction at a time, with its operands, flow and targets.
 *
 * Zydis decodes x86, since it knows the whole instruction set (capstone 4.0.2 lacks AVX-512, with which the C library
 * copies and searches strings: 1,350 instructions of Debian 12's libc.so.6). capstone decodes other machines. The
 * text is that of gdb and objdump. */
#ifndef XC_DISAS_H
#define XC_DISAS_H

#include "core/process/process.h"

enum xc_syntax { XC_SYNTAX_ATT, XC_SYNTAX_INTEL }; /* x86 only; other machines have one */

enum xc_flow {
	XC_FLOW_ON,     /* to the next instruction */
	XC_FLOW_BRANCH, /* to the target or the next instruction */
	XC_FLOW_JUMP,
	XC_FLOW_CALL,
	XC_FLOW_RETURN,
};

enum xc_code_kind { XC_CODE_REGISTER, XC_CODE_MEMORY };

/* A register or memory operand, named in the instruction or implied by it. */
struct xc_code_operand {
	enum xc_code_kind kind;
	bool read, written;
	bool address_only; /* MEMORY: computed, not accessed (lea) */
	bool implied;      /* not in the text: for example the stack of push and pop */
	int reg;           /* REGISTER: DWARF number, for a part (eax) that of the whole; -1: not one that is kept */
	char name[12];     /* REGISTER: its name in the text: "eax" */
	/* MEMORY: segment + base + index * scale + displacement; -1 for none. */
	int segment, base, index;
	bool pc_relative; /* base is the next instruction's address; already added to displacement */
	bool complex;     /* more than these fields describe: gathers, write-back, shifted indexes */
	unsigned scale;
	int64_t displacement;
	uint32_t size; /* bytes; 0 when unknown */
};

enum { XC_CODE_TEXT = 200, XC_CODE_LONGEST = 16, XC_CODE_OPERANDS = 8 };

struct xc_code {
	xc_addr addr;
	uint8_t length; /* bytes */
	bool valid;     /* false: no instruction begins here; text is a data directive */
	char text[XC_CODE_TEXT];
	enum xc_flow flow;
	bool has_target; /* for a direct jump or call */
	xc_addr target;
	struct xc_code_operand operands[XC_CODE_OPERANDS];
	size_t operand_count;
};

struct xc_disas;

/* A decoder for a machine. Errors: XC_ERR_UNSUPPORTED. */
XC_MUST_CHECK struct xc_error *xc_disas_open(const struct xc_arch *arch, enum xc_syntax syntax,
					     struct xc_disas **disas_out);
void xc_disas_close(struct xc_disas *disas);

/* arm: decode Thumb code from here on. */
void xc_disas_thumb(struct xc_disas *disas, bool thumb);

/* Decode the instruction at the start of len >= 1 bytes, which are at addr. Bytes that are no instruction give an
 * invalid one of one byte (of the fixed size on machines that have one). Never reads more than XC_CODE_LONGEST bytes.
 */
void xc_disas_decode(struct xc_disas *disas, const uint8_t *bytes, size_t len, xc_addr addr, struct xc_code *out);

/* Only its length, as above; false when it is not valid. */
bool xc_disas_length(struct xc_disas *disas, const uint8_t *bytes, size_t len, xc_addr addr, uint8_t *length_out);

/* The address of a memory operand. False when a register that it needs is unknown (regs NULL: all are). */
bool xc_disas_address(const struct xc_disas *disas, const struct xc_code_operand *operand, const struct xc_regs *regs,
		      xc_addr *addr_out);

#endif

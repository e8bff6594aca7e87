/* disas_mnemonic: names of x86 instructions as gdb and objdump write them. */
#ifndef XC_DISAS_MNEMONIC_H
#define XC_DISAS_MNEMONIC_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

enum { XC_MNEMONIC = 32 };

/* The name without prefixes: jne for jnz; in AT&T's syntax also movl, movzbl, cltq. */
void xc_disas_mnemonic(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands, bool att,
		       char name[XC_MNEMONIC]);

#endif

/* code: what machine code tells an unwinder: is this a return address, what does it return to, where did a signal handler
 * come from. */
#ifndef XC_CODE_H
#define XC_CODE_H

#include "../core/process.h"

/* May code run there? By the rights of the mapping. */
bool xc_code_executable(const struct xc_process *process, xc_addr addr);

/* The address in a code pointer: without the bit that selects Thumb (arm), without a signature (aarch64) where what is
 * left of it is code and the whole is not. */
xc_addr xc_code_address(const struct xc_process *process, uint64_t pointer);

/* Can a call have left this return address (as it was stored: with Thumb's bit, with its signature)? It is executable, and a
 * call ends there; code that cannot be read gets the benefit of the doubt. *target_out is where a direct call goes,
 * else 0. */
bool xc_code_returns(const struct xc_process *process, uint64_t ret, xc_addr *target_out);

/* Is addr the first instruction of a signal trampoline (what the kernel lets a handler return to), told by its code? To be asked
 * first on machines where call frame information of trampolines is wrong or missing (those with a link register), else where there
 * is none that says so. */
bool xc_code_is_trampoline(const struct xc_process *process, xc_addr addr);

/* The registers that the kernel saved, when pc is at a trampoline and regs are those of that moment. False when its frame
 * cannot be read. */
bool xc_code_interrupted(const struct xc_process *process, xc_addr addr, const struct xc_regs *regs,
			 struct xc_regs *saved_out);

#endif

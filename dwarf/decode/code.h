/* code: what machine code tells an unwinder: is this a return address, what does it return to, where did a signal handler
 * come from. */
#ifndef XC_CODE_H
#define XC_CODE_H

#include "core/process/process.h"

/* May code run there? By the rights of the mapping. */
bool xc_code_executable(const struct xc_process *process, xc_addr addr);

/* The address in a code pointer: without the bit that selects Thumb (arm), without a signature (aarch64) where what is
 * left of it is code and the whole is not. */
xc_addr xc_code_address(const struct xc_process *process, uint64_t pointer);

/* Can a call have left this return address (as it was stored: with Thumb's bit, with its signature)? It is executable, and a
 * call ends there; code that cannot be read gets the benefit of the doubt. *target_out is where a direct call goes,
 * else 0. */
bool xc_code_returns(const struct xc_process *process, uint64_t ret, xc_addr *target_out);

enum { XC_CODE_TARGETS = 4 };

/* Where a direct call (or jump) may go that ends at `end`, whichever instructions can be read there backwards; named: it is known to
 * go to a function that is known by name, so a short jump and one through a slot count too. How many; none on machines other than
 * x86 and AArch64. A target is to be believed only when something begins there. */
size_t xc_code_targets(const struct xc_process *process, xc_addr end, bool jump, bool named,
		       xc_addr targets[XC_CODE_TARGETS]);

/* Where a stub of the linkage table at addr goes on to, by what its slot holds; 0 when it is none (or not of x86 or AArch64). */
xc_addr xc_code_stub(const struct xc_process *process, xc_addr addr);

/* Is addr the first instruction of a signal trampoline (what the kernel lets a handler return to), told by its code? To be asked
 * first on machines where call frame information of trampolines is wrong or missing (those with a link register), else where there
 * is none that says so. */
bool xc_code_is_trampoline(const struct xc_process *process, xc_addr addr);

/* The registers that the kernel saved, when pc is at a trampoline and regs are those of that moment. False when its frame
 * cannot be read. */
bool xc_code_interrupted(const struct xc_process *process, xc_addr addr, const struct xc_regs *regs,
			 struct xc_regs *saved_out);

#endif

/* code: machine code as evidence for an unwinder: return addresses, their targets, signal trampolines. */
#ifndef XC_CODE_H
#define XC_CODE_H

#include "core/process/process.h"

/* May code run there, by the permissions of the mapping? */
bool xc_code_executable(const struct xc_process *process, xc_addr addr);

/* The address in a code pointer: without the bit that selects Thumb (arm); without a signature (aarch64) if what
 * remains is code and the whole is not. */
xc_addr xc_code_address(const struct xc_process *process, uint64_t pointer);

/* Can a call have left this return address (as stored: with Thumb's bit, with its signature)? It must be executable,
 * and a call must end there; code that cannot be read is accepted, but not the first byte of a mapping. *target_out:
 * the target of a direct call, else 0. */
bool xc_code_returns(const struct xc_process *process, uint64_t ret, xc_addr *target_out);

enum { XC_CODE_TARGETS = 4 };

/* Possible targets of a direct call or jump that ends at `end`, for each instruction that can be read backwards from
 * there. named: the target is known to be a named function, so short jumps and jumps through a slot count, too.
 * Returns their number; 0 on machines other than x86 and AArch64. A target is credible only when a function begins
 * there. */
size_t xc_code_targets(const struct xc_process *process, xc_addr end, bool jump, bool named,
		       xc_addr targets[XC_CODE_TARGETS]);

/* The target of a stub of the linkage table at addr, by the content of its slot; 0 when it is not a stub (or not of
 * x86 or AArch64). */
xc_addr xc_code_stub(const struct xc_process *process, xc_addr addr);

/* Does the code at addr look like a signal trampoline (to which the kernel lets a handler return)? addr must be its
 * first instruction. On machines with a link register check this first, since call frame information of trampolines
 * is wrong or missing there; on others only when no call frame information marks one. */
bool xc_code_is_trampoline(const struct xc_process *process, xc_addr addr);

/* The signal trampoline that ends at addr: a thread in its system call is there. 0: there is none. */
xc_addr xc_code_trampoline_before(const struct xc_process *process, xc_addr addr);

/* The registers that the kernel saved, when pc is at a trampoline and regs are those of that moment. False when its
 * frame cannot be read. */
bool xc_code_interrupted(const struct xc_process *process, xc_addr addr, const struct xc_regs *regs,
			 struct xc_regs *saved_out);

#endif

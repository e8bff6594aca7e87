/* perf_regs: the user registers of a sample, which the kernel numbers in its own way. */
#ifndef XC_PERF_REGS_H
#define XC_PERF_REGS_H

#include "core/elf/regs.h"

/* The registers that this kernel copies with a sample, a bit for each: sample_regs_user of perf_event_attr. 0 on
 * machines whose order is not known here. */
uint64_t xc_perf_regs_mask(void);

/* The registers of a sample, `values` in the order of the mask's bits, as those of a target of this machine. Where the
 * kernel had interrupted itself without them (an NMI inside a system call), callee-saved registers of x86 are ~0, and
 * here unknown. False: the target's machine is not that of this kernel. */
bool xc_perf_regs_read(const struct xc_arch *arch, const uint64_t *values, struct xc_regs *regs_out);

#endif

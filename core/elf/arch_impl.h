/* arch_impl: shared by the tables of the machines. */
#ifndef XC_ARCH_IMPL_H
#define XC_ARCH_IMPL_H

#include "core/elf/arch.h"

/* elf_prstatus: 12 bytes of siginfo, cursig, two masks, four ids, four times, registers, a flag for floating-point
 * registers (Linux include/linux/elfcore.h, checked against 6.1). The offsets of ids and registers depend on the word
 * size. */
#define XC_NOTES_64(reg_size_)                                                                                         \
	.prstatus_pid_off = 32, .prstatus_reg_off = 112, .prstatus_reg_size = (reg_size_),                             \
	.prstatus_size = 112 + (reg_size_), .prpsinfo_fname_off = 40, .prpsinfo_args_off = 56, .prpsinfo_pid_off = 24
#define XC_NOTES_32(reg_size_)                                                                                         \
	.prstatus_pid_off = 24, .prstatus_reg_off = 72, .prstatus_reg_size = (reg_size_),                              \
	.prstatus_size = 72 + (reg_size_), .prpsinfo_fname_off = 28, .prpsinfo_args_off = 44, .prpsinfo_pid_off = 12

/* Bits of registers first … last, both in the same half of a set. */
#define XC_REG_BITS(first_, last_) ((UINT64_MAX >> (63 - ((last_) - (first_)))) << ((first_) % 64))

extern const struct xc_arch xc_arch_x86_64, xc_arch_x32, xc_arch_i386, xc_arch_aarch64, xc_arch_arm, xc_arch_ppc64le,
	xc_arch_riscv64;

#endif

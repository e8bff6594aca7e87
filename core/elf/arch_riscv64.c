/* arch_riscv64: RISC-V, 64 bits.
 *
 * Notes: user_regs_struct: pc, then x1 to x31 (Linux arch/riscv/include/uapi/asm/ptrace.h). Register numbers,
 * preserved registers and the thread pointer: RISC-V ELF psABI 1.0, "DWARF" and "Register Convention"; glibc 2.36
 * sysdeps/riscv/nptl/tls.h (tcbhead_t, dtv first, ends at tp). */
#include <elf.h>

#include "core/elf/arch_impl.h"

static const struct xc_reg_slot slots[] = {
	{65, 0},   {1, 8},    {2, 16},   {3, 24},   {4, 32},   {5, 40},   {6, 48},   {7, 56},
	{8, 64},   {9, 72},   {10, 80},  {11, 88},  {12, 96},  {13, 104}, {14, 112}, {15, 120},
	{16, 128}, {17, 136}, {18, 144}, {19, 152}, {20, 160}, {21, 168}, {22, 176}, {23, 184},
	{24, 192}, {25, 200}, {26, 208}, {27, 216}, {28, 224}, {29, 232}, {30, 240}, {31, 248},
};

static const char *const names[] = {
	"zero",       "ra",         "sp",         "gp",         "tp",         "t0",         "t1",         "t2",
	"s0",         "s1",         "a0",         "a1",         "a2",         "a3",         "a4",         "a5",
	"a6",         "a7",         "s2",         "s3",         "s4",         "s5",         "s6",         "s7",
	"s8",         "s9",         "s10",        "s11",        "t3",         "t4",         "t5",         "t6",
	[65] = "pc",  [32] = "f0",  [33] = "f1",  [34] = "f2",  [35] = "f3",  [36] = "f4",  [37] = "f5",  [38] = "f6",
	[39] = "f7",  [40] = "f8",  [41] = "f9",  [42] = "f10", [43] = "f11", [44] = "f12", [45] = "f13", [46] = "f14",
	[47] = "f15", [48] = "f16", [49] = "f17", [50] = "f18", [51] = "f19", [52] = "f20", [53] = "f21", [54] = "f22",
	[55] = "f23", [56] = "f24", [57] = "f25", [58] = "f26", [59] = "f27", [60] = "f28", [61] = "f29", [62] = "f30",
	[63] = "f31",
};

/* 32 to 63 are the floating-point registers; 65 is free in the psABI's table. */
const struct xc_arch xc_arch_riscv64 = {
	.name = "riscv64",
	.machine = EM_RISCV,
	.elf_class = ELFCLASS64,
	.word = 8,
	.reg_size = 8,
	.unwinds = true,
	.pc = 65,
	.sp = 2,
	.fp = 8,
	.lr = 1,
	.frame_regs = 66,
	.preserved = {XC_REG_BITS(3, 4) | XC_REG_BITS(8, 9) | XC_REG_BITS(18, 27) | XC_REG_BITS(40, 41) |
		      XC_REG_BITS(50, 59)},
	.scratch = {XC_REG_BITS(5, 7) | XC_REG_BITS(10, 17) | XC_REG_BITS(28, 31)},
	.constant = {XC_REG_BITS(3, 4)},
	.tls = {.tp = 4, .dtv = -16},
	.vector = -1,
	.x87 = -1,
	.slots = slots,
	.slot_count = XC_COUNT(slots),
	.names = names,
	.name_count = XC_COUNT(names),
	.orig_syscall_off = UINT16_MAX,
	XC_NOTES_64(256),
};

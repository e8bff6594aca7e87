/* arch_arm: aarch64 and 32-bit arm.
 *
 * Notes: user_pt_regs (Linux arch/arm64/include/uapi/asm/ptrace.h), struct pt_regs
 * (arch/arm/include/uapi/asm/ptrace.h). Register numbers: "DWARF for the Arm 64-bit Architecture" 2022Q3, 4.1; "DWARF
 * for the Arm Architecture" 2022Q3, 4.1. Preserved registers: AAPCS64 2022Q3, 6.1; AAPCS32 2022Q3, 6.1. */
#include <elf.h>

#include "core/elf/arch_impl.h"

/* x0 to x30, sp, pc, pstate: 34 words of 8 bytes. */
static const struct xc_reg_slot slots_64[] = {
	{0, 0},    {1, 8},    {2, 16},   {3, 24},   {4, 32},   {5, 40},   {6, 48},   {7, 56},   {8, 64},
	{9, 72},   {10, 80},  {11, 88},  {12, 96},  {13, 104}, {14, 112}, {15, 120}, {16, 128}, {17, 136},
	{18, 144}, {19, 152}, {20, 160}, {21, 168}, {22, 176}, {23, 184}, {24, 192}, {25, 200}, {26, 208},
	{27, 216}, {28, 224}, {29, 232}, {30, 240}, {31, 248}, {32, 256}, {33, 264},
};

static const char *const names_64[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",     "x10",          "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",    "x22",          "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",  "pstate", [36] = "tpidr",
};

/* 33 (ELR_mode, which no user program sees) holds pstate. The low halves of v8 to v15, which calls preserve, are kept
 * as 72 to 79 in every frame; whole vectors only where the kernel saved them. */
const struct xc_arch xc_arch_aarch64 = {
	.name = "aarch64",
	.machine = EM_AARCH64,
	.elf_class = ELFCLASS64,
	.word = 8,
	.reg_size = 8,
	.unwinds = true,
	.pc = 32,
	.sp = 31,
	.fp = 29,
	.lr = 30,
	.frame_regs = 80,
	.preserved = {XC_REG_BITS(19, 29), XC_REG_BITS(72, 79)},
	.scratch = {XC_REG_BITS(0, 17)},
	.constant = {XC_REG_BITS(36, 36)},
	.tls = {.tp = 36, .head = 16},
	.vector = 64,
	.vector_count = 32,
	.vector_size = 16,
	.x87 = -1,
	.slots = slots_64,
	.slot_count = XC_COUNT(slots_64),
	.names = names_64,
	.name_count = XC_COUNT(names_64),
	.orig_syscall_off = UINT16_MAX,
	XC_NOTES_64(272),
};

/* r0 to r15, cpsr, orig_r0: 18 words of 4 bytes. */
static const struct xc_reg_slot slots_32[] = {
	{0, 0},  {1, 4},   {2, 8},   {3, 12},  {4, 16},  {5, 20},  {6, 24},  {7, 28},  {8, 32},
	{9, 36}, {10, 40}, {11, 44}, {12, 48}, {13, 52}, {14, 56}, {15, 60}, {16, 64}, {-1, 68},
};

static const char *const names_32[] = {
	"r0", "r1",  "r2",  "r3",  "r4", "r5", "r6", "r7",   "r8",
	"r9", "r10", "r11", "r12", "sp", "lr", "pc", "cpsr", [79] = "tpidruro",
};

/* 16 (once an FPA register) holds cpsr, 79 the thread pointer, 40 to 47 hold d8 to d15, which calls preserve. */
const struct xc_arch xc_arch_arm = {
	.name = "arm",
	.machine = EM_ARM,
	.elf_class = ELFCLASS32,
	.word = 4,
	.reg_size = 4,
	.unwinds = true,
	.pc = 15,
	.sp = 13,
	.fp = 11,
	.lr = 14,
	.frame_regs = 48,
	.high = 256 + 8,
	.high_count = 8,
	.high_at = 40,
	.preserved = {XC_REG_BITS(4, 11) | XC_REG_BITS(40, 47)},
	.scratch = {XC_REG_BITS(0, 3) | XC_REG_BITS(12, 12)},
	.constant = {0, XC_REG_BITS(79, 79)},
	.tls = {.tp = 79, .head = 8},
	.vector = 256,
	.vector_count = 32,
	.vector_size = 8,
	.x87 = -1,
	.slots = slots_32,
	.slot_count = XC_COUNT(slots_32),
	.names = names_32,
	.name_count = XC_COUNT(names_32),
	.orig_syscall_off = 68,
	XC_NOTES_32(72),
};

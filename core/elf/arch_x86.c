/* arch_x86: x86-64, its 32-bit form x32, and i386.
 *
 * Notes: user_regs_struct (Linux arch/x86/include/asm/user_64.h, user_32.h; x32 has that of x86-64). Register numbers
 * and preserved registers: System V AMD64 ABI 1.0, figures 3.36 and 3.4; System V Intel386 ABI 1.1, table 2.14 and
 * figure 2.3. */
#include <elf.h>

#include "core/elf/arch_impl.h"

/* user_regs_struct of x86-64, 27 words of 8 bytes. */
static const struct xc_reg_slot slots_64[] = {
	{15, 0},   {14, 8},  {13, 16},  {12, 24},  {6, 32},   {3, 40},   {11, 48},  {10, 56},  {9, 64},
	{8, 72},   {0, 80},  {2, 88},   {1, 96},   {4, 104},  {5, 112},  {-1, 120}, {16, 128}, {51, 136},
	{49, 144}, {7, 152}, {52, 160}, {58, 168}, {59, 176}, {53, 184}, {50, 192}, {54, 200}, {55, 208},
};

static const char *const names_64[] = {
	[0] = "rax",      [1] = "rdx",      [2] = "rcx",    [3] = "rbx",    [4] = "rsi",    [5] = "rdi",
	[6] = "rbp",      [7] = "rsp",      [8] = "r8",     [9] = "r9",     [10] = "r10",   [11] = "r11",
	[12] = "r12",     [13] = "r13",     [14] = "r14",   [15] = "r15",   [16] = "rip",   [17] = "xmm0",
	[18] = "xmm1",    [19] = "xmm2",    [20] = "xmm3",  [21] = "xmm4",  [22] = "xmm5",  [23] = "xmm6",
	[24] = "xmm7",    [25] = "xmm8",    [26] = "xmm9",  [27] = "xmm10", [28] = "xmm11", [29] = "xmm12",
	[30] = "xmm13",   [31] = "xmm14",   [32] = "xmm15", [33] = "st0",   [34] = "st1",   [35] = "st2",
	[36] = "st3",     [37] = "st4",     [38] = "st5",   [39] = "st6",   [40] = "st7",   [49] = "eflags",
	[50] = "es",      [51] = "cs",      [52] = "ss",    [53] = "ds",    [54] = "fs",    [55] = "gs",
	[58] = "fs_base", [59] = "gs_base",
};

/* rdi, rsi, rdx, r10, r8, r9: x86-64 psABI, A.2.1. The kernel changes only rax, rcx and r11. */
static const int8_t call_64[] = {5, 4, 1, 10, 8, 9};

#define X86_64                                                                                                         \
	.machine = EM_X86_64, .reg_size = 8, .unwinds = true, .pc = 16, .sp = 7, .fp = 6, .lr = -1, .frame_regs = 17,  \
	.preserved = {XC_REG_BITS(3, 3) | XC_REG_BITS(6, 6) | XC_REG_BITS(12, 15)},                                    \
	.scratch = {XC_REG_BITS(0, 2) | XC_REG_BITS(4, 5) | XC_REG_BITS(8, 11)}, .constant = {XC_REG_BITS(58, 59)},    \
	.vector = 17, .vector_count = 16, .vector_size = 16, .x87 = 33, .slots = slots_64,                             \
	.slot_count = XC_COUNT(slots_64), .names = names_64, .name_count = XC_COUNT(names_64),                         \
	.orig_syscall_off = 120, .call_registers = call_64, .call_code = {0x0f, 0x05}

const struct xc_arch xc_arch_x86_64 = {.name = "x86-64",
				       .elf_class = ELFCLASS64,
				       .word = 8,
				       .tls = {.tp = 58, .below = true, .dtv = 8},
				       X86_64,
				       XC_NOTES_64(216)};

const struct xc_arch xc_arch_x32 = {.name = "x32",
				    .elf_class = ELFCLASS32,
				    .word = 4,
				    .tls = {.tp = 58, .below = true, .dtv = 4},
				    X86_64,
				    XC_NOTES_32(216)};

/* user_regs_struct of i386, 17 words of 4 bytes. */
static const struct xc_reg_slot slots_32[] = {
	{3, 0},   {1, 4},   {2, 8},   {6, 12}, {7, 16},  {5, 20}, {0, 24}, {43, 28}, {40, 32},
	{44, 36}, {45, 40}, {-1, 44}, {8, 48}, {41, 52}, {9, 56}, {4, 60}, {42, 64},
};

static const char *const names_32[] = {
	[0] = "eax",   [1] = "ecx",   [2] = "edx",    [3] = "ebx",   [4] = "esp",      [5] = "ebp",   [6] = "esi",
	[7] = "edi",   [8] = "eip",   [9] = "eflags", [11] = "st0",  [12] = "st1",     [13] = "st2",  [14] = "st3",
	[15] = "st4",  [16] = "st5",  [17] = "st6",   [18] = "st7",  [21] = "xmm0",    [22] = "xmm1", [23] = "xmm2",
	[24] = "xmm3", [25] = "xmm4", [26] = "xmm5",  [27] = "xmm6", [28] = "xmm7",    [40] = "es",   [41] = "cs",
	[42] = "ss",   [43] = "ds",   [44] = "fs",    [45] = "gs",   [59] = "gs_base",
};

/* 59 is ours: the base of the segment that gs selects, from NT_386_TLS. */
const struct xc_arch xc_arch_i386 = {
	.name = "i386",
	.machine = EM_386,
	.elf_class = ELFCLASS32,
	.word = 4,
	.reg_size = 4,
	.unwinds = true,
	.pc = 8,
	.sp = 4,
	.fp = 5,
	.lr = -1,
	.frame_regs = 9,
	.preserved = {XC_REG_BITS(3, 3) | XC_REG_BITS(5, 7)},
	.scratch = {XC_REG_BITS(0, 2)},
	.constant = {XC_REG_BITS(59, 59)},
	.tls = {.tp = 59, .below = true, .dtv = 4},
	.vector = 21,
	.vector_count = 8,
	.vector_size = 16,
	.x87 = 11,
	.slots = slots_32,
	.slot_count = XC_COUNT(slots_32),
	.names = names_32,
	.name_count = XC_COUNT(names_32),
	.orig_syscall_off = 44,
	XC_NOTES_32(68),
};

/* arch_ppc64: 64-bit POWER, little-endian (ELFv2).
 *
 * Notes: struct pt_regs in 48 words (Linux arch/powerpc/include/uapi/asm/ptrace.h, elf.h). Register numbers,
 * preserved registers and the thread pointer: 64-Bit ELF V2 ABI Specification 1.5, 2.4, 2.2.1.1 and 3.7.2; glibc 2.36
 * sysdeps/powerpc/nptl/tls.h (tcbhead_t ends with the dtv). */
#include <elf.h>

#include "core/elf/arch_impl.h"

static const struct xc_reg_slot slots[] = {
	{0, 0},    {1, 8},    {2, 16},   {3, 24},   {4, 32},   {5, 40},   {6, 48},   {7, 56},   {8, 64},   {9, 72},
	{10, 80},  {11, 88},  {12, 96},  {13, 104}, {14, 112}, {15, 120}, {16, 128}, {17, 136}, {18, 144}, {19, 152},
	{20, 160}, {21, 168}, {22, 176}, {23, 184}, {24, 192}, {25, 200}, {26, 208}, {27, 216}, {28, 224}, {29, 232},
	{30, 240}, {31, 248}, {64, 256}, {67, 264}, {-1, 272}, {66, 280}, {65, 288}, {76, 296}, {68, 304},
};

static const char *const names[] = {
	"r0",         "r1",         "r2",         "r3",         "r4",         "r5",         "r6",         "r7",
	"r8",         "r9",         "r10",        "r11",        "r12",        "r13",        "r14",        "r15",
	"r16",        "r17",        "r18",        "r19",        "r20",        "r21",        "r22",        "r23",
	"r24",        "r25",        "r26",        "r27",        "r28",        "r29",        "r30",        "r31",
	[64] = "pc",  [65] = "lr",  [66] = "ctr", [67] = "msr", [68] = "cr",  [76] = "xer", [32] = "f0",  [33] = "f1",
	[34] = "f2",  [35] = "f3",  [36] = "f4",  [37] = "f5",  [38] = "f6",  [39] = "f7",  [40] = "f8",  [41] = "f9",
	[42] = "f10", [43] = "f11", [44] = "f12", [45] = "f13", [46] = "f14", [47] = "f15", [48] = "f16", [49] = "f17",
	[50] = "f18", [51] = "f19", [52] = "f20", [53] = "f21", [54] = "f22", [55] = "f23", [56] = "f24", [57] = "f25",
	[58] = "f26", [59] = "f27", [60] = "f28", [61] = "f29", [62] = "f30", [63] = "f31",
};

/* 64 and 67 are free in the ABI's table: they hold nip and msr. 68 (cr0) holds the whole condition register. 32 to 63
 * are the floating-point registers. */
const struct xc_arch xc_arch_ppc64le = {
	.name = "ppc64le",
	.machine = EM_PPC64,
	.elf_class = ELFCLASS64,
	.word = 8,
	.reg_size = 8,
	.unwinds = true,
	.pc = 64,
	.sp = 1,
	.fp = 31,
	.lr = 65,
	.frame_regs = 77,
	.preserved = {XC_REG_BITS(13, 31) | XC_REG_BITS(46, 63), XC_REG_BITS(70, 72)},
	.scratch = {XC_REG_BITS(0, 0) | XC_REG_BITS(3, 12)},
	.constant = {XC_REG_BITS(13, 13)},
	.tls = {.tp = 13, .bias = 0x7000, .dtv = -8},
	.vector = 77,
	.vector_count = 32,
	.vector_size = 16,
	.x87 = -1,
	.slots = slots,
	.slot_count = XC_COUNT(slots),
	.names = names,
	.name_count = XC_COUNT(names),
	.orig_syscall_off = 272,
	XC_NOTES_64(384),
};

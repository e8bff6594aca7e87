/* arch: tables of facts about machines.
 *
 * Note layouts: Linux include/linux/elfcore.h (elf_prstatus, elf_prpsinfo) with each machine's
 * elf_gregset_t (x86-64: arch/x86/include/asm/user_64.h), checked against 6.1. Register numbers: the psABIs
 * (System V AMD64 ABI 1.0, figure 3.36). */
#include "arch.h"

#include <elf.h>
#include <stdio.h>

/* user_regs_struct of x86-64, 27 words of 8 bytes. */
static const struct xc_reg_slot x86_64_slots[] = {
	{15, 0},   {14, 8},  {13, 16},  {12, 24},  {6, 32},   {3, 40},   {11, 48},  {10, 56},  {9, 64},
	{8, 72},   {0, 80},  {2, 88},   {1, 96},   {4, 104},  {5, 112},  {-1, 120}, {16, 128}, {51, 136},
	{49, 144}, {7, 152}, {52, 160}, {58, 168}, {59, 176}, {53, 184}, {50, 192}, {54, 200}, {55, 208},
};

/* elf_prstatus: 12 bytes of siginfo, cursig, two masks, four ids, four times, registers. The word size
 * decides where the ids and the registers begin. */
#define NOTES_64(reg_size_)                                                                                            \
	.prstatus_pid_off = 32, .prstatus_reg_off = 112, .prstatus_reg_size = (reg_size_),                             \
	.prstatus_size = 112 + (reg_size_), .prpsinfo_fname_off = 40, .prpsinfo_args_off = 56, .prpsinfo_pid_off = 24
#define NOTES_32(reg_size_, psinfo_shift_)                                                                             \
	.prstatus_pid_off = 24, .prstatus_reg_off = 72, .prstatus_reg_size = (reg_size_),                              \
	.prstatus_size = 72 + (reg_size_), .prpsinfo_fname_off = 28 + (psinfo_shift_),                                 \
	.prpsinfo_args_off = 44 + (psinfo_shift_), .prpsinfo_pid_off = 12 + (psinfo_shift_)

#define FOREIGN .pc = -1, .sp = -1, .fp = -1, .orig_syscall_off = UINT16_MAX

static const struct xc_arch archs[] = {
	{.name = "x86-64",
	 .machine = EM_X86_64,
	 .elf_class = ELFCLASS64,
	 .word = 8,
	 .unwinds = true,
	 .pc = 16,
	 .sp = 7,
	 .fp = 6,
	 .frame_regs = 17,
	 .slots = x86_64_slots,
	 .slot_count = XC_COUNT(x86_64_slots),
	 .orig_syscall_off = 120,
	 NOTES_64(216)},
	{.name = "x32", .machine = EM_X86_64, .elf_class = ELFCLASS32, .word = 4, FOREIGN, NOTES_32(216, 0)},
	{.name = "i386", .machine = EM_386, .elf_class = ELFCLASS32, .word = 4, FOREIGN, NOTES_32(68, 0)},
	{.name = "aarch64", .machine = EM_AARCH64, .elf_class = ELFCLASS64, .word = 8, FOREIGN, NOTES_64(272)},
	{.name = "arm", .machine = EM_ARM, .elf_class = ELFCLASS32, .word = 4, FOREIGN, NOTES_32(72, 0)},
	{.name = "ppc64le", .machine = EM_PPC64, .elf_class = ELFCLASS64, .word = 8, FOREIGN, NOTES_64(384)},
	{.name = "riscv64", .machine = EM_RISCV, .elf_class = ELFCLASS64, .word = 8, FOREIGN, NOTES_64(256)},
	{.name = "loongarch64", .machine = 258, .elf_class = ELFCLASS64, .word = 8, FOREIGN, NOTES_64(360)},
	{.name = "ppc64",
	 .machine = EM_PPC64,
	 .elf_class = ELFCLASS64,
	 .big_endian = true,
	 .word = 8,
	 FOREIGN,
	 NOTES_64(384)},
	{.name = "s390x",
	 .machine = EM_S390,
	 .elf_class = ELFCLASS64,
	 .big_endian = true,
	 .word = 8,
	 FOREIGN,
	 NOTES_64(216)},
};

/* Facts and maps only: nothing is known of the notes. */
static const struct xc_arch unknown_archs[2][2] = {
	{{.name = "unknown 32-bit", .elf_class = ELFCLASS32, .word = 4, FOREIGN},
	 {.name = "unknown 32-bit", .elf_class = ELFCLASS32, .big_endian = true, .word = 4, FOREIGN}},
	{{.name = "unknown 64-bit", .elf_class = ELFCLASS64, .word = 8, FOREIGN},
	 {.name = "unknown 64-bit", .elf_class = ELFCLASS64, .big_endian = true, .word = 8, FOREIGN}},
};

const struct xc_arch *xc_arch_find(uint16_t machine, uint8_t elf_class, bool big_endian)
{
	for (size_t i = 0; i < XC_COUNT(archs); i++)
		if (archs[i].machine == machine && archs[i].elf_class == elf_class && archs[i].big_endian == big_endian)
			return &archs[i];
	return &unknown_archs[elf_class == ELFCLASS64][big_endian];
}

const struct xc_arch *xc_arch_host(void)
{
	return &archs[0];
}

const char *xc_arch_machine_name(uint16_t machine)
{
	static _Thread_local char number[32];
	static const struct {
		uint16_t machine;
		const char *name;
	} names[] = {{EM_X86_64, "x86-64"}, {EM_386, "i386"},    {EM_AARCH64, "aarch64"}, {EM_ARM, "arm"},
		     {EM_PPC64, "ppc64"},   {EM_PPC, "ppc"},     {EM_RISCV, "riscv"},     {EM_S390, "s390"},
		     {EM_MIPS, "mips"},     {EM_SPARC, "sparc"}, {EM_SPARCV9, "sparc64"}, {EM_IA_64, "ia64"},
		     {EM_PARISC, "hppa"},   {EM_68K, "m68k"},    {EM_SH, "sh"},           {258, "loongarch"},
		     {0x9026, "alpha"}};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	snprintf(number, sizeof number, "machine %u", machine);
	return number;
}

const char *xc_arch_reg_name(const struct xc_arch *arch, int dwarf)
{
	static const char *const x86_64[] = {
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
	if (arch->machine != EM_X86_64 || dwarf < 0 || (size_t)dwarf >= XC_COUNT(x86_64))
		return NULL;
	return x86_64[dwarf];
}

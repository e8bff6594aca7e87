/* arch: the list of machines. Those that xcore unwinds have one file per family; of the others only the notes are
 * known.
 *
 * Note layouts: Linux include/linux/elfcore.h (elf_prstatus, elf_prpsinfo) with each machine's elf_gregset_t, checked
 * against 6.1. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "core/elf/arch_impl.h"

#define FACTS_ONLY                                                                                                     \
	.pc = -1, .sp = -1, .fp = -1, .lr = -1, .tls = {.tp = -1}, .vector = -1, .x87 = -1,                            \
	.orig_syscall_off = UINT16_MAX

static const struct xc_arch loongarch64 = {.name = "loongarch64",
					   .machine = 258,
					   .elf_class = ELFCLASS64,
					   .word = 8,
					   .reg_size = 8,
					   FACTS_ONLY,
					   XC_NOTES_64(360)};
static const struct xc_arch ppc64 = {.name = "ppc64",
				     .machine = EM_PPC64,
				     .elf_class = ELFCLASS64,
				     .big_endian = true,
				     .word = 8,
				     .reg_size = 8,
				     FACTS_ONLY,
				     XC_NOTES_64(384)};
static const struct xc_arch s390x = {.name = "s390x",
				     .machine = EM_S390,
				     .elf_class = ELFCLASS64,
				     .big_endian = true,
				     .word = 8,
				     .reg_size = 8,
				     FACTS_ONLY,
				     XC_NOTES_64(216)};

static const struct xc_arch *const archs[] = {
	&xc_arch_x86_64,  &xc_arch_x32,     &xc_arch_i386, &xc_arch_aarch64, &xc_arch_arm,
	&xc_arch_ppc64le, &xc_arch_riscv64, &loongarch64,  &ppc64,           &s390x,
};

/* Only facts and maps: the layout of the notes is unknown. */
#define UNKNOWN(name_, class_, big_, word_)                                                                            \
	{                                                                                                              \
		.name = (name_), .elf_class = (class_), .big_endian = (big_), .word = (word_), .reg_size = (word_),    \
		FACTS_ONLY                                                                                             \
	}
static const struct xc_arch unknown_archs[2][2] = {
	{UNKNOWN("unknown 32-bit", ELFCLASS32, false, 4), UNKNOWN("unknown 32-bit", ELFCLASS32, true, 4)},
	{UNKNOWN("unknown 64-bit", ELFCLASS64, false, 8), UNKNOWN("unknown 64-bit", ELFCLASS64, true, 8)},
};

const struct xc_arch *xc_arch_find(uint16_t machine, uint8_t elf_class, bool big_endian)
{
	for (size_t i = 0; i < XC_COUNT(archs); i++)
		if (archs[i]->machine == machine && archs[i]->elf_class == elf_class &&
		    archs[i]->big_endian == big_endian)
			return archs[i];
	return &unknown_archs[elf_class == ELFCLASS64][big_endian];
}

const struct xc_arch *xc_arch_host(void)
{
	return &xc_arch_x86_64;
}

bool xc_arch_is_x86_64(const struct xc_arch *arch)
{
	return arch->machine == EM_X86_64 && arch->unwinds;
}

/* push and call store whole registers, on x32 too. ppc64 saves its condition register (68 to 75) in words of 4 bytes,
 * arm the doublewords of its floating-point unit. */
uint8_t xc_arch_saved_size(const struct xc_arch *arch, int number)
{
	if (arch->machine == EM_PPC64 && number >= 68 && number <= 75)
		return 4;
	return number >= arch->high_at && number - arch->high_at < arch->high_count ? 8 : arch->reg_size;
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
	return dwarf >= 0 && (size_t)dwarf < arch->name_count ? arch->names[dwarf] : NULL;
}

int xc_arch_reg_named(const struct xc_arch *arch, const char *name)
{
	if (strcmp(name, "pc") == 0)
		return arch->pc;
	if (strcmp(name, "sp") == 0)
		return arch->sp;
	if (strcmp(name, "fp") == 0)
		return arch->fp;
	for (int i = 0; i < XC_REG_MAX; i++) {
		const char *known = xc_arch_reg_name(arch, i);
		if (known && strcmp(known, name) == 0)
			return i;
	}
	return -1;
}

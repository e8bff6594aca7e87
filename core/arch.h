/* arch: what differs between machines: register names and numbers, note layouts, word size.
 *
 * Registers are numbered as DWARF numbers them in the machine's psABI. */
#ifndef XC_ARCH_H
#define XC_ARCH_H

#include "base.h"

enum { XC_REG_MAX = 80 }; /* largest DWARF number we keep, plus one */

/* Where one register's bytes stand in the general-purpose part of NT_PRSTATUS. */
struct xc_reg_slot {
	int16_t dwarf;   /* DWARF number, or -1 for kernel-only words such as orig_rax */
	uint16_t offset; /* bytes from the start of pr_reg */
};

struct xc_arch {
	const char *name;  /* "x86-64" */
	uint16_t machine;  /* EM_… */
	uint8_t elf_class; /* ELFCLASS32 or ELFCLASS64 */
	bool big_endian;
	uint8_t word;        /* bytes of an address */
	bool unwinds;        /* stacks and values are supported, not only facts and maps */
	int16_t pc, sp, fp;  /* DWARF numbers; fp is the frame pointer; -1 when there is none */
	uint16_t frame_regs; /* registers 0 … frame_regs - 1 are what call frame information speaks of */
	const struct xc_reg_slot *slots;
	size_t slot_count;
	uint16_t prstatus_pid_off, prstatus_reg_off, prstatus_reg_size, prstatus_size; /* NT_PRSTATUS, 0 if unknown */
	uint16_t prpsinfo_fname_off, prpsinfo_args_off, prpsinfo_pid_off;              /* NT_PRPSINFO */
	uint16_t orig_syscall_off; /* of orig_rax (or its like) in pr_reg; UINT16_MAX when there is none */
};

/* The architecture of an ELF file; for machines we do not know one of the right word size and byte order whose
 * note layouts are unknown (prstatus_size 0). Never NULL. */
const struct xc_arch *xc_arch_find(uint16_t machine, uint8_t elf_class, bool big_endian);

/* The architecture xcore itself runs on. */
const struct xc_arch *xc_arch_host(void);

/* "aarch64", "s390x", …: a name for any e_machine; "machine 4711" for unknown ones (static buffer of
 * the calling thread). */
const char *xc_arch_machine_name(uint16_t machine);

/* "rip" for DWARF number 16 on x86-64; NULL when the number has no name. */
const char *xc_arch_reg_name(const struct xc_arch *arch, int dwarf);

#endif

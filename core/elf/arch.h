/* arch: the differences between machines: register names and numbers, note layouts, word size, calling convention.
 *
 * Registers have the DWARF numbers of the machine's psABI. A register without a number there (the program counter of
 * some machines, a thread pointer) gets one that the psABI leaves free. One file per family:
 * arch_x86.c, arch_arm.c (both widths), arch_ppc64.c, arch_riscv64.c. */
#ifndef XC_ARCH_H
#define XC_ARCH_H

#include "core/base/base.h"

enum { XC_REG_MAX = 80 }; /* largest DWARF number that is kept, plus one */

/* The position of one register in the general-purpose part of NT_PRSTATUS. */
struct xc_reg_slot {
	int16_t dwarf;   /* DWARF number, or -1 for kernel-only words such as orig_rax */
	uint16_t offset; /* bytes from the start of pr_reg */
};

/* The layout of thread-local storage (Drepper, "ELF Handling For Thread-Local Storage", 3; the machines' psABIs).
 *
 *     variant II   block = tp - l_tls_offset             the executable's block ends at tp
 *     variant I    block = tp - bias + l_tls_offset      the executable's block begins after a head of `head` bytes
 *     both         the address of the dtv is at tp - bias + dtv */
struct xc_tls_layout {
	int16_t tp; /* register that holds the thread pointer; -1: thread-local storage of this machine is unknown */
	bool below; /* variant II */
	uint16_t head;
	uint16_t bias;
	int16_t dtv;
};

struct xc_arch {
	const char *name;  /* "x86-64" */
	uint16_t machine;  /* EM_… */
	uint8_t elf_class; /* ELFCLASS32 or ELFCLASS64 */
	bool big_endian;
	uint8_t word;       /* bytes of an address */
	uint8_t reg_size;   /* bytes of a register in notes: a word, except on x32 */
	bool unwinds;       /* stacks and values are supported, not just facts and maps */
	int16_t pc, sp, fp; /* DWARF numbers; fp is the frame pointer; -1 when there is none */
	int16_t lr;         /* the link register, which holds the return address after a call; -1: the stack holds it */
	uint16_t frame_regs; /* registers 0 … frame_regs - 1 are those of call frame information */
	uint16_t high, high_count,
		high_at;       /* registers high … + high_count - 1, above XC_REG_MAX, are kept as high_at … */
	uint64_t preserved[2]; /* bit per register: callee-saved */
	uint64_t scratch[2];   /* general registers that are caller-saved */
	uint64_t constant[2];  /* never change while a thread runs: segment bases and the like */
	struct xc_tls_layout tls;
	int16_t vector, vector_count; /* DWARF numbers of vector registers, in xc_vector_regs */
	uint8_t vector_size;          /* bytes of each */
	int16_t x87;                  /* of st(0); -1 when there is no x87 */
	const struct xc_reg_slot *slots;
	size_t slot_count;
	const char *const *names; /* of registers by number, NULL for those without one */
	size_t name_count;
	uint16_t prstatus_pid_off, prstatus_reg_off, prstatus_reg_size, prstatus_size; /* NT_PRSTATUS, 0 if unknown */
	uint16_t prpsinfo_fname_off, prpsinfo_args_off, prpsinfo_pid_off;              /* NT_PRPSINFO */
	uint16_t orig_syscall_off; /* of orig_rax (or its like) in pr_reg; UINT16_MAX when there is none */
	/* The registers of a system call's six arguments, which still have them during the call; NULL: not known. */
	const int8_t *call_registers;
	uint8_t call_code[2]; /* the instruction that makes such a call */
};

/* The architecture of an ELF file. For an unknown machine: one of the same word size and byte order, without note
 * layouts (prstatus_size 0). Never NULL. */
const struct xc_arch *xc_arch_find(uint16_t machine, uint8_t elf_class, bool big_endian);

/* The architecture xcore itself runs on. */
const struct xc_arch *xc_arch_host(void);

/* "aarch64", "s390x", …: the name of any e_machine. "machine 4711" for unknown ones (a static buffer of the calling
 * thread). */
const char *xc_arch_machine_name(uint16_t machine);

/* "rip" for DWARF number 16 on x86-64; NULL when the number has no name. */
const char *xc_arch_reg_name(const struct xc_arch *arch, int dwarf);

/* The DWARF number of "rip", and of pc, sp and fp on every machine; -1 when there is no such register. */
int xc_arch_reg_named(const struct xc_arch *arch, const char *name);

/* True for x86-64 and x32, which differ only in the width of addresses. */
bool xc_arch_is_x86_64(const struct xc_arch *arch);

/* Is register `number` in this set? Numbers that are not kept are in no set. */
static inline bool xc_arch_has(const uint64_t set[2], int number)
{
	return number >= 0 && number < XC_REG_MAX && (set[number / 64] >> (number % 64) & 1);
}

/* The number under which a register is kept. One that is not kept has a number of XC_REG_MAX or above. */
static inline uint64_t xc_arch_number(const struct xc_arch *arch, uint64_t dwarf)
{
	return dwarf - arch->high < arch->high_count ? dwarf - arch->high + arch->high_at : dwarf;
}

/* Bytes of a register when a function saves it. */
uint8_t xc_arch_saved_size(const struct xc_arch *arch, int number);

/* Truncate an address to the width of the machine. */
static inline uint64_t xc_arch_wrap(const struct xc_arch *arch, uint64_t addr)
{
	return arch->word == 4 ? (uint32_t)addr : addr;
}

#endif

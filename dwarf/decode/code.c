/* code: calls and signal trampolines, by machine.
 *
 * Encodings: Intel SDM volume 2; Arm ARM DDI 0487 C6.2 (BL, BLR and their authenticating forms), DDI 0406C A8.8 (BL,
 * BLX in ARM and Thumb); Power ISA 3.1, 2.4; RISC-V unprivileged ISA 20191213, 2.5 and 16.4. Trampolines and what
 * stands at sp when a handler returns to one (Linux 6.1): arch/arm64/kernel/signal.c and vdso/sigreturn.S,
 * arch/arm/kernel/signal.c and sigreturn_codes.S (glibc's own restorers are of the same instructions),
 * arch/powerpc/kernel/signal_64.c, arch/riscv/kernel/signal.c, arch/x86/include/asm/sigframe.h. qemu's copies
 * (linux-user/MACHINE/signal.c, 7.2) have the same layouts. */
#include "dwarf/decode/code.h"

#include <elf.h>
#include <string.h>

#include "core/base/cursor.h"

enum { LONGEST_CALL = 7, THUMB = 1 };

bool xc_code_executable(const struct xc_process *p, xc_addr addr)
{
	const struct xc_mapping *m = xc_process_mapping(p, addr);
	return m && m->executable;
}

/* Signatures fill the bits above the widest user address, except bit 55 (Arm ARM DDI 0487, D8.8). */
static const uint64_t SIGNATURE_BITS = UINT64_C(0xff7f000000000000);

xc_addr xc_code_address(const struct xc_process *p, uint64_t pointer)
{
	if (p->arch->machine == EM_ARM)
		return pointer & ~(uint64_t)THUMB;
	if (p->arch->machine == EM_AARCH64 && !xc_code_executable(p, pointer)) {
		uint64_t plain = pointer & ~(p->code_mask ? p->code_mask : SIGNATURE_BITS);
		return xc_code_executable(p, plain) ? plain : pointer;
	}
	return pointer;
}

/* ---- calls ---- */

static bool x86_call(const uint8_t code[LONGEST_CALL], xc_addr ret, xc_addr *target)
{
	static const uint8_t lengths[] = {2, 3, 4, 6, 7};
	if (code[2] == 0xe8) { /* call rel32 */
		*target = ret + xc_sign_extend(xc_load_uint(code + 3, 4, false), 32);
		return true;
	}
	for (size_t i = 0; i < XC_COUNT(lengths); i++) { /* call r/m: FF /2 */
		const uint8_t *at = code + LONGEST_CALL - lengths[i];
		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

static bool aarch64_call(uint32_t word, xc_addr at, xc_addr *target)
{
	if ((word & 0xfc000000) == 0x94000000) { /* bl */
		*target = at + xc_sign_extend((word & 0x3ffffff) << 2, 28);
		return true;
	}
	return (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800; /* blr, blraa and similar */
}

static bool arm_call(uint32_t word, xc_addr at, xc_addr *target)
{
	bool bl = (word & 0x0f000000) == 0x0b000000 && word >> 28 != 15, blx = (word & 0xfe000000) == 0xfa000000;
	if (bl || blx) {
		*target = at + 8 + xc_sign_extend((word & 0xffffff) << 2, 26) + (blx ? word >> 23 & 2 : 0);
		return true;
	}
	return (word & 0x0ffffff0) == 0x012fff30; /* blx register */
}

/* Two half-words of BL or BLX: 11110 S imm10, 11 J1 x J2 imm11; I1 = not (J1 xor S). */
static bool thumb_call(uint32_t first, uint32_t second, xc_addr at, xc_addr *target)
{
	if ((first & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000) {
		uint64_t s = first >> 10 & 1, i1 = !((second >> 13 & 1) ^ s), i2 = !((second >> 11 & 1) ^ s);
		uint64_t offset = s << 24 | i1 << 23 | i2 << 22 | (uint64_t)(first & 0x3ff) << 12 |
				  (uint64_t)(second & 0x7ff) << 1;
		bool to_arm = !(second & 0x1000);
		*target = (to_arm ? (at + 4) & ~UINT64_C(3) : at + 4) + xc_sign_extend(offset, 25);
		return true;
	}
	return (second & 0xff87) == 0x4780; /* blx register, in the last two bytes */
}

static bool ppc64_call(uint32_t word, xc_addr at, xc_addr *target)
{
	if ((word & 0xfc000003) == 0x48000001) { /* bl */
		*target = at + xc_sign_extend(word & 0x3fffffc, 26);
		return true;
	}
	return (word & 0xfc0007ff) == 0x4c000421 ||
	       (word & 0xfc0007ff) == 0x4c000021; /* bctrl, blrl, conditional too */
}

static bool riscv_call(uint32_t word, xc_addr at, xc_addr *target)
{
	if ((word & 0xfff) == 0x0ef) { /* jal ra */
		uint64_t offset = (uint64_t)(word >> 31) << 20 | (word & 0xff000) | (word >> 20 & 1) << 11 |
				  (word >> 21 & 0x3ff) << 1;
		*target = at + xc_sign_extend(offset, 21);
		return true;
	}
	return (word & 0x7fff) == 0x00e7 ||
	       (word >> 16 & 0xf07f) == 0x9002; /* jalr ra, reg; c.jalr in the last two bytes */
}

/* Does a call end at ret? */
static bool behind_call(const struct xc_process *p, uint64_t ret, xc_addr *target)
{
	uint8_t code[LONGEST_CALL];
	bool x86 = p->arch->machine == EM_X86_64 || p->arch->machine == EM_386, thumb = ret & THUMB;
	xc_addr end = xc_code_address(p, ret);
	size_t size = x86 ? LONGEST_CALL : 4;
	if (end < size || xc_space_peek(p->space, end - size, code, size) != size)
		return true;
	uint32_t word = (uint32_t)xc_load_uint(code, 4, false);
	switch (p->arch->machine) {
	case EM_AARCH64:
		return aarch64_call(word, end - 4, target);
	case EM_ARM:
		return thumb ? thumb_call(word & 0xffff, word >> 16, end - 4, target) : arm_call(word, end - 4, target);
	case EM_PPC64:
		return ppc64_call(word, end - 4, target);
	case EM_RISCV:
		return riscv_call(word, end - 4, target);
	default:
		return x86_call(code, end, target);
	}
}

/* Instructions begin at multiples of this. */
static unsigned alignment(const struct xc_arch *arch, uint64_t ret)
{
	switch (arch->machine) {
	case EM_AARCH64:
	case EM_PPC64:
		return 4;
	case EM_ARM:
		return ret & THUMB ? 1 : 4;
	case EM_RISCV:
		return 2;
	default:
		return 1;
	}
}

bool xc_code_returns(const struct xc_process *p, uint64_t ret, xc_addr *target_out)
{
	xc_addr target = 0, at = xc_code_address(p, ret);
	bool good = ret && ret % alignment(p->arch, ret) == 0 && xc_code_executable(p, at) &&
		    xc_code_executable(p, at - 1) && behind_call(p, ret, &target);
	*target_out = xc_arch_wrap(p->arch, target);
	return good;
}

/* ---- signal trampolines ---- */

/* Registers that are adjacent in a signal frame. */
struct run {
	uint8_t first, count;
	uint16_t offset;
};

struct trampoline {
	uint16_t machine;
	uint8_t size, code[12];
	uint16_t context; /* from sp to the origin of the runs' offsets */
	struct run runs[10];
};

/* aarch64: siginfo (128), ucontext: mcontext at 176: fault address, x0 to x30, sp, pc, pstate */
#define AARCH64_RUNS                                                                                                   \
	{                                                                                                              \
		{0, 31, 312}, {31, 1, 560}, {32, 1, 568},                                                              \
		{                                                                                                      \
			33, 1, 576                                                                                     \
		}                                                                                                      \
	}
/* arm: ucontext: mcontext at 20: trap, error, mask, r0 to r15, cpsr; with siginfo before it when rt */
#define ARM_RUNS                                                                                                       \
	{                                                                                                              \
		{0, 16, 32},                                                                                           \
		{                                                                                                      \
			16, 1, 96                                                                                      \
		}                                                                                                      \
	}

/* ppc64: r0 to r31, nip, msr, orig_r3, ctr, lr, xer, ccr */
#define PPC64_RUNS                                                                                                     \
	{                                                                                                              \
		{0, 32, 0}, {64, 1, 256}, {66, 1, 280}, {65, 1, 288},                                                  \
		{                                                                                                      \
			68, 1, 304                                                                                     \
		}                                                                                                      \
	}

static const struct trampoline trampolines[] = {
	/* mov $15, %rax; syscall: ucontext: gregs at 40 in their own order. The trampolines of C libraries have more
	 * precise call frame information; those of Go (runtime.sigreturn) and musl have none, or that of an ordinary
	 * function */
	{EM_X86_64,
	 9,
	 {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05},
	 40,
	 {{8, 8, 0},
	  {5, 1, 64},
	  {4, 1, 72},
	  {6, 1, 80},
	  {3, 1, 88},
	  {1, 1, 96},
	  {0, 1, 104},
	  {2, 1, 112},
	  {7, 1, 120},
	  {16, 1, 128}}},
	/* mov x8, #139; svc #0 */
	{EM_AARCH64, 8, {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, 0, AARCH64_RUNS},
	/* mov r7, #173 (rt_sigreturn); svc #0, or #0x9000ad */
	{EM_ARM, 8, {0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, 128, ARM_RUNS},
	{EM_ARM, 8, {0xad, 0x70, 0xa0, 0xe3, 0xad, 0x00, 0x90, 0xef}, 128, ARM_RUNS},
	/* mov r7, #119 (sigreturn) */
	{EM_ARM, 8, {0x77, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, 0, ARM_RUNS},
	{EM_ARM, 8, {0x77, 0x70, 0xa0, 0xe3, 0x77, 0x00, 0x90, 0xef}, 0, ARM_RUNS},
	/* Thumb: movs r7, #173, #119; svc #0; with a wide mov as compilers of glibc write it */
	{EM_ARM, 4, {0xad, 0x27, 0x00, 0xdf}, 128, ARM_RUNS},
	{EM_ARM, 4, {0x77, 0x27, 0x00, 0xdf}, 0, ARM_RUNS},
	{EM_ARM, 6, {0x4f, 0xf0, 0xad, 0x07, 0x00, 0xdf}, 128, ARM_RUNS},
	{EM_ARM, 6, {0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf}, 0, ARM_RUNS},
	/* addi r1, r1, 128; li r0, 172; sc: the ucontext, with the registers 232 bytes into it, at sp + 128 */
	{EM_PPC64, 12, {0x80, 0x00, 0x21, 0x38, 0xac, 0x00, 0x00, 0x38, 0x02, 0x00, 0x00, 0x44}, 128 + 232, PPC64_RUNS},
	/* qemu's has no addi, and 16 more bytes below the ucontext */
	{EM_PPC64, 8, {0xac, 0x00, 0x00, 0x38, 0x02, 0x00, 0x00, 0x44}, 128 + 16 + 232, PPC64_RUNS},
	/* li a7, 139; ecall: siginfo (128), ucontext: mcontext at 176: pc, x1 to x31 */
	{EM_RISCV, 8, {0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00}, 0, {{65, 1, 304}, {1, 31, 312}}},
};

static const struct trampoline *trampoline_at(const struct xc_process *p, xc_addr addr)
{
	uint8_t code[sizeof trampolines[0].code];
	size_t got = 0;
	for (size_t i = 0; i < XC_COUNT(trampolines); i++) {
		const struct trampoline *t = &trampolines[i];
		if (t->machine != p->arch->machine)
			continue;
		if (!got)
			got = xc_space_peek(p->space, addr, code, sizeof code);
		if (got >= t->size && !memcmp(code, t->code, t->size))
			return t;
	}
	return NULL;
}

bool xc_code_is_trampoline(const struct xc_process *p, xc_addr addr)
{
	return trampoline_at(p, addr) != NULL;
}

xc_addr xc_code_trampoline_before(const struct xc_process *p, xc_addr addr)
{
	for (size_t i = 0; i < XC_COUNT(trampolines); i++)
		if (trampolines[i].machine == p->arch->machine &&
		    trampoline_at(p, addr - trampolines[i].size) == &trampolines[i])
			return addr - trampolines[i].size;
	return 0;
}

bool xc_code_interrupted(const struct xc_process *p, xc_addr addr, const struct xc_regs *regs,
			 struct xc_regs *saved_out)
{
	const struct trampoline *t = trampoline_at(p, addr);
	const struct xc_arch *arch = p->arch;
	struct xc_regs saved = {.vector = NULL};
	uint64_t sp, value;
	if (!t || !xc_regs_get(regs, arch->sp, &sp))
		return false;
	xc_addr at = xc_arch_wrap(arch, sp + t->context);
	for (size_t i = 0; i < XC_COUNT(t->runs); i++) {
		const struct run *r = &t->runs[i];
		for (unsigned k = 0; k < r->count; k++)
			if (xc_space_peek_uint(p->space, xc_arch_wrap(arch, at + r->offset + k * (xc_addr)arch->word),
					       arch->word, &value))
				xc_regs_set(&saved, r->first + (int)k, value);
	}
	for (int i = 0; i < XC_REG_MAX; i++)
		if (xc_arch_has(arch->constant, i) && xc_regs_get(regs, i, &value))
			xc_regs_set(&saved, i, value);
	*saved_out = saved;
	return xc_regs_known(&saved, arch->pc) && xc_regs_known(&saved, arch->sp);
}

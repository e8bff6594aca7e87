/* note_regs: one function per kind of note.
 *
 *   x86      NT_FPREGSET (x86-64, x32), NT_PRXFPREG (i386): an fxsave area; NT_X86_XSTATE begins with one
 *            (Intel SDM volume 1, 10.5.1: st(0) to st(7) from byte 32, xmm from 160, all 16 bytes apart)
 *   i386     NT_386_TLS: struct user_desc × 3 (Linux arch/x86/include/uapi/asm/ldt.h): entry, base, limit, flags
 *   aarch64  NT_FPREGSET: v0 to v31 (struct user_fpsimd_state); NT_ARM_TLS: tpidr_el0; NT_ARM_PAC_MASK: the bits of a
 *            pointer to data and to code that a signature fills (struct user_pac_mask)
 *   arm      NT_ARM_VFP: d0 to d31
 *   ppc64    NT_FPREGSET: f0 to f31; NT_PPC_VMX: vr0 to vr31
 *   riscv64  NT_FPREGSET: f0 to f31
 *
 * Checked against Linux 6.1, each machine's ptrace.h. */
#include "core/process/note_regs.h"

#include <elf.h>
#include <string.h>

#include "core/base/cursor.h"

enum {
	FXSAVE_ST = 32,
	FXSAVE_XMM = 160,
	FXSAVE_SIZE = 512,
	XSAVE_ENABLED = 464, /* the bits of XCR0, in bytes that are left to software */
	XSAVE_HAS_AVX = 1 << 2,
	XSAVE_AVX = 576,
	FXSAVE_SLOT = 16,
	USER_DESC = 16,
	GS_I386 = 45,
	FP_REGS = 32,
	FP_FIRST = 32, /* DWARF number of f0, ppc64 and riscv64 */
	V8_AARCH64 = 72,
};

static uint64_t load(const struct xc_arch *arch, const struct xc_note *note, size_t at, size_t size)
{
	return at + size <= note->desc_len ? xc_load_uint(note->desc + at, size, arch->big_endian) : 0;
}

void xc_note_regs_general(const struct xc_arch *arch, const struct xc_note *note, struct xc_thread *thread)
{
	for (size_t i = 0; i < arch->slot_count; i++) {
		size_t at = arch->prstatus_reg_off + (size_t)arch->slots[i].offset;
		if (arch->slots[i].dwarf >= 0 && at + arch->reg_size <= note->desc_len)
			xc_regs_set(&thread->regs, arch->slots[i].dwarf, load(arch, note, at, arch->reg_size));
	}
	thread->has_regs = xc_regs_known(&thread->regs, arch->pc) && xc_regs_known(&thread->regs, arch->sp);
	if (!thread->has_regs)
		thread->why_no_regs =
			arch->slots ? "its register note is cut short" : "registers of this machine are not read";
}

/* The result of a call, inside the kernel, whose sleep a signal (also a fatal one) or a debugger ended: EINTR, or a
 * code that restarts it (Linux include/linux/errno.h). */
static bool was_blocked(int64_t result)
{
	enum { EINTR_ = 4, ERESTARTSYS = 512, ERESTARTNOINTR = 513, ERESTARTNOHAND = 514, ERESTART_BLOCK = 516 };
	return result == -EINTR_ || result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
	       result == -ERESTART_BLOCK;
}

/* A write that was interrupted after a part of its bytes returns their number: one that nothing interrupts, to a pipe
 * or a socket that blocks, writes all. */
static bool was_partial(const struct xc_arch *arch, int64_t number, int64_t result, uint64_t size)
{
	enum { WRITE_64 = 1, SENDTO_64 = 44, WRITE_32 = 4 };
	bool writes = arch->machine == EM_386 ? number == WRITE_32 : number == WRITE_64 || number == SENDTO_64;
	return writes && result > 0 && (uint64_t)result < size;
}

/* Linux syscall(2): arguments, by DWARF number, and the result. */
void xc_note_regs_call(const struct xc_arch *arch, const struct xc_note *note, struct xc_thread *thread)
{
	static const int args_64[] = {5, 4, 1, 10, 8, 9}, args_32[] = {3, 1, 2, 6, 7, 5};
	const int *args = arch->machine == EM_X86_64 ? args_64 : args_32;
	uint64_t result, size = 0;
	if ((arch->machine != EM_X86_64 && arch->machine != EM_386) || !xc_regs_get(&thread->regs, 0, &result))
		return;
	size_t at = (size_t)arch->prstatus_reg_off + arch->orig_syscall_off;
	if (at + arch->reg_size > note->desc_len)
		return;
	int64_t number = (int64_t)load(arch, note, at, arch->reg_size);
	if (arch->reg_size == 4) {
		number = (int32_t)number;
		result = (uint64_t)(int64_t)(int32_t)result;
	}
	bool partial = xc_regs_get(&thread->regs, args[2], &size) && was_partial(arch, number, (int64_t)result, size);
	if (number < 0 || number > INT32_MAX || (!partial && !was_blocked((int64_t)result)))
		return;
	thread->moved = partial ? result : 0;
	thread->syscall = (long)number;
	thread->call_known = true;
	for (size_t i = 0; i < XC_COUNT(thread->call_args); i++)
		thread->call_known &= xc_regs_get(&thread->regs, args[i], &thread->call_args[i]);
}

static struct xc_vector_regs *new_vector(struct xc_process *process, struct xc_thread *thread)
{
	if (!thread->vector)
		thread->vector = xc_arena_alloc(&process->arena, sizeof *thread->vector);
	return thread->vector;
}

static void read_fxsave(struct xc_process *process, const struct xc_note *note, struct xc_thread *thread)
{
	if (thread->vector || note->desc_len < FXSAVE_SIZE)
		return;
	struct xc_vector_regs *v = new_vector(process, thread);
	v->st_count = 8;
	v->xmm_count = (uint8_t)process->arch->vector_count;
	for (size_t i = 0; i < v->st_count; i++)
		memcpy(v->st[i], note->desc + FXSAVE_ST + FXSAVE_SLOT * i, sizeof v->st[i]);
	for (size_t i = 0; i < v->xmm_count; i++)
		memcpy(v->xmm[i], note->desc + FXSAVE_XMM + FXSAVE_SLOT * i, sizeof v->xmm[i]);
}

/* The part of an xsave area for AVX has one place on all processors, unlike those that came later. In its initial
 * state, the kernel writes zeros (copy_xstate_to_uabi_buf in arch/x86/kernel/fpu/xstate.c). */
static void read_xsave(struct xc_process *process, const struct xc_note *note, struct xc_thread *thread)
{
	read_fxsave(process, note, thread);
	size_t count = (size_t)process->arch->vector_count;
	struct xc_vector_regs *v = thread->vector;
	if (!v || v->ymm_count || count > XC_COUNT(v->ymm_high) || note->desc_len < XSAVE_AVX + count * FXSAVE_SLOT ||
	    !(xc_load_uint(note->desc + XSAVE_ENABLED, 8, false) & XSAVE_HAS_AVX))
		return;
	v->ymm_count = (uint8_t)count;
	for (size_t i = 0; i < count; i++)
		memcpy(v->ymm_high[i], note->desc + XSAVE_AVX + FXSAVE_SLOT * i, sizeof v->ymm_high[i]);
}

/* Consecutive registers of `size` bytes each. */
static void read_vectors(struct xc_process *process, const struct xc_note *note, size_t size, struct xc_thread *thread)
{
	size_t count = (size_t)process->arch->vector_count;
	if (thread->vector || note->desc_len < count * size)
		return;
	struct xc_vector_regs *v = new_vector(process, thread);
	v->xmm_count = (uint8_t)count;
	for (size_t i = 0; i < count; i++)
		memcpy(v->xmm[i], note->desc + i * size, size);
}

static void read_floats(const struct xc_arch *arch, const struct xc_note *note, struct xc_thread *thread)
{
	for (size_t i = 0; i < FP_REGS && note->desc_len >= FP_REGS * sizeof(uint64_t); i++)
		xc_regs_set(&thread->regs, FP_FIRST + (int)i, load(arch, note, i * 8, 8));
}

/* The descriptor that gs selects: bits 3 and up of the selector are the number of the entry. */
static void read_386_tls(const struct xc_arch *arch, const struct xc_note *note, struct xc_thread *thread)
{
	uint64_t gs;
	if (!xc_regs_get(&thread->regs, GS_I386, &gs))
		return;
	for (size_t at = 0; at + USER_DESC <= note->desc_len; at += USER_DESC)
		if (load(arch, note, at, 4) == (gs & 0xffff) >> 3)
			xc_regs_set(&thread->regs, arch->tls.tp, load(arch, note, at + 4, 4));
}

static void more_x86(struct xc_process *process, const struct xc_note *note, struct xc_thread *thread)
{
	switch (note->type) {
	case NT_FPREGSET: /* i386: an fsave area, which is shorter */
	case NT_PRXFPREG:
		read_fxsave(process, note, thread);
		break;
	case NT_X86_XSTATE:
		read_xsave(process, note, thread);
		break;
	case NT_386_TLS:
		if (process->arch->machine == EM_386)
			read_386_tls(process->arch, note, thread);
		break;
	default:
		break;
	}
}

/* Calls preserve all 64 bits of d8 to d15, on arm and aarch64. */
static void keep_preserved(struct xc_thread *thread, int first)
{
	for (int i = 0; thread->vector && i < 8; i++)
		xc_regs_set(&thread->regs, first + i, xc_load_uint(thread->vector->xmm[8 + i], 8, false));
}

static void more_arm(struct xc_process *process, const struct xc_note *note, struct xc_thread *thread)
{
	const struct xc_arch *arch = process->arch;
	bool wide = arch->machine == EM_AARCH64;
	switch (note->type) {
	case NT_FPREGSET:
		if (wide)
			read_vectors(process, note, 16, thread);
		if (wide)
			keep_preserved(thread, V8_AARCH64);
		break;
	case NT_ARM_VFP:
		if (!wide)
			read_vectors(process, note, 8, thread);
		if (!wide)
			keep_preserved(thread, arch->high_at);
		break;
	case NT_ARM_TLS:
		if (note->desc_len >= arch->word)
			xc_regs_set(&thread->regs, arch->tls.tp, load(arch, note, 0, arch->word));
		break;
	case NT_ARM_PAC_MASK:
		if (wide && note->desc_len >= 16)
			process->code_mask = load(arch, note, 8, 8);
		break;
	default:
		break;
	}
}

void xc_note_regs_more(struct xc_process *process, const struct xc_note *note, struct xc_thread *thread)
{
	switch (process->arch->unwinds ? process->arch->machine : EM_NONE) {
	case EM_X86_64:
	case EM_386:
		more_x86(process, note, thread);
		break;
	case EM_AARCH64:
	case EM_ARM:
		more_arm(process, note, thread);
		break;
	case EM_PPC64:
	case EM_RISCV:
		if (note->type == NT_FPREGSET)
			read_floats(process->arch, note, thread);
		else if (note->type == NT_PPC_VMX && process->arch->machine == EM_PPC64)
			read_vectors(process, note, 16, thread);
		break;
	default:
		break;
	}
}

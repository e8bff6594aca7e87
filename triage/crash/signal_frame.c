/* signal_frame: signal frames of Linux, checked against 6.1.
 *
 * x86-64: at a trampoline sp points at the ucontext. General registers begin 40 bytes into it; number 19 is the error
 * code of a page fault, 20 the trap number, 22 the fault address (include/uapi/asm/sigcontext.h and sys/ucontext.h,
 * REG_ERR, REG_TRAPNO, REG_CR2). The siginfo follows the ucontext's 304 bytes (arch/x86/include/asm/sigframe.h,
 * kernel/signal_64.c).
 *
 * i386: at __kernel_rt_sigreturn sp points at the signal number, a pointer to the siginfo and one to the ucontext, in
 * which the sigcontext begins at 20. At __kernel_sigreturn, which pops the number first, sp points at the number and
 * the sigcontext. Trap number, error code and cr2 are at 48, 52 and 84 of the sigcontext.
 *
 * aarch64, riscv64, arm (rt_sigreturn): sp points at the siginfo (each arch's kernel/signal.c, struct rt_sigframe).
 * On aarch64 records follow the sigcontext (arch/arm64/include/uapi/asm/sigcontext.h), one of which describes the
 * fault:
 *
 *	sp + 0    siginfo, 128 bytes
 *	sp + 128  ucontext: its sigcontext at 176, with the fault address, 31 registers, sp, pc, pstate
 *	sp + 592  { u32 magic, u32 size; … }*, 4096 bytes: ESR_MAGIC 0x45535201: { magic, size, u64 esr }; 0 ends */
#include "triage/crash/signal_frame.h"

#include <elf.h>
#include <signal.h>
#include <string.h>

#include "core/base/cursor.h"

enum {
	GREGS_X86_64 = 40,
	ERROR_X86_64 = GREGS_X86_64 + 8 * 19,
	TRAP_X86_64 = GREGS_X86_64 + 8 * 20,
	CR2_X86_64 = GREGS_X86_64 + 8 * 22,
	UCONTEXT_X86_64 = 304,
	MCONTEXT_I386 = 20,
	POP_EAX = 0x58,
	INFO = 128, /* bytes of a siginfo */
	INFO_USED = 48,
	LAST_SIGNAL = 64,
	RECORDS_AARCH64 = 592,
	RECORDS_SIZE = 4096,
	ESR_MAGIC = 0x45535201,
};

static bool word(const struct xc_process *p, xc_addr at, uint64_t *value)
{
	return xc_space_peek_uint(p->space, at, p->arch->word, value);
}

/* When a handler has no SA_SIGINFO, these bytes are leftovers of the stack: accept them only if they are consistent.
 * x86 kernels copy 48 bytes of a siginfo and clear the other 80 (kernel/signal.c). */
static void read_info(const struct xc_process *p, xc_addr at, bool cleared, struct xc_signal_frame *out)
{
	static const uint8_t zeroes[INFO - INFO_USED];
	uint8_t bytes[INFO];
	size_t address = p->arch->word == 8 ? 16 : 12;
	if (!at || xc_space_peek(p->space, at, bytes, sizeof bytes) != sizeof bytes ||
	    (cleared && memcmp(bytes + INFO_USED, zeroes, sizeof zeroes) != 0))
		return;
	int64_t number = (int32_t)xc_load_uint(bytes, 4, false);
	uint64_t padding = address == 16 ? xc_load_uint(bytes + 12, 4, false) : 0;
	out->info_known = number > 0 && number <= LAST_SIGNAL && xc_load_uint(bytes + 4, 4, false) == 0 && padding == 0;
	out->signal = (int)number;
	out->code = (int32_t)xc_load_uint(bytes + 8, 4, false);
	out->info_addr = xc_load_uint(bytes + address, p->arch->word, false);
}

static bool read_x86_64(const struct xc_process *p, xc_addr sp, struct xc_signal_frame *out)
{
	out->trap_known = word(p, sp + TRAP_X86_64, &out->trap) && word(p, sp + ERROR_X86_64, &out->error) &&
			  word(p, sp + CR2_X86_64, &out->addr);
	read_info(p, sp + UCONTEXT_X86_64, true, out);
	return out->trap_known;
}

static bool read_i386(const struct xc_process *p, xc_addr pc, xc_addr sp, struct xc_signal_frame *out)
{
	uint64_t info = 0, at = sp + 4;
	uint8_t code;
	if (xc_space_peek(p->space, pc, &code, 1) != 1)
		return false;
	if (code != POP_EAX) {
		if (!word(p, sp + 4, &info) || !word(p, sp + 8, &at))
			return false;
		at += MCONTEXT_I386;
	}
	out->trap_known = word(p, at + 48, &out->trap) && word(p, at + 52, &out->error) && word(p, at + 84, &out->addr);
	read_info(p, info, true, out);
	return out->trap_known;
}

/* Bounded: a record has at least 16 bytes. */
static void read_syndrome(const struct xc_process *p, xc_addr sp, struct xc_signal_frame *out)
{
	uint64_t magic, size;
	for (uint64_t at = 0; at + 16 <= RECORDS_SIZE; at += size) {
		xc_addr record = sp + RECORDS_AARCH64 + at;
		if (!xc_space_peek_uint(p->space, record, 4, &magic) ||
		    !xc_space_peek_uint(p->space, record + 4, 4, &size) || !magic || size < 16)
			return;
		if (magic != ESR_MAGIC)
			continue;
		out->syndrome_known = xc_space_peek_uint(p->space, record + 8, 8, &out->syndrome);
		return;
	}
}

bool xc_signal_frame_read(const struct xc_process *p, xc_addr pc, xc_addr sp, struct xc_signal_frame *out)
{
	*out = (struct xc_signal_frame){.signal = 0};
	switch (p->arch->unwinds ? p->arch->machine : EM_NONE) {
	case EM_X86_64:
		return p->arch->word == 8 && read_x86_64(p, sp, out);
	case EM_386:
		return read_i386(p, pc, sp, out);
	case EM_AARCH64:
		read_syndrome(p, sp, out);
		read_info(p, sp, false, out);
		return out->info_known;
	case EM_RISCV:
	case EM_ARM:
		read_info(p, sp, false, out);
		return out->info_known;
	default:
		return false;
	}
}

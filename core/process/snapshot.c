#include "core/process/snapshot.h"

#include <signal.h>
#include <string.h>

enum {
	SYSCALL_STOP = SIGTRAP | 0x80, /* ptrace(2), PTRACE_O_TRACESYSGOOD */
	EVENT = 8,                     /* from this bit on: the event of a ptrace stop */
	INT3 = 0xcc,
	INT1 = 0xf1,
	TRAP_FLAG = 1 << 8, /* Intel SDM volume 1, 3.4.3 */
};

/* These stop a process, or nothing happens: no core can come of them. */
static bool ends_nothing(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU || signal == SIGCONT ||
	       signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH;
}

/* x86: a breakpoint of the program's own is in its memory; gdb takes its own out of the core, and pc back. */
static bool is_own_breakpoint(const struct xc_process *p)
{
	uint64_t pc;
	uint8_t code;
	return p->arch->lr >= 0 || !xc_regs_get(&p->threads[0].regs, p->arch->pc, &pc) ||
	       xc_space_peek(p->space, pc - 1, &code, 1) != 1 || code == INT3 || code == INT1;
}

/* x86: is pc behind a system call, as kill() leaves it? */
static bool is_behind_call(const struct xc_process *p)
{
	uint64_t pc;
	uint8_t code[2];
	return p->arch->lr >= 0 || !xc_regs_get(&p->threads[0].regs, p->arch->pc, &pc) ||
	       xc_space_peek(p->space, pc - 2, code, 2) != 2 || (code[0] == 0x0f && code[1] == 0x05) ||
	       (code[0] == 0xcd && code[1] == 0x80);
}

/* x86: has the program asked for a trap after each instruction? The kernel hides the flag if a debugger set it. */
static bool traces_itself(const struct xc_process *p)
{
	uint64_t flags;
	int number = xc_arch_reg_named(p->arch, "eflags");
	return number >= 0 && (!xc_regs_get(&p->threads[0].regs, number, &flags) || flags & TRAP_FLAG);
}

static bool is_ptrace_stop(const struct xc_process *p)
{
	const struct xc_signal *s = &p->signal;
	if (!s->has_info)
		return false;
	if (s->code == SI_USER && s->sender_pid == p->pid) /* of the kernel, after execve() */
		return !is_behind_call(p);
	if (s->code == SYSCALL_STOP || s->code == TRAP_HWBKPT ||
	    (s->code > 0 && s->code != SI_KERNEL && s->code >> EVENT))
		return true;
	if (s->code == TRAP_TRACE) /* stepi, or a watchpoint in software */
		return !traces_itself(p);
	return (s->code == SI_KERNEL || s->code == TRAP_BRKPT) && !is_own_breakpoint(p);
}

/* gdb keeps SIGINT from the program that it runs. */
static bool is_stopped_by_gdb(const struct xc_process *p)
{
	const struct xc_signal *s = &p->signal;
	if (!p->core_maker || strcmp(p->core_maker, "gdb") != 0)
		return false;
	if (!s->known)
		return p->threads[0].signal == 0;
	return s->number == SIGINT || (s->number == SIGTRAP && is_ptrace_stop(p));
}

void xc_snapshot_settle(struct xc_process *p)
{
	if (p->thread_count == 0)
		return;
	p->snapshot = (p->signal.known && ends_nothing(p->signal.number)) || is_stopped_by_gdb(p);
	if (p->snapshot)
		p->threads[0].crashed = false;
}

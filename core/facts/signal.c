/* signal: names of signals and what their codes mean, as Linux numbers them on x86, arm, RISC-V and most others
 * (alpha, mips, parisc and sparc differ in some numbers). Codes: include/uapi/asm-generic/siginfo.h, Linux 6.1. */
#include "core/facts/facts.h"

#include <signal.h>
#include <stdio.h>

static const char *const names[] = {
	[1] = "SIGHUP",   [2] = "SIGINT",     [3] = "SIGQUIT",  [4] = "SIGILL",     [5] = "SIGTRAP",  [6] = "SIGABRT",
	[7] = "SIGBUS",   [8] = "SIGFPE",     [9] = "SIGKILL",  [10] = "SIGUSR1",   [11] = "SIGSEGV", [12] = "SIGUSR2",
	[13] = "SIGPIPE", [14] = "SIGALRM",   [15] = "SIGTERM", [16] = "SIGSTKFLT", [17] = "SIGCHLD", [18] = "SIGCONT",
	[19] = "SIGSTOP", [20] = "SIGTSTP",   [21] = "SIGTTIN", [22] = "SIGTTOU",   [23] = "SIGURG",  [24] = "SIGXCPU",
	[25] = "SIGXFSZ", [26] = "SIGVTALRM", [27] = "SIGPROF", [28] = "SIGWINCH",  [29] = "SIGIO",   [30] = "SIGPWR",
	[31] = "SIGSYS",
};

static const char *const words[] = {
	[1] = "hangup of its terminal",
	[2] = "interrupted from the keyboard",
	[3] = "quit from the keyboard",
	[4] = "illegal instruction",
	[5] = "trace or breakpoint trap",
	[6] = "aborted",
	[7] = "bus error",
	[8] = "arithmetic exception",
	[9] = "killed",
	[10] = "user signal 1",
	[11] = "invalid memory reference",
	[12] = "user signal 2",
	[13] = "write to a pipe without a reader",
	[14] = "alarm clock",
	[15] = "asked to terminate",
	[16] = "coprocessor stack fault",
	[17] = "a child stopped or ended",
	[18] = "continued",
	[19] = "stopped",
	[20] = "stopped from the keyboard",
	[21] = "background read from the terminal",
	[22] = "background write to the terminal",
	[23] = "urgent data on a socket",
	[24] = "CPU time limit exceeded",
	[25] = "file size limit exceeded",
	[26] = "virtual timer expired",
	[27] = "profiling timer expired",
	[28] = "terminal window resized",
	[29] = "I/O possible",
	[30] = "power failure",
	[31] = "bad system call",
};

struct code {
	int number, code; /* number 0: any signal */
	const char *name, *text;
};

static const struct code codes[] = {
	{SIGILL, 1, "ILL_ILLOPC", "illegal opcode"},
	{SIGILL, 2, "ILL_ILLOPN", "illegal operand"},
	{SIGILL, 3, "ILL_ILLADR", "illegal addressing mode"},
	{SIGILL, 4, "ILL_ILLTRP", "illegal trap"},
	{SIGILL, 5, "ILL_PRVOPC", "privileged opcode"},
	{SIGILL, 6, "ILL_PRVREG", "privileged register"},
	{SIGILL, 7, "ILL_COPROC", "coprocessor error"},
	{SIGILL, 8, "ILL_BADSTK", "internal stack error"},
	{SIGILL, 9, "ILL_BADIADDR", "unimplemented instruction address"},
	{SIGFPE, 1, "FPE_INTDIV", "integer division by zero"},
	{SIGFPE, 2, "FPE_INTOVF", "integer overflow"},
	{SIGFPE, 3, "FPE_FLTDIV", "floating-point division by zero"},
	{SIGFPE, 4, "FPE_FLTOVF", "floating-point overflow"},
	{SIGFPE, 5, "FPE_FLTUND", "floating-point underflow"},
	{SIGFPE, 6, "FPE_FLTRES", "floating-point inexact result"},
	{SIGFPE, 7, "FPE_FLTINV", "invalid floating-point operation"},
	{SIGFPE, 8, "FPE_FLTSUB", "subscript out of range"},
	{SIGFPE, 14, "FPE_FLTUNK", "undiagnosed floating-point exception"},
	{SIGFPE, 15, "FPE_CONDTRAP", "trap on condition"},
	{SIGSEGV, 1, "SEGV_MAPERR", "address not mapped"},
	{SIGSEGV, 2, "SEGV_ACCERR", "access not permitted by the mapping"},
	{SIGSEGV, 3, "SEGV_BNDERR", "failed address bound check"},
	{SIGSEGV, 4, "SEGV_PKUERR", "access denied by a memory protection key"},
	{SIGSEGV, 5, "SEGV_ACCADI", "ADI not enabled for the address"},
	{SIGSEGV, 6, "SEGV_ADIDERR", "ADI tag mismatch, disrupting"},
	{SIGSEGV, 7, "SEGV_ADIPERR", "ADI tag mismatch, precise"},
	{SIGSEGV, 8, "SEGV_MTEAERR", "memory tag check failed (asynchronous)"},
	{SIGSEGV, 9, "SEGV_MTESERR", "memory tag check failed"},
	{SIGSEGV, 10, "SEGV_CPERR", "control protection fault (shadow stack)"},
	{SIGBUS, 1, "BUS_ADRALN", "misaligned address"},
	{SIGBUS, 2, "BUS_ADRERR", "no page for this address"},
	{SIGBUS, 3, "BUS_OBJERR", "hardware error of a device"},
	{SIGBUS, 4, "BUS_MCEERR_AR", "memory failure, the byte was needed"},
	{SIGBUS, 5, "BUS_MCEERR_AO", "memory failure found in the background"},
	{SIGTRAP, 1, "TRAP_BRKPT", "breakpoint"},
	{SIGTRAP, 2, "TRAP_TRACE", "single step"},
	{SIGTRAP, 3, "TRAP_BRANCH", "branch taken"},
	{SIGTRAP, 4, "TRAP_HWBKPT", "hardware breakpoint or watchpoint"},
	{SIGTRAP, 5, "TRAP_UNK", "undiagnosed trap"},
	{SIGTRAP, 6, "TRAP_PERF", "perf event with sigtrap"},
	{SIGCHLD, 1, "CLD_EXITED", "a child exited"},
	{SIGCHLD, 2, "CLD_KILLED", "a child was killed"},
	{SIGCHLD, 3, "CLD_DUMPED", "a child died with a core dump"},
	{SIGCHLD, 4, "CLD_TRAPPED", "a traced child trapped"},
	{SIGCHLD, 5, "CLD_STOPPED", "a child stopped"},
	{SIGCHLD, 6, "CLD_CONTINUED", "a child continued"},
	{SIGIO, 1, "POLL_IN", "data to read"},
	{SIGIO, 2, "POLL_OUT", "room to write"},
	{SIGIO, 3, "POLL_MSG", "a message to read"},
	{SIGIO, 4, "POLL_ERR", "I/O error"},
	{SIGIO, 5, "POLL_PRI", "urgent data to read"},
	{SIGIO, 6, "POLL_HUP", "the device was disconnected"},
	{SIGSYS, 1, "SYS_SECCOMP", "forbidden by a seccomp filter"},
	{SIGSYS, 2, "SYS_USER_DISPATCH", "system call user dispatch"},
	{0, 0, "SI_USER", "sent by kill()"},
	{0, 0x80, "SI_KERNEL", "raised by the kernel without an address"},
	{0, -1, "SI_QUEUE", "sent by sigqueue()"},
	{0, -2, "SI_TIMER", "a POSIX timer expired"},
	{0, -3, "SI_MESGQ", "a message queue changed state"},
	{0, -4, "SI_ASYNCIO", "asynchronous I/O completed"},
	{0, -5, "SI_SIGIO", "queued SIGIO"},
	{0, -6, "SI_TKILL", "sent by tgkill(): raise() or abort()"},
	{0, -7, "SI_DETHREAD", "killed by another thread's execve()"},
	{0, -60, "SI_ASYNCNL", "asynchronous name lookup completed"},
};

static const struct code *find_code(int number, int code)
{
	for (size_t i = 0; i < XC_COUNT(codes); i++)
		if (codes[i].code == code && (codes[i].number == number || codes[i].number == 0))
			return &codes[i];
	return NULL;
}

const char *xc_signal_name(int number)
{
	static _Thread_local char other[24];
	if (number > 0 && (size_t)number < XC_COUNT(names))
		return names[number];
	snprintf(other, sizeof other, number > 0 ? "SIG%d" : "signal %d", number);
	return other;
}

const char *xc_signal_text(int number)
{
	if (number > 0 && (size_t)number < XC_COUNT(words))
		return words[number];
	return number >= 32 && number <= 64 ? "real-time signal" : "unknown signal";
}

const char *xc_signal_code_name(int number, int code)
{
	const struct code *found = find_code(number, code);
	return found ? found->name : NULL;
}

const char *xc_signal_code_text(int number, int code)
{
	static _Thread_local char other[32];
	const struct code *found = find_code(number, code);
	if (found)
		return found->text;
	snprintf(other, sizeof other, "code %d", code);
	return other;
}

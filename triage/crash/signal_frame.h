/* signal_frame: what the kernel left on the stack when it called a signal handler: the trap, and which signal it was. */
#ifndef XC_SIGNAL_FRAME_H
#define XC_SIGNAL_FRAME_H

#include "core/process/process.h"

struct xc_signal_frame {
	bool trap_known; /* x86: the three below; the trap number is the thread's last one, or 0, also when the signal was sent */
	uint64_t trap, error, addr;
	bool info_known; /* the siginfo; it is written only for handlers with SA_SIGINFO */
	int signal, code;
	uint64_t info_addr;  /* si_addr; of a signal that was sent si_pid and si_uid */
	bool syndrome_known; /* aarch64: the exception syndrome (ESR_EL1), which the kernel adds for faults */
	uint64_t syndrome;
};

/* Read the context at a trampoline with these pc and sp. False when this machine's is not read or its memory is not there. */
bool xc_signal_frame_read(const struct xc_process *process, xc_addr pc, xc_addr sp, struct xc_signal_frame *out);

#endif

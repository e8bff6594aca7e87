/* signal_frame: what the kernel saves on the stack when it calls a signal handler: the trap, and the signal. */
#ifndef XC_SIGNAL_FRAME_H
#define XC_SIGNAL_FRAME_H

#include "core/process/process.h"

struct xc_signal_frame {
	/* x86. The trap number is the last one of the thread, or 0, also when the signal was sent. */
	bool trap_known;
	uint64_t trap, error, addr;
	bool info_known; /* the siginfo, which is written only for handlers with SA_SIGINFO */
	int signal, code;
	uint64_t info_addr;  /* si_addr; si_pid and si_uid of a signal that was sent */
	bool syndrome_known; /* aarch64: the exception syndrome (ESR_EL1), which the kernel adds for faults */
	uint64_t syndrome;
};

/* Read the signal frame at a trampoline with these pc and sp. False when it is unknown for this machine, or its
 * memory is missing. */
bool xc_signal_frame_read(const struct xc_process *process, xc_addr pc, xc_addr sp, struct xc_signal_frame *out);

#endif

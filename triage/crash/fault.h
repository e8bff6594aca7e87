/* fault: the event that killed the process, seen through crash handlers.
 *
 * When the crashed stack contains a signal trampoline, a handler made the core (it aborted, or raised the signal
 * again), and the signal in the notes is that of the handler. The real fault is in the context that the kernel saved
 * on the stack. */
#ifndef XC_FAULT_H
#define XC_FAULT_H

#include "core/report/report.h"
#include "core/base/text.h"
#include "dwarf/unwind/unwind.h"
#include "triage/code/operand.h"

struct xc_fault {
	int signal, code; /* code is meaningful when code_known */
	bool code_known;
	bool in_handler; /* seen through a handler; outer_signal is the one in the notes */
	int outer_signal;
	bool addr_known;
	xc_addr addr;
	enum xc_access access;
	bool raised_again;     /* a handler returned to the faulting instruction: only the place is known */
	bool sent;             /* by kill(2) and the like: not raised by an instruction */
	bool resent;           /* a handler sent the signal again, which had been sent before (resent.h) */
	bool resent_sure;      /* no instruction of the interrupted kind raises such a signal */
	int first_signal;      /* a sent signal in whose handler the process died; 0: none is known */
	pid_t first_sender;    /* who had sent it, or what was sent again; 0: not known */
	uid_t first_user;      /* meaningful when first_sender */
	struct xc_frame frame; /* the interrupted frame */
	bool frame_known;
	bool decoded; /* the instruction at frame.pc was decoded: it raised the signal */
	struct xc_instruction instruction;
	bool operand_known; /* operand is the faulting one */
	struct xc_memory_operand operand;
	bool probed;     /* an access that only tests the pointer, as Go does for nil */
	bool computed;   /* general protection: the kernel gave no address, addr is recomputed from registers */
	bool misaligned; /* general protection: addr is not aligned as the instruction requires */
};

/* May a handler have run between the fault and the core? Memory need not be as it was then. */
static inline bool xc_fault_was_handled(const struct xc_fault *fault)
{
	return fault->in_handler || fault->raised_again || !fault->code_known;
}

/* Find the fault of the crashed thread. False when the process has no crashed thread or no signal. Of a snapshot: the
 * fault for which its first thread runs a handler, else false. */
bool xc_fault_find(const struct xc_process *process, struct xc_unwinder *unwinder, struct xc_fault *fault_out);

/* Append the attempted access: "wrote 8 bytes at 0x18", "read 1 byte at 0x7f…ffc (faulted at 0x7f…000)", "jumped to
 * 0x0", "accessed 0x18". The address must be known. */
void xc_fault_describe(const struct xc_fault *fault, struct xc_text *text);

/* What the memory was used for: "read", "write", "call" (also a jump, and the read of its target); NULL when it is not
 * known. The kind of a use-after-free. */
const char *xc_fault_use(const struct xc_fault *fault);

#endif

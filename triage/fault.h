/* fault: the event that killed the process, seen through crash handlers.
 *
 * When the crashed stack passes a signal trampoline, the core was made by a handler (which aborted, or raised
 * again): the signal in the notes is only the last act. The real fault is in the context that the kernel saved on the
 * stack. */
#ifndef XC_FAULT_H
#define XC_FAULT_H

#include "../core/report.h"
#include "../dwarf/unwind.h"

enum xc_access { XC_ACCESS_UNKNOWN, XC_ACCESS_READ, XC_ACCESS_WRITE, XC_ACCESS_EXECUTE };

struct xc_fault {
	int signal, code;         /* code is meaningful when code_known */
	bool code_known;
	bool in_handler;          /* seen through a handler; outer_signal is what the notes say */
	int outer_signal;
	bool addr_known;
	xc_addr addr;
	enum xc_access access;
	bool raised_again;        /* at the faulting instruction, by a handler that returned to it: only the place is known */
	bool sent;                /* by kill(2) and the like: not raised by an instruction */
	struct xc_frame frame;    /* the interrupted frame */
	bool frame_known;
};

/* Find the fault of the crashed thread. False when the process has no crashed thread or no signal. */
bool xc_fault_find(const struct xc_process *process, struct xc_unwinder *unwinder, struct xc_fault *fault_out);

/* "read", "write to", "jump to", "access to". */
const char *xc_access_text(enum xc_access access);

/* Facts that relate the fault address to mappings and registers, as evidence of the verdict. */
void xc_fault_evidence(struct xc_report *report, const struct xc_process *process, const struct xc_fault *fault);

/* True when the address lies just below the mapping that holds (or held) the stack pointer. */
bool xc_fault_is_stack_overflow(const struct xc_process *process, const struct xc_fault *fault);

#endif

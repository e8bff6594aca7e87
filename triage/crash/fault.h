/* fault: the event that killed the process, seen through crash handlers.
 *
 * When the crashed stack passes a signal trampoline, the core was made by a handler (which aborted, or raised
 * again): the signal in the notes is only the last act. The real fault is in the context that the kernel saved on the
 * stack. */
#ifndef XC_FAULT_H
#define XC_FAULT_H

#include "core/report/report.h"
#include "core/base/text.h"
#include "dwarf/unwind/unwind.h"
#include "triage/code/operand.h"

struct xc_fault {
	int signal, code; /* code is meaningful when code_known */
	bool code_known;
	bool in_handler; /* seen through a handler; outer_signal is what the notes say */
	int outer_signal;
	bool addr_known;
	xc_addr addr;
	enum xc_access access;
	bool raised_again; /* at the faulting instruction, by a handler that returned to it: only the place is known */
	bool sent;         /* by kill(2) and the like: not raised by an instruction */
	struct xc_frame frame; /* the interrupted frame */
	bool frame_known;
	bool decoded; /* the instruction at frame.pc was decoded: an instruction raised the signal */
	struct xc_instruction instruction;
	bool operand_known; /* operand is the one that faulted */
	struct xc_memory_operand operand;
	bool probed;     /* the operand was touched to see whether it can be, as Go tests pointers for nil */
	bool computed;   /* general protection: addr was recomputed from registers, the kernel gave none */
	bool misaligned; /* general protection: addr is not aligned as the instruction demands */
};

/* Find the fault of the crashed thread. False when the process has no crashed thread or no signal. */
bool xc_fault_find(const struct xc_process *process, struct xc_unwinder *unwinder, struct xc_fault *fault_out);

/* Append "wrote 8 bytes at 0x18", "read 1 byte at 0x7f…ffc (faulted at 0x7f…000)", "jumped to 0x0", "accessed 0x18": what
 * the faulting instruction tried to do. The address must be known. */
void xc_fault_describe(const struct xc_fault *fault, struct xc_text *text);

#endif

/* resent: a handler that sends its own signal again: was the signal that it was called for raised by the interrupted
 * instruction, or sent, too? */
#ifndef XC_RESENT_H
#define XC_RESENT_H

#include "triage/code/operand.h"
#include "dwarf/unwind/unwind.h"

enum xc_resent {
	XC_RESENT_POSSIBLE,   /* the instruction can have raised the signal */
	XC_RESENT_UNLIKELY,   /* its memory is mapped now, with the rights that it needs */
	XC_RESENT_IMPOSSIBLE, /* no instruction of this kind raises the signal */
};

/* Can the instruction at the frame have raised the signal? x86 only; POSSIBLE where its bytes are not known. */
enum xc_resent xc_resent_by(const struct xc_process *process, const struct xc_frame *frame, int signal);

#endif

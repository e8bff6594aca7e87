/* stackword: which frame, and which variable, a word of a stack belongs to. */
#ifndef XC_STACKWORD_H
#define XC_STACKWORD_H

#include "../core/process.h"
#include "../core/text.h"

/* Append "#3 process_request, conn.buffer" or "#3 process_request" or, above and below all frames that unwinding finds, nothing.
 * Unwinds the thread from its top each time: a tenth of a millisecond and more. */
void xc_stackword_text(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr,
		       struct xc_text *text);

#endif

/* stackword: which frame, and which variable, a word of a stack belongs to. */
#ifndef XC_STACKWORD_H
#define XC_STACKWORD_H

#include "core/process/process.h"
#include "core/base/text.h"

struct xc_type;

struct xc_stackword {
	bool in_frame; /* else it lies above or below all frames that unwinding finds, and nothing more is known */
	unsigned row;  /* as `bt` counts; of the innermost inlined function, or of the one that has the variable */
	const char *function;       /* NULL: unknown; lives as long as the process */
	const struct xc_type *type; /* of the variable; NULL: it lies in none */
	struct xc_text variable;    /* "conn.buffer"; empty without one */
};

/* Unwinds the thread from its top each time: a tenth of a millisecond and more. Release with xc_stackword_fini. */
struct xc_stackword xc_stackword_find(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr);
void xc_stackword_fini(struct xc_stackword *word);

/* Append "#3 process_request, conn.buffer", "#3 process_request, no named variable" or "in no frame". */
void xc_stackword_text(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr,
		       struct xc_text *text);

#endif

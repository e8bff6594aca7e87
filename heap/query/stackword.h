/* stackword: the frame and the variable that a word of a stack belongs to. */
#ifndef XC_STACKWORD_H
#define XC_STACKWORD_H

#include "core/process/process.h"
#include "core/base/text.h"

struct xc_type;

struct xc_stackword {
	bool in_frame; /* false: above or below all frames that unwinding finds; nothing more is known */
	unsigned row;  /* numbered as in `bt`; of the innermost inlined function, or of the one with the variable */
	const char *function;       /* NULL: unknown; lives as long as the process */
	const struct xc_type *type; /* of the variable; NULL: no variable has the word */
	uint64_t offset;            /* of the word in the variable */
	struct xc_text variable;    /* "conn.buffer"; may be empty */
	const char *ended;          /* without a variable: one that is not in scope and had the word, or NULL */
};

/* Unwinds the thread from its top each time, which takes at least a tenth of a millisecond. Release the result with
 * xc_stackword_fini. */
struct xc_stackword xc_stackword_find(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr);
void xc_stackword_fini(struct xc_stackword *word);

/* Appends "#3 process_request, conn.buffer", "#3 process_request, `line`, which is not in scope", "#3 process_request,
 * no named variable" or "in no frame". */
void xc_stackword_text(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr,
		       struct xc_text *text);

#endif

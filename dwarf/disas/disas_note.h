/* disas_note: annotations of an instruction: the target of a jump, the name of an address, and, at the current
 * instruction, the values of registers and memory. */
#ifndef XC_DISAS_NOTE_H
#define XC_DISAS_NOTE_H

#include <jansson.h>

#include "core/base/text.h"
#include "dwarf/decode/disas.h"
#include "dwarf/disas/disas_range.h"

struct xc_code_view {
	const struct xc_process *process;
	struct xc_disas *disas;
	const struct xc_code_range *range; /* NULL: none is known */
	const struct xc_regs *regs;        /* of the frame, for its current instruction; NULL: unknown */
	bool redact;                       /* leave out the contents of memory */
	struct xc_regs *pages;             /* AArch64: page addresses in registers, kept between instructions */
};

/* Append the text after the instruction (" <foo+4>") to `text`, and the comment at its right to `comment`. Set
 * "target", "symbol", "reference", "reference_symbol" and "value" of the JSON object where they apply. */
void xc_disas_note(const struct xc_code_view *view, const struct xc_code *code, struct xc_text *text,
		   struct xc_text *comment, json_t *object);

/* For the current instruction: registers and memory, as a comment and as "operands". */
void xc_disas_note_operands(const struct xc_code_view *view, const struct xc_code *code, struct xc_text *comment,
			    json_t *object);

#endif

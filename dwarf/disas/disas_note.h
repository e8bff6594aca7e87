/* disas_note: what can be said beside an instruction: where a jump goes, what an address is, what registers and memory
 * hold at the one that is being executed. */
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
	bool redact;                       /* leave out what memory holds */
	struct xc_regs *pages; /* AArch64: pages of addresses in registers, kept from one instruction to the next */
};

/* Append to `text` what belongs behind the instruction (" <foo+4>"), to `comment` what stands to its right, and set "target",
 * "symbol", "reference", "reference_symbol", "value" of the JSON object where they apply. */
void xc_disas_note(const struct xc_code_view *view, const struct xc_code *code, struct xc_text *text,
		   struct xc_text *comment, json_t *object);

/* Of the current instruction: registers and memory, as comment and as "operands". */
void xc_disas_note_operands(const struct xc_code_view *view, const struct xc_code *code, struct xc_text *comment,
			    json_t *object);

#endif

/* returned_frame: values read from the frame of a function that has returned: below the stack pointer, through a
 * variable that still points there.
 *
 * A leaf function may use 128 bytes below sp (the red zone, x86-64 psABI 3.2.2); nothing owns the memory below them. */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>

enum { RED_ZONE = 128, DEPTH = 64 << 10, OBJECT = 256 };

/* Is it a place on the crashed thread's stack that belongs to no frame? */
static bool is_dead(const struct xc_crash_context *crash, xc_addr addr)
{
	uint64_t sp;
	if (!xc_regs_get(&crash->fault.frame.regs, crash->process->arch->sp, &sp) || addr >= sp - RED_ZONE ||
	    sp - addr > DEPTH)
		return false;
	const struct xc_mapping *m = xc_process_mapping(crash->process, addr);
	return m && m->writable && m == xc_process_mapping(crash->process, sp);
}

static bool holds(const struct xc_crash_context *crash, xc_addr addr, uint64_t value)
{
	unsigned word = crash->process->arch->word;
	uint64_t stored;
	for (xc_addr at = addr; at - addr < OBJECT; at += word)
		if (xc_space_peek_uint(crash->process->space, at, word, &stored) && stored == value)
			return true;
	return false;
}

bool xc_returned_frame_diagnose(struct xc_pointer_diagnosis *s)
{
	for (size_t i = 0; i < s->pointers.count; i++) {
		const struct xc_pointer *pointer = &s->pointers.items[i];
		struct xc_text text = {0};
		if (!pointer->name || !is_dead(s->crash, pointer->value) ||
		    !holds(s->crash, pointer->value, s->suspects[0].value))
			continue;
		xc_pointers_text(s->crash, pointer, &text);
		xc_verdict_evidence(s->crash->report,
				    "%s = 0x%" PRIx64 " points below the stack pointer, into the frame of a function "
				    "that has returned; %s is stored there",
				    xc_text_string(&text), pointer->value, s->suspects[0].who);
		xc_pointer_diagnosis_explain(
			s, "likely read from a local variable of a function that has returned, through %s",
			pointer->name);
		xc_text_fini(&text);
		return true;
	}
	return false;
}

/* vtable_slot: see vtable_slot.h.
 *
 *	optimized      mov (%rdi),%rax; call *16(%rax)
 *	unoptimized    mov (%rax),%rax; add $16,%rax; mov (%rax),%rdx; … call *%rdx */
#include "triage/explain/vtable_slot.h"

#include "triage/code/body_cache.h"
#include "triage/code/slice.h"

enum { STEPS = 6 };

/* Where in the vtable the call got its function from: call *8(%rax), or through a register that was loaded from
 * there. */
static bool offset_of(const struct xc_body *body, size_t at, int64_t *offset_out)
{
	const struct xc_insn *insn = &body->insns[at];
	struct xc_slice slice;
	int64_t offset = 0;
	for (int i = 0; i < STEPS; i++) {
		bool loads = insn->kind == XC_INSN_LOAD || (insn->kind == XC_INSN_CALL && insn->has_memory);
		if (loads && (insn->memory.index >= 0 || insn->memory.base < 0))
			return false;
		if (loads && insn->memory.displacement) { /* a plain one gives the vptr, or is the addition before */
			*offset_out = offset + insn->memory.displacement;
			return true;
		}
		offset += insn->kind == XC_INSN_ADD ? insn->constant : 0;
		if (insn->kind == XC_INSN_ADD) {
			*offset_out = offset;
			return true;
		}
		xc_slice_register(body, at, loads ? insn->memory.base : insn->from, &slice);
		if (slice.count != 1 || !slice.sure || slice.items[0].kind != XC_DEFINITION_INSN)
			break;
		at = slice.items[0].insn;
		insn = &body->insns[at];
	}
	return false;
}

bool xc_vtable_slot_called(const struct xc_crash_context *crash, xc_addr pc, int64_t *offset_out)
{
	struct xc_body *body = xc_body_cache_get(crash->bodies, pc - 1);
	long at = body ? xc_body_before(body, pc) : XC_BODY_NONE;
	return at != XC_BODY_NONE && body->insns[at].kind == XC_INSN_CALL && offset_of(body, (size_t)at, offset_out);
}

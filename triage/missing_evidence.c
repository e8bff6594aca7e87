/* missing_evidence: a verdict that had less to go by says so, at the end of its evidence, so that nobody takes its silence for an answer.
 *
 * What is told is what would have told more of this death: a fault's instruction, the names of the place, the stack that leads there,
 * and the heap where the C library aborted. */
#include "triage/missing_evidence.h"

#include "heap/report/audit.h"
#include "triage/util/user_code.h"

enum { GUARD = 64 << 10, PAGE = 4096 };

static const char *module_name(const struct xc_place *place)
{
	return place->module ? place->module->name : "the code there";
}

static bool has_code(const struct xc_crash_context *q, xc_addr pc)
{
	uint8_t byte;
	return xc_space_peek(q->process->space, pc, &byte, 1) == 1;
}

/* The innermost frame that lies where code is, or was. */
static const struct xc_frame *place_of_death(const struct xc_crash_context *q)
{
	for (size_t i = 0; i < q->frame_count; i++) {
		const struct xc_mapping *m = xc_process_mapping(q->process, q->frames[i].pc);
		if (m && m->executable)
			return &q->frames[i];
	}
	return NULL;
}

static void tell_code(const struct xc_crash_context *q, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(q->process, xc_frame_lookup(frame));
	if (!has_code(q, frame->pc))
		xc_verdict_evidence(q->report, "missing: the file of %s, so %scallers are guessed", module_name(place),
				    q->fault.sent ? "" : "neither the instruction nor its operands are known, and ");
	else if (q->blame.place && !q->blame.place->level_count && !xc_user_code_is_jit(q->blame.place))
		xc_verdict_evidence(q->report,
				    "missing: debug information of %s, so no variable, file or line is known",
				    module_name(q->blame.place));
}

/* The mapping that holds the stack pointer, or, where that has run over its end, the stack just above; *at_out within it. */
static const struct xc_mapping *stack_of(const struct xc_crash_context *q, xc_addr *at_out)
{
	uint64_t sp;
	if (!q->fault.frame_known || !xc_regs_get(&q->fault.frame.regs, q->process->arch->sp, &sp))
		return NULL;
	for (xc_addr step = 0; step <= GUARD && sp + step >= sp; step += PAGE) {
		const struct xc_mapping *m = xc_process_mapping(q->process, sp + step);
		*at_out = sp + step;
		if (m && m->writable)
			return m;
	}
	return NULL;
}

/* The memory at the stack pointer is not in the core: who called is not known. */
static bool tell_stack(const struct xc_crash_context *q)
{
	xc_addr at;
	uint64_t word;
	if (!stack_of(q, &at) || xc_space_peek_uint(q->process->space, at, q->process->arch->reg_size, &word))
		return false;
	xc_verdict_evidence(q->report,
			    "missing: the stack, which is not in the core: callers and locals are not known");
	return true;
}

/* Deaths of which the heap often tells the reason: the pointer was freed, or overwritten. */
static bool heap_would_tell(const struct xc_crash_context *q)
{
	static const char *const names[] = {"wild-read", "wild-write", "wild-access", "pc-control", "exec-data"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (xc_crash_context_is(q, names[i]))
			return true;
	return false;
}

/* A walk that did not come to its end: what stands where it did not come to is not known. */
static void tell_walk(const struct xc_crash_context *q)
{
	uint64_t lost = xc_audit_lost(q->heap);
	struct xc_text size = {0};
	xc_text_size(&size, lost);
	if (q->heap->pieces_dropped)
		xc_verdict_evidence(q->report,
				    "missing: %zu parts of the heap: by their metadata there are more blocks than the "
				    "core has memory for",
				    q->heap->pieces_dropped);
	if (lost)
		xc_verdict_evidence(q->report,
				    "missing: %s of the heap, where damage hides what is a block: whether a pointer "
				    "there was freed is not known",
				    xc_text_string(&size));
	xc_text_fini(&size);
}

/* A heap without blocks may be a program's that has none: only of a core that is cut it is known to be missing. */
static void tell_heap(const struct xc_crash_context *q)
{
	const char *why = q->heap ? xc_heap_why_empty(q->heap) : NULL;
	if (why && xc_crash_context_is(q, "heap-corruption"))
		xc_verdict_evidence(q->report, "missing: the heap: %s", why);
	else if (why && q->process->missing_bytes && heap_would_tell(q))
		xc_verdict_evidence(q->report,
				    "missing: the heap, so whether the pointer was freed or overwritten is not known");
	else if (q->heap && !why && heap_would_tell(q))
		tell_walk(q);
}

void xc_missing_evidence_report(struct xc_crash_context *q)
{
	const struct xc_frame *frame = place_of_death(q);
	if (!tell_stack(q) && frame)
		tell_code(q, frame);
	tell_heap(q);
}

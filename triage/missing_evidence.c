/* missing_evidence: a verdict with less evidence says so, at the end, so that a missing fact is not taken for a
 * negative one.
 *
 * Reported is only what would have told more of this death: the faulting instruction, the names of the place, the
 * stack that leads there, and the heap where the C library aborted. */
#include "triage/missing_evidence.h"

#include "heap/report/audit.h"
#include "triage/util/user_code.h"

enum { GUARD = 64 << 10, PAGE = 4096 };

static const char *module_name(const struct xc_place *place)
{
	return place->module ? place->module->name : "the code there";
}

static bool has_code(const struct xc_crash_context *crash, xc_addr pc)
{
	uint8_t byte;
	return xc_space_peek(crash->process->space, pc, &byte, 1) == 1;
}

/* The innermost frame in code, or in memory that was code. */
static const struct xc_frame *place_of_death(const struct xc_crash_context *crash)
{
	for (size_t i = 0; i < crash->frame_count; i++) {
		const struct xc_mapping *m = xc_process_mapping(crash->process, crash->frames[i].pc);
		if (m && m->executable)
			return &crash->frames[i];
	}
	return NULL;
}

static void report_code(const struct xc_crash_context *crash, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(frame));
	if (!has_code(crash, frame->pc))
		xc_verdict_evidence(
			crash->report, "missing: the file of %s, so %scallers are guessed", module_name(place),
			crash->fault.sent ? "" : "neither the instruction nor its operands are known, and ");
	else if (crash->blame.place && !crash->blame.place->level_count && !xc_user_code_is_jit(crash->blame.place))
		xc_verdict_evidence(crash->report,
				    "missing: debug information of %s, so no variable, file or line is known",
				    module_name(crash->blame.place));
}

/* The mapping of the stack pointer, or, when that is past the end of the stack, the stack just above; *at_out is
 * within it. */
static const struct xc_mapping *stack_of(const struct xc_crash_context *crash, xc_addr *at_out)
{
	uint64_t sp;
	if (!crash->fault.frame_known || !xc_regs_get(&crash->fault.frame.regs, crash->process->arch->sp, &sp))
		return NULL;
	for (xc_addr step = 0; step <= GUARD && sp + step >= sp; step += PAGE) {
		const struct xc_mapping *m = xc_process_mapping(crash->process, sp + step);
		*at_out = sp + step;
		if (m && m->writable)
			return m;
	}
	return NULL;
}

/* The memory at the stack pointer is not in the core: the callers are not known. */
static bool report_stack(const struct xc_crash_context *crash)
{
	xc_addr at;
	uint64_t word;
	if (!stack_of(crash, &at) ||
	    xc_space_peek_uint(crash->process->space, at, crash->process->arch->reg_size, &word))
		return false;
	xc_verdict_evidence(crash->report,
			    "missing: the stack, which is not in the core: callers and locals are not known");
	return true;
}

/* Deaths whose reason the heap often shows: the pointer was freed, or overwritten. */
static bool heap_would_tell(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"wild-read", "wild-write", "wild-access", "pc-control", "exec-data"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (xc_crash_context_is(crash, names[i]))
			return true;
	return false;
}

/* An incomplete heap walk: nothing is known of the memory that it did not reach. */
static void report_walk(const struct xc_crash_context *crash)
{
	uint64_t lost = xc_audit_lost(crash->heap);
	struct xc_text size = {0};
	xc_text_size(&size, lost);
	if (crash->heap->pieces_dropped)
		xc_verdict_evidence(crash->report,
				    "missing: %zu parts of the heap: by their metadata there are more blocks than the "
				    "core has memory for",
				    crash->heap->pieces_dropped);
	if (lost)
		xc_verdict_evidence(crash->report,
				    "missing: %s of the heap, where damage hides the blocks: whether a pointer there "
				    "was freed is not known",
				    xc_text_string(&size));
	xc_text_fini(&size);
}

/* A program may have no heap blocks: the heap is known to be missing only in a truncated core. */
static void report_heap(const struct xc_crash_context *crash)
{
	const char *why = crash->heap ? xc_heap_why_empty(crash->heap) : NULL;
	if (why && xc_crash_context_is(crash, "heap-corruption"))
		xc_verdict_evidence(crash->report, "missing: the heap: %s", why);
	else if (why && crash->process->missing_bytes && heap_would_tell(crash))
		xc_verdict_evidence(crash->report,
				    "missing: the heap, so whether the pointer was freed or overwritten is not known");
	else if (crash->heap && !why && heap_would_tell(crash))
		report_walk(crash);
}

void xc_missing_evidence_report(struct xc_crash_context *crash)
{
	const struct xc_frame *frame = place_of_death(crash);
	if (!report_stack(crash) && frame)
		report_code(crash, frame);
	report_heap(crash);
}

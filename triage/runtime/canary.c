/* canary: the word between a function's arrays and its return address.
 *
 *	lower   …  arrays  |  canary  |  saved registers  |  return address   higher
 *	                   → written past the end of an array
 *
 *	mov %fs:0x28,%rax; mov %rax,-8(%rbp)      the prologue shows its place (x86-64; gcc and clang)
 *
 * The original word is still at %fs:0x28, so an overwritten copy can be recognized. */
#include "triage/runtime/canary.h"

#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "triage/code/body_cache.h"
#include "triage/dataflow/local.h"

enum { GUARD = 0x28, BETWEEN = 8, SHOWN = 32 };

static bool uses_guard(const struct xc_insn *insn)
{
	return insn->kind == XC_INSN_LOAD && insn->has_memory && insn->memory.segment >= 0 && insn->memory.base < 0 &&
	       insn->memory.displacement == GUARD;
}

/* The place of the canary of the frame's function. */
static bool find_canary(const struct xc_crash_context *crash, size_t index, xc_addr *canary_out)
{
	const struct xc_frame *frame = &crash->frames[index];
	struct xc_body *body = xc_body_cache_get(crash->bodies, xc_frame_lookup(frame));
	const struct xc_arch *arch = crash->process->arch;
	for (size_t i = 0; body && i < body->count; i++) {
		for (size_t j = i + 1; uses_guard(&body->insns[i]) && j < body->count && j <= i + BETWEEN; j++) {
			const struct xc_insn *store = &body->insns[j];
			uint64_t base;
			if (store->kind != XC_INSN_STORE || store->from != body->insns[i].to ||
			    store->memory.index >= 0 ||
			    (store->memory.base != arch->sp && store->memory.base != arch->fp))
				continue;
			*canary_out = (xc_addr)store->memory.displacement;
			if (!xc_regs_get(&frame->regs, store->memory.base, &base))
				return false;
			*canary_out += base;
			return true;
		}
	}
	return false;
}

/* The canary in the thread's own storage. */
static bool guard(const struct xc_crash_context *crash, uint64_t *value_out)
{
	uint64_t tp;
	return crash->process->arch->tls.tp >= 0 &&
	       xc_regs_get(&crash->thread->regs, crash->process->arch->tls.tp, &tp) &&
	       xc_space_peek_uint(crash->process->space, tp + GUARD, 8, value_out);
}

/* ---- words ---- */

static void report_bytes(const struct xc_crash_context *crash, xc_addr canary)
{
	char bytes[SHOWN];
	uint64_t have, want;
	size_t got = xc_space_peek(crash->process->space, canary, bytes, sizeof bytes), len = 0;
	if (!guard(crash, &want) || !xc_space_peek_uint(crash->process->space, canary, 8, &have) || have == want)
		return;
	while (len < got && isascii((unsigned char)bytes[len]) && isprint((unsigned char)bytes[len]))
		len++;
	if (len >= 4) {
		struct xc_text shown = {0};
		xc_text_escaped(&shown, bytes, len);
		xc_verdict_evidence(crash->report, "the canary at 0x%" PRIx64 " was overwritten with text: \"%s\"%s",
				    canary, xc_text_string(&shown), len == sizeof bytes ? " and more" : "");
		xc_text_fini(&shown);
	} else {
		xc_verdict_evidence(crash->report, "the canary at 0x%" PRIx64 " is 0x%" PRIx64 " instead of 0x%" PRIx64,
				    canary, have, want);
	}
	xc_auto(xc_freep) char *redacted =
		xc_asprintf("the canary at 0x%" PRIx64 " was overwritten%s", canary, len >= 4 ? " with text" : "");
	xc_verdict_redact(crash->report, redacted);
}

/* A return address does. Where the code cannot be read, it is taken for one. */
static bool follows_call(const struct xc_crash_context *crash, xc_addr addr)
{
	struct xc_body *body = xc_body_cache_get(crash->bodies, addr - 1);
	long at = body ? xc_body_before(body, addr) : XC_BODY_NONE;
	return !body || (at != XC_BODY_NONE && body->insns[at].kind == XC_INSN_CALL);
}

static void report_reach(const struct xc_crash_context *crash, size_t index)
{
	struct xc_frame frame = crash->frames[index];
	uint64_t back;
	if (!xc_unwind_cfa(crash->unwinder, &frame) ||
	    !xc_space_peek_uint(crash->process->space, frame.cfa - 8, 8, &back))
		return;
	const struct xc_mapping *m = xc_process_mapping(crash->process, back);
	bool code = m && m->executable;
	if (code && !follows_call(crash, back))
		xc_verdict_evidence(
			crash->report,
			"the return address after it was overwritten as well: it leads to code, but not after "
			"a call, and the frames further out are guesses");
	else
		xc_verdict_evidence(crash->report, code ? "the return address after it still leads to code"
							: "the return address after it was overwritten as well");
}

/* The nearest array below is likely the one: an inner block that has ended may have had others. When there are
 * several, none is the expression. */
static void report_array(struct xc_crash_context *crash, size_t index, xc_addr canary)
{
	struct xc_text text = {0};
	xc_addr at = 0;
	uint64_t size = 0;
	size_t others = xc_local_array_below(crash, index, canary, &text, &at, &size);
	if (others == SIZE_MAX) {
		xc_verdict_evidence(crash->report, "the array is not known: debug information has none here");
	} else {
		xc_verdict_evidence(crash->report,
				    "%s (%" PRIu64 " bytes at 0x%" PRIx64 ") lies %" PRIu64 " bytes below the canary%s",
				    xc_text_string(&text), size, at, canary - at - size,
				    others ? ": likely this one; there are others below it" : "");
		crash->verdict->expression =
			others ? NULL : xc_arena_strdup(&crash->report->arena, xc_text_string(&text));
		xc_auto(xc_freep) char *cause =
			xc_asprintf("a local array of %s was written past its end, likely %s, over the canary after it",
				    xc_crash_context_culprit(crash), xc_text_string(&text));
		crash->verdict->cause = xc_arena_strdup(&crash->report->arena, cause);
	}
	xc_text_fini(&text);
}

bool xc_canary_classify(struct xc_crash_context *crash)
{
	static const char *const checks[] = {"__stack_chk_fail", "__stack_chk_fail_local", NULL};
	size_t check = xc_crash_context_find_frame(crash, checks);
	bool told = crash->verdict->message && strstr(crash->verdict->message, "stack smashing detected");
	xc_addr canary;
	if (!told && check == crash->frame_count)
		return false;
	if (check + 1 < crash->frame_count)
		xc_crash_context_blame(crash, check + 1);
	xc_auto(xc_freep) char *cause =
		xc_asprintf("a local array of %s was written past its end, over the canary after it",
			    xc_crash_context_culprit(crash)); /* by itself, or by a function that it passed it to */
	xc_crash_context_classify(crash, "stack-smash", NULL, "high", "certain", cause);
	if (!crash->blame.place)
		return true;
	size_t smashed = check + 1 < crash->frame_count ? check + 1 : crash->blamed;
	if (crash->process->arch->machine != EM_X86_64 || !find_canary(crash, smashed, &canary)) {
		xc_verdict_evidence(crash->report, "the place of its canary is not known");
		return true;
	}
	report_array(crash, smashed, canary);
	report_bytes(crash, canary);
	report_reach(crash, smashed);
	return true;
}

/* damaged_block: a bad value that was read from a block whose header is overwritten. What wrote over the header likely
 * went on over the value: also a small number then is no null pointer with an offset. */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>
#include <string.h>

#include "heap/report/audit.h"
#include "heap/report/overrun.h"
#include "triage/dataflow/deref.h"

enum { REACH = 128 }; /* bytes from the header; a larger overrun would show in other ways */

/* The damage of the header right before a block. */
static const struct xc_damage *damage_of(const struct xc_heap *heap, xc_addr begin)
{
	for (size_t i = 0; i < heap->damage_count; i++)
		if (heap->damages[i].kind == XC_DAMAGE_HEADER &&
		    heap->damages[i].addr + 2 * (uint64_t)heap->process->arch->word == begin)
			return &heap->damages[i];
	return NULL;
}

/* Does the damage go on behind the header, as far as it shows? A NUL alone ends a string that was one too long; other
 * bytes may have come from the block after it. */
static bool goes_on(const struct xc_heap *heap, const struct xc_damage *damage)
{
	struct xc_overrun overrun;
	uint64_t first;
	xc_overrun_find(heap, damage, &overrun);
	if (overrun.behind != XC_NO_BLOCK)
		return false;
	return overrun.block == XC_NO_BLOCK || overrun.len > 1 ||
	       (xc_space_peek_uint(heap->process->space, overrun.from, 1, &first) && first);
}

void xc_damaged_block_remark(struct xc_crash_context *crash)
{
	struct xc_verdict *v = crash->verdict;
	const struct xc_damage *damage = crash->heap ? xc_audit_first(crash->heap) : NULL;
	if (!crash->pointer || !damage || damage->kind != XC_DAMAGE_HEADER)
		return;
	v->cause = xc_arena_printf(
		&crash->report->arena,
		"%s%sthe heap is damaged: perhaps the value was overwritten, too, or read from overwritten memory",
		v->cause ? v->cause : "", v->cause ? "; " : "");
	if (v->severity && strcmp(v->severity, "low") == 0)
		v->severity = "medium";
}

bool xc_damaged_block_report(struct xc_crash_context *crash)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	unsigned word = crash->process->arch->word;
	uint64_t now;
	if (!crash->heap || !bad || !bad->value_known || !bad->value || !bad->at_known ||
	    !xc_space_peek_uint(crash->process->space, bad->at, word, &now) || now != bad->value)
		return false;
	uint32_t block = xc_blocks_find(&crash->heap->blocks, bad->at);
	xc_addr begin = block == XC_NO_BLOCK ? 0 : xc_block_addr(&crash->heap->blocks, block);
	const struct xc_damage *damage = begin && bad->at - begin < REACH ? damage_of(crash->heap, begin) : NULL;
	if (!damage || !goes_on(crash->heap, damage))
		return false;
	struct xc_verdict *v = crash->verdict;
	xc_verdict_evidence(crash->report,
			    "%s%s%s was read from 0x%" PRIx64 ", %" PRIu64
			    " bytes after the header of its block, which is overwritten",
			    bad->text ? "`" : "", bad->text ? bad->text : "the value", bad->text ? "`" : "", bad->at,
			    bad->at - begin);
	xc_crash_context_classify(
		crash, "heap-corruption", "overrun", "high", "likely",
		xc_arena_printf(&crash->report->arena,
				"%s%slikely it was overwritten, together with the header of its block before it",
				v->cause ? v->cause : "", v->cause ? "; " : ""));
	return true;
}

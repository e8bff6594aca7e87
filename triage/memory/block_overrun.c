/* block_overrun: accesses past the end of a block, or before its beginning.
 *
 * Another block usually follows a block, so only an access that reaches the end of the mapping faults. A pointer
 * that is still in the block, with an index that is not, names the block. Where the pointer itself was advanced, the
 * block that ends with the mapping is the likely one. */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>

#include "heap/report/audit.h"
#include "heap/query/whatis.h"
#include "triage/code/body_cache.h"
#include "triage/blocks/block_types.h"
#include "triage/blocks/wrapped_size.h"
#include "triage/memory/wild_index.h"
#include "triage/util/memory_search.h"

enum { CLOSE = 64, FAR = 64 << 10, PAGE = 4096, STEPS = 8 };

static const char *kind_of(const struct xc_crash_context *crash)
{
	return crash->fault.access == XC_ACCESS_WRITE ? "write" : crash->fault.access == XC_ACCESS_READ ? "read" : NULL;
}

static const char *severity_of(const struct xc_crash_context *crash)
{
	return crash->fault.access == XC_ACCESS_WRITE ? "high" : "medium";
}

static bool is_live(const struct xc_crash_context *crash, uint32_t block)
{
	return block != XC_NO_BLOCK && !xc_block_is_free(xc_block_state(&crash->heap->blocks, block));
}

static void report_block(const struct xc_crash_context *crash, uint32_t block)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	struct xc_text text = {0};
	xc_addr begin = xc_block_addr(blocks, block), end = begin + xc_block_size(blocks, block) - 1;
	if (xc_heap_blocks_lost(crash->heap, begin)) {
		xc_verdict_evidence(crash->report,
				    "the blocks from 0x%" PRIx64 " on are not known: the header there is damaged",
				    begin);
		return;
	}
	xc_block_types_infer(crash);
	struct xc_what what = xc_what(crash->process, crash->heap, begin);
	xc_what_text(crash->process, crash->heap, &what, &text);
	xc_verdict_evidence(crash->report, "the block at 0x%" PRIx64 ", up to 0x%" PRIx64 ": %s", begin, end,
			    xc_text_string(&text));
	xc_text_fini(&text);
}

/* Did the access leave the heap at its end, as a loop does? Farther away the index is wild. */
static bool is_close(const struct xc_crash_context *crash, uint32_t block)
{
	xc_addr addr = crash->fault.addr;
	const struct xc_region *region = xc_heap_region(crash->heap, xc_block_addr(&crash->heap->blocks, block));
	return region &&
	       (addr > region->hi ? addr - region->hi <= FAR : addr >= region->lo || region->lo - addr <= FAR);
}

static bool diagnose_left(struct xc_pointer_diagnosis *s, uint64_t pointer, const char *who)
{
	struct xc_crash_context *crash = s->crash;
	const struct xc_blocks *blocks = &crash->heap->blocks;
	uint32_t block = xc_blocks_find(blocks, pointer);
	if (!is_live(crash, block) || xc_heap_blocks_lost(crash->heap, pointer) ||
	    xc_blocks_find(blocks, crash->fault.addr) == block)
		return false;
	xc_addr begin = xc_block_addr(blocks, block), behind = begin + xc_block_size(blocks, block);
	bool above = crash->fault.addr >= behind;
	if (is_close(crash, block))
		xc_crash_context_classify(crash, "heap-overrun", kind_of(crash), severity_of(crash), "certain",
					  xc_pointer_diagnosis_cause(crash));
	if (crash->fault.computed && !xc_pointer_diagnosis_cause(crash))
		crash->verdict->cause = NULL; /* the pointer was not damaged after all */
	xc_addr reach = above ? crash->fault.addr - behind : begin - crash->fault.addr;
	struct xc_text index = {0};
	bool named = false;
	if (xc_element_index_in_block(crash, block, &index, &named))
		xc_text_add(&index, ": ");
	xc_pointer_diagnosis_explain(s, "%s%s0x%" PRIx64 " bytes %s a block of 0x%" PRIx64 " bytes that %s points into",
				     index.len && !named ? "likely " : "", xc_text_string(&index), reach,
				     above ? "past the end of" : "before", behind - begin, who);
	xc_text_fini(&index);
	if (above)
		xc_wrapped_size_report(crash, begin);
	block = xc_blocks_find(blocks, begin); /* claims may renumber the blocks */
	report_block(crash, block);
	return true;
}

/* The instruction before that added an index to the pointer, when the index is still available: `to += from`. */
static bool find_addition(const struct xc_pointer_diagnosis *s, int reg, uint64_t *added)
{
	const struct xc_frame *frame = &s->crash->fault.frame;
	struct xc_body *body = xc_body_cache_get(s->crash->bodies, frame->pc);
	long at = body ? xc_body_at(body, frame->pc) : XC_BODY_NONE;
	uint64_t written = 0;
	for (long i = at - 1; at >= 0 && i >= 0 && at - i <= STEPS; i--) {
		const struct xc_insn *insn = &body->insns[i];
		bool leaves = insn->kind >= XC_INSN_CALL || i + 1 != xc_body_at(body, insn->addr + insn->length);
		if (leaves)
			return false;
		if (insn->kind == XC_INSN_ADD_REGISTER && insn->to == reg && insn->from >= 0 && insn->from < 64 &&
		    insn->from != reg && !(written >> insn->from & 1))
			return xc_regs_get(&frame->regs, insn->from, added);
		written |= insn->writes;
		if (written >> reg & 1)
			return false;
	}
	return false;
}

/* The pointer in a block, and the address outside of it. */
static bool diagnose_index(struct xc_pointer_diagnosis *s)
{
	for (size_t i = 0; i < s->suspect_count; i++) {
		const struct xc_suspect *it = &s->suspects[i];
		uint64_t added;
		if (it->reg < 0 || it->reg >= 64)
			continue;
		if (diagnose_left(s, it->value, it->who))
			return true;
		if (find_addition(s, it->reg, &added) &&
		    (diagnose_left(s, it->value - added, "the pointer") || diagnose_left(s, added, "the pointer")))
			return true;
	}
	return false;
}

/* The block that ends where the mapping does, or the one that damage shows to be overrun. */
static uint32_t find_last(const struct xc_crash_context *crash, xc_addr hi)
{
	uint32_t block = xc_blocks_find(&crash->heap->blocks, hi);
	const struct xc_damage *damage = xc_audit_first(crash->heap);
	if (is_live(crash, block))
		return block;
	bool shown = damage && damage->kind == XC_DAMAGE_HEADER && is_live(crash, damage->before);
	return shown ? damage->before : XC_NO_BLOCK;
}

/* The heap whose mapping ends shortly before an address. Other mapped memory directly after it, also overwritten,
 * may lie between: at most FAR bytes. */
static const struct xc_region *find_below(const struct xc_crash_context *crash, xc_addr addr)
{
	const struct xc_region *region = NULL;
	const struct xc_mapping *below = NULL;
	for (xc_addr back = 1; back <= CLOSE && back <= addr && !region; back++)
		region = xc_heap_region(crash->heap, addr - back);
	for (xc_addr back = 1; back <= CLOSE && back <= addr && !region && !below; back++)
		below = xc_process_mapping(crash->process, addr - back);
	if (region || !below || !below->writable || below->path || xc_process_mapping(crash->process, addr) == below)
		return region;
	for (xc_addr back = 0; back <= FAR && below->hi - below->lo >= back && !region; back += PAGE)
		region = xc_heap_region(crash->heap, below->hi - back);
	return region;
}

/* Was the pointer, as it is, read from an object? A loop has advanced its own. */
static bool is_stored(const struct xc_crash_context *crash, xc_addr addr)
{
	enum { HITS = 64 };
	xc_addr found[HITS];
	size_t count = xc_memory_search_words(crash->process, addr, 0, found, HITS);
	for (size_t i = 0; i < count; i++)
		if (is_live(crash, xc_blocks_find(&crash->heap->blocks, found[i])))
			return true;
	return false;
}

/* A wild pointer would not point just past the end of a heap. */
static bool diagnose_run(struct xc_pointer_diagnosis *s)
{
	struct xc_crash_context *crash = s->crash;
	bool outside = !crash->fault.computed && !xc_heap_region(crash->heap, crash->fault.addr);
	const struct xc_region *below = outside ? find_below(crash, crash->fault.addr) : NULL;
	if (!below || (crash->fault.addr != below->hi + 1 && is_stored(crash, crash->fault.addr)))
		return false;
	uint32_t block = find_last(crash, below->hi);
	xc_crash_context_classify(crash, "heap-overrun", kind_of(crash), severity_of(crash), "likely",
				  xc_pointer_diagnosis_cause(crash));
	xc_pointer_diagnosis_explain(
		s, "likely a loop that ran over the end of a heap block, to the end of the heap at 0x%" PRIx64,
		below->hi + 1);
	if (block == XC_NO_BLOCK)
		return true;
	xc_addr begin = xc_block_addr(&crash->heap->blocks, block);
	if (!xc_heap_blocks_lost(crash->heap, begin))
		xc_wrapped_size_report(crash, begin);
	report_block(crash, xc_blocks_find(&crash->heap->blocks, begin));
	return true;
}

bool xc_block_overrun_diagnose(struct xc_pointer_diagnosis *s)
{
	const struct xc_crash_context *crash = s->crash;
	if (!crash->heap || !crash->heap->blocks.count || !crash->fault.addr_known ||
	    crash->fault.access == XC_ACCESS_EXECUTE)
		return false;
	return diagnose_index(s) || diagnose_run(s);
}

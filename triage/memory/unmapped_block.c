/* unmapped_block: use-after-free of large blocks.
 *
 * glibc's malloc gives a large block its own mapping, and unmaps it when it is freed. Only the pointer is left. Its
 * low digits show where it came from:
 *
 *	page      | prev_size, size | the block …        the block begins 16 bytes into a page
 *
 * glibc 2.36, malloc/malloc.c, sysmalloc_mmap.
 *
 * realloc() moves such a block by mremap(), without a trace in malloc's books; the program may have unmapped memory of
 * its own. Then other pointers that were kept, in blocks and data, show that something was there. */
#include <inttypes.h>

#include "core/base/text.h"
#include "heap/query/rootword.h"
#include "heap/query/whatis.h"
#include "triage/blocks/block_types.h"
#include "triage/blocks/freed_by.h"
#include "triage/memory/pointer_diagnosis.h"
#include "triage/util/gap.h"
#include "triage/util/memory_search.h"

enum { PAGE = 4096, INTO_PAGE = 16, LEAST = 64 << 10, THRESHOLD = 128 << 10 }; /* below LEAST nothing is ever mapped */
enum {
	FOUND = 16384 /* freed copies of arrays among them */,
	OTHERS = 3,
	NEAR = 64 << 20 /* bytes below the next mapping, of a gap that has no other end */
};

/* Did such a block begin there, and did the access go to it? */
static bool is_gone(const struct xc_crash_context *crash, uint64_t begin)
{
	return begin >= LEAST && begin % PAGE == INTO_PAGE && !xc_process_mapping(crash->process, begin) &&
	       crash->fault.addr >= begin && crash->fault.addr - begin < crash->heap->unmapped;
}

/* Is a pointer into such a block all that is left? In a gap between the mappings that is not larger than what malloc
 * has unmapped, and not smaller than what it maps by itself; or as close below the lowest of them. */
static bool is_inside(const struct xc_crash_context *crash)
{
	struct xc_mapping_gap gap = xc_gap_at(crash->process, crash->fault.addr);
	uint64_t size = xc_gap_size(&gap);
	return size ? size >= THRESHOLD && size <= crash->heap->unmapped
		    : xc_gap_above(&gap, crash->fault.addr) <= crash->heap->unmapped;
}

/* Has the gap room for the largest of them? Others may have left it, too: their sizes are not known. */
static bool has_room(const struct xc_crash_context *crash)
{
	struct xc_mapping_gap gap = xc_gap_at(crash->process, crash->fault.addr);
	return crash->heap->largest_unmapped && xc_gap_size(&gap) >= crash->heap->largest_unmapped;
}

/* Where the access has names, they identify the pointer; else it may be one that the instruction used, or a
 * variable. */
static bool find(const struct xc_pointer_diagnosis *s, uint64_t *begin_out)
{
	*begin_out = s->crash->pointer;
	if (s->crash->pointer)
		return is_gone(s->crash, s->crash->pointer);
	for (size_t i = 0; i < s->suspect_count; i++)
		if (is_gone(s->crash, *begin_out = s->suspects[i].value))
			return true;
	for (size_t i = 0; i < s->pointers.count; i++)
		if (s->pointers.items[i].name && is_gone(s->crash, *begin_out = s->pointers.items[i].value))
			return true;
	return false;
}

static void report_sizes(struct xc_crash_context *crash, bool found, uint64_t begin)
{
	struct xc_text size = {0};
	xc_text_size(&size, crash->heap->unmapped);
	if (found)
		xc_verdict_evidence(crash->report,
				    "0x%" PRIx64
				    " is 16 bytes into a page, where malloc begins a block that it maps by "
				    "itself; %s of such blocks have been freed and unmapped",
				    begin, xc_text_string(&size));
	else
		xc_verdict_evidence(
			crash->report,
			"%s of blocks that malloc had mapped by themselves have been freed and unmapped, which "
			"leaves gaps like this one",
			xc_text_string(&size));
	xc_text_fini(&size);
}

/* A guess: the class remains. */
static void report_room(struct xc_pointer_diagnosis *s)
{
	struct xc_text size = {0};
	xc_text_size(&size, s->crash->heap->largest_unmapped);
	xc_pointer_diagnosis_explain(s, "perhaps in a large block that had been freed: malloc unmaps those (a guess)");
	xc_verdict_evidence(s->crash->report,
			    "the largest block that malloc had mapped by itself and has unmapped again had %s: the gap "
			    "has room for it",
			    xc_text_string(&size));
	xc_text_fini(&size);
}

/* ---- memory that others lead to as well ---- */

static bool is_of_program(const struct xc_crash_context *crash, xc_addr at)
{
	const struct xc_process *p = crash->process;
	struct xc_what what = xc_what(p, crash->heap, at);
	if (what.kind == XC_WHAT_BLOCK)
		return xc_block_state(&crash->heap->blocks, what.block) == XC_BLOCK_LIVE;
	return what.kind == XC_WHAT_DATA && crash->blame.place && what.module == crash->blame.place->module;
}

/* The words of live blocks and of the program's data that lead into the gap, with at least OTHERS different values; 0:
 * there are fewer. Where it begins something may end: an array, the heap. */
static size_t count_kept(const struct xc_crash_context *crash, const struct xc_mapping_gap *gap)
{
	xc_addr *found = xc_arena_alloc(&crash->report->arena, FOUND * sizeof *found);
	uint64_t seen[OTHERS], value;
	size_t kept = 0, values = 0,
	       count = xc_memory_search_words(crash->process, gap->lo + 1, gap->hi - gap->lo - 1, found, FOUND);
	for (size_t i = 0; i < count; i++) {
		size_t at = 0;
		if (!is_of_program(crash, found[i]) ||
		    !xc_space_peek_uint(crash->process->space, found[i], crash->process->arch->word, &value))
			continue;
		kept++;
		while (at < values && seen[at] != value)
			at++;
		if (at == values && values < OTHERS)
			seen[values++] = value;
	}
	return values == OTHERS ? kept : 0;
}

/* Is the bad pointer itself stored there? One that was advanced is not. */
static bool find_kept(const struct xc_crash_context *crash, uint64_t value, xc_addr *at_out)
{
	enum { HITS = 256 };
	xc_addr found[HITS];
	size_t count = xc_memory_search_words(crash->process, value, 0, found, HITS);
	for (size_t i = 0; i < count; i++)
		if (is_of_program(crash, found[i])) {
			*at_out = found[i];
			return true;
		}
	return false;
}

static void report_stored(struct xc_crash_context *crash, xc_addr at)
{
	struct xc_text place = {0};
	xc_block_types_infer(crash);
	xc_rootword_place(crash->heap, at, false, &place);
	xc_verdict_evidence(crash->report, "the pointer is stored at 0x%" PRIx64 ": %s", at, xc_text_string(&place));
	xc_text_fini(&place);
}

static void report_kept(struct xc_crash_context *crash, xc_addr at, size_t kept)
{
	report_stored(crash, at);
	xc_verdict_evidence(crash->report,
			    "%s%zu words of live blocks and of the program's data lead to the same gap between the "
			    "mappings",
			    kept >= FOUND / 2 ? "at least " : "", kept);
}

static uint64_t bad_pointer(const struct xc_pointer_diagnosis *s)
{
	return s->crash->pointer ? s->crash->pointer : s->suspect_count ? s->suspects[0].value : 0;
}

static bool diagnose_kept(struct xc_pointer_diagnosis *s)
{
	struct xc_crash_context *crash = s->crash;
	const struct xc_fault *f = &crash->fault;
	xc_addr at;
	if (!crash->heap || !f->addr_known || f->computed || f->access == XC_ACCESS_EXECUTE || f->addr < LEAST ||
	    xc_process_mapping(crash->process, f->addr) || !find_kept(crash, bad_pointer(s), &at))
		return false;
	struct xc_mapping_gap gap = xc_gap_at(crash->process, f->addr);
	if (!xc_gap_size(&gap) && xc_gap_above(&gap, f->addr) < NEAR && gap.hi > NEAR)
		gap.lo = gap.lo > gap.hi - NEAR ? gap.lo : gap.hi - NEAR;
	size_t kept = gap.hi > gap.lo && gap.hi - gap.lo <= NEAR ? count_kept(crash, &gap) : 0;
	if (!kept)
		return false;
	xc_crash_context_classify(crash, "use-after-free", xc_fault_use(f), "high", "likely",
				  xc_pointer_diagnosis_cause(crash));
	xc_pointer_diagnosis_explain(s, "likely memory that has been unmapped since, or a large block that realloc() "
					"has moved: pointers to it were kept");
	report_kept(crash, at, kept);
	return true;
}

/* ---- */

static bool may_be_block(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	return crash->heap && (crash->heap->unmapped || crash->heap->largest_unmapped) && f->addr_known &&
	       !f->computed && f->access != XC_ACCESS_EXECUTE && !xc_process_mapping(crash->process, f->addr);
}

bool xc_unmapped_block_diagnose(struct xc_pointer_diagnosis *s)
{
	struct xc_crash_context *crash = s->crash;
	uint64_t begin;
	xc_addr at;
	if (!may_be_block(crash))
		return diagnose_kept(s);
	bool found = find(s, &begin);
	if (!found && !is_inside(crash)) {
		if (diagnose_kept(s))
			return true;
		if (!has_room(crash))
			return false;
		report_room(s);
		return true;
	}
	xc_crash_context_classify(crash, "use-after-free", xc_fault_use(&crash->fault), "high", "likely",
				  xc_pointer_diagnosis_cause(crash));
	xc_pointer_diagnosis_explain(s, "likely a large block that had been freed: malloc unmaps those");
	report_sizes(crash, found, begin);
	const uint64_t bad = found ? begin : bad_pointer(s);
	if (bad >= LEAST && find_kept(crash, bad, &at))
		report_stored(crash, at);
	if (found)
		xc_freed_by_report(crash, begin, 1);
	return true;
}

/* cut_pointer: a pointer of which 32 bits are left: it passed through an int, as the result of a function of C that was
 * called without a declaration does. The whole pointer led to memory that is still there, to one place only. */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>

enum { LEAST = 64 << 10, TEXT_LOOK = 8, HALVES = 64 };

/* Is it a number of 32 bits, extended by zeros or by its sign? */
static bool is_cut(uint64_t value, bool *is_signed_out)
{
	*is_signed_out = value >> 31 == UINT64_MAX >> 31;
	return *is_signed_out || (value >= LEAST && value <= UINT32_MAX);
}

/* Does an object begin there: a block of the heap, or a text? */
static bool is_begin(const struct xc_crash_context *crash, xc_addr at)
{
	const uint32_t block = crash->heap ? xc_blocks_find(&crash->heap->blocks, at) : XC_NO_BLOCK;
	char text[TEXT_LOOK];
	if (block != XC_NO_BLOCK && xc_block_addr(&crash->heap->blocks, block) == at)
		return xc_block_state(&crash->heap->blocks, block) == XC_BLOCK_LIVE;
	const size_t got = xc_space_peek(crash->process->space, at, text, sizeof text);
	const size_t len = xc_text_readable_length(text, got);
	return len > 1 && (len == got || text[len] == '\0');
}

/* The only place that has these lower bits and where an object begins. Mappings are in the order of addresses. */
static bool find_whole(const struct xc_crash_context *crash, uint32_t lower, xc_addr *whole_out)
{
	const struct xc_process *p = crash->process;
	size_t found = 0, halves = 0;
	for (size_t i = 0; i < p->mapping_count; i++)
		for (uint64_t upper = p->mappings[i].lo >> 32;
		     upper <= (p->mappings[i].hi - 1) >> 32 && halves <= HALVES; upper++) {
			const xc_addr at = upper << 32 | lower;
			if (!upper || at < p->mappings[i].lo || at >= p->mappings[i].hi)
				continue;
			if (halves++ > HALVES)
				return false;
			if (!is_begin(crash, at))
				continue;
			if (found++)
				return false;
			*whole_out = at;
		}
	return found == 1;
}

bool xc_cut_pointer_diagnose(struct xc_pointer_diagnosis *s)
{
	const struct xc_crash_context *crash = s->crash;
	for (size_t i = 0; i < s->suspect_count && crash->process->arch->word == 8; i++) {
		bool is_signed;
		xc_addr whole;
		if (!is_cut(s->suspects[i].value, &is_signed) ||
		    !find_whole(crash, (uint32_t)s->suspects[i].value, &whole))
			continue;
		xc_verdict_evidence(crash->report,
				    "0x%" PRIx64 " is the lower half of 0x%" PRIx64 "%s, where an object begins",
				    s->suspects[i].value, whole, is_signed ? ", extended by its sign" : "");
		xc_pointer_diagnosis_explain(s,
					     "likely the upper half of a pointer is lost: it passed through an int, as "
					     "the result of a function that is called without a declaration");
		return true;
	}
	return false;
}

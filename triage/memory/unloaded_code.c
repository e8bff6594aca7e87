/* unloaded_code: calls of code that is no longer there. A library that was unloaded leaves a gap between the mappings,
 * and pointers to its functions and constants, in tables, lists and the stack. One pointer alone may have any value. */
#include <inttypes.h>

#include "triage/memory/pointer_diagnosis.h"
#include "triage/util/gap.h"
#include "triage/util/memory_search.h"

enum { FOUND = 64, OTHERS = 2, LIBRARY = 64 << 20 /* bytes at most */ };

/* Words with other values that lead to the gap. */
static size_t count_others(const struct xc_crash_context *crash, const struct xc_mapping_gap *gap)
{
	xc_addr found[FOUND];
	uint64_t seen[OTHERS];
	size_t others = 0, kinds = 0,
	       count = xc_memory_search_words(crash->process, gap->lo, gap->hi - gap->lo, found, FOUND);
	for (size_t i = 0; i < count; i++) {
		uint64_t value;
		if (!xc_space_peek_uint(crash->process->space, found[i], crash->process->arch->word, &value) ||
		    value == crash->fault.addr)
			continue;
		others++;
		if (kinds < OTHERS && (!kinds || value != seen[0]))
			seen[kinds++] = value;
	}
	return kinds == OTHERS ? others : 0;
}

bool xc_unloaded_code_diagnose(struct xc_pointer_diagnosis *s)
{
	struct xc_crash_context *crash = s->crash;
	const struct xc_fault *f = &crash->fault;
	if (f->access != XC_ACCESS_EXECUTE || !f->addr_known || f->computed ||
	    xc_process_mapping(crash->process, f->addr))
		return false;
	struct xc_mapping_gap gap = xc_gap_at(crash->process, f->addr);
	if (!xc_gap_size(&gap) && xc_gap_above(&gap, f->addr) < LIBRARY)
		gap.lo = gap.hi - LIBRARY;
	size_t others = gap.hi - gap.lo <= LIBRARY ? count_others(crash, &gap) : 0;
	if (!others)
		return false;
	xc_verdict_evidence(crash->report, "%s%zu other words of memory lead to the same gap between the mappings",
			    others >= FOUND - 1 ? "at least " : "", others);
	xc_pointer_diagnosis_explain(s, "likely code of a library that has been unloaded");
	crash->verdict->severity = "high"; /* nobody chose the address */
	return true;
}

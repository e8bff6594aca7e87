/* neighbour: a bad pointer in front of which an array ends. That its elements are smaller than the pointer, and only as
 * much of the pointer is wrong, makes it likely; else it is a possibility. */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>

#include "triage/blocks/value_place.h"

/* Is the value where a live block begins, but for bytes [from, from + size)? They then are as in other blocks. */
static bool is_good_without(const struct xc_crash_context *crash, uint64_t value, unsigned from, uint64_t size)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	uint64_t mask = ((UINT64_C(1) << 8 * size) - 1) << 8 * from;
	for (uint32_t i = 0; i < 2 && i < blocks->count; i++) {
		uint64_t other = xc_block_addr(blocks, i ? (uint32_t)(blocks->count - 1) : 0);
		uint64_t good = (value & ~mask) | (other & mask);
		uint32_t block = xc_blocks_find(blocks, good);
		if (block != XC_NO_BLOCK && xc_block_addr(blocks, block) == good &&
		    xc_block_state(blocks, block) == XC_BLOCK_LIVE)
			return true;
	}
	return false;
}

/* Is only a part of the pointer wrong, of the size of an element? */
static bool is_part(const struct xc_crash_context *crash, uint64_t value, uint64_t element)
{
	unsigned word = crash->process->arch->word;
	if (!crash->heap || !element || element >= word || word != sizeof value)
		return false;
	for (unsigned from = 0; from + element <= word; from += (unsigned)element)
		if (is_good_without(crash, value, from, element))
			return true;
	return false;
}

static bool is_plain(const struct xc_type *element)
{
	const struct xc_type *type = xc_type_strip(element);
	return type->kind == XC_TYPE_INT || type->kind == XC_TYPE_FLOAT || type->kind == XC_TYPE_CHAR ||
	       type->kind == XC_TYPE_ENUM || type->kind == XC_TYPE_BOOL || type->kind == XC_TYPE_POINTER;
}

static bool report(struct xc_pointer_diagnosis *s, const struct xc_suspect *it, xc_addr at)
{
	struct xc_field_array array;
	uint64_t size;
	if (!xc_field_array_before(s->crash, at, &array) || at - array.end > s->crash->process->arch->word ||
	    !is_plain(array.element) || !xc_type_size(array.element, &size) || !size)
		return false;
	bool part = is_part(s->crash, it->value, size);
	xc_verdict_evidence(s->crash->report,
			    "%s, %" PRIu64 " elements of %s at 0x%" PRIx64
			    ", ends in front of the pointer, which was read at 0x%" PRIx64,
			    array.name, (array.end - array.begin) / size, xc_type_name(array.element), array.begin, at);
	if (part)
		xc_verdict_evidence(s->crash->report,
				    "but for %" PRIu64 " bytes of it, as one element has, it leads to a live block",
				    size);
	xc_pointer_diagnosis_explain(s, "%s %s was written past its end, over the pointer behind it",
				     part ? "likely" : "perhaps", array.name);
	return true;
}

bool xc_neighbour_diagnose(struct xc_pointer_diagnosis *s)
{
	for (size_t i = 0; i < s->suspect_count; i++) {
		const struct xc_suspect *it = &s->suspects[i];
		struct xc_deref place;
		if (!xc_process_mapping(s->crash->process, it->value) &&
		    xc_value_place_find(s->crash, it->value, NULL, 0, &place) && report(s, it, place.at))
			return true;
	}
	return false;
}

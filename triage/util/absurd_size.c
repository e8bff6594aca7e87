/* absurd_size: differences of unsigned numbers that went below 0 are just below 2^32 or 2^64, whatever size the
 * elements have that they count. */
#include "triage/util/absurd_size.h"

#include <inttypes.h>

#include "core/base/text.h"

enum { SMALL = 1 << 20, ELEMENT_MOST = 16 << 20 };

static const uint64_t LEAST = UINT64_C(1) << 44; /* 16 TiB: more than the machines of today have */

static void add_element(struct xc_text *text, uint64_t element)
{
	if (element > 1)
		xc_text_printf(text, " elements of %" PRIu64 " bytes", element);
}

/* n elements, n just below 2^32: only one size of elements is possible. */
static bool add_short(uint64_t bytes, struct xc_text *text)
{
	uint64_t element = (bytes >> 32) + 1, count = bytes / element;
	if (bytes % element || element > ELEMENT_MOST || count > UINT32_MAX || count < UINT32_MAX - SMALL)
		return false;
	if (element > 1)
		xc_text_printf(text, "that is %" PRIu64 " × %" PRIu64 ": ", count, element);
	else
		xc_text_add(text, "that is ");
	xc_text_printf(text, "(unsigned)-%" PRIu64, UINT64_C(1) + UINT32_MAX - count);
	add_element(text, element);
	return true;
}

bool xc_absurd_size_add(uint64_t bytes, struct xc_text *text)
{
	if (bytes >= UINT64_MAX - SMALL)
		xc_text_printf(text, "that is -%" PRIu64 " as an unsigned number", 0 - bytes);
	else if (add_short(bytes, text))
		;
	else if (bytes >= LEAST)
		xc_text_add(text, "more than any machine has");
	else
		return false;
	xc_text_add(text, ": likely the size was computed wrongly");
	return true;
}

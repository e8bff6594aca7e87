/* odd_number: differences of unsigned numbers that went below 0 are just below 2^16, 2^32 or 2^64, and few programs
 * count to there. A number that is small when its bytes are reversed was not converted from network byte order. */
#include "triage/util/odd_number.h"

#include <inttypes.h>

#include "core/base/text.h"

enum {
	SMALL = 1 << 20,
	ELEMENT_MOST = 16 << 20,
	BACK = 4096,     /* a negative number, not a large one */
	COMMON = 1 << 8, /* smaller numbers occur by chance */
	WRAPPED = 16,    /* how far below 0 a row was, */
	WIDE = 1 << 16,  /* and how many elements it has */
};

/* ---- sizes ---- */

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

bool xc_odd_number_size(uint64_t bytes, struct xc_text *text)
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

/* ---- indexes ---- */

/* A row below 0 in an unsigned variable, of so many elements, and one of these: "640 × 4294967295, (unsigned)-1, +
 * 3". */
static bool is_wrapped_row(int64_t index, struct xc_text *text)
{
	for (int64_t back = 1; back <= WRAPPED; back++) {
		int64_t row = (INT64_C(1) << 32) - back, width = index / row, column = index % row;
		if (index < 0 || width < 2 || width > WIDE || column >= width)
			continue;
		xc_text_printf(text, ", that is %" PRId64 " × %" PRId64 ", (unsigned)-%" PRId64, width, row, back);
		if (column)
			xc_text_printf(text, ", + %" PRId64, column);
		return true;
	}
	return false;
}

/* A valid index that was taken for a signed number: of a table of 256 by a char; where a counter of more bits went on
 * past the largest number of fewer. Other numbers below 0 are likely what they seem. */
static bool is_narrowed(int64_t index, uint64_t count, struct xc_text *text)
{
	for (unsigned bits = 8; bits <= 32; bits *= 2) {
		int64_t whole = index + (INT64_C(1) << bits), lowest = -(INT64_C(1) << (bits - 1));
		bool table = bits == 8 && count == 256 && index >= lowest && index < -1;
		if ((!table && index != lowest) || (uint64_t)whole >= count)
			continue;
		xc_text_printf(text, ", that is %" PRId64 " as a signed number of %u bits", whole, bits);
		return true;
	}
	return false;
}

bool xc_odd_number_index(int64_t index, uint64_t count, bool sure, struct xc_text *text)
{
	static const struct {
		unsigned bits;
		const char *type;
	} types[] = {{32, "unsigned"}, {16, "unsigned short"}};
	for (size_t i = 0; i < XC_COUNT(types); i++) {
		int64_t back = (INT64_C(1) << types[i].bits) - index;
		if (back > 0 && back <= (types[i].bits == 16 ? 16 : BACK)) {
			xc_text_printf(text, ", that is (%s)-%" PRId64, types[i].type, back);
			return true;
		}
	}
	if (is_wrapped_row(index, text) || is_narrowed(index, count, text))
		return true;
	if (count && sure && index == (int64_t)count) {
		xc_text_printf(text, ", one past the last of %" PRIu64, count);
		return true;
	}
	uint32_t reversed = __builtin_bswap32((uint32_t)index);
	if (index > UINT16_MAX && index <= UINT32_MAX && reversed != index && reversed <= (count ? count : COMMON)) {
		xc_text_printf(text, ", that is %" PRIu32 " with its bytes reversed", reversed);
		return true;
	}
	return false;
}

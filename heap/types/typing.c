/* The name and the number of elements of a typed block, as reports show them. */
#include "heap/types/typing.h"

#include <string.h>

enum { LONGEST_TEXT = 1 << 24 };

const char *xc_confidence_word(enum xc_confidence confidence)
{
	static const char *const words[] = {
		[XC_TYPE_UNTYPED] = NULL,
		[XC_TYPE_WEAK] = "weak",
		[XC_TYPE_STRONG] = "strong",
		[XC_TYPE_EXACT] = "exact",
	};
	return (size_t)confidence < XC_COUNT(words) ? words[confidence] : NULL;
}

const char *xc_typing_name(const struct xc_typing *typing, uint32_t block)
{
	const struct xc_typed *typed = xc_typing_get(typing, block);
	return typed && typed->type ? xc_type_name(typed->type) : NULL;
}

/* The number of characters before the NUL, or of all. */
static uint64_t text_length(const struct xc_typing *typing, xc_addr addr, uint64_t size)
{
	char part[4096];
	uint64_t done = 0;
	size = size < LONGEST_TEXT ? size : LONGEST_TEXT;
	while (done < size) {
		size_t want = size - done < sizeof part ? (size_t)(size - done) : sizeof part;
		size_t got = xc_space_peek(typing->heap->process->space, addr + done, part, want);
		const char *end = memchr(part, '\0', got);
		if (end)
			return done + (uint64_t)(end - part);
		done += got;
		if (got < want)
			break;
	}
	return done;
}

uint64_t xc_typing_count(const struct xc_typing *typing, uint32_t block)
{
	const struct xc_typed *typed = xc_typing_get(typing, block);
	const struct xc_blocks *blocks = &typing->heap->blocks;
	uint64_t element, size = xc_block_size(blocks, block);
	if (!typed)
		return 0;
	if (typed->offset >= size)
		return 1;
	if (typed->shape == XC_TYPED_TEXT)
		return text_length(typing, xc_block_addr(blocks, block) + typed->offset, size - typed->offset);
	if (typed->shape != XC_TYPED_ARRAY || !xc_type_size(typed->type, &element) || element == 0)
		return 1;
	return (size - typed->offset) / element;
}

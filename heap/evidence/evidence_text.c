/* evidence_text: blocks without other evidence that read as text.
 *
 * A block is text if it begins with at least four printable characters, as UTF-8, followed by a NUL; the rest is unused
 * room. They must fill the block (xc_typing_text_fills): an object may begin with a number, or with a name. Six such
 * bytes and two zeroes may also be a pointer: if it leads to mapped memory, the block is no text. Dynamic strings with
 * a header (redis' sds, sds.h of 3.2 to 7.4) store their length before the characters:
 *
 *	| length | room | flags: 1 | characters NUL      lengths of 1 byte; 2, 3, 4: of 2, 4 and 8
 *
 * Such a header must agree with the size of the block, and characters must follow: small numbers look like headers.
 * All of this is a single hint, so the type is weak. */
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/text.h"
#include "dwarf/types/ctype.h"
#include "heap/evidence/evidence_list.h"

enum {
	WORD = 8,
	LEAST = 4,       /* characters of a text */
	LOOK = 4096,     /* bytes searched for the NUL */
	SLACK = 32,      /* bytes that an allocator adds to a request */
	PIECE = 1 << 14, /* blocks */
};

enum content { OTHER, TEXT, HEAD_1, HEAD_2, HEAD_4, HEAD_8, CONTENTS };

static const uint8_t text_at[CONTENTS] = {0, 0, 3, 5, 9, 17};

/* ---- one block ---- */

/* The number of characters before the first byte that is none. */
static uint64_t text_length(const uint8_t *bytes, uint64_t len)
{
	return xc_text_readable_length((const char *)bytes, len);
}

static bool is_pointer(const struct xc_space *space, const uint8_t *bytes)
{
	uint64_t word;
	uint8_t byte;
	memcpy(&word, bytes, sizeof word);
	return xc_space_peek(space, word, &byte, 1) == 1;
}

static bool is_text(const struct xc_space *space, const uint8_t *bytes, uint64_t len, uint64_t size)
{
	uint64_t length = text_length(bytes, len);
	bool ends = length < len ? bytes[length] == 0 : len < size; /* the end of what was read may cut a long one */
	return length >= LEAST && ends && xc_typing_text_fills(bytes, len, size, length) &&
	       (length >= WORD || len < WORD || !is_pointer(space, bytes));
}

/* The length and the room in a header whose numbers have `width` bytes. */
static bool is_head(const uint8_t *bytes, uint64_t len, uint64_t size, unsigned width)
{
	static const uint8_t flags[] = {[1] = 1, [2] = 2, [4] = 3, [8] = 4};
	uint64_t length = 0, room = 0, head = 2 * width + 1;
	if (len <= head || bytes[2 * width] != flags[width])
		return false;
	memcpy(&length, bytes, width);
	memcpy(&room, bytes + width, width);
	if (length == 0 || length > room || room >= size - head || size - head - 1 - room > SLACK)
		return false;
	if (length >= len - head)
		return len < size && text_length(bytes + head, len - head) + WORD > len - head;
	return bytes[head + length] == 0 && text_length(bytes + head, length) == length;
}

static enum content content_of(const struct xc_space *space, const uint8_t *bytes, uint64_t len, uint64_t size)
{
	if (is_text(space, bytes, len, size))
		return TEXT;
	for (unsigned width = 1, head = HEAD_1; width <= 8; width *= 2, head++) {
		if (is_head(bytes, len, size, width))
			return head;
	}
	return OTHER;
}

/* ---- all blocks ---- */

struct reading {
	struct xc_typing *typing;
	uint8_t *contents; /* by block: enum content */
};

static void read_piece(void *context, size_t piece, unsigned worker)
{
	struct reading *reading = context;
	const struct xc_heap *heap = reading->typing->heap;
	size_t lo = piece * PIECE, hi = lo + PIECE < heap->blocks.count ? lo + PIECE : heap->blocks.count;
	struct xc_window window;
	(void)worker;
	xc_window_init(&window, heap->process->space);
	for (size_t i = lo; i < hi; i++) {
		uint32_t block = (uint32_t)i;
		if (xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE || xc_typing_has(reading->typing, block))
			continue;
		uint64_t size = xc_block_size(&heap->blocks, block), len = size < LOOK ? size : LOOK;
		const uint8_t *bytes = xc_window(&window, xc_block_addr(&heap->blocks, block), len);
		if (bytes && !xc_typing_is_run_over(heap, block))
			reading->contents[i] = (uint8_t)content_of(heap->process->space, bytes, len, size);
	}
	xc_window_fini(&window);
}

static void late(struct xc_typing *typing)
{
	struct xc_heap *heap = typing->heap;
	struct xc_reserve memory = xc_reserve_new(heap->blocks.count, 1);
	struct reading reading = {.typing = typing, .contents = memory.items};
	uint32_t items[CONTENTS] = {0};
	xc_parallel(heap->jobs, (heap->blocks.count + PIECE - 1) / PIECE, read_piece, &reading);
	for (unsigned i = TEXT; i < CONTENTS; i++) {
		const struct xc_typed typed = {.type = xc_ctype(heap->process, XC_C_CHAR),
					       .shape = XC_TYPED_TEXT,
					       .confidence = XC_TYPE_WEAK,
					       .offset = text_at[i],
					       .via = i == TEXT ? "its content" : "its content, after a length"};
		items[i] = xc_typing_item(typing, &typed);
	}
	for (size_t i = 0; i < heap->blocks.count; i++) {
		if (reading.contents[i] && items[reading.contents[i]])
			xc_typing_seed(typing, (uint32_t)i, items[reading.contents[i]]);
	}
	xc_reserve_free(&memory);
}

const struct xc_evidence xc_evidence_text = {.name = "text", .late = late};

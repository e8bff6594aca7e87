/*	block before                        damaged chunk
 *	[ … h e l l o , ␣ w o r l d , ␣ t ][ h i s   i s … \0 ] …
 *	    ▲                              ▲            ▲
 *	    whole_from                     from         from + len
 *
 * The first readable bytes after the end are the next chunk's prev_size. While the block is in use they belong to
 * the block, and `from` is the size after them. */
#include "heap/report/overrun.h"

#include <string.h>

#include "core/base/text.h"

enum {
	NEAR = 4096,    /* bytes examined on each side */
	TEXT_LEAST = 4, /* characters inside the block that make it text */
	FILL_LEAST = 8, /* equal bytes inside the block */
	WORD = 8,
	CHANCE = 2, /* first bytes of a header that may be right by chance, where a text goes on over them */
};

/* The bytes on both sides of the end of a block. */
struct sides {
	uint8_t before[NEAR], behind[NEAR];
	size_t before_len, behind_len;
};

static void look(const struct xc_heap *heap, xc_addr lo, xc_addr end, struct sides *sides)
{
	uint64_t back = end - lo < NEAR ? end - lo : NEAR;
	sides->before_len = xc_space_peek(heap->process->space, end - back, sides->before, back);
	if (sides->before_len < back)
		sides->before_len = 0; /* a hole: the bytes read do not reach the end */
	sides->behind_len = xc_space_peek(heap->process->space, end, sides->behind, NEAR);
}

static bool is_text(uint8_t byte)
{
	return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t' || byte == '\r' || byte >= 0x80;
}

static size_t text_before(const struct sides *s)
{
	size_t count = 0;
	while (count < s->before_len && is_text(s->before[s->before_len - 1 - count]))
		count++;
	return count;
}

/* Characters. A final NUL counts if it is alone, since header bytes are mostly zero anyway. */
static size_t text_behind(const struct sides *s)
{
	size_t count = 0;
	while (count < s->behind_len && is_text(s->behind[count]))
		count++;
	return count == 0 && s->behind_len && s->behind[0] == 0 ? 1 : count;
}

/* Bytes that may be characters need not be: those on both sides of the end that are well-formed text together. */
static void trim_text(const struct sides *s, size_t *before, size_t *behind)
{
	char bytes[2 * NEAR];
	size_t begin, end = *before;
	bool nul = *behind && !s->behind[0];
	memcpy(bytes, s->before + s->before_len - end, end);
	memcpy(bytes + end, s->behind, nul ? 0 : *behind);
	size_t len = xc_text_readable_around(bytes, end + (nul ? 0 : *behind), end, &begin);
	*before = begin < end ? end - begin : 0;
	*behind = nul ? *behind : begin + len - end;
}

static size_t equal_before(const struct sides *s, uint8_t byte)
{
	size_t count = 0;
	while (count < s->before_len && s->before[s->before_len - 1 - count] == byte)
		count++;
	return count;
}

static size_t equal_behind(const struct sides *s)
{
	size_t count = 1;
	while (count < s->behind_len && s->behind[count] == s->behind[0])
		count++;
	return count;
}

/* The number of wrong header bytes: up to the last one that differs from the expected value. */
static uint64_t wrong_bytes(const struct xc_overrun *overrun, const struct sides *s)
{
	uint64_t found = 0, count = WORD;
	if (s->behind_len < WORD)
		return s->behind_len;
	memcpy(&found, s->behind, WORD);
	uint64_t wrong = overrun->expected ? (found ^ overrun->expected) >> 4 << 4 : found;
	if (wrong == 0)
		return 1; /* only flags */
	while (count > 1 && !(wrong >> (count - 1) * 8 & 0xff))
		count--;
	return count;
}

/* One character alone proves nothing, since sizes may look like one. One NUL does: a size rarely has it as its
 * lowest byte. A byte repeated on both sides is preferred to text, because after a careless memset the text of
 * another block may follow. */
static bool is_fill(const struct sides *s)
{
	return equal_before(s, s->behind[0]) >= FILL_LEAST && equal_behind(s) >= FILL_LEAST;
}

/* Bytes that are alike on both sides of the block's beginning: characters, or one byte. */
static bool goes_on(const struct sides *s, size_t at)
{
	uint8_t first = s->behind[WORD], byte = s->behind[at];
	return first && (byte == first || (is_text(byte) && is_text(first)));
}

/* Are the header's first bytes right, and do the wrong ones go on into the block after it? An overrun from the block
 * before would have written the first bytes first. The low four bits are flags. A text of the block before that goes on
 * into the header is believed rather than a byte or two that are right. */
static bool is_from_behind(const struct xc_overrun *overrun, const struct sides *s)
{
	size_t right = 0;
	while (right < WORD && right < s->behind_len &&
	       !((s->behind[right] ^ (overrun->expected >> 8 * right & 0xff)) & (right ? 0xff : 0xf0)))
		right++;
	if (!overrun->expected || !right || right == WORD || s->behind_len <= WORD)
		return false;
	if (overrun->form == XC_OVERRUN_TEXT && right <= CHANCE)
		return false;
	for (size_t at = right; at < WORD; at++)
		if (!goes_on(s, at))
			return false;
	return true;
}

static void recognise(struct xc_overrun *overrun, const struct sides *s)
{
	overrun->len = wrong_bytes(overrun, s);
	if (s->behind_len == 0)
		return;
	size_t before = text_before(s), behind = text_behind(s);
	trim_text(s, &before, &behind);
	if (is_fill(s)) {
		overrun->form = XC_OVERRUN_FILL;
		before = equal_before(s, s->behind[0]);
		behind = equal_behind(s);
	} else if (before >= TEXT_LEAST && (behind > 1 || (behind == 1 && s->behind[0] == 0))) {
		overrun->form = XC_OVERRUN_TEXT;
	} else {
		return;
	}
	overrun->certain = true;
	overrun->len = behind;
	overrun->whole_from = overrun->from - before;
	overrun->whole_len = before + behind;
}

void xc_overrun_find(const struct xc_heap *heap, const struct xc_damage *damage, struct xc_overrun *overrun_out)
{
	const struct xc_blocks *blocks = &heap->blocks;
	struct sides sides;
	struct xc_overrun overrun = {.block = damage->before, .behind = XC_NO_BLOCK};
	uint32_t self = XC_NO_BLOCK;
	if (damage->before < blocks->count) {
		xc_addr lo = xc_block_addr(blocks, damage->before);
		overrun.from = lo + xc_block_size(blocks, damage->before);
		self = xc_blocks_find(blocks, damage->addr + 2 * WORD);
		if (self != XC_NO_BLOCK && xc_block_addr(blocks, self) == damage->addr + 2 * WORD)
			overrun.expected = xc_block_size(blocks, self) + WORD;
		if (overrun.from - damage->addr > WORD) { /* blocks are missing between */
			overrun.block = XC_NO_BLOCK;
			overrun.from = 0;
		}
	}
	if (overrun.block != XC_NO_BLOCK) {
		look(heap, xc_block_addr(blocks, overrun.block), overrun.from, &sides);
		recognise(&overrun, &sides);
		if (is_from_behind(&overrun, &sides))
			overrun.behind = self;
		if (!overrun.certain) {
			overrun.whole_from = overrun.from;
			overrun.whole_len = overrun.len;
		}
	}
	*overrun_out = overrun;
}

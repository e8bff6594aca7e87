/* unset_member: a word of a live block that nothing has written since the block was handed out.
 *
 * malloc does not clear memory. What the last owner left is in the block, and in blocks of the same size that are still
 * free, at the same place. In the first word it is the link of glibc's thread cache: the address of the next free
 * block, or 0, xor'ed with the word's own address >> 12 (glibc 2.32 and later, malloc/malloc.c, PROTECT_PTR). */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>

#include "triage/blocks/value_place.h"
#include "triage/util/memory_search.h"

enum {
	BLOCKS = 1 << 20, /* whose sizes are compared */
	HITS = 256,       /* copies of a value */
	READ = 4096,      /* free blocks of the same size that are read */
	PAGE_BITS = 12,
	AWAY_BITS = 38, /* heap, modules and stacks each lie closer together than that */
};

struct unset {
	const struct xc_crash_context *crash;
	struct xc_deref place;
	uint32_t block;
	uint64_t offset; /* of the word in the block */
	size_t alike;    /* free blocks of the size that have the same there */
	bool link;       /* it is the allocator's link */
};

/* The words of live blocks that have the value: the code has loaded one into a variable, which it has overwritten. All
 * are the same member: at the same place in blocks of one size. */
static bool find_alike(const struct xc_crash_context *crash, uint64_t value, struct xc_deref *out)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	xc_addr found[HITS];
	size_t count = xc_memory_search_words(crash->process, value, 0, found, HITS), live = 0;
	uint64_t size = 0, offset = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t block = xc_blocks_find(blocks, found[i]);
		if (block == XC_NO_BLOCK || xc_block_state(blocks, block) != XC_BLOCK_LIVE)
			continue;
		uint64_t here = found[i] - xc_block_addr(blocks, block);
		if (live++ && (size != xc_block_size(blocks, block) || offset != here))
			return false;
		size = xc_block_size(blocks, block);
		offset = here;
		*out = (struct xc_deref){.value = value, .value_known = true, .at = found[i], .at_known = true};
	}
	return live && count < HITS;
}

/* The word of a live block that the code read, and that still has the value. */
static bool find_place(const struct xc_pointer_diagnosis *s, struct unset *out)
{
	const struct xc_crash_context *crash = s->crash;
	const struct xc_blocks *blocks = &crash->heap->blocks;
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	unsigned word = crash->process->arch->word;
	uint64_t now, value = bad && bad->value_known ? bad->value : s->suspect_count ? s->suspects[0].value : 0;
	*out = (struct unset){.crash = crash};
	if (bad && bad->at_known && bad->value_known && !bad->own)
		out->place = *bad;
	else if (!value ||
		 (!xc_value_place_of_variable(crash, value, &out->place) && !find_alike(crash, value, &out->place)))
		return false;
	out->block = xc_blocks_find(blocks, out->place.at);
	if (out->block == XC_NO_BLOCK || xc_block_state(blocks, out->block) != XC_BLOCK_LIVE)
		return false;
	out->offset = out->place.at - xc_block_addr(blocks, out->block);
	return xc_space_peek_uint(crash->process->space, out->place.at, word, &now) && now == out->place.value;
}

/* The link of a list whose next block, if there is one, is of the same size. */
static bool is_link(const struct unset *u)
{
	const struct xc_blocks *blocks = &u->crash->heap->blocks;
	uint64_t next = u->place.value ^ u->place.at >> PAGE_BITS;
	if (u->offset || u->crash->process->arch->word != 8)
		return false;
	uint32_t block = next ? xc_blocks_find(blocks, next) : XC_NO_BLOCK;
	return !next || (block != XC_NO_BLOCK && xc_block_addr(blocks, block) == next &&
			 xc_block_size(blocks, block) == xc_block_size(blocks, u->block));
}

/* Words that the allocator itself writes into a free block are no one's leavings. */
static bool is_own_word(const struct unset *u, enum xc_block_state state)
{
	unsigned words = state == XC_BLOCK_FAST ? 1 : 2;
	return u->offset < words * u->crash->process->arch->word;
}

/* Could it have been a pointer, to what is no longer mapped? Objects that are freed had the same one. */
static bool was_pointer(const struct unset *u)
{
	const struct xc_process *p = u->crash->process;
	uint64_t value = u->place.value;
	for (size_t i = 0; i < p->mapping_count; i++) {
		const struct xc_mapping *m = &p->mappings[i];
		uint64_t away = value < m->lo ? m->lo - value : value - m->lo;
		if (away >> AWAY_BITS == 0)
			return true;
	}
	return false;
}

static size_t count_alike(const struct unset *u)
{
	const struct xc_blocks *blocks = &u->crash->heap->blocks;
	uint64_t size = xc_block_size(blocks, u->block), word;
	size_t alike = 0, read = 0;
	for (uint32_t i = 0; i < blocks->count && i < BLOCKS && read < READ; i++) {
		enum xc_block_state state = xc_block_state(blocks, i);
		if (!xc_block_is_freed(state) || xc_block_size(blocks, i) != size || is_own_word(u, state))
			continue;
		read++;
		alike += xc_space_peek_uint(u->crash->process->space, xc_block_addr(blocks, i) + u->offset,
					    u->crash->process->arch->word, &word) &&
			 word == u->place.value;
	}
	return alike;
}

/* Text that fills the array before the member and goes on: it was written past that array, in the free objects, too. */
static bool is_overrun(const struct unset *u)
{
	struct xc_field_array array;
	char bytes[2];
	return xc_field_array_before(u->crash, u->place.at, &array) && array.end == u->place.at &&
	       xc_space_peek(u->crash->process->space, u->place.at - 1, bytes, sizeof bytes) == sizeof bytes &&
	       xc_text_readable_length(bytes, sizeof bytes) == sizeof bytes;
}

static void report(struct xc_pointer_diagnosis *s, const struct unset *u)
{
	const struct xc_blocks *blocks = &u->crash->heap->blocks;
	const char *name = u->place.text ? u->place.text : u->place.place ? u->place.place : NULL;
	s->crash->unset = true;
	if (u->link)
		xc_verdict_evidence(u->crash->report,
				    "the first word of the block at 0x%" PRIx64 ", 0x%" PRIx64
				    ", is a link of the allocator's list of free blocks: it was there before the block "
				    "was handed out",
				    xc_block_addr(blocks, u->block), u->place.value);
	else
		xc_verdict_evidence(u->crash->report,
				    "%zu free block%s of %" PRIu64 " bytes %s 0x%" PRIx64 " at the same place, %" PRIu64
				    " bytes from the beginning, as the live block at 0x%" PRIx64,
				    u->alike, u->alike > 1 ? "s" : "", xc_block_size(blocks, u->block),
				    u->alike > 1 ? "have" : "has", u->place.value, u->offset,
				    xc_block_addr(blocks, u->block));
	xc_pointer_diagnosis_explain(s, "likely %s%s%s was never set: it holds the earlier contents of its memory",
				     name ? "`" : "", name ? name : "the member", name ? "`" : "");
}

bool xc_unset_member_diagnose(struct xc_pointer_diagnosis *s)
{
	struct unset u;
	if (!s->crash->heap || !s->crash->heap->blocks.count || !find_place(s, &u))
		return false;
	u.link = is_link(&u);
	u.alike = u.link || was_pointer(&u) ? 0 : count_alike(&u);
	if (!u.link && !u.alike)
		return false;
	if (!u.link && is_overrun(&u))
		return xc_text_overwrite_diagnose(s);
	if (u.place.led_known) { /* a stale pointer to the block explains more */
		struct xc_stale stale = xc_stale_pointer_at(s->crash, &u.place);
		if (stale.kind != XC_STALE_NOT && stale.kind != XC_STALE_TEXT && stale.kind != XC_STALE_OTHER)
			return false;
	}
	report(s, &u);
	return true;
}

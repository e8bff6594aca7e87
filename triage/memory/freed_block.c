/* freed_block: blocks used after they were freed.
 *
 * Freed memory stays mapped, so the faulting pointer is mostly a value read from it: one that the allocator stored
 * (glibc: the link of the list, mangled since 2.32, and in a thread's cache the key after it, malloc/malloc.c), or
 * one of the next owner. The evidence is that the value is stored in a free block to which the crashed code still
 * has a pointer. */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>
#include <string.h>

#include "heap/query/whatis.h"
#include "triage/blocks/freed_by.h"
#include "triage/memory/heap_evidence.h"
#include "triage/blocks/referrers.h"

enum {
	WORDS = 512,      /* freed blocks to check */
	INSIDE = 4096,    /* bytes that a library function may have advanced from its argument */
	HOLDERS = 3,      /* pointers to report */
	BLOCKS = 1 << 22, /* blocks whose first words are checked */
	FIRST_WORDS = 2,
};

/* The way of a value out of a freed block. */
struct freed {
	const struct xc_suspect *suspect;
	const struct xc_pointer *through; /* NULL: not known */
	uint32_t block;
	xc_addr at;     /* of the word; 0: the pointer itself points into the block */
	bool metadata;  /* the allocator writes this word when a block is freed */
	size_t similar; /* other blocks with the same word at the same place */
};

/* A freed block, not one that was never used. */
static bool is_freed(const struct xc_crash_context *crash, uint32_t block)
{
	if (block == XC_NO_BLOCK)
		return false;
	enum xc_block_state state = xc_block_state(&crash->heap->blocks, block);
	return xc_block_is_free(state) && state != XC_BLOCK_TOP;
}

static bool find_direct(const struct xc_pointer_diagnosis *s, struct freed *out)
{
	for (size_t i = 0; i < s->suspect_count; i++) {
		uint32_t block = xc_blocks_find(&s->crash->heap->blocks, s->suspects[i].value);
		if (!is_freed(s->crash, block))
			continue;
		*out = (struct freed){.suspect = &s->suspects[i], .block = block};
		return true;
	}
	return false;
}

/* Did the suspect come from this word? The word may be slightly smaller: an offset was added. */
static bool fits(const struct xc_suspect *suspect, uint64_t word, bool metadata)
{
	return word == suspect->value || ((suspect->inside || metadata) && word >= 0x10000 && word < suspect->value &&
					  suspect->value - word < INSIDE);
}

static bool is_metadata(const struct xc_crash_context *crash, uint32_t block, uint64_t offset)
{
	enum xc_block_state state = xc_block_state(&crash->heap->blocks, block);
	unsigned word = crash->process->arch->word;
	return (state == XC_BLOCK_CACHED && offset < 2 * word) || (state == XC_BLOCK_FAST && offset < word);
}

static bool find_in_block(const struct xc_pointer_diagnosis *s, uint32_t block, size_t words, struct freed *out)
{
	const struct xc_crash_context *crash = s->crash;
	unsigned word = crash->process->arch->word;
	xc_addr begin = xc_block_addr(&crash->heap->blocks, block);
	uint64_t size = xc_block_size(&crash->heap->blocks, block), value;
	for (uint64_t offset = 0; words-- && offset + word <= size; offset += word) {
		if (!xc_space_peek_uint(crash->process->space, begin + offset, word, &value))
			return false;
		for (size_t i = 0; i < s->suspect_count; i++)
			if (fits(&s->suspects[i], value, is_metadata(crash, block, offset))) {
				*out = (struct freed){.suspect = &s->suspects[i],
						      .block = block,
						      .at = begin + offset,
						      .metadata = is_metadata(crash, block, offset)};
				return true;
			}
	}
	return false;
}

/* Read from a block that the crashed code has a pointer to; of several (they share a key) the one with a name. */
static bool find_read(const struct xc_pointer_diagnosis *s, struct freed *out)
{
	uint32_t first = XC_NO_BLOCK;
	*out = (struct freed){.block = XC_NO_BLOCK};
	for (size_t i = 0; i < s->pointers.count; i++) {
		const struct xc_pointer *pointer = &s->pointers.items[i];
		struct freed one;
		uint32_t block = xc_blocks_find(&s->crash->heap->blocks, pointer->value);
		if (block == first || !is_freed(s->crash, block) || !find_in_block(s, block, WORDS, &one))
			continue;
		if (first != XC_NO_BLOCK) {
			out->similar += !out->through->name;
			continue;
		}
		first = block;
		*out = one;
		out->through = pointer;
	}
	return first != XC_NO_BLOCK;
}

/* No pointer is left: search all freed blocks for a link or key that is the value. */
static bool find_anywhere(const struct xc_pointer_diagnosis *s, struct freed *out)
{
	const struct xc_blocks *blocks = &s->crash->heap->blocks;
	size_t found = 0;
	for (uint32_t block = 0; block < blocks->count && block < BLOCKS; block++) {
		struct freed one;
		if (!is_freed(s->crash, block) || !find_in_block(s, block, FIRST_WORDS, &one) || !one.metadata ||
		    one.suspect->value != s->suspects[0].value)
			continue;
		if (!found++)
			*out = one;
	}
	out->similar = found ? found - 1 : 0;
	return found > 0;
}

/* ---- words ---- */

static const char *kind_of(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	bool calls = f->decoded && (strstr(f->instruction.text, "call") || strstr(f->instruction.text, "jmp"));
	if (f->access == XC_ACCESS_EXECUTE || calls)
		return "call";
	return f->access == XC_ACCESS_WRITE ? "write" : f->access == XC_ACCESS_READ ? "read" : NULL;
}

static void report_block(const struct xc_crash_context *crash, const struct freed *freed)
{
	struct xc_text text = {0};
	struct xc_what what = xc_what(crash->process, crash->heap, freed->at ? freed->at : freed->suspect->value);
	xc_what_text(crash->process, crash->heap, &what, &text);
	if (freed->at)
		xc_verdict_evidence(crash->report,
				    "%s = 0x%" PRIx64 " is stored in freed memory, at 0x%" PRIx64 ": %s%s",
				    freed->suspect->who, freed->suspect->value, freed->at, xc_text_string(&text),
				    freed->metadata ? "; the allocator put it there when the block was freed" : "");
	else
		xc_verdict_evidence(crash->report, "%s = 0x%" PRIx64 " points into freed memory: %s",
				    freed->suspect->who, freed->suspect->value, xc_text_string(&text));
	xc_text_fini(&text);
}

/* The variables that still point to the block: their types show what it contained. */
static size_t report_variables(const struct xc_pointer_diagnosis *s, uint32_t block)
{
	struct xc_text text = {0};
	size_t told = 0;
	for (size_t i = 0; i < s->pointers.count && told < HOLDERS; i++) {
		const struct xc_pointer *pointer = &s->pointers.items[i];
		bool again = false;
		for (size_t k = 0; k < i && pointer->name; k++)
			again |= s->pointers.items[k].name && s->pointers.items[k].value == pointer->value &&
				 strcmp(s->pointers.items[k].name, pointer->name) == 0;
		if (!pointer->name || again || xc_blocks_find(&s->crash->heap->blocks, pointer->value) != block)
			continue;
		xc_text_add(&text, told++ ? ", " : "");
		xc_pointers_text(s->crash, pointer, &text);
	}
	if (told)
		xc_verdict_evidence(s->crash->report, "%s still point%s to the freed block", xc_text_string(&text),
				    told > 1 ? "" : "s");
	xc_text_fini(&text);
	return told;
}

/* Did the access go to the block, or near it? Farther away the index is wild, too, and what points into the block
 * may not be a pointer. */
static bool is_close(const struct xc_crash_context *crash, uint32_t block)
{
	xc_addr begin = xc_block_addr(&crash->heap->blocks, block), addr = crash->fault.addr;
	uint64_t size = xc_block_size(&crash->heap->blocks, block);
	return crash->fault.addr_known &&
	       (addr < begin ? begin - addr <= INSIDE : addr - begin < size || addr - begin - size <= INSIDE);
}

static void explain(struct xc_pointer_diagnosis *s, const struct freed *freed)
{
	struct xc_crash_context *crash = s->crash;
	const char *kind = kind_of(crash);
	struct xc_text through = {0}, cause = {0};
	bool sure = freed->at ? freed->metadata && freed->through : is_close(crash, freed->block);
	if (freed->through && freed->through->name)
		xc_pointers_text(crash, freed->through, &through);
	if (xc_pointer_diagnosis_cause(crash))
		xc_text_printf(&cause, "%s; ", xc_pointer_diagnosis_cause(crash));
	if (!freed->at)
		xc_text_printf(&cause, "%s%s points into a block that had been freed%s", sure ? "" : "likely ",
			       freed->suspect->who,
			       sure || !crash->fault.addr_known ? "" : ", though the access went far beyond it");
	else
		xc_text_printf(&cause,
			       "%sa block was used after it was freed: the %s that faulted was read from it%s%s",
			       sure ? "" : "likely ", kind && strcmp(kind, "call") == 0 ? "target" : "pointer",
			       through.len ? ", through " : "", xc_text_string(&through));
	xc_crash_context_classify(crash, "use-after-free", kind, "high", sure ? "certain" : "likely",
				  xc_text_string(&cause));
	xc_text_fini(&through);
	xc_text_fini(&cause);
}

bool xc_freed_block_diagnose(struct xc_pointer_diagnosis *s)
{
	struct freed freed;
	if (!s->crash->heap || !s->crash->heap->blocks.count)
		return false;
	if (!find_direct(s, &freed) && !find_read(s, &freed) && !find_anywhere(s, &freed)) {
		if (s->crash->heap->blocks.count > BLOCKS)
			xc_verdict_evidence(s->crash->report,
					    "missing: whether it was read from a freed block: only the first %d blocks "
					    "were searched",
					    BLOCKS);
		return false;
	}
	explain(s, &freed);
	report_block(s->crash, &freed);
	xc_freed_by_report(s->crash, freed.similar ? 0 : xc_block_addr(&s->crash->heap->blocks, freed.block),
			   xc_block_size(&s->crash->heap->blocks, freed.block));
	if (freed.similar) /* a key: the block cannot be identified */
		return true;
	report_variables(s, freed.block);
	xc_referrers_report(s->crash, freed.block, false, "the freed block is still");
	return true;
}

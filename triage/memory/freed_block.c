/* freed_block: use-after-free of a block that is still free.
 *
 * Freed memory stays mapped, so the faulting pointer is mostly a value read from it: one that the allocator stored
 * (glibc: the link of the list, mangled since 2.32, and in a thread's cache the key after it, malloc/malloc.c), or
 * one of the next owner. The evidence is that the value is stored in a free block to which the crashed code still
 * has a pointer. */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>
#include <string.h>

#include "heap/query/whatis.h"
#include "triage/dataflow/deref.h"
#include "triage/blocks/freed_by.h"
#include "triage/blocks/freed_content.h"
#include "triage/blocks/moved_container.h"
#include "triage/memory/heap_evidence.h"
#include "triage/blocks/referrers.h"
#include "triage/util/same_type.h"

enum {
	WORDS = 512,      /* freed blocks to check */
	INSIDE = 4096,    /* bytes that a library function may have advanced from its argument */
	HOLDERS = 3,      /* pointers to report */
	BLOCKS = 1 << 22, /* blocks whose first words are checked */
	FIRST_WORDS = 2,
	COUNTED = 1000, /* other blocks with the same word */
};

/* The way of a value out of a freed block. */
struct freed {
	const struct xc_suspect *suspect;
	const struct xc_pointer *through; /* NULL: not known */
	const struct xc_deref *way;       /* the code read it from `at`; NULL: not known */
	uint32_t block;
	xc_addr at;     /* of the word; 0: the pointer itself points into the block */
	uint64_t word;  /* what stands there: the suspect, or slightly less */
	bool metadata;  /* the allocator writes this word when a block is freed */
	bool ambiguous; /* which of the freed blocks it is, is not known */
	size_t similar; /* other blocks that have the same word: all of a thread's cache have its key */
};

static bool is_freed(const struct xc_crash_context *crash, uint32_t block)
{
	return block != XC_NO_BLOCK && xc_block_is_freed(xc_block_state(&crash->heap->blocks, block));
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
						      .word = value,
						      .metadata = is_metadata(crash, block, offset)};
				return true;
			}
	}
	return false;
}

/* The word of a freed block that the code read, where its way is known. */
static bool find_by_way(const struct xc_pointer_diagnosis *s, struct freed *out)
{
	const struct xc_crash_context *crash = s->crash;
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	unsigned word = crash->process->arch->word;
	uint64_t value;
	uint32_t block = bad && bad->at_known ? xc_blocks_find(&crash->heap->blocks, bad->at) : XC_NO_BLOCK;
	if (!is_freed(crash, block) || !xc_space_peek_uint(crash->process->space, bad->at, word, &value))
		return false;
	bool metadata = is_metadata(crash, block, bad->at - xc_block_addr(&crash->heap->blocks, block));
	for (size_t i = 0; i < s->suspect_count; i++)
		if (fits(&s->suspects[i], value, metadata)) {
			*out = (struct freed){.suspect = &s->suspects[i],
					      .way = bad,
					      .block = block,
					      .at = bad->at,
					      .word = value,
					      .metadata = metadata};
			return true;
		}
	return false;
}

/* Read from a block that the crashed code has a pointer to; of several the one with a name. */
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
			out->ambiguous |= out->through->name ? pointer->name != NULL : true;
			continue;
		}
		first = block;
		*out = one;
		out->through = pointer;
	}
	return first != XC_NO_BLOCK;
}

/* The freed blocks whose link or key is the word, or from whose the first suspect may have come (word 0); sets the
 * first. */
static size_t count_alike(const struct xc_pointer_diagnosis *s, uint64_t word, struct freed *out)
{
	const struct xc_blocks *blocks = &s->crash->heap->blocks;
	size_t found = 0;
	for (uint32_t block = 0; block < blocks->count && block < BLOCKS && found < COUNTED; block++) {
		struct freed one;
		if (is_freed(s->crash, block) && find_in_block(s, block, FIRST_WORDS, &one) && one.metadata &&
		    (word ? one.word == word : one.suspect == &s->suspects[0]) && !found++)
			*out = one;
	}
	return found;
}

/* No pointer is left: search all freed blocks. */
static bool find_anywhere(const struct xc_pointer_diagnosis *s, struct freed *out)
{
	size_t found = count_alike(s, 0, out);
	out->similar = found ? found - 1 : 0;
	out->ambiguous = found > 1;
	return found > 0;
}

/* The allocator writes the same key into all blocks of a thread's cache, and the same link into the last ones of its
 * lists. Which of them it is, the way of the value shows, or likely a variable: what points to one of them in a
 * register or in a word of the stack may be left over from anything. */
static bool find_through(const struct xc_pointer_diagnosis *s, struct freed *out)
{
	struct freed first;
	if (!find_by_way(s, out) && !find_read(s, out))
		return false;
	size_t alike = out->metadata ? count_alike(s, out->word, &first) : 0;
	out->similar = alike ? alike - 1 : 0;
	out->ambiguous |= out->similar && out->through && !out->through->name;
	return true;
}

/* ---- words ---- */

/* "; 7 other freed blocks have the same there" */
static void add_similar(const struct freed *freed, struct xc_text *text)
{
	if (!freed->similar)
		return;
	xc_text_printf(text, "; %s%zu other freed block%s the same there",
		       freed->similar + 1 >= COUNTED ? "at least " : "", freed->similar,
		       freed->similar > 1 ? "s have" : " has");
	if (!freed->way)
		xc_text_add(text, ": likely it was read from this one, because of the pointers to it");
}

static void report_block(const struct xc_crash_context *crash, const struct freed *freed)
{
	struct xc_text text = {0};
	struct xc_what what = xc_what(crash->process, crash->heap, freed->at ? freed->at : freed->suspect->value);
	xc_what_text(crash->process, crash->heap, &what, &text);
	if (freed->at) {
		xc_text_add(&text, freed->metadata ? "; the allocator put it there when the block was freed" : "");
		add_similar(freed, &text);
		xc_auto(xc_freep) char *behind =
			freed->word == freed->suspect->value
				? NULL
				: xc_asprintf("lies %" PRIu64 " bytes behind 0x%" PRIx64 ", which ",
					      freed->suspect->value - freed->word, freed->word);
		xc_verdict_evidence(crash->report,
				    "%s = 0x%" PRIx64 " %sis stored in freed memory, at 0x%" PRIx64 ": %s",
				    freed->suspect->who, freed->suspect->value, behind ? behind : "", freed->at,
				    xc_text_string(&text));
	} else
		xc_verdict_evidence(crash->report, "%s = 0x%" PRIx64 " points into freed memory: %s",
				    freed->suspect->who, freed->suspect->value, xc_text_string(&text));
	xc_text_fini(&text);
}

static void report_ambiguous(const struct xc_crash_context *crash, const struct freed *freed)
{
	xc_verdict_evidence(crash->report,
			    "%s = 0x%" PRIx64
			    " is stored in several freed blocks%s: the one from which it was read is not known",
			    freed->suspect->who, freed->suspect->value,
			    freed->metadata ? "; the allocator put it there when they were freed" : "");
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

/* "likely through h (struct item *)" */
static void add_through(const struct xc_crash_context *crash, const struct freed *freed, struct xc_text *text)
{
	if (freed->ambiguous || freed->way || !freed->through || !freed->through->name)
		return;
	xc_text_add(text, freed->similar ? "likely through " : "through ");
	xc_pointers_text(crash, freed->through, text);
}

/* The container whose elements the block had. A reference, or room for several elements, makes it likely; one object
 * that was freed alone may only have the same type. */
static void report_moved(struct xc_pointer_diagnosis *s, const struct freed *freed)
{
	const struct xc_blocks *blocks = &s->crash->heap->blocks;
	struct xc_deref way = {.text = NULL};
	struct xc_text moved = {0};
	uint64_t size;
	if (freed->way)
		way = *freed->way;
	else if (freed->through)
		way = (struct xc_deref){.pointer = freed->through->name,
					.pointer_type = freed->through->type,
					.led = freed->through->value};
	const struct xc_pointed t = {.crash = s->crash,
				     .deref = &way,
				     .type = xc_same_type_pointed(way.pointer_type),
				     .block = freed->block,
				     .begin = xc_block_addr(blocks, freed->block),
				     .size = xc_block_size(blocks, freed->block)};
	if (way.pointer && t.type && xc_moved_container_find(&t, &moved) && xc_type_size(t.type, &size) && size) {
		bool reference = xc_type_strip(way.pointer_type)->kind != XC_TYPE_POINTER;
		bool likely = reference || t.size / size > 1;
		xc_verdict_evidence(s->crash->report,
				    "%s, and not in that block: %s `%s` was kept while that grew or was replaced",
				    xc_text_string(&moved), likely ? "likely" : "perhaps", way.pointer);
		if (likely)
			xc_pointer_diagnosis_explain(s, "likely `%s` was kept while a container grew or was replaced",
						     way.pointer);
	}
	xc_text_fini(&moved);
}

static void explain(struct xc_pointer_diagnosis *s, const struct freed *freed)
{
	struct xc_crash_context *crash = s->crash;
	const char *kind = xc_fault_use(&crash->fault);
	struct xc_text through = {0}, cause = {0};
	bool read = freed->way || (freed->through && !freed->ambiguous);
	bool sure = freed->at ? freed->metadata && read : is_close(crash, freed->block);
	add_through(crash, freed, &through);
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
			       through.len ? ", " : "", xc_text_string(&through));
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
	if (!find_direct(s, &freed) && !find_through(s, &freed) && !find_anywhere(s, &freed)) {
		if (s->crash->heap->blocks.count > BLOCKS)
			xc_verdict_evidence(s->crash->report,
					    "missing: whether it was read from a freed block: only the first %d blocks "
					    "were searched",
					    BLOCKS);
		return false;
	}
	explain(s, &freed);
	xc_erased_element_report(s, freed.ambiguous ? XC_NO_BLOCK : freed.block, freed.suspect->value);
	if (freed.ambiguous) {
		report_ambiguous(s->crash, &freed);
		xc_freed_by_report(s->crash, 0, 0);
		return true;
	}
	report_block(s->crash, &freed);
	report_moved(s, &freed);
	xc_freed_by_report(s->crash, xc_block_addr(&s->crash->heap->blocks, freed.block),
			   xc_block_size(&s->crash->heap->blocks, freed.block));
	report_variables(s, freed.block);
	xc_freed_content_report(s->crash, freed.block, freed.way, &s->pointers);
	xc_referrers_report(s->crash, freed.block, false, "the freed block is still");
	return true;
}

/* The page map of tcmalloc, found by objects of known class, and the spans in it. The layouts are in
 * tcmalloc_find.c.
 *
 * The map is an array of 2^17 pointers to leaves, in the variables of the module. An object's address gives its
 * page, and so its entry and its place in a leaf. The span found there proves that a word is this entry: the span
 * has that page and the object's class. The other objects are then tested against the map. */
#include "heap/blocks/scan.h"
#include "heap/allocators/tcmalloc_impl.h"

enum {
	MOST_PAGES = 1 << 12, /* of a span with a class */
	LEAST_EFFORT = 1 << 22,
};

/* Is there a span on this page? Then its class, else 0. */
static unsigned class_on_page(struct tc_finder *f, xc_addr span, uint64_t page)
{
	const uint8_t *bytes = span % 8 == 0 ? xc_window(&f->far, span, TC_SPAN) : NULL;
	if (!bytes || page - tc_word(bytes, 0) >= tc_word(bytes, 8))
		return 0;
	return tc_half(bytes, 40) >> 16 & 255;
}

/* The evidence of the witness's supposed leaf about its class. */
static unsigned class_by_leaf(struct tc_finder *f, uint64_t leaf, uint64_t page)
{
	uint64_t span, index = page & ((UINT64_C(1) << f->state->leaf_bits) - 1);
	if (leaf % 8 || !leaf || !xc_window_word(&f->far, leaf + 8 * index, &span) || !span)
		return 0;
	return class_on_page(f, span, page);
}

static size_t ask_witnesses(struct tc_finder *f, xc_addr root)
{
	size_t agreed = 0;
	for (size_t i = 0; i < f->witness_count; i++) {
		uint64_t page = f->witnesses[i].object >> f->state->page_bits, leaf;
		if (xc_window_word(&f->far, root + 8 * (page >> f->state->leaf_bits), &leaf))
			agreed += class_by_leaf(f, leaf, page) == f->witnesses[i].size_class;
	}
	return agreed;
}

/* Tries the words of a run of data as the root's entry for one witness. */
static bool try_run(struct tc_finder *f, const struct tc_witness *witness, xc_addr addr, const uint8_t *bytes,
		    uint64_t len)
{
	uint64_t page = witness->object >> f->state->page_bits;
	for (uint64_t at = 0; at + 8 <= len; at += 8) {
		uint64_t leaf = tc_word(bytes, at);
		if (!leaf || leaf >> 48 || class_by_leaf(f, leaf, page) != witness->size_class)
			continue;
		xc_addr root = addr + at - 8 * (page >> f->state->leaf_bits);
		size_t agreed = ask_witnesses(f, root);
		if (agreed <= f->agreed)
			continue;
		f->agreed = agreed;
		f->state->pagemap = root;
		if (agreed == f->witness_count)
			return true;
	}
	return false;
}

static bool try_data(struct tc_finder *f, const struct tc_witness *witness)
{
	for (xc_addr at = f->state->data_lo; at < f->state->data_hi;) {
		uint64_t len;
		const uint8_t *bytes = xc_window_run(&f->window, at, f->state->data_hi - at + 1, &len);
		if (bytes && try_run(f, witness, at, bytes, len))
			return true;
		at += bytes && len >= 8 ? len & ~UINT64_C(7) : 8;
	}
	return false;
}

/* Tries every page size that gperftools can be built for. One witness may be a damaged pointer, so several are
 * tried. */
bool tc_find_pagemap(struct tc_finder *f)
{
	static const uint8_t page_bits[] = {13, 12, 15, 16, 18};
	unsigned best = 0;
	xc_addr root = 0;
	for (size_t i = 0; i < XC_COUNT(page_bits) && f->agreed < f->witness_count; i++) {
		size_t before = f->agreed;
		f->state->page_bits = page_bits[i];
		f->state->leaf_bits = (48U - page_bits[i] + 1) / 2;
		for (size_t k = 0; k < f->witness_count && k < 4; k++)
			if (try_data(f, &f->witnesses[k]) || 2 * f->agreed > f->witness_count)
				break;
		if (f->agreed > before) {
			best = page_bits[i];
			root = f->state->pagemap;
		}
	}
	f->state->page_bits = best;
	f->state->leaf_bits = (48U - best + 1) / 2;
	f->state->pagemap = root;
	return 2 * f->agreed > f->witness_count;
}

/* ---- spans ---- */

static void damaged_span(struct tc_finder *f, xc_addr addr, xc_addr page, const char *what)
{
	struct xc_damage damage = {.addr = page,
				   .what = what,
				   .lost_lo = page,
				   .lost_hi = page + (UINT64_C(1) << f->state->page_bits) - 1,
				   .arena = f->state->arena,
				   .before = XC_NO_BLOCK};
	damage.found = xc_arena_printf(&f->heap->memory, "Span 0x%llx", (unsigned long long)addr);
	xc_heap_add_damage(f->heap, &damage);
}

/* The rule that a span breaks, or NULL. */
static const char *check_span(const struct tc_finder *f, const struct tc_span *span, uint64_t pages)
{
	const struct xc_mapping *first = xc_process_mapping(f->heap->process, span->lo);
	if (!pages || pages > (UINT64_C(1) << 48) >> f->state->page_bits)
		return "span of an impossible length";
	if (!first || !first->writable || !xc_process_mapping(f->heap->process, span->lo + span->bytes - 1))
		return "span of pages that are not mapped";
	if (span->location > TC_RETURNED || span->size_class >= f->state->class_count)
		return "span of a class or list that does not exist";
	if (span->size_class && (pages > MOST_PAGES || span->size > span->bytes))
		return "span whose class does not fit its length";
	return NULL;
}

/* Adds the span that begins at a page. Returns its number of pages; 0 if none begins there. */
static uint64_t take_span(struct tc_finder *f, xc_addr addr, uint64_t page)
{
	const uint8_t *bytes = addr % 8 == 0 ? xc_window(&f->far, addr, TC_SPAN) : NULL;
	struct tc_state *state = f->state;
	if (!bytes || tc_word(bytes, 0) != page) {
		damaged_span(f, addr, page << state->page_bits, "page whose span does not begin there");
		return 0;
	}
	uint64_t pages = tc_word(bytes, 8), bits = tc_word(bytes, 40);
	struct tc_span span = {.span = addr,
			       .lo = page << state->page_bits,
			       .bytes = pages << state->page_bits,
			       .objects = tc_word(bytes, 32),
			       .in_use = (uint16_t)bits,
			       .size_class = bits >> 16 & 255,
			       .location = bits >> 24 & 3};
	if (span.location != TC_IN_USE)
		span.size_class = 0;
	span.size = span.size_class < state->class_count ? state->sizes[span.size_class] : 0;
	const char *wrong = check_span(f, &span, pages);
	if (wrong) {
		damaged_span(f, addr, span.lo, wrong);
		return 0;
	}
	if (span.size_class)
		f->rings[span.size_class] = addr;
	state->spans = xc_grow(state->spans, state->count, &state->capacity, sizeof *state->spans);
	state->spans[state->count++] = span;
	return pages;
}

/* Reads one leaf. *next is the first page that no earlier span covers. */
static void take_leaf(struct tc_finder *f, xc_addr leaf, uint64_t first, uint64_t *next)
{
	uint64_t end = first + (UINT64_C(1) << f->state->leaf_bits), lost = 0, len;
	for (uint64_t page = *next > first ? *next : first; page < end && f->effort;) {
		f->effort--;
		const uint8_t *bytes = xc_window_run(&f->window, leaf + 8 * (page - first), 8 * (end - page), &len);
		uint64_t from = page, step = 1;
		for (; bytes && page < end && len >= 8 && page - from <= len / 8 - 1 && f->effort; page += step) {
			f->effort--;
			uint64_t span = tc_word(bytes, 8 * (page - from));
			step = 1;
			if (!span || span == lost)
				continue;
			step = take_span(f, span, page);
			lost = step ? 0 : span;
			step = step ? step : 1;
		}
		if (page == from)
			page += 512 - page % 512; /* unreadable: the next page of the leaf, approximately */
	}
	*next = f->state->count
			? (f->state->spans[f->state->count - 1].lo + f->state->spans[f->state->count - 1].bytes) >>
				  f->state->page_bits
			: 0;
}

/* The maximum number of leaves, a bound for hostile roots. */
static uint64_t most_leaves(const struct tc_finder *f)
{
	const struct xc_process *process = f->heap->process;
	unsigned bits = f->state->page_bits + f->state->leaf_bits;
	uint64_t most = 0;
	for (size_t i = 0; i < process->mapping_count; i++)
		if (process->mappings[i].writable)
			most += ((process->mappings[i].hi - process->mappings[i].lo) >> bits) + 2;
	return most;
}

void tc_find_spans(struct tc_finder *f)
{
	uint64_t most = most_leaves(f), next = 0, leaf;
	f->effort = LEAST_EFFORT + xc_scan_stored_bytes(f->heap->process->space, 0, UINT64_MAX) / 8;
	unsigned root_bits = 48 - f->state->page_bits - f->state->leaf_bits;
	for (uint64_t i = 0; i < UINT64_C(1) << root_bits && most; i++)
		if (xc_window_word(&f->far, f->state->pagemap + 8 * i, &leaf) && leaf && leaf % 8 == 0) {
			take_leaf(f, leaf, i << f->state->leaf_bits, &next);
			most--;
		}
	if (f->effort == 0)
		xc_heap_add_damage(f->heap,
				   &(struct xc_damage){.addr = f->state->pagemap,
						       .what = "its page map has more leaves than the core has memory: "
							       "the search for spans was abandoned",
						       .lost_lo = 1,
						       .arena = f->state->arena,
						       .before = XC_NO_BLOCK});
}

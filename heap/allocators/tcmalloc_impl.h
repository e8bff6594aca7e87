/* tcmalloc: the allocator of gperftools. Shared by the file that finds its parts and the one that reads its spans.
 * The layouts are in tcmalloc_find.c. */
#ifndef XC_TCMALLOC_IMPL_H
#define XC_TCMALLOC_IMPL_H

#include <string.h>

#include "heap/blocks/allocator.h"

enum {
	TC_CLASSES = 128,   /* maximum of size classes; class 0 is none */
	TC_SPAN = 48,       /* bytes of a struct Span that are examined */
	TC_SLOTS = 64,      /* of a transfer cache */
	TC_WITNESSES = 64,  /* objects used to test the page map */
	TC_BATCH = 1 << 16, /* maximum of objects of a batch in transfer */
};

enum tc_location { TC_IN_USE, TC_FREE, TC_RETURNED };

/* A run of pages: objects of one size, one large block, or free. */
struct tc_span {
	xc_addr span;     /* of the struct Span */
	xc_addr lo;       /* of its pages */
	uint64_t bytes;   /* of its pages */
	xc_addr objects;  /* first free object, if it has a class */
	uint32_t size;    /* of its objects; 0: it has no class */
	uint32_t missing; /* free objects that its list did not lead to */
	uint16_t in_use;  /* objects outside its list of free ones */
	uint8_t size_class;
	uint8_t location; /* enum tc_location */
};

/* Objects linked by their first words that are free although no span records it. */
struct tc_list {
	xc_addr head;
	xc_addr tail;   /* of a batch in a transfer cache */
	uint64_t count; /* of a batch: an upper bound */
	bool thread;    /* of a thread's cache; false: of a transfer cache */
	uint8_t size_class;
};

struct tc_state {
	uint32_t arena;
	unsigned page_bits;
	xc_addr data_lo, data_hi; /* the module's variables */
	xc_addr pagemap;          /* the root's first entry */
	unsigned leaf_bits;
	xc_addr central; /* the central cache of class 0; 0: not found */
	uint64_t central_step;
	uint32_t sizes[TC_CLASSES];
	unsigned class_count;
	struct tc_span *spans; /* by address */
	size_t count, capacity;
	struct tc_list *lists;
	size_t list_count, list_capacity;
	size_t *pieces; /* piece i: spans pieces[i] to pieces[i + 1] - 1 */
	size_t piece_count;
};

static inline uint64_t tc_objects(const struct tc_span *span)
{
	return span->size ? span->bytes / span->size : 1;
}

/* An object in a thread's cache. */
struct tc_witness {
	xc_addr object;
	unsigned size_class;
};

struct tc_finder {
	struct xc_heap *heap;
	struct tc_state *state;
	struct xc_window window; /* of the module's data, scanned */
	struct xc_window far;    /* of what it points to */
	xc_addr *caches;
	size_t cache_count, cache_capacity;
	uint64_t lists_at; /* of FreeList[0] within a ThreadCache */
	struct tc_witness witnesses[TC_WITNESSES];
	size_t witness_count, agreed;
	uint64_t effort; /* entries of leaves that may still be examined: hostile leaves overlap */
	xc_addr *rings;  /* per class: the last span of it seen */
};

static inline uint64_t tc_word(const uint8_t *bytes, size_t offset)
{
	uint64_t word;
	memcpy(&word, bytes + offset, sizeof word);
	return word;
}

static inline uint32_t tc_half(const uint8_t *bytes, size_t offset)
{
	uint32_t half;
	memcpy(&half, bytes + offset, sizeof half);
	return half;
}

/* Finds the page map with the witnesses. False if most of them disagree. */
bool tc_find_pagemap(struct tc_finder *f);

/* Reads all spans, in address order. */
void tc_find_spans(struct tc_finder *f);

/* Finds all parts; adds the arena, regions and damage. False if tcmalloc is not in use or cannot be read; why_out
 * may then get a reason. */
bool tc_find(struct xc_heap *heap, struct tc_state *state, const char **why_out);

#endif

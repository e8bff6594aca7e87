/* typing: which type each live block holds, how sure that is, and what says so.
 *
 * Types start where DWARF gives them (globals, locals, arguments, thread-locals), where the memory itself names them (vtables) and where a
 * plugin claims them, and flow along typed pointers, checked against the size of what they point to. A block's assignment is
 * one 32-bit number: many blocks have the same type from the same edge, so what is known is kept once (struct xc_typed). */
#ifndef XC_TYPING_H
#define XC_TYPING_H

#include "dwarf/types/type.h"
#include "heap/blocks/heap.h"

enum xc_confidence {
	XC_TYPE_UNTYPED,
	XC_TYPE_WEAK,   /* one hint, or the best of conflicting ones: shape, content, size alone */
	XC_TYPE_STRONG, /* a typed pointer of a block that is itself strong, agreeing with size and content */
	XC_TYPE_EXACT,  /* a vtable, a plugin's claim, a typed global pointer that agrees with the size */
};

/* How a block's bytes are made of its type. */
enum xc_typed_shape {
	XC_TYPED_ONE,      /* one object at the beginning (its flexible last member may fill the rest) */
	XC_TYPED_ARRAY,    /* as many elements as fit */
	XC_TYPED_TEXT,     /* characters up to a NUL */
	XC_TYPED_EMBEDDED, /* one object at `offset` */
};

/* One thing known of blocks: the type and where it comes from. */
struct xc_typed {
	const struct xc_type *
		type; /* of the object or the element; stripped of typedefs only where they have no name of their own */
	uint8_t shape;      /* enum xc_typed_shape */
	uint8_t confidence; /* enum xc_confidence */
	bool conflicting;   /* other evidence says another type: xc_typing_votes tells */
	uint64_t offset;    /* of the object in the block, for EMBEDDED; of the first element for ARRAY (cookies) */
	const char *via;    /* "struct client.querybuf", "global server.clients", "vtable", …: the edge or root */
};

struct xc_typing {
	struct xc_heap *heap;
	uint32_t *by_block; /* index into items; 0: untyped */
	struct xc_typed *items;
	size_t item_count, item_capacity, item_most;
	size_t refused;               /* what could not be said of blocks: there were item_most items */
	void *state;                  /* of the engine: votes, … */
	struct xc_traits *traits;     /* of evidence_rust.c */
	struct xc_managers *managers; /* of evidence_erased.c */
	struct xc_reserve memory;
};

/* The types of all live blocks; made on first use, with the graph. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_typing_of(struct xc_heap *heap, struct xc_typing **typing_out);
void xc_typing_free(struct xc_typing *typing); /* NULL is fine */

/* What is known of a block; NULL when nothing is. */
static inline const struct xc_typed *xc_typing_get(const struct xc_typing *typing, uint32_t block)
{
	return typing->by_block[block] ? &typing->items[typing->by_block[block]] : NULL;
}

/* Elements of an array, characters of a text, else 1; 0 for untyped blocks. */
uint64_t xc_typing_count(const struct xc_typing *typing, uint32_t block);

/* "exact", "strong", "weak", NULL */
const char *xc_confidence_word(enum xc_confidence confidence);

/* The name that people and JSON see: "struct client", "char []", "struct table [12]" is "struct table" with a count. */
const char *xc_typing_name(const struct xc_typing *typing, uint32_t block);

/* One of the types that evidence gave a block, with how many words of it say so. */
struct xc_vote {
	const struct xc_type *type;
	const char *via;
	uint64_t votes;
};

/* The evidence for a block, most votes first, at most `most`; returns how many. */
size_t xc_typing_votes(const struct xc_typing *typing, uint32_t block, struct xc_vote *votes, size_t most);

#endif

/* typing: the type of each live block, its confidence, and the evidence for it.
 *
 * Types start where DWARF gives them (globals, locals, arguments, thread-locals), where memory itself names them
 * (vtables), and where a plugin claims them. They flow along typed pointers, and are checked against the size of
 * the target. A block's assignment is one 32-bit number: many blocks have the same type from the same edge, so the
 * facts are stored once (struct xc_typed). */
#ifndef XC_TYPING_H
#define XC_TYPING_H

#include "dwarf/types/type.h"
#include "heap/blocks/heap.h"

enum xc_confidence {
	XC_TYPE_UNTYPED,
	XC_TYPE_WEAK,   /* one hint, or the best of conflicting ones: shape, content, size alone */
	XC_TYPE_STRONG, /* a typed pointer from a strong block; size and content agree */
	XC_TYPE_EXACT,  /* a vtable, a plugin's claim, or a typed global pointer that agrees with the size */
};

/* How objects of the type fill a block. */
enum xc_typed_shape {
	XC_TYPED_ONE,      /* one object at the beginning (its flexible last member may fill the rest) */
	XC_TYPED_ARRAY,    /* as many elements as fit */
	XC_TYPED_TEXT,     /* characters up to a NUL */
	XC_TYPED_EMBEDDED, /* one object at `offset` */
};

/* A fact about blocks: a type and its source. */
struct xc_typed {
	const struct xc_type
		*type;      /* of the object or the element; typedefs are stripped unless their target has no name */
	uint8_t shape;      /* enum xc_typed_shape */
	uint8_t confidence; /* enum xc_confidence */
	bool conflicting;   /* other evidence suggests another type: see xc_typing_votes */
	uint64_t offset;    /* of the object in the block, for EMBEDDED; of the first element for ARRAY (cookies) */
	const char *via;    /* the edge or root: "struct client.querybuf", "global server.clients", "vtable", … */
};

struct xc_typing {
	struct xc_heap *heap;
	uint32_t *by_block; /* index into items; 0: untyped */
	struct xc_typed *items;
	size_t item_count, item_capacity, item_most;
	size_t refused;               /* facts that were dropped because there were item_most items */
	void *state;                  /* the engine's: votes, … */
	struct xc_traits *traits;     /* of evidence_rust.c */
	struct xc_managers *managers; /* of evidence_erased.c */
	struct xc_reserve memory;
};

/* The types of all live blocks; made on first use, with the graph. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_typing_of(struct xc_heap *heap, struct xc_typing **typing_out);
void xc_typing_free(struct xc_typing *typing); /* NULL is fine */

/* The facts about a block; NULL if there are none. */
static inline const struct xc_typed *xc_typing_get(const struct xc_typing *typing, uint32_t block)
{
	return typing->by_block[block] ? &typing->items[typing->by_block[block]] : NULL;
}

/* Elements of an array, characters of a text, else 1; 0 for untyped blocks. */
uint64_t xc_typing_count(const struct xc_typing *typing, uint32_t block);

/* The count of an array is of the elements that the block has room for. Was it asked for so many? False when a request
 * for one element less may have given the same block. Always true for bytes, which the block does have. */
bool xc_typing_count_sure(const struct xc_typing *typing, uint32_t block);

/* "exact", "strong", "weak", NULL */
const char *xc_confidence_word(enum xc_confidence confidence);

/* The name shown to people and in JSON: "struct client", "char []". "struct table [12]" is "struct table" with a
 * count. */
const char *xc_typing_name(const struct xc_typing *typing, uint32_t block);

/* One of the types that evidence suggests for a block, with the number of words that do so. */
struct xc_vote {
	const struct xc_type *type;
	const char *via;
	uint64_t votes;
};

/* The evidence for a block, most votes first, at most `most`; returns the number. */
size_t xc_typing_votes(const struct xc_typing *typing, uint32_t block, struct xc_vote *votes, size_t most);

#endif

/* typing_evidence: the interface by which sources of evidence take part in typing, for those who add one.
 *
 * The engine (typing_engine.h) knows DWARF, sizes and pointers. Other sources of types (vtables, containers, tagged
 * unions, strings) are evidence: each is one const table in a file heap/evidence/evidence_NOUN.c, listed in
 * evidence_list.h. The functions of the table:
 *
 *	seed   one thread     before types flow: blocks that identify themselves (vtables)
 *	meet   one thread     at the first object of a type: does the source understand such objects?
 *	visit  many threads   an object of such a type, in a block, in a global, in a frame, or inside another object
 *	late   one thread     after types have flowed: blocks that are still untyped (strings)
 *
 * A proposal is an item: a struct xc_typed that is made once (in seed, meet or late; never in visit) and given to
 * any number of blocks. The more certain proposal wins; among equally certain ones the one that explains more, then
 * the item that was made first. So the result does not depend on the number of threads. A block whose type is
 * accepted is visited in turn, and types flow on from it. All memory is untrusted: limit what you read. */
#ifndef XC_TYPING_EVIDENCE_H
#define XC_TYPING_EVIDENCE_H

#include "heap/graph/stale_range.h"
#include "heap/types/typing.h"
#include "heap/blocks/window.h"

/* The state of one thread while it examines objects. */
struct xc_visit {
	struct xc_typing *typing;
	struct xc_window window; /* for reading elsewhere; the object's own bytes are given */
	xc_addr addr;            /* address of the object; 0 if it is in registers */
	const uint8_t *bytes;    /* all sizeof(type) bytes; valid until visit returns */
	uint64_t size;
	uint32_t block;                /* the block that contains it, or XC_NO_BLOCK */
	uint8_t most;                  /* enum xc_confidence: an upper limit of proposals */
	struct xc_typing_queue *queue; /* private to the engine */
};

struct xc_evidence {
	const char *name;                       /* "vtable", "std containers" */
	void (*seed)(struct xc_typing *typing); /* may be NULL, like all others */

	/* Called at the first object of a type (stripped, complete). Returns NULL if its objects provide no
	 * evidence, else the argument of visit for each of them (in typing->heap->memory, or static). *only_out
	 * (initially false): the engine need not examine its members. */
	const void *(*meet)(struct xc_typing *typing, const struct xc_type *type, bool *only_out);
	void (*visit)(struct xc_visit *visit, const void *met);
	void (*late)(struct xc_typing *typing);

	/* Do objects of the type (stripped, complete) exist only as parts of larger ones, such as the links of a
	 * node without its element? Then a pointer to one does not determine the block's type. */
	bool (*part)(const struct xc_type *type);

	/* Do the visits of such objects call xc_typing_stale? */
	bool (*says_stale)(const void *met);
};

/* Makes an item. via is copied; type may be any (a typedef, qualified; for arrays the element). Equal arguments
 * give the same item. Returns its number; 0 if the type has no size. */
uint32_t xc_typing_item(struct xc_typing *typing, const struct xc_typed *what);

/* Proposes the item for the block that begins at addr, or that has the item's object there (by its offset). Ignored
 * if that is impossible: there is no live block, or the object does not fit. In visit only. */
void xc_typing_propose(struct xc_visit *visit, xc_addr addr, uint32_t item);

/* The bytes at `offset` of the object are an object of another type than DWARF says: the arm of a union that a tag
 * selects, the content of a buffer of raw bytes. The engine examines it like a member. xc_typing_object makes the
 * number, in meet; it returns 0, with which xc_typing_look does nothing, if the type has no size. xc_typing_look is
 * for visit only. */
uint32_t xc_typing_object(struct xc_typing *typing, const struct xc_type *type);
void xc_typing_look(struct xc_visit *visit, uint64_t offset, uint32_t object);

/* The words from lo to hi (inclusive) are no pointers that the program means, although they look alike. In visit only;
 * evidence that says so has `says_stale`. */
void xc_typing_stale(struct xc_visit *visit, xc_addr lo, xc_addr hi, enum xc_stale_range_kind kind);

/* Of the array that the block is, only the bytes from `from` up to `to` hold elements: nothing flows from the others.
 * In visit only. */
void xc_typing_uses(struct xc_visit *visit, uint32_t block, uint64_t from, uint64_t to);

/* Are they asked for in this visit? Ask before a search for them. */
bool xc_typing_wants_stale(const struct xc_visit *visit);

/* Like xc_typing_propose, for seed and late, by block. */
void xc_typing_seed(struct xc_typing *typing, uint32_t block, uint32_t item);

/* For late: does the block have a type by now? */
bool xc_typing_has(const struct xc_typing *typing, uint32_t block);

/* Is a text of `length` characters what an object of `size` bytes is for? `bytes`: the object's first `shown` ones. An
 * object may begin with a number or with a name: a text that is a smaller part than an eighth has eight characters, and
 * only zeros follow, as far as they are shown. */
bool xc_typing_text_fills(const uint8_t *bytes, uint64_t shown, uint64_t size, uint64_t length);

/* Of a damaged heap: does text run over the beginning of the block, from before it, where no allocator keeps text? Then
 * it is not the block's own, and says nothing about its type. */
bool xc_typing_is_run_over(const struct xc_heap *heap, uint32_t block);

/* The first definition of a type by name and, if the name is ambiguous, by size (0: any). NULL if there is none.
 * For seed, meet and late. */
const struct xc_type *xc_typing_find_type(struct xc_typing *typing, const char *name, uint64_t size);

#endif

/* typing_evidence: how evidence of its own takes part in typing: for those who teach xcore what memory says by itself.
 *
 * The engine (typing_engine.h) knows DWARF, sizes and pointers. What else tells types - vtables, containers, tagged
 * unions, strings - is evidence: one const table in a file heap/evidence/evidence_NOUN.c, listed in evidence_list.h. It takes part at three points:
 *
 *	seed   one thread     before types flow: what blocks say by themselves (vtables)
 *	meet   one thread     a type is met for the first time: have its objects something to say?
 *	visit  many threads   an object of such a type, in a block, in a global, in a frame, or inside of another object
 *	late   one thread     types have flowed as far as they do: what is still untyped (strings)
 *
 * What is proposed is an item: a struct xc_typed that is made once (seed, meet, late; never in visit) and given to as many
 * blocks as there are. What is proposed more surely stays; between equally sure ones those that explain more stay, and then those whose
 * item was made first: so the answer does not depend on the number of threads. A block whose type is accepted is visited
 * in its turn, and types flow on from it. All memory is hostile: bound what you read. */
#ifndef XC_TYPING_EVIDENCE_H
#define XC_TYPING_EVIDENCE_H

#include "heap/types/typing.h"
#include "heap/blocks/window.h"

/* One thread's state while it looks at objects. */
struct xc_visit {
	struct xc_typing *typing;
	struct xc_window window; /* for reading elsewhere: the object's own bytes are given */
	xc_addr addr;            /* of the object; 0 when it lies in registers */
	const uint8_t *bytes;    /* all sizeof(type) of them; good until visit returns */
	uint64_t size;
	uint32_t block;                /* that it lies in, or XC_NO_BLOCK */
	uint8_t most;                  /* enum xc_confidence: proposals are lowered to it */
	struct xc_typing_queue *queue; /* the engine's */
};

struct xc_evidence {
	const char *name;                       /* "vtable", "std containers" */
	void (*seed)(struct xc_typing *typing); /* may be NULL, as all others */

	/* The type (stripped, complete) has been met. NULL: its objects have nothing to say; else what visit gets with each of them
	 * (in typing->heap->memory, or static). *only_out (false before): its members need no look of the engine's own. */
	const void *(*meet)(struct xc_typing *typing, const struct xc_type *type, bool *only_out);
	void (*visit)(struct xc_visit *visit, const void *met);
	void (*late)(struct xc_typing *typing);

	/* Objects of the type (stripped, complete) are only ever part of larger ones, as the links of a node without its element are: a
	 * pointer to one does not say what the block is. */
	bool (*part)(const struct xc_type *type);
};

/* Make an item; its via is copied, its type may be any (a typedef, qualified; arrays by their element). The same again is the
 * same item. Returns its number; 0 when the type has no size. */
uint32_t xc_typing_item(struct xc_typing *typing, const struct xc_typed *what);

/* The block that begins at addr (with item's offset: that has the object there) is what the item says. Ignored where that cannot be:
 * there is no live block, the object does not fit. In visit only. */
void xc_typing_propose(struct xc_visit *visit, xc_addr addr, uint32_t item);

/* What stands at `offset` in the object's own bytes is an object of another type than DWARF says: the arm of a union that a
 * tag selects, the content of a buffer of raw bytes. The engine looks at it as at any member. A number from xc_typing_object, which is
 * for meet; 0, and nothing is done, when the type has no size. In visit only. */
uint32_t xc_typing_object(struct xc_typing *typing, const struct xc_type *type);
void xc_typing_look(struct xc_visit *visit, uint64_t offset, uint32_t object);

/* The same in seed and late, by block. */
void xc_typing_seed(struct xc_typing *typing, uint32_t block, uint32_t item);

/* In late: has the block a type by now? */
bool xc_typing_has(const struct xc_typing *typing, uint32_t block);

/* The first definition of a type by name and, where the name is ambiguous, by size (0: any); NULL when there is none. In seed,
 * meet and late. */
const struct xc_type *xc_typing_find_type(struct xc_typing *typing, const char *name, uint64_t size);

#endif

/* claim: what a plugin knows better than malloc does: blocks within blocks (an object in a pool, a string in an arena), what they are, and
 * pointers and roots that are no plain words.
 *
 * Claims are made before the first question; graph, typing and whoever hands out blocks apply them first. A block with claims in
 * it falls apart: each claim becomes a block of its own, what lies between them stays as further pieces of the block. All pieces of a
 * block keep each other alive through the first one, since malloc knows only the whole.
 *
 * Rules are claims that hold for all objects of a type: typing follows them wherever it meets one, so that no plugin walks millions. */
#ifndef XC_CLAIM_H
#define XC_CLAIM_H

#include "dwarf/types/type.h"
#include "heap/blocks/heap.h"

struct xc_heap_claim {
	xc_addr addr;               /* aligned to 8 */
	uint64_t size;              /* bytes; 0: to the end of the block */
	const struct xc_type *type; /* of the object or the elements; NULL: not known */
	bool is_array;              /* as many elements as fit */
	const char *what;           /* who says so: "nginx: pool of request"; shown as the origin of the type */
};

/* A pointer that memory does not hold as a word: packed, relative, an index. */
struct xc_claim_edge {
	xc_addr from, to; /* anywhere in the two blocks */
};

/* Something that keeps a block alive from outside. */
struct xc_claim_root {
	xc_addr addr; /* anywhere in the block */
};

/* What a pointer is that the type does not tell: in objects of `type` the member `field` is of type `cast` where the member `by` has
 * the value. Members are paths: "ptr", "v.val". What the debug information does not have changes nothing: versions of programs differ. */
struct xc_claim_rule {
	const char *type;       /* of a record: "dict", "struct dict" */
	uint32_t in;            /* 0: all objects of the type; else those of this variant (xc_claim_variant) */
	const char *field, *by; /* by NULL: always */
	uint64_t value;         /* a number, the address of a function or of a table of them */
	const char *cast;       /* "dict *", "sds"; what is no pointer, as "long": the member is none then */
	uint32_t as;            /* the variant of the records that the cast leads to; 0: as they are */
};

/* Pointers of a typedef that point behind a header, as sds of redis: the byte `at` bytes from where they point tells which. */
struct xc_claim_header {
	const char *pointer; /* of the typedef: "sds" */
	int32_t at;          /* -1 */
	uint8_t mask, value; /* of the byte: byte & mask == value */
	const char *header;  /* "struct sdshdr8" */
};

struct xc_claims {
	struct xc_heap_claim *items;
	struct xc_claim_rule *rules;
	struct xc_claim_header *headers;
	size_t rule_count, header_count, rule_capacity, header_capacity;
	uint32_t variants; /* numbers given */
	struct xc_claim_edge *edges;
	struct xc_claim_root *roots;
	size_t count, edge_count, root_count, capacity, edge_capacity, root_capacity;
	xc_addr *pieces; /* once applied: pieces of blocks but the first ones, by address */
	size_t piece_count, piece_capacity;
	size_t refused; /* claims outside of live blocks, and such that overlap another */
	bool applied;
};

enum { XC_CLAIMS = 1 << 24, XC_CLAIM_RULES = 1 << 12 };

/* What is given is copied. Errors: XC_ERR_USAGE when claims were applied already, or addr is not aligned; XC_ERR_LIMIT past
 * XC_CLAIMS of a kind. Whether it lies in a live block is seen when claims are applied: claims->refused. */
XC_MUST_CHECK struct xc_error *xc_claim_add(struct xc_heap *heap, const struct xc_heap_claim *claim);
XC_MUST_CHECK struct xc_error *xc_claim_add_edge(struct xc_heap *heap, xc_addr from, xc_addr to);
XC_MUST_CHECK struct xc_error *xc_claim_add_root(struct xc_heap *heap, xc_addr addr);

/* The same, at most XC_CLAIM_RULES. typing_cast.c makes something of them. */
XC_MUST_CHECK struct xc_error *xc_claim_add_rule(struct xc_heap *heap, const struct xc_claim_rule *rule);
XC_MUST_CHECK struct xc_error *xc_claim_add_header(struct xc_heap *heap, const struct xc_claim_header *header);

/* A number for a variant of a record: its objects are of one type, but what they hold is not (tables for all kinds of values). Objects of
 * the same type that those of a variant point to are of the variant too, unless a rule says otherwise. */
XC_MUST_CHECK struct xc_error *xc_claim_variant(struct xc_heap *heap, uint32_t *variant_out);

/* Cut the table of blocks by the claims, once: indexes of blocks change (those that damages have are put right). */
void xc_claims_apply(struct xc_heap *heap);
void xc_claims_free(struct xc_claims *claims); /* NULL is fine */

/* The claim that a block is; NULL when it is none. And: is the block a piece that malloc did not make? O(log n). */
const struct xc_heap_claim *xc_claim_of(const struct xc_heap *heap, uint32_t block);
bool xc_claim_is_piece(const struct xc_heap *heap, uint32_t block);

#endif

/* claim: what a plugin knows better than malloc: blocks inside blocks (an object in a pool, a string in an arena),
 * their types, and pointers and roots that are not plain words.
 *
 * Claims are added before the first query; graph, typing and all users of blocks apply them first. A block with
 * claims is divided: each claim becomes a block, and the parts between claims become further pieces. The pieces of
 * a block keep each other alive, since malloc knows only the whole block, except for those that stand alone: they keep
 * the others alive, but when nothing points to one, it is leaked.
 *
 * Rules are claims about all objects of a type. Typing applies them wherever it finds the type, so that no plugin
 * has to walk millions of objects. */
#ifndef XC_CLAIM_H
#define XC_CLAIM_H

#include "dwarf/types/type.h"
#include "heap/blocks/heap.h"

struct xc_heap_claim {
	xc_addr addr;               /* aligned to 8 */
	uint64_t size;              /* bytes; 0: to the end of the block */
	const struct xc_type *type; /* of the object or the elements; NULL: not known */
	bool is_array;              /* as many elements as fit */
	bool is_alone;              /* an object of a slab: only pointers to itself keep it alive */
	bool is_free;               /* the pool's owner does not use it: its words are no pointers */
	const char *what;           /* the source: "nginx: pool of request"; shown as the origin of the type */
};

/* A pointer that is not stored as a word: packed, relative, an index. */
struct xc_claim_edge {
	xc_addr from, to; /* anywhere in the two blocks */
};

/* A reference that keeps a block alive from outside. */
struct xc_claim_root {
	xc_addr addr; /* anywhere in the block */
};

/* The meaning of a pointer that its type does not express: in objects of `type` the member `field` has type `cast`
 * if the member `by` has the value. Members are paths: "ptr", "v.val". A rule whose names the debug information
 * lacks has no effect, since versions of programs differ. */
struct xc_claim_rule {
	const char *type;       /* of a record: "dict", "struct dict" */
	uint32_t in;            /* 0: all objects of the type; else objects of this variant (xc_claim_variant) */
	const char *field, *by; /* by NULL: in any case */
	uint64_t value;         /* a number, the address of a function or of a table of functions */
	const char *cast;       /* "dict *", "sds"; a type such as "long": the member is not a pointer */
	uint32_t as;            /* the variant of the records that the cast leads to; 0: none */
};

/* Pointers of a typedef that point past a header, like sds of redis. The byte `at` bytes from the pointer's
 * target selects the header. */
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
	xc_addr *pieces; /* after applying: the pieces of blocks except the first ones, by address */
	size_t piece_count, piece_capacity;
	size_t refused; /* claims outside live blocks, and claims that overlap another */
	bool applied;
};

enum { XC_CLAIMS = 1 << 24, XC_CLAIM_RULES = 1 << 12 };

/* Add a claim; the argument is copied. Errors: XC_ERR_USAGE if claims were applied already, or addr is not aligned;
 * XC_ERR_LIMIT above XC_CLAIMS of a kind. Applying checks that it lies in a live block: claims->refused. */
XC_MUST_CHECK struct xc_error *xc_claim_add(struct xc_heap *heap, const struct xc_heap_claim *claim);
XC_MUST_CHECK struct xc_error *xc_claim_add_edge(struct xc_heap *heap, xc_addr from, xc_addr to);
XC_MUST_CHECK struct xc_error *xc_claim_add_root(struct xc_heap *heap, xc_addr addr);

/* The same, at most XC_CLAIM_RULES. typing_cast.c applies them. */
XC_MUST_CHECK struct xc_error *xc_claim_add_rule(struct xc_heap *heap, const struct xc_claim_rule *rule);
XC_MUST_CHECK struct xc_error *xc_claim_add_header(struct xc_heap *heap, const struct xc_claim_header *header);

/* A number for a variant of a record: its objects have one type but different contents (tables for all kinds of
 * values). Objects of the same type that objects of a variant point to are of that variant too, unless a rule says
 * otherwise. */
XC_MUST_CHECK struct xc_error *xc_claim_variant(struct xc_heap *heap, uint32_t *variant_out);

/* Divides the table of blocks by the claims, once. Indexes of blocks change; those in damage are corrected. */
void xc_claims_apply(struct xc_heap *heap);
void xc_claims_free(struct xc_claims *claims); /* NULL is fine */

/* The claim that a block is, or NULL. The other: is the block a piece that malloc did not make? O(log n). */
const struct xc_heap_claim *xc_claim_of(const struct xc_heap *heap, uint32_t block);
bool xc_claim_is_piece(const struct xc_heap *heap, uint32_t block);

#endif

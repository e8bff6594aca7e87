/* typing_engine: the internals of typing, shared by typing*.c and the reports about it.
 *
 *	typing_map      the types that are followed
 *	typing_slot     the slots of a type: the pointers in an object, and their targets
 *	typing_root     objects that DWARF places: globals, thread-locals, locals and arguments
 *	typing_flow     the queue: blocks are visited level by level
 *	typing_look     the pointers in an object; typing_hit: what they propose
 *	typing_rule     ambiguous pointers (void *, into the middle, to a base): rules learned from samples
 *	typing_kind     headers: objects of one kind have one type
 *	typing_arm      which of a union's pointers is meant
 *	typing_cast     what plugins know about pointers
 *	typing_family   what a pointer to struct sockaddr leads to
 *	typing_score    does the memory of a block look like an object of a type?
 *	typing_refute   does it rule a type out?
 *	typing_index    the program's types by size and by member
 *	typing_content  blocks that no typed pointer leads to
 *	typing_words    what only types tell the graph: the pointers of packed objects, and to parts of objects
 *	typing_vote     blocks for which pointers suggest different types; typing_support: types whose source is gone
 *
 * While types flow, by_block holds codes instead of items: the better proposal is the greater number.
 *
 *	31    30 29      28 27                        0
 *	| confidence | quality |   2^28 - 1 - item    |        0: nothing proposed */
#ifndef XC_TYPING_ENGINE_IMPL_H
#define XC_TYPING_ENGINE_IMPL_H

#include "core/base/parallel.h"
#include "heap/graph/graph.h"
#include "heap/types/typing_evidence.h"

enum {
	XC_TYPING_ITEM_BITS = 28,
	XC_TYPING_ITEMS = (1 << XC_TYPING_ITEM_BITS) - 1,
	XC_TYPING_MOST = 1 << 23,  /* items that are made, of 60 bytes each; debug information may be hostile */
	XC_TYPING_MAPS = 1 << 20,  /* types of objects */
	XC_TYPING_SLOTS = 1 << 14, /* of one type; the rest of a larger one is ignored */
	XC_TYPING_NEST = 32,       /* nesting of objects */
};

#define XC_NO_MAP 0 /* the number that is no map */

enum xc_typemap_slot_kind {
	XC_SLOT_POINTER,  /* to objects of `target` */
	XC_SLOT_CHARS,    /* to characters or bytes */
	XC_SLOT_VOID,     /* to an unknown type */
	XC_SLOT_CODE,     /* to a function */
	XC_SLOT_OBJECTS,  /* objects of `target`, one after the other */
	XC_SLOT_EVIDENCE, /* an object that a source of evidence understands */
	XC_SLOT_BOOL,
	XC_SLOT_ENUM,
	XC_SLOT_TEXT,   /* an array of char */
	XC_SLOT_DOUBLE, /* of eight bytes */
};

/* The items of a slot, made together with it: what a pointer there can propose for a block. */
enum xc_slot_item {
	XC_ITEM_ONE,
	XC_ITEM_ARRAY,
	XC_ITEM_ONE_WEAK,
	XC_ITEM_ARRAY_WEAK,
	XC_ITEM_STRING,
	XC_ITEM_STRING_WEAK,
	XC_SLOT_ITEMS
};

/* A member whose value distinguishes variants of an object: an enum, a number called kind or type, a table of
 * functions. */
struct xc_tag {
	uint32_t at;                  /* offset */
	uint8_t size, shift, bits;    /* bytes; size 0: there is none */
	const struct xc_type *values; /* an enum; NULL: a number */
};

/* The tag's value says that the union holds something else than the struct with the tag. */
#define XC_TAG_OF_OTHERS UINT64_MAX

/* Pointers that point past a header; a byte near the target selects the header. */
struct xc_header_case {
	uint32_t map;
	uint8_t mask, value;
};
struct xc_header_set {
	int32_t at; /* relative to the pointer's target */
	uint32_t count;
	bool begins; /* no header: the object there is of that type */
	struct xc_header_case items[16];
};

/* The meaning of a pointer, selected by another member of its object. */
struct xc_casts {
	struct xc_tag tag; /* size 0: always the first one */
	uint32_t count;
	uint64_t *values;
	struct xc_typemap_slot *slots;
};

/* A place in an object that is examined. */
struct xc_typemap_slot {
	uint32_t offset;
	uint32_t count, stride; /* of arrays; count 0: a flexible last member, to the end of the block */
	uint32_t target;        /* number of a map */
	uint32_t items;         /* the first of XC_SLOT_ITEMS; 0: none */
	uint32_t number;        /* among all slots; rules are learned by it */
	uint8_t kind;           /* enum xc_typemap_slot_kind */
	bool in_union;          /* another member of a union may be there instead */
	bool ambiguous;         /* other pointers may be there instead; */
	bool is_later_arm;      /* the first of them stands for all */
	bool is_cast;           /* a plugin gives its target, regardless of the block's size */
	bool pending;           /* some pointer there had no result yet */
	bool taught;            /* a rule for it was learned since the last visit */
	uint32_t owner;         /* map */
	uint32_t learned;       /* map: the type of its targets of some sizes, learned from learned_from pointers */
	uint32_t learned_from;
	uint32_t back_at, back_to; /* a list's link: offsets of the pointer back and of this one; equal: none */
	struct xc_tag tag;         /* of its struct */
	const char *path;          /* "argv", "dict.table" */
	const struct xc_evidence *evidence;
	const void *met;
	const uint32_t *objects; /* EVIDENCE: maps of the objects that xc_typing_look may name */
	uint32_t object_count;
	const struct xc_type *type; /* ENUM; EVIDENCE: of the object */
	const struct xc_casts *casts;
	const struct xc_header_set *headers;
	const uint32_t *header_items; /* one for each header */
};

/* A type as it is followed. Equal types of different units share one map. */
struct xc_typemap {
	const struct xc_type *type; /* as named: a typedef only if its target has no name */
	const struct xc_type *bare; /* stripped, complete */
	const char *name;
	uint32_t base;    /* number of the map of all objects of the type: its own, except for variants */
	uint32_t variant; /* of claims; 0: none */
	uint64_t size;    /* 0: not known */
	struct xc_typemap_slot *slots;
	uint32_t slot_count, slot_capacity;
	bool compiled;
	bool is_record, is_char, is_opaque, is_inside; /* inside: in the middle of some block there may be one */
	bool is_header;    /* other types begin with all of its members, though not with an object of it */
	bool is_part;      /* evidence says that no block is such an object */
	bool has_pointers; /* or objects with pointers */
	bool fresh;        /* compiled for this level of the flow: its blocks were proposed unseen */
	bool has_flexible;
	uint64_t flexible_at, flexible_size; /* offset, bytes of an element */
	uint32_t flexible;                   /* map of its elements, or XC_NO_MAP */
	uint64_t pointers, quiet;            /* of its first 64 words: those that are pointers; those that cannot be */
	uint64_t loud;                       /* those that may be undeclared pointers */
	uint64_t plain;                      /* of these: integers that are not declared to hold addresses */
	struct xc_tag tag;
	const uint32_t *derived; /* types that begin with an object of this one */
	uint32_t derived_count;
	uint8_t own;     /* enum xc_own */
	bool listed;     /* in typing_index */
	uint32_t blocks; /* that have the type when rules are learned */
};

/* Is a type the program's own, or from a system header? */
enum xc_own { XC_OWN_NOT, XC_OWN_MAYBE, XC_OWN };

/* An object that DWARF places. */
struct xc_root_object {
	xc_addr addr;         /* or 0 */
	const uint8_t *bytes; /* of what lies in registers; else NULL */
	uint64_t size;
	uint32_t map;
	uint8_t confidence;
	const char *via; /* "global server", "local c of main" */
};

/* Facts about an item in addition to struct xc_typed. */
struct xc_item_facts {
	uint32_t map;
	uint32_t weak; /* the same as a weak item */
	uint32_t next; /* of evidence: the next one of the same type */
	uint8_t quality;
	bool is_learned; /* from other blocks */
	bool is_seed;    /* for blocks that need no pointer: by their contents, by claims */
};

/* A pointer to a block, or into it. */
struct xc_hit {
	struct xc_typemap_slot *slot;
	xc_addr value;
	uint64_t offset; /* in the block */
	uint32_t block;
	uint32_t items; /* of the slot or of a root's */
	uint32_t item;  /* the proposal */
	uint32_t from;  /* block, or XC_NO_BLOCK */
	xc_addr at;     /* of the pointer; 0: in a register */
	uint64_t tag;   /* of the object that holds the pointer */
};

/* A pointer suggests another type than the block has. */
struct xc_type_conflict {
	uint32_t block, map, item;
};

/* The bytes of a block with an array's elements. behind: the first one after them, plus 1; 0: nobody said so. */
struct xc_used_part {
	uint32_t from, behind;
};

struct xc_rules;
struct xc_type_index;

struct xc_engine {
	struct xc_typing *typing;
	struct xc_heap *heap;
	struct xc_types *types;
	struct xc_typemap **maps; /* [0] is none */
	size_t map_count, map_capacity;
	struct xc_hashtable by_key;    /* map number by name, size and members */
	struct xc_pointer_map by_type; /* map number + 1 by xc_type */
	struct xc_item_facts *facts;   /* by item */
	size_t fact_capacity;
	struct xc_pointer_map known_items; /* by (type, via): the last one made */
	uint32_t slot_count;               /* numbers of slots given */
	struct xc_root_object *roots;
	size_t root_count, root_capacity;
	struct xc_pointer_map root_items;          /* by (slot, root): the first of XC_SLOT_ITEMS */
	const struct xc_evidence *const *evidence; /* ends with NULL */
	const struct xc_allocator *allocator;      /* NULL: there are several, or none */
	unsigned word;                             /* bytes of an address: 4 or 8 */
	uint64_t *queued;                          /* a bit for each block: it is in queue[1] */
	uint32_t *queue[2];                        /* blocks of this level and of the next one */
	uint32_t *frozen;                          /* codes of the blocks of this level */
	size_t queue_count[2];
	struct xc_used_part *used; /* by block; the same for all threads while they visit a level */
	struct xc_reserve memory[5];
	struct xc_typing_queue *workers[XC_PARALLEL_MAX];
	uint32_t *objects; /* requested by evidence while it meets a type */
	size_t object_count, object_capacity;
	uint8_t least;            /* enum xc_confidence: less certain proposals wait */
	bool last;                /* no more rules are learned */
	bool checking;            /* proposals are compared with the blocks' types */
	bool decoded;             /* by_block holds items */
	bool changed;             /* a block that may hold pointers lost a type, or its certainty */
	bool cut;                 /* some object was not examined completely, for lack of time */
	uint64_t flat_steps;      /* members visited to make slots, of all types */
	const uint64_t *disputed; /* while checking: bit per block, or NULL */
	const uint32_t *final;    /* items by block: only these are accepted; NULL: any */
	struct xc_rules *rules;
	struct xc_type_index *owners;
	struct xc_cast_rules *casts;    /* NULL: there are none */
	struct xc_pointer_map headers;  /* by name of the typedef */
	struct xc_pointer_map variants; /* map number + 1 by map and variant */
	const struct xc_header_set *families;
	uint32_t bytes; /* the map of char */
};

static inline struct xc_engine *xc_engine_of(const struct xc_typing *typing)
{
	return typing->state;
}

/* An address stored in the process's memory. Its byte order is the host's. */
static inline uint64_t xc_engine_load(const struct xc_engine *engine, const uint8_t *bytes)
{
	uint32_t half;
	uint64_t whole;
	if (engine->word == sizeof half)
		return __builtin_memcpy(&half, bytes, sizeof half), half;
	__builtin_memcpy(&whole, bytes, sizeof whole);
	return whole;
}

/* ---- typing_map ---- */

/* The map of the type of an object or pointer target; XC_NO_MAP for void, functions and types that cannot be
 * followed. */
uint32_t xc_typemap_of(struct xc_engine *engine, const struct xc_type *type);

/* The same for objects of a variant; for pointers, the variant of their targets. */
uint32_t xc_typemap_variant(struct xc_engine *engine, uint32_t number, uint32_t variant);

/* Makes its slots. Not while other threads read. */
void xc_typemap_compile(struct xc_engine *engine, uint32_t number);

/* Can a block of `size` bytes result from a request for `wanted` bytes? */
bool xc_typing_fits(const struct xc_engine *engine, uint64_t wanted, uint64_t size);

/* The same, including rare cases: glibc leaves the remainder of a split chunk with it if it is too small for a
 * chunk. */
bool xc_typing_may_fit(const struct xc_engine *engine, uint64_t wanted, uint64_t size);

/* Is there room for so many more items? Those without room are counted. */
bool xc_typing_has_room(struct xc_engine *engine, size_t count);

/* Make an item of a map, and one of a rule; 0 if there is no room. */
uint32_t xc_typing_new_item(struct xc_engine *engine, uint32_t map, const struct xc_typed *what);
uint32_t xc_typing_learned_item(struct xc_engine *engine, const struct xc_typed *what);

/* ---- typing_score ---- */

/* Does the memory of a block look like the item's type? Reads through the window. */
bool xc_typing_is_plausible(const struct xc_engine *engine, struct xc_window *window, uint32_t block, uint32_t item);

/* Is the block text over a pointer of the item's type? False for types that are not compiled. */
bool xc_typing_is_text_instead(const struct xc_engine *engine, struct xc_window *window, uint32_t block, uint32_t item);

/* Points for and against a type of the memory at an address. */
struct xc_score {
	uint32_t good, bad;
	uint32_t sure;   /* of the good: unlikely to be chance */
	uint32_t maybe;  /* more that is good, if the right pointer of each union is meant: doubt about other types */
	uint32_t self;   /* the map, if known */
	uint32_t looked; /* slots examined so far: unions in unions of hostile debug information have no end */
	uint32_t most;   /* limit of that */
	uint32_t loose;  /* non-zero words after the object, where the allocator rounded up */
	bool used_first, used_later; /* of an array: are bytes of its first element, of another one, not zero? */
	bool deep;                   /* also examine the types of target blocks; not while types flow */
	bool texts;                  /* also examine whether the targets of char * are texts; implied by deep */
	const uint8_t *bytes;        /* those of the object that */
	xc_addr addr;                /* lies here, or 0 */
};

/* Scores a block as an object of the map at `offset`. Pointers in words where the type has none count against it.
 * For the comparison of candidates. */
void xc_typing_score(const struct xc_engine *engine, struct xc_window *window, uint32_t map, uint8_t shape,
		     uint64_t offset, uint32_t block, struct xc_score *score);

/* Is no word at the block's beginning an address in a block? */
bool xc_typing_is_raw(const struct xc_engine *engine, struct xc_window *window, uint32_t block);

/* Is it characters followed by a NUL? *empty_out: only the NUL. */
bool xc_typing_is_text(const uint8_t *bytes, uint64_t size, bool *empty_out);

/* Is the number none of an enum's values? Zero is always one: memory begins so. */
bool xc_typing_is_no_enumerator(const struct xc_type *type, const uint8_t *bytes, uint32_t size);

/* ---- typing_refute ---- */

/* Does the block's memory contradict the item's type, whatever speaks for it? */
bool xc_typing_is_refuted(const struct xc_engine *engine, struct xc_window *window, uint32_t block, uint32_t item);

/* How many words of the first object contradict its type. False: none was looked at. */
bool xc_typing_contradicts(const struct xc_engine *, struct xc_window *, uint32_t block, uint32_t item,
			   unsigned *count);

/* Is the block a text of at least so many characters from that offset on, with nothing after it that shows another
 * type? */
bool xc_typing_is_all_text(const struct xc_engine *engine, struct xc_window *window, uint32_t block, uint64_t offset,
			   uint64_t least);

/* ---- typing_flow ---- */

static inline uint32_t xc_code(const struct xc_engine *engine, uint32_t item)
{
	return (uint32_t)engine->typing->items[item].confidence << 30 | (uint32_t)engine->facts[item].quality << 28 |
	       (XC_TYPING_ITEMS - item);
}

static inline uint32_t xc_code_item(uint32_t code)
{
	return code ? XC_TYPING_ITEMS - (code & XC_TYPING_ITEMS) : 0;
}

void xc_typing_flow_init(struct xc_engine *engine);
void xc_typing_flow_fini(struct xc_engine *engine);

/* Visit all root objects; then all blocks with new proposals, until none are left. */
void xc_typing_visit_roots(struct xc_engine *engine);
void xc_typing_flow(struct xc_engine *engine);

/* Visits all typed blocks with pointers that had no result yet, and flows. `taught_only`: only those for which
 * rules were learned since. */
void xc_typing_visit_again(struct xc_engine *engine, bool taught_only);

/* The types that pointers to the beginnings of blocks suggest and that contradict the blocks' types; for `disputed`
 * blocks all suggestions. In any order; malloc'ed. */
struct xc_type_conflict *xc_typing_find_conflicts(struct xc_engine *engine, size_t *count_out);

/* Call `seen` with the hits of the root objects; with those of one block, after typing is complete. */
typedef void xc_hit_fn(void *context, const struct xc_hit *hit);
void xc_typing_roots_hits(struct xc_engine *engine, xc_hit_fn *seen, void *context);
void xc_typing_hits_of(struct xc_engine *engine, uint32_t block, xc_hit_fn *seen, void *context);

/* Calls `seen` with every hit of the pointers in blocks and root objects. Its item is what the pointer proposes by
 * itself, or 0. Runs in one thread. */
void xc_typing_each_hit(struct xc_engine *engine, bool pending_only, xc_hit_fn *seen, void *context);

/* ---- typing_index ---- */

/* Objects of `outer` contain one of `inner` at `offset`. */
struct xc_type_enclosing {
	uint32_t outer, inner;
	uint32_t offset;
	bool is_base; /* a base class of outer, or of one of its bases */
};

/* Reads all types of the process: what they contain and their sizes. */
void xc_type_index_build(struct xc_engine *engine);
void xc_type_index_free(struct xc_engine *engine);

/* The types that contain one of `inner` (arrays: as their first element), in the order of offsets. */
const struct xc_type_enclosing *xc_type_index_enclosing(const struct xc_engine *engine, uint32_t inner,
							size_t *count_out);

/* ---- typing_rule ---- */

/* Is the tag inside the first `size` bytes? Debug information may have any offset, and sums of 32 bits would wrap. */
static inline bool xc_tag_within(const struct xc_tag *tag, uint64_t size)
{
	return tag->at <= size && tag->size <= size - tag->at;
}

/* The tag's value in an object that contains it. */
static inline uint64_t xc_tag_of(const struct xc_tag *tag, const uint8_t *object)
{
	uint64_t bits = 0;
	if (tag->size == 0)
		return 0;
	__builtin_memcpy(&bits, object + tag->at, tag->size);
	bits >>= tag->shift;
	return tag->bits < 64 ? bits & (((uint64_t)1 << tag->bits) - 1) : bits;
}

/* The item learned for a hit; 0 if there is none. */
uint32_t xc_typing_rule(const struct xc_engine *engine, struct xc_window *window, const struct xc_hit *hit);

/* Learns from hits without a result; true if a rule was made. */
bool xc_typing_learn(struct xc_engine *engine);

/* ---- typing_cast ---- */

/* Looks up the names in claims. After the index is built, and before any map is compiled. */
void xc_typing_find_casts(struct xc_engine *engine);
void xc_typing_casts_free(struct xc_engine *engine);

/* A record within an object whose slots are made. */
struct xc_cast_place {
	const struct xc_type *record; /* stripped */
	uint64_t offset;              /* of the record in the object */
	uint32_t variant;
};

/* Adds casts to the record's slots. `slot_at` returns the slot for a pointer at an offset in the object, or NULL. */
typedef struct xc_typemap_slot *xc_cast_slot_fn(void *context, uint64_t offset);
void xc_typing_cast(struct xc_engine *engine, const struct xc_cast_place *place, xc_cast_slot_fn *slot_at,
		    void *context);

/* The slot that applies to a pointer in this object: one of the casts, or the slot itself. */
static inline struct xc_typemap_slot *xc_cast_of(struct xc_typemap_slot *slot, const uint8_t *object, uint64_t size)
{
	const struct xc_casts *casts = slot->casts;
	if (!casts || !xc_tag_within(&casts->tag, size))
		return slot;
	uint64_t value = xc_tag_of(&casts->tag, object);
	for (uint32_t i = 0; i < casts->count; i++)
		if (casts->values[i] == value)
			return &casts->slots[i];
	return slot;
}

/* The headers that pointers of a type point past; mostly NULL. */
const struct xc_header_set *xc_typing_headers(struct xc_engine *engine, const struct xc_type *type);

/* The same for pointers to struct sockaddr: the types that the byte at the object's beginning selects. */
const struct xc_header_set *xc_typing_families(struct xc_engine *engine, uint32_t target);

/* ---- typing_vote ---- */

/* Do an item and a pointer to `map` at the beginning of the block agree, in that one type equals the other or
 * begins with it? */
bool xc_typing_agree(const struct xc_engine *engine, uint32_t map, uint32_t item);

/* Finds blocks for which pointers suggest different types, and lets the majority decide. */
void xc_typing_settle_conflicts(struct xc_engine *engine);

/* ---- typing_support ---- */

/* Drops the types of blocks that no source of types reaches any more. Withdraws guesses that explain only the beginning
 * of a block; true if there were some. */
void xc_typing_drop_unsupported(struct xc_engine *engine);
bool xc_typing_drop_beginnings(struct xc_engine *engine);

/* ---- typing_engine ---- */

/* Types flow from all sources, by the rules that were learned. */
void xc_typing_flow_again(struct xc_engine *engine);

/* ---- typing_words ---- */

/* Give the graph words that may be stale; pointers to parts of objects; unaligned ones. Errors: those of the graph. */
void xc_typing_find_stale(struct xc_engine *engine);
void xc_typing_find_inner(struct xc_engine *engine);
XC_MUST_CHECK struct xc_error *xc_typing_find_misaligned(struct xc_engine *engine);

/* ---- typing_content ---- */

/* Types blocks that no typed pointer leads to, by their content. True if some got a type. */
bool xc_typing_guess_by_content(struct xc_engine *engine);
void xc_typing_rules_free(struct xc_engine *engine);

/* ---- typing_root ---- */

void xc_typing_find_roots(struct xc_engine *engine);

#endif

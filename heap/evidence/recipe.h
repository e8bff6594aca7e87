/* recipe: how an object of a library class refers to other memory, computed once for its type.
 *
 * Library classes of C++ and Rust hide their targets: links of nodes point to a base class without the element, a
 * buffer of raw bytes holds an object or none, a pointer to bytes is a table of pairs. A recipe is a list of steps
 * for reading such an object. */
#ifndef XC_RECIPE_H
#define XC_RECIPE_H

#include "heap/types/typing_evidence.h"

enum xc_step_kind {
	XC_STEP_POINT,   /* the pointer at `at` leads to a block that is `item` */
	XC_STEP_BLOCKS,  /* the pointers between those at `at` and `end` lead to such blocks */
	XC_STEP_LOOK,    /* an `object` is at `at` */
	XC_STEP_BUCKETS, /* an array that ends at the pointer at `at`; see below */
	XC_STEP_ROOM,    /* elements between the pointers at `at` and `end`, room for more up to that at `tag` */
	XC_STEP_ENDS,    /* a map of nodes at `at`; the deque's ends are at `tag` and `end` (struct xc_deque_end) */
	XC_STEP_ERASED,  /* the object of the pointer at `at`, or instead of it, for the address at `end` */
};

/* Objects whose type is erased, by the address of the function or table that was made for it. */
struct xc_erased {
	xc_addr addr;
	uint32_t item;   /* of a block with the object; 0: the object is in place of the pointer */
	uint32_t object; /* there; 0: none */
};

struct xc_erased_list {
	struct xc_erased *all; /* in address order */
	size_t count, capacity;
};

/* The array of BUCKETS has one element more than the number at `end`. It is `item`, or, if the room before it is no
 * multiple of 16, `object`, which has an offset of 8. */
struct xc_step {
	uint8_t kind;          /* enum xc_step_kind */
	uint8_t width;         /* bytes of the tag that selects the step; 0: none */
	bool unless;           /* done if the tag is not from lo to hi */
	uint32_t at, end, tag; /* offsets in the object */
	uint32_t item, object; /* of xc_typing_item, xc_typing_object */
	uint64_t lo, hi;       /* of the tag, inclusive */
	uint64_t size, behind; /* BUCKETS: bytes of an element; BLOCKS: extra pointers after `end` (1 or 0) */
	const struct xc_erased_list *erased;
};

enum { XC_RECIPE_STEPS = 64 };

/* An iterator of a deque: its element, the node's room, and where the map has the node. */
struct xc_deque_end {
	uint64_t cur, first, last, node;
};

struct xc_recipe {
	size_t count;
	struct xc_step steps[XC_RECIPE_STEPS];
};

struct xc_view_shape;

/* A recipe being made for objects of `type`. */
struct xc_recipe_maker {
	struct xc_typing *typing;
	const struct xc_process *process;
	const struct xc_type *type;
	const struct xc_view_shape *shape;
	const struct xc_erased_list *erased; /* for links to erased types; NULL: these have no steps */
	struct xc_recipe recipe;
};

/* Does the view's type have an erased object? */
bool xc_recipe_erases(const struct xc_view_shape *shape);

/* Add to a list that was zero or only added to, and finish it: sorted, in the heap's memory. */
void xc_erased_add(struct xc_erased_list *list, struct xc_erased one);
void xc_erased_finish(struct xc_erased_list *list, struct xc_heap *heap);

/* Add the steps of the links that the view of the type publishes (dwarf/view/view.h). */
void xc_recipe_links(struct xc_recipe_maker *maker);

/* Add a step. The path leads from the type to the word (dwarf/view). False, and nothing is added, if there is no
 * such path, or no item. */
bool xc_recipe_point(struct xc_recipe_maker *maker, const char *path, uint32_t item);
bool xc_recipe_point_at(struct xc_recipe_maker *maker, uint64_t at, uint32_t item);
bool xc_recipe_look(struct xc_recipe_maker *maker, uint64_t at, const struct xc_type *type);

/* Room for elements that a container has in one block, given by three pointers: to the block or into it, to the
 * beginning of the room, and to its end. */
void xc_recipe_room(struct xc_recipe_maker *maker, uint64_t begin, uint64_t end, uint64_t room);

/* The room of a deque of the GNU library: in its map, and in its first and last node. */
void xc_recipe_ends(struct xc_recipe_maker *maker, uint64_t map, uint64_t start, uint64_t finish);

/* Make the last step conditional: it is done if the `width` bytes at `tag` are (or are not) from lo to hi. */
void xc_recipe_when(struct xc_recipe_maker *maker, uint64_t tag, uint64_t width, uint64_t lo, uint64_t hi);
void xc_recipe_unless(struct xc_recipe_maker *maker, uint64_t tag, uint64_t width, uint64_t lo, uint64_t hi);

/* An item of this shape (enum xc_typed_shape) at an offset in its block; `what` is its part in the maker's type:
 * "node", "elements". */
uint32_t xc_recipe_item(struct xc_recipe_maker *maker, const struct xc_type *type, uint8_t shape, uint64_t offset,
			const char *what);

/* The recipe, in the heap's memory; NULL if it has no steps, otherwise *only_out is set: the result of `meet`. */
const struct xc_recipe *xc_recipe_made(const struct xc_recipe_maker *maker, bool *only_out);

/* Reads an object by a recipe: the `visit` of evidence, and its `says_stale`. */
bool xc_recipe_says_stale(const void *recipe);
void xc_recipe_follow(struct xc_visit *visit, const void *recipe);

#endif

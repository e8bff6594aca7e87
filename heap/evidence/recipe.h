/* recipe: what an object of a library's class says of other memory, worked out once for its type.
 *
 * Classes of the libraries of C++ and Rust hide what they point to: links of nodes lead to a base class without the element, a
 * buffer of raw bytes holds an object or none, a pointer to bytes a table of pairs. A recipe is the list of steps by which an object is read. */
#ifndef XC_RECIPE_H
#define XC_RECIPE_H

#include "heap/types/typing_evidence.h"

enum xc_step_kind {
	XC_STEP_POINT,  /* the pointer at `at` leads to a block that is `item` */
	XC_STEP_BLOCKS, /* from the pointer at `at` to the one at `end` there are pointers to such blocks */
	XC_STEP_LOOK,   /* at `at` stands an `object` */
	XC_STEP_BUCKETS, /* an array ends at the pointer at `at`, of as many elements as the number at `end` and one; it is `item`, or where
	                    the room before it is no multiple of 16, `object`, which has an offset of 8 */
};

struct xc_step {
	uint8_t kind;          /* enum xc_step_kind */
	uint8_t width;         /* bytes of the tag on which the step depends; 0: on none */
	bool unless;           /* done where it is not from lo to hi */
	uint32_t at, end, tag; /* offsets in the object */
	uint32_t item, object; /* of xc_typing_item, xc_typing_object */
	uint64_t lo, hi;       /* of the tag, inclusive */
	uint64_t size,
		behind; /* BUCKETS: bytes of an element; BLOCKS: pointers behind `end`'s first that count too (1 or 0) */
};

enum { XC_RECIPE_STEPS = 64 };

struct xc_recipe {
	size_t count;
	struct xc_step steps[XC_RECIPE_STEPS];
};

struct xc_view_shape;

/* Being made: of an object of `type`. */
struct xc_recipe_maker {
	struct xc_typing *typing;
	const struct xc_process *process;
	const struct xc_type *type;
	const struct xc_view_shape *shape;
	struct xc_recipe recipe;
};

/* Add a step; the path leads from the type to the word (dwarf/view/view_part.h). False when there is no such path, or no item: then
 * nothing is added. */
bool xc_recipe_point(struct xc_recipe_maker *maker, const char *path, uint32_t item);
bool xc_recipe_point_at(struct xc_recipe_maker *maker, uint64_t at, uint32_t item);
bool xc_recipe_point_of(struct xc_recipe_maker *maker, const char *const paths[], uint32_t item);
bool xc_recipe_blocks(struct xc_recipe_maker *maker, const char *from, const char *to, bool last_too, uint32_t item);
bool xc_recipe_look(struct xc_recipe_maker *maker, uint64_t at, const struct xc_type *type);

/* An array of `size` bytes an element that ends at the pointer; the other path leads to the number of elements less one. `shifted` is the
 * same item with an offset of 8. */
bool xc_recipe_buckets(struct xc_recipe_maker *maker, const char *end, const char *mask, uint64_t size, uint32_t item,
		       uint32_t shifted);

/* The step added last is taken only where the `width` bytes at `tag` are (or are not) from lo to hi. */
void xc_recipe_when(struct xc_recipe_maker *maker, uint64_t tag, uint64_t width, uint64_t lo, uint64_t hi);
void xc_recipe_unless(struct xc_recipe_maker *maker, uint64_t tag, uint64_t width, uint64_t lo, uint64_t hi);

/* An item of this shape (enum xc_typed_shape) at an offset in its block; `what` it is of the maker's type: "node", "elements". */
uint32_t xc_recipe_item(struct xc_recipe_maker *maker, const struct xc_type *type, uint8_t shape, uint64_t offset,
			const char *what);

/* The recipe, in the heap's memory; NULL when it has no steps. */
const struct xc_recipe *xc_recipe_made(const struct xc_recipe_maker *maker);

/* Read an object by a recipe: the visit of evidence. */
void xc_recipe_follow(struct xc_visit *visit, const void *recipe);

#endif

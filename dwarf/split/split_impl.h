/* split_impl: the state behind split.h, shared by split.c, split_find.c (files) and split_list.c (all units). */
#ifndef XC_SPLIT_IMPL_H
#define XC_SPLIT_IMPL_H

#include "core/base/text.h"
#include "dwarf/elf/pointer_map.h"
#include "dwarf/split/split_image.h"
#include "dwarf/locate/splitsearch.h"

enum { XC_SPLIT_COPIES = 3 }; /* bytes that may be copied for each byte of a file */

/* A .dwo or .dwp in use. */
struct xc_split_known {
	struct xc_split_known *next;
	struct xc_split_file *opened; /* NULL: it is missing */
	struct xc_split_image *image; /* of a .dwo */
	bool image_tried, listed;
};

struct xc_split_made {
	struct xc_split_made *next;
	struct xc_split_image *image;
};

struct xc_split {
	struct xc_debugsearch search;
	const char *path, *cache_dir;
	struct xc_skeleton_sections sections;
	struct xc_arena arena;
	struct xc_pointer_map by_skeleton, by_signature; /* → found; keys are one more than offset and signature */
	struct xc_pointer_map by_id;                     /* id + 1 → its file */
	struct xc_pointer_map skeleton_of_id;            /* filled when a .dwo has several units */
	bool skeletons_read, package_tried;
	struct xc_split_known *files, *package;
	struct xc_split_made *images;
	size_t file_count;
	uint64_t budget;
	char *missing;      /* the name of the first that was not found */
	struct xc_text why; /* why a file that was found is not used */
};

/* The slot for the answer about a number. */
void **xc_split_slot(struct xc_pointer_map *memo, struct xc_arena *arena, uint64_t key);

/* Keep the reason why a file that was found is not used; the first reason stays. */
void xc_split_keep_why(struct xc_split *split, const char *name, const char *why);

/* The module's .dwp; NULL when it has none. */
struct xc_split_known *xc_split_package(struct xc_split *split);

/* The open file with a skeleton's unit; NULL when there is none. */
struct xc_split_known *xc_split_known_of(struct xc_split *split, const struct xc_skeleton *skeleton);

#endif

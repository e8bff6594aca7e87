/* split: units whose functions, types and values are in a separate file, a .dwo or .dwp.
 *
 * A skeleton unit in the module's debug information names the file and an id (DWARF 5, 3.1.2 and 7.3.2; DWARF 4 with
 * GNU's DW_AT_GNU_dwo_name). xcore itself finds the file (splitsearch.h) and verifies the id of its unit. libdw is
 * shown the unit as an ordinary one: an ELF image (split_image.h) whose addresses, ranges and strings are where libdw
 * expects them. libdw never sees a skeleton's link and opens nothing. Type units of the same file, or those of a .dwp
 * that the unit refers to, are in the same image. Lines are the skeleton's, except those of type units, which are in
 * the image. Not thread-safe. */
#ifndef XC_SPLIT_H
#define XC_SPLIT_H

#include <elfutils/libdw.h>

#include "core/base/cursor.h"

struct xc_debugsearch;
struct xc_source;
struct xc_split;

/* The split units of the debug information `elf` (plain sections), which was read from the file at `path`; NULL when
 * it has no .debug_addr, which skeletons require. Everything is borrowed; `search` is copied. */
struct xc_split *xc_split_new(const struct xc_debugsearch *search, Elf *elf, const char *path, const char *cache_dir);
void xc_split_free(struct xc_split *split);

/* The unit DIE of the skeleton whose header is at an offset of the module's .debug_info. False when there is no
 * skeleton there, or when its split unit was not found. The DIE lives until xc_split_free. Cost: on first use the
 * file is found and mapped, and the unit copied. */
bool xc_split_unit(struct xc_split *split, uint64_t skeleton, Dwarf_Die *unit_out);

/* Is this Dwarf one of those images? */
bool xc_split_owns(const struct xc_split *split, const Dwarf *dwarf);

/* The skeleton of a unit that xc_split_unit returned. */
bool xc_split_skeleton(const struct xc_split *split, const Dwarf_Die *unit, uint64_t *skeleton_out);

/* A clause that names the first file that was not found, among those looked for so far and those of the first units.
 * Malloc'ed; NULL when none is missing. */
char *xc_split_why(struct xc_split *split);

/* ---- for an index ---- */

/* One unit, raw, with the sections that its forms refer to. The bytes are mapped, may be read by any thread, and live
 * until xc_split_free. */
struct xc_split_part {
	uint64_t
		skeleton; /* offset in the module's .debug_info; UINT64_MAX: a type unit of a .dwp, which is no one's */
	uint64_t signature;             /* of a type unit; 0 for the skeleton's own unit */
	bool types;                     /* from .debug_types: a type unit of DWARF 4 */
	struct xc_cursor info;          /* the unit from its header to its end */
	struct xc_cursor abbrev;        /* origin of the header's abbreviation offset */
	struct xc_cursor str, line_str; /* whole sections */
	struct xc_cursor str_offsets;   /* the unit's contribution, with its header in DWARF 5 */
};

/* Call `each` with every split unit that can be found, in the order of the skeletons, and with their type units, each
 * signature once; stop when it returns false. *missing_out gets the number of skeletons whose file was not found:
 * then the result is incomplete. */
typedef bool xc_split_fn(void *context, const struct xc_split_part *part);
void xc_split_each(struct xc_split *split, xc_split_fn *each, void *context, size_t *missing_out);

/* One of these parts again. False when its file is gone. Cost: of a .dwo, the headers of its units. */
bool xc_split_part_of(struct xc_split *split, uint64_t skeleton, uint64_t signature, struct xc_split_part *part_out);

/* The DIE at an offset of a part, counted from the start of its header. */
bool xc_split_die(struct xc_split *split, uint64_t skeleton, uint64_t signature, uint64_t offset, Dwarf_Die *die_out);

/* ---- for packs ---- */

/* The files of all split units that can be found; stop when `each` returns false. path: as the target knows it, where
 * the skeleton names it or beside the module. */
struct xc_split_found {
	const struct xc_source *source;
	const char *path;
	uint64_t id;  /* of a .dwo's unit */
	bool package; /* a .dwp */
};
typedef bool xc_split_found_fn(void *context, const struct xc_split_found *found);
void xc_split_files(struct xc_split *split, xc_split_found_fn *each, void *context);

#endif

/* split_image: split units shown to libdw as ordinary ones.
 *
 * An ELF image in memory. Its section headers refer to the bytes of the .dwo or .dwp, to those of the module's debug
 * information (addresses, and DWARF 4's ranges), and to copies in the image of everything that has to be changed (see
 * split_image.c). */
#ifndef XC_SPLIT_IMAGE_H
#define XC_SPLIT_IMAGE_H

#include "dwarf/scan/skeleton.h"
#include "dwarf/split/split_file.h"

struct xc_text;

/* One unit for an image. */
struct xc_split_member {
	struct xc_split_piece piece;
	struct xc_raw_unit unit;
	uint64_t id;       /* dwo_id or signature */
	bool has_skeleton; /* false for type units, and for units whose skeleton is unknown */
	struct xc_skeleton skeleton;

	uint64_t at;    /* out: offset of its header in the image's .debug_info, or .debug_types */
	uint64_t first; /* out: bytes before its first entry */
};

struct xc_split_image {
	struct xc_split_member *members; /* owned */
	size_t member_count;
	Elf *elf;
	Dwarf *dwarf;
	void *bytes; /* mapped */
	size_t size;
};

/* Make the image of members, in this order; they are taken, also on failure. `budget`: the number of bytes that may
 * be copied; it is reduced. Errors: XC_ERR_FORMAT, XC_ERR_LIMIT (budget, too many abbreviations). */
XC_MUST_CHECK struct xc_error *xc_split_image_new(struct xc_split_member *members, size_t count,
						  const struct xc_skeleton_sections *main, uint64_t *budget,
						  struct xc_split_image **image_out);
void xc_split_image_free(struct xc_split_image *image); /* NULL is fine */

/* ---- split_abbrev.c ---- */

/* Attributes that the first entry of an image's unit gets by its abbreviation, without bytes in the entry. */
struct xc_split_bases {
	uint64_t str_offsets, addr, lists; /* lists: of .debug_loclists and .debug_rnglists, DWARF 5 */
	bool has_str_offsets, has_addr, has_lists;
};

/* Append the abbreviations of a member to `out`, with the declaration of its first entry changed: bases are added,
 * and the id is replaced by a DW_AT_low_pc of the address size. False when they are damaged. */
bool xc_split_abbrev_add(const struct xc_split_member *member, const struct xc_split_bases *bases, struct xc_text *out);

/* Append them unchanged. */
bool xc_split_abbrev_copy(const struct xc_split_member *member, struct xc_text *out);

/* ---- split_types.c ---- */

/* Call `each` with every signature that a piece's entries refer to (DW_FORM_ref_sig8), also repeatedly; stop when it
 * returns false. Returns at once when the abbreviations of the piece have no such form. Cost: reads the unit. */
typedef bool xc_split_signature_fn(void *context, uint64_t signature);
void xc_split_signatures(const struct xc_split_piece *piece, const struct xc_raw_unit *unit,
			 xc_split_signature_fn *each, void *context);

#endif

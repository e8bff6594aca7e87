/* index_format: the kept form of an index.
 *
 *	page 0    header, and at SEEN_AT the facts of its debug file when the key was last checked
 *	units     struct xc_index_unit, by space and offset
 *	buckets   u32 each: the first entry of a bucket; one more for the end
 *	entries   struct xc_index_entry, by bucket, then hash, unit and DIE
 *	sums      u32 each: CRC-32C of every page before this one but the first
 *
 * Little-endian; all offsets count from the start; nothing is relocated or parsed. Parts start on pages. An entry's
 * bucket is the upper `bucket_bits` bits of its hash. */
#ifndef XC_INDEX_FORMAT_H
#define XC_INDEX_FORMAT_H

#include "dwarf/index/index_scan.h"

enum {
	XC_INDEX_VERSION = 9,
	XC_INDEX_ORDER = 0x01020304,
	XC_INDEX_PAGE = 4096,
	XC_INDEX_SEEN_AT = 2048,
	XC_INDEX_KEY = 32,
};

struct xc_index_header {
	char magic[8]; /* "XCINDEX\0" */
	uint32_t version, order;
	uint64_t size; /* of the whole file */
	uint8_t key[XC_INDEX_KEY];
	/* page_count: pages with a checksum, which page 0 is not */
	uint32_t unit_count, entry_count, bucket_bits, page_count;
	uint64_t units_at, buckets_at, entries_at, sums_at;
	uint64_t damaged; /* units that could not be read to their end */
	uint32_t sums_crc, header_crc;
};

/* Records that debug files whose inodes have these facts have the key. */
struct xc_index_seen {
	uint8_t digest[XC_INDEX_KEY]; /* SHA-256 of device, inode, size and times of each of its files */
	uint32_t crc, unused;
};

struct xc_index_unit {
	uint64_t offset;    /* in its space; of a split unit that of its skeleton, or UINT64_MAX (split.h) */
	uint64_t signature; /* of a split type unit, else 0 */
	uint32_t space;     /* enum xc_index_space */
	uint32_t unused;
};

struct xc_index_entry {
	uint32_t hash, parent, unit, die; /* as in struct xc_index_item */
	uint32_t name_low;
	uint8_t name_high; /* bits 32 to 39 of the offset */
	uint8_t flags;     /* enum xc_index_flag in the low four bits, enum xc_die_scan_where in the others */
	uint16_t tag;
};

/* The section in which the offset of a unit counts. */
enum xc_index_space {
	XC_INDEX_MAIN,  /* .debug_info */
	XC_INDEX_TYPES, /* .debug_types */
	XC_INDEX_ALT,   /* .debug_info of the file that dwz moved common parts to */
	XC_INDEX_MACRO, /* .debug_macro: one unit, whose entries have no DIEs */
	XC_INDEX_SPLIT, /* a .dwo or .dwp */
};

_Static_assert(sizeof(struct xc_index_entry) == 24 && sizeof(struct xc_index_unit) == 24, "kept as they stand");

#endif

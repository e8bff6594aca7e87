/* index_scan: what one unit defines by name.
 *
 * A scan belongs to one thread and takes in unit after unit; scans of several threads are merged by index_build. What equals
 * something the scan has already (a type with the same qualified name, kind, size and line; an external function or
 * variable of the same name) is folded into it, and a class that is known is not gone through again. */
#ifndef XC_INDEX_SCAN_H
#define XC_INDEX_SCAN_H

#include "skim.h"

enum xc_index_flag {
	XC_INDEX_DECLARATION = 1,
	XC_INDEX_EXTERNAL = 2,
	XC_INDEX_TRANSPARENT = 4, /* an inline or anonymous namespace: may be left out of a qualified name */
	XC_INDEX_PLACED = 8,      /* a function with code, a variable with a location or value */
	XC_INDEX_FAR = 16,        /* private to building: the name stands with a DIE of another unit */
};

/* One definition, or a namespace. */
struct xc_index_item {
	uint64_t key;    /* equal for what is the same */
	uint32_t hash;   /* of its own name */
	uint32_t parent; /* item of the namespace, class or enum around it, plus one; 0: none */
	uint32_t unit;   /* number of its unit */
	uint32_t die;    /* offset in the unit */
	uint64_t name;   /* xc_index_pack_name; 0: it has none. With FAR: offset of the other DIE in info */
	uint16_t tag;
	uint8_t kind;  /* enum xc_name_kind */
	uint8_t flags; /* enum xc_index_flag */
};

static inline uint64_t xc_index_pack_name(struct xc_skim_string s)
{
	return s.offset < UINT64_C(1) << 40 ? (uint64_t)s.where << 40 | s.offset : 0;
}

static inline struct xc_skim_string xc_index_unpack_name(uint64_t name)
{
	return (struct xc_skim_string){(enum xc_skim_where)(name >> 40), name & ((UINT64_C(1) << 40) - 1)};
}

/* The hash of a string, by where it stands. */
struct xc_index_hash {
	uint64_t place, hash;
};

enum { XC_INDEX_HASH_BITS = 17 };

struct xc_index_scan {
	struct xc_index_item *items;
	size_t count, capacity;
	uint32_t *slots; /* open addressing by key: number of an item plus one */
	size_t slot_count;
	/* of the unit at hand */
	struct xc_skim *skim;
	const struct xc_skim_space *space;
	struct xc_index_hash *hashes; /* of its strings, as many as fit */
	struct xc_skim_unit unit;
	uint32_t number;
	bool is_c; /* its language: no scopes inside structs */
	struct xc_index_extent *extents;
	size_t extent_count, extent_capacity;
	struct xc_index_origin *origins;
	size_t origin_count, origin_capacity;
	uint64_t damaged; /* units that could not be read to their end */
};

/* Take in a unit of `space` by its number. */
void xc_index_scan_unit(struct xc_index_scan *scan, const struct xc_skim_space *space, const struct xc_skim_unit *unit,
			uint32_t number);

/* The item with this key, as its number plus one; 0 when there is none. */
uint32_t xc_index_scan_find(const struct xc_index_scan *scan, uint64_t key);

/* Add an item, or fold it into an equal one; returns its number. *known_out (may be NULL) tells that there was one. Of two equal
 * ones the placed one stays, then the earlier. Names reach up to 2^32 - 2 items. */
uint32_t xc_index_scan_add(struct xc_index_scan *scan, const struct xc_index_item *item, bool *known_out);

void xc_index_scan_fini(struct xc_index_scan *scan);

#endif

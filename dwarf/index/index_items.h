/* index_items: definitions by name, without duplicates.
 *
 * Equal items have equal keys; of two the better one stays. */
#ifndef XC_INDEX_ITEMS_H
#define XC_INDEX_ITEMS_H

#include "dwarf/index/name_kind.h"
#include "dwarf/scan/die_scan.h"

enum xc_index_flag {
	XC_INDEX_DECLARATION = 1,
	XC_INDEX_EXTERNAL = 2,
	XC_INDEX_TRANSPARENT = 4, /* an inline or anonymous namespace: may be left out of a qualified name */
	XC_INDEX_PLACED = 8,      /* a function with code, a variable with a location or value */
	/* private to building */
	XC_INDEX_FAR = 16,     /* the name is at a DIE of another unit, … */
	XC_INDEX_FAR_ALT = 32, /* … in the file that dwz moved common parts to */
	XC_INDEX_VALUE = 64,   /* placed by its value alone */
};

/* One definition, or a namespace. */
struct xc_index_item {
	uint64_t key;    /* equal for equal definitions */
	uint32_t hash;   /* of its own name */
	uint32_t parent; /* item of the namespace, class or enum around it, plus one; 0: none */
	uint32_t unit;   /* number of its unit */
	uint32_t die;    /* offset in the unit */
	uint64_t name;   /* xc_index_pack_name; 0: it has none. With FAR: offset of the other DIE in info */
	uint16_t tag;
	uint8_t kind;  /* enum xc_name_kind */
	uint8_t flags; /* enum xc_index_flag */
};

static inline uint64_t xc_index_pack_name(struct xc_die_scan_string s)
{
	return s.offset < UINT64_C(1) << 40 ? (uint64_t)s.where << 40 | s.offset : 0;
}

static inline struct xc_die_scan_string xc_index_unpack_name(uint64_t name)
{
	return (struct xc_die_scan_string){(enum xc_die_scan_where)(name >> 40), name & ((UINT64_C(1) << 40) - 1)};
}

struct xc_index_items {
	struct xc_index_item *items;
	size_t count, capacity;
	uint32_t *slots; /* open addressing by key: number of an item plus one */
	size_t slot_count;
};

/* The item with this key, as its number plus one; 0 when there is none. */
uint32_t xc_index_items_find(const struct xc_index_items *all, uint64_t key);

/* Add an item, or fold it into an equal one; returns its number. Of two equal ones the one with a place stays, then
 * the one with a value, then the earlier; XC_INDEX_TRANSPARENT of either stays. Numbers are at most 2^32 - 2. */
uint32_t xc_index_items_add(struct xc_index_items *all, const struct xc_index_item *item);

void xc_index_items_fini(struct xc_index_items *all);

#endif

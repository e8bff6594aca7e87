/* index_table: reads the kept form of an index (index_format.h), page by page.
 *
 * Opening reads the header and the checksums; a look-up then touches a page of buckets, one of entries and one of
 * units. A page is used only after its checksum was verified, so a flipped bit on the disk is found. */
#ifndef XC_INDEX_TABLE_H
#define XC_INDEX_TABLE_H

#include "dwarf/index/index_format.h"

struct xc_index_table {
	const uint8_t *bytes; /* borrowed; NULL: empty */
	struct xc_index_header header;
	uint8_t *checked; /* a bit for each verified page; NULL: all are valid, since it was built in this run */
	bool damaged;     /* a page was damaged: nothing that was read of the table counts */
};

/* Open the bytes of a kept file; key may be NULL when it is known to match. False, with nothing to release, when the
 * file is of another version, of another debug file, of another byte order, or damaged. */
bool xc_index_table_open(struct xc_index_table *table, const uint8_t *bytes, uint64_t size, const uint8_t *key);

/* Open the result of xc_index_build. */
void xc_index_table_built(struct xc_index_table *table, const void *bytes);
void xc_index_table_fini(struct xc_index_table *table);

/* The number of entries with a hash, and the number of the first. O(1). */
size_t xc_index_table_find(struct xc_index_table *table, uint32_t hash, uint32_t *first_out);

/* Entries and units by number; false when there is none, or when its page is damaged. */
bool xc_index_table_entry(struct xc_index_table *table, uint32_t number, struct xc_index_entry *entry_out);
bool xc_index_table_unit(struct xc_index_table *table, uint32_t number, struct xc_index_unit *unit_out);
uint32_t xc_index_table_count(const struct xc_index_table *table);

#endif

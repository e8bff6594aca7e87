/* index_table: the header is checked once, each other page when it is first touched. */
#include "dwarf/index/index_table.h"

#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

/* Does a part of `count` items of `size` bytes start on a page and end before the checksums? */
static bool part_fits(const struct xc_index_header *h, uint64_t at, uint64_t count, uint64_t size)
{
	return at >= XC_INDEX_PAGE && at % XC_INDEX_PAGE == 0 && at <= h->sums_at && count <= (h->sums_at - at) / size;
}

static bool header_is_sound(const struct xc_index_header *h, uint64_t size, const uint8_t *key)
{
	uint32_t crc = crc32_iscsi((unsigned char *)(uintptr_t)h, (int)offsetof(struct xc_index_header, header_crc), 0);
	return !memcmp(h->magic, "XCINDEX", sizeof h->magic) && h->version == XC_INDEX_VERSION &&
	       h->order == XC_INDEX_ORDER && h->header_crc == crc && h->size == size &&
	       (!key || !memcmp(h->key, key, XC_INDEX_KEY)) && h->bucket_bits > 0 && h->bucket_bits < 32 &&
	       h->sums_at <= h->size && h->sums_at == (h->page_count + UINT64_C(1)) * XC_INDEX_PAGE &&
	       h->page_count <= INT32_MAX / sizeof(uint32_t) &&
	       h->page_count * sizeof(uint32_t) == h->size - h->sums_at &&
	       part_fits(h, h->units_at, h->unit_count, sizeof(struct xc_index_unit)) &&
	       part_fits(h, h->buckets_at, (UINT64_C(1) << h->bucket_bits) + 1, sizeof(uint32_t)) &&
	       part_fits(h, h->entries_at, h->entry_count, sizeof(struct xc_index_entry));
}

static bool sums_are_sound(const struct xc_index_header *h, const uint8_t *bytes)
{
	return h->sums_crc == crc32_iscsi((unsigned char *)(uintptr_t)(bytes + h->sums_at),
					  (int)(h->page_count * sizeof(uint32_t)), 0);
}

bool xc_index_table_open(struct xc_index_table *table, const uint8_t *bytes, uint64_t size, const uint8_t *key)
{
	struct xc_index_header header;
	if (size < XC_INDEX_PAGE)
		return false;
	memcpy(&header, bytes, sizeof header);
	if (!header_is_sound(&header, size, key) || !sums_are_sound(&header, bytes))
		return false;
	*table = (struct xc_index_table){.bytes = bytes, .header = header};
	table->checked = xc_alloc(header.page_count / 8 + 1);
	return true;
}

void xc_index_table_built(struct xc_index_table *table, const void *bytes)
{
	*table = (struct xc_index_table){.bytes = bytes};
	memcpy(&table->header, bytes, sizeof table->header);
}

void xc_index_table_fini(struct xc_index_table *table)
{
	free(table->checked);
	*table = (struct xc_index_table){0};
}

/* ---- reading ---- */

static bool page_is_sound(struct xc_index_table *table, uint64_t page)
{
	if (!table->checked || page == 0)
		return true;
	uint64_t bit = page - 1;
	if (table->checked[bit / 8] & 1u << bit % 8)
		return true;
	uint32_t sum;
	memcpy(&sum, table->bytes + table->header.sums_at + bit * sizeof sum, sizeof sum);
	if (crc32_iscsi((unsigned char *)(uintptr_t)(table->bytes + page * XC_INDEX_PAGE), XC_INDEX_PAGE, 0) != sum) {
		table->damaged = true;
		return false;
	}
	table->checked[bit / 8] |= (uint8_t)(1u << bit % 8);
	return true;
}

/* Copy an item of `size` bytes; it may straddle two pages. */
static bool read_item(struct xc_index_table *table, uint64_t part, uint64_t number, size_t size, void *out)
{
	uint64_t at = part + number * size;
	if (!table->bytes || table->damaged || !page_is_sound(table, at / XC_INDEX_PAGE) ||
	    !page_is_sound(table, (at + size - 1) / XC_INDEX_PAGE))
		return false;
	memcpy(out, table->bytes + at, size);
	return true;
}

size_t xc_index_table_find(struct xc_index_table *table, uint32_t hash, uint32_t *first_out)
{
	uint32_t range[2];
	struct xc_index_entry entry;
	if (!table->bytes)
		return 0;
	uint32_t bucket = hash >> (32 - table->header.bucket_bits);
	for (uint32_t i = 0; i < 2; i++)
		if (!read_item(table, table->header.buckets_at, bucket + i, sizeof range[i], &range[i]))
			return 0;
	size_t count = 0;
	for (uint32_t i = range[0]; i < range[1] && xc_index_table_entry(table, i, &entry); i++) {
		if (entry.hash == hash && count++ == 0)
			*first_out = i;
	}
	return count;
}

bool xc_index_table_entry(struct xc_index_table *table, uint32_t number, struct xc_index_entry *entry_out)
{
	return number < xc_index_table_count(table) &&
	       read_item(table, table->header.entries_at, number, sizeof *entry_out, entry_out);
}

bool xc_index_table_unit(struct xc_index_table *table, uint32_t number, struct xc_index_unit *unit_out)
{
	return table->bytes && number < table->header.unit_count &&
	       read_item(table, table->header.units_at, number, sizeof *unit_out, unit_out);
}

uint32_t xc_index_table_count(const struct xc_index_table *table)
{
	return table->bytes ? table->header.entry_count : 0;
}

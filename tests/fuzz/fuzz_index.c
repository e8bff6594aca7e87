/* layer: dwarf
 *
 * A cached index with correct checksums and wrong content: the first bytes are the numbers of its header, the rest
 * overwrites its pages. Reads must stay in bounds. */
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/index/index_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NUMBERS = 20, MAX_PAGES = 16, LOOKS = 300 };

static void seal(uint8_t *bytes, struct xc_index_header *h)
{
	uint32_t *sums = (uint32_t *)(bytes + h->sums_at);
	for (size_t i = 0; i < h->page_count; i++)
		sums[i] = crc32_iscsi(bytes + (i + 1) * XC_INDEX_PAGE, XC_INDEX_PAGE, 0);
	h->sums_crc = crc32_iscsi((unsigned char *)sums, (int)(h->page_count * sizeof *sums), 0);
	h->header_crc = crc32_iscsi((unsigned char *)h, (int)offsetof(struct xc_index_header, header_crc), 0);
	memcpy(bytes, h, sizeof *h);
}

/* Mostly small numbers. */
static uint64_t number(const uint8_t *data, size_t at)
{
	uint64_t value = data[at] | (uint64_t)data[at + 1] << 8;
	return data[at + 1] == 0xff ? ~value : value;
}

static void look(struct xc_index_table *table, const uint8_t *data, size_t size)
{
	struct xc_index_entry entry;
	struct xc_index_unit unit;
	uint32_t first, hash;
	for (size_t i = 0; i + sizeof hash <= size && i < LOOKS; i++) {
		memcpy(&hash, data + i, sizeof hash);
		size_t count = xc_index_table_find(table, hash, &first);
		if (count && (!xc_index_table_entry(table, first, &entry) || entry.hash != hash))
			abort();
		if (xc_index_table_entry(table, hash, &entry))
			xc_index_table_unit(table, entry.unit, &unit);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xc_index_table table;
	if (size < NUMBERS)
		return 0;
	struct xc_index_header h = {.magic = "XCINDEX", .version = XC_INDEX_VERSION, .order = XC_INDEX_ORDER};
	h.page_count = data[0] % MAX_PAGES;
	h.sums_at = (h.page_count + UINT64_C(1)) * XC_INDEX_PAGE;
	h.size = h.sums_at + h.page_count * sizeof(uint32_t);
	h.unit_count = (uint32_t)number(data, 2);
	h.entry_count = (uint32_t)number(data, 4);
	h.bucket_bits = data[6];
	h.units_at = number(data, 8) * (data[1] & 1 ? 1 : XC_INDEX_PAGE);
	h.buckets_at = number(data, 10) * (data[1] & 2 ? 1 : XC_INDEX_PAGE);
	h.entries_at = number(data, 12) * (data[1] & 4 ? 1 : XC_INDEX_PAGE);
	uint8_t *bytes = calloc(1, (size_t)h.size);
	size_t rest = size - NUMBERS, room = (size_t)h.sums_at - XC_INDEX_PAGE;
	memcpy(bytes + (room ? XC_INDEX_PAGE : 0), data + NUMBERS, rest < room ? rest : room);
	seal(bytes, &h);
	if (xc_index_table_open(&table, bytes, h.size, h.key)) {
		look(&table, data, size);
		xc_index_table_fini(&table);
	}
	free(bytes);
	return 0;
}

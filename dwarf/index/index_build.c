/* index_build: threads take units from one counter and scan them into their own tables, without a lock; then the
 * tables are merged by key and laid out by hash. Of equal definitions the one of the lowest unit stays, so the result
 * does not depend on the order of threads. */
#include "dwarf/index/index_build.h"

#include <isa-l/crc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "dwarf/index/index_far.h"
#include "dwarf/index/index_macro.h"
#include "dwarf/elf/name.h"

enum { MAX_BUCKET_BITS = 26, PER_BUCKET = 4 };

struct work {
	const struct xc_index_input *input;
	struct xc_index_listed *units;
	size_t unit_count, unit_capacity;
	atomic_size_t next;
	atomic_uint_fast64_t done; /* bytes */
	uint64_t total;
};

struct worker {
	struct work *work;
	struct xc_index_scan scan;
	pthread_t thread;
	bool leads; /* this worker draws the progress */
};

static void add_unit(struct work *w, const struct xc_index_listed *one)
{
	w->units = xc_grow(w->units, w->unit_count, &w->unit_capacity, sizeof *w->units);
	w->units[w->unit_count++] = *one;
	w->total += one->unit.size;
}

static void list_units(struct work *w)
{
	const struct xc_index_input *input = w->input;
	for (size_t i = 0; i < input->only_count; i++) {
		uint64_t offset = input->only[i];
		struct xc_index_listed one = {.space = XC_INDEX_MAIN};
		if (xc_die_scan_next_unit(&input->spaces[XC_INDEX_MAIN], &offset, &one.unit))
			add_unit(w, &one);
	}
	for (size_t i = 0; i < input->space_count && !input->only; i++) {
		uint64_t offset = 0;
		struct xc_index_listed one = {.space = (uint32_t)i};
		while (xc_die_scan_next_unit(&input->spaces[i], &offset, &one.unit))
			add_unit(w, &one);
		one.unit = (struct xc_die_scan_unit){.size = xc_cursor_left(&input->spaces[i].macro)};
		if (i == XC_INDEX_MACRO && one.unit.size)
			add_unit(w, &one);
	}
}

static void *scan_units(void *argument)
{
	struct worker *worker = argument;
	struct work *w = worker->work;
	size_t i;
	while ((i = atomic_fetch_add(&w->next, 1)) < w->unit_count) {
		const struct xc_index_listed *one = &w->units[i];
		if (one->unit.type) {
			xc_index_scan_unit(&worker->scan, &w->input->spaces[one->space], &one->unit, (uint32_t)i);
			xc_index_scan_unit_macros(&worker->scan);
		} else if (one->space == XC_INDEX_MACRO) {
			xc_index_scan_macros(&worker->scan, &w->input->spaces[one->space], (uint32_t)i);
		}
		uint64_t done = atomic_fetch_add(&w->done, one->unit.size) + one->unit.size;
		if (worker->leads)
			xc_progress_step(w->input->progress, done, w->total);
	}
	return NULL;
}

static void scan_all(struct work *w, struct worker *workers, unsigned count)
{
	unsigned started = 1;
	workers[0].leads = true;
	for (unsigned i = 0; i < count; i++)
		workers[i].work = w;
	while (started < count && pthread_create(&workers[started].thread, NULL, scan_units, &workers[started]) == 0)
		started++;
	scan_units(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

/* ---- merging ---- */

/* Merge the items of `from` into `to`. Parents are renumbered when all are added: an item that replaced an earlier
 * one may precede its scope. */
static void merge(struct xc_index_items *to, const struct xc_index_items *from)
{
	uint32_t *number = xc_alloc((from->count + 1) * sizeof *number);
	for (size_t i = 0; i < from->count; i++)
		number[i] = xc_index_items_add(to, &from->items[i]);
	for (size_t i = 0; i < from->count; i++) {
		const struct xc_index_item *item = &from->items[i];
		struct xc_index_item *stays = &to->items[number[i]];
		if (stays->unit == item->unit && stays->die == item->die) /* a unit belongs to one thread */
			stays->parent = item->parent ? number[item->parent - 1] + 1 : 0;
	}
	free(number);
}

/* ---- laying out ---- */

struct layout {
	struct xc_index_header header;
	uint8_t *bytes;
};

static uint64_t page_up(uint64_t size)
{
	return (size + XC_INDEX_PAGE - 1) / XC_INDEX_PAGE * XC_INDEX_PAGE;
}

static unsigned bucket_bits(size_t count)
{
	unsigned bits = 4;
	while (bits < MAX_BUCKET_BITS && ((size_t)PER_BUCKET << bits) < count)
		bits++;
	return bits;
}

static void plan(struct xc_index_header *h, size_t units, size_t entries)
{
	h->unit_count = (uint32_t)units;
	h->entry_count = (uint32_t)entries;
	h->bucket_bits = bucket_bits(entries);
	h->units_at = XC_INDEX_PAGE;
	h->buckets_at = h->units_at + page_up(units * sizeof(struct xc_index_unit));
	h->entries_at = h->buckets_at + page_up(((UINT64_C(1) << h->bucket_bits) + 1) * sizeof(uint32_t));
	h->sums_at = h->entries_at + page_up(entries * sizeof(struct xc_index_entry));
	h->page_count = (uint32_t)(h->sums_at / XC_INDEX_PAGE - 1);
	h->size = h->sums_at + h->page_count * sizeof(uint32_t);
}

struct order {
	uint32_t hash, unit, die, item;
};

static int by_hash(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->die < y->die ? -1 : x->die > y->die;
}

static struct order order_of(const struct xc_index_items *all, size_t i)
{
	const struct xc_index_item *item = &all->items[i];
	return (struct order){item->hash, item->unit, item->die, (uint32_t)i};
}

/* Counting sort by bucket; then each small bucket is sorted. */
static struct order *sort_items(const struct xc_index_items *all, unsigned bits, uint32_t *buckets)
{
	size_t count = (size_t)1 << bits;
	struct order *sorted = xc_alloc((all->count + 1) * sizeof *sorted);
	uint32_t *fill = xc_alloc((count + 1) * sizeof *fill);
	for (size_t i = 0; i < all->count; i++)
		fill[(all->items[i].hash >> (32 - bits)) + 1]++;
	for (size_t i = 0; i < count; i++)
		fill[i + 1] += fill[i];
	memcpy(buckets, fill, (count + 1) * sizeof *fill);
	for (size_t i = 0; i < all->count; i++)
		sorted[fill[all->items[i].hash >> (32 - bits)]++] = order_of(all, i);
	for (size_t i = 0; i < count; i++)
		if (buckets[i + 1] - buckets[i] > 1)
			qsort(sorted + buckets[i], buckets[i + 1] - buckets[i], sizeof *sorted, by_hash);
	free(fill);
	return sorted;
}

static struct xc_index_entry entry_of(const struct xc_index_item *item, const uint32_t *place)
{
	struct xc_die_scan_string name = xc_index_unpack_name(item->name);
	return (struct xc_index_entry){.hash = item->hash,
				       .parent = item->parent ? place[item->parent - 1] + 1 : 0,
				       .unit = item->unit,
				       .die = item->die,
				       .name_low = (uint32_t)name.offset,
				       .name_high = (uint8_t)(name.offset >> 32),
				       .flags = (uint8_t)((item->flags & 15) | name.where << 4),
				       .tag = item->tag};
}

static void write_entries(const struct xc_index_items *all, struct layout *l)
{
	struct order *sorted = sort_items(all, l->header.bucket_bits, (uint32_t *)(l->bytes + l->header.buckets_at));
	uint32_t *place = xc_alloc((all->count + 1) * sizeof *place); /* item → entry */
	struct xc_index_entry *entries = (struct xc_index_entry *)(l->bytes + l->header.entries_at);
	for (size_t i = 0; i < all->count; i++)
		place[sorted[i].item] = (uint32_t)i;
	for (size_t i = 0; i < all->count; i++)
		entries[i] = entry_of(&all->items[sorted[i].item], place);
	free(place);
	free(sorted);
}

static struct xc_index_unit unit_of(const struct work *w, const struct xc_index_listed *one)
{
	if (one->space < XC_INDEX_SPLIT)
		return (struct xc_index_unit){.offset = one->unit.offset, .space = one->space};
	const struct xc_index_part *part = &w->input->parts[one->space - XC_INDEX_SPLIT];
	return (struct xc_index_unit){.offset = part->skeleton, .signature = part->signature, .space = XC_INDEX_SPLIT};
}

static void write_units(const struct work *w, struct layout *l)
{
	struct xc_index_unit *units = (struct xc_index_unit *)(l->bytes + l->header.units_at);
	for (size_t i = 0; i < w->unit_count; i++)
		units[i] = unit_of(w, &w->units[i]);
}

static void seal(struct layout *l)
{
	struct xc_index_header *h = &l->header;
	uint32_t *sums = (uint32_t *)(l->bytes + h->sums_at);
	for (size_t i = 0; i < h->page_count; i++)
		sums[i] = crc32_iscsi(l->bytes + (i + 1) * XC_INDEX_PAGE, XC_INDEX_PAGE, 0);
	h->sums_crc = crc32_iscsi((unsigned char *)sums, (int)(h->page_count * sizeof *sums), 0);
	h->header_crc = crc32_iscsi((unsigned char *)h, (int)offsetof(struct xc_index_header, header_crc), 0);
	memcpy(l->bytes, h, sizeof *h);
}

static void *lay_out(const struct work *w, const struct xc_index_scan *scan, const uint8_t *key, size_t *size_out)
{
	struct layout l = {.header = {.magic = "XCINDEX",
				      .version = XC_INDEX_VERSION,
				      .order = XC_INDEX_ORDER,
				      .damaged = scan->damaged}};
	memcpy(l.header.key, key, XC_INDEX_KEY);
	plan(&l.header, w->unit_count, scan->all.count);
	l.bytes = xc_alloc((size_t)l.header.size);
	write_units(w, &l);
	write_entries(&scan->all, &l);
	seal(&l);
	*size_out = (size_t)l.header.size;
	return l.bytes;
}

void *xc_index_build(const struct xc_index_input *input, const uint8_t key[XC_INDEX_KEY], size_t *size_out)
{
	struct work w = {.input = input};
	list_units(&w);
	unsigned threads = xc_parallel_workers(input->jobs, w.unit_count);
	struct worker *workers = xc_alloc(threads * sizeof *workers);
	void *bytes = NULL;
	if (w.unit_count < UINT32_MAX)
		scan_all(&w, workers, threads);
	for (unsigned i = 1; i < threads; i++) {
		merge(&workers[0].scan.all, &workers[i].scan.all);
		workers[0].scan.damaged += workers[i].scan.damaged;
		xc_index_scan_fini(&workers[i].scan);
	}
	struct xc_index_items *all = &workers[0].scan.all;
	bool far = xc_index_far_any(all), good = w.unit_count < UINT32_MAX && all->count < UINT32_MAX;
	if (good && far && !input->only)
		xc_index_far_resolve(&(struct xc_index_listing){input->spaces, w.units, w.unit_count}, all);
	if (good && !(far && input->only))
		bytes = lay_out(&w, &workers[0].scan, key, size_out);
	xc_index_scan_fini(&workers[0].scan);
	free(workers);
	free(w.units);
	return bytes;
}

/* Contents are distinguished by a hash of 64 bits and the length; for those that are shown, equality is checked
 * byte by byte. Entries are distributed to buckets by their hash, and each bucket is sorted separately, so that
 * threads share no memory. */
#include "heap/report/duplicates.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/text.h"
#include "heap/query/objects.h"
#include "heap/query/typing_report.h"
#include "heap/blocks/window.h"

enum { LEAST = 16, MOST = 1 << 20, PIECES = 64, BUCKETS = 256, SHOWN = 60, SHOWN_BYTES = 24 };

struct entry {
	uint64_t hash;
	uint32_t block;
	uint32_t len; /* of the content */
};

struct group {
	uint32_t first; /* block */
	uint32_t len;
	bool is_text;
	uint64_t copies, wasted;
};

struct dups {
	const struct xc_heap *heap;
	struct entry *entries; /* by block at first; then by bucket */
	struct entry *sorted;
	size_t starts[BUCKETS + 1];
	size_t limit;
	struct group *groups[BUCKETS]; /* the best of each, ordered by waste */
	size_t group_count[BUCKETS];
	uint64_t all_wasted[BUCKETS];
};

/* ---- content ---- */

static uint64_t hash_of(const uint8_t *bytes, size_t len)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t hash = len * factor, word;
	for (size_t at = 0; at < len; at += sizeof word) {
		word = 0;
		memcpy(&word, bytes + at, len - at < sizeof word ? len - at : sizeof word);
		hash = (hash ^ word) * factor;
		hash ^= hash >> 29;
	}
	return hash ? hash : 1;
}

/* Printable up to a NUL in the block, and at least four characters. */
static size_t text_length(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = memchr(bytes, '\0', size);
	size_t len = end ? (size_t)(end - bytes) : 0;
	return len >= 4 && xc_text_readable_length((const char *)bytes, len) == len ? len : 0;
}

static const uint8_t *content(struct xc_window *window, const struct xc_blocks *blocks, uint32_t block, size_t *len_out,
			      bool *is_text_out)
{
	uint64_t size = xc_block_size(blocks, block);
	if (size < LEAST || size > MOST || xc_block_state(blocks, block) != XC_BLOCK_LIVE)
		return NULL;
	const uint8_t *bytes = xc_window(window, xc_block_addr(blocks, block), size);
	if (!bytes)
		return NULL;
	size_t text = text_length(bytes, size);
	*is_text_out = text > 0;
	*len_out = text ? text : (size_t)size;
	return bytes;
}

static void hash_piece(void *context, size_t piece, unsigned worker)
{
	struct dups *d = context;
	const struct xc_blocks *blocks = &d->heap->blocks;
	struct xc_window window;
	(void)worker;
	xc_window_init(&window, d->heap->process->space);
	size_t end = blocks->count * (piece + 1) / PIECES;
	for (size_t i = blocks->count * piece / PIECES; i < end; i++) {
		size_t len;
		bool is_text;
		const uint8_t *bytes = content(&window, blocks, (uint32_t)i, &len, &is_text);
		if (bytes)
			d->entries[i] = (struct entry){hash_of(bytes, len), (uint32_t)i, (uint32_t)len};
	}
	xc_window_fini(&window);
}

/* ---- buckets ---- */

static void spread(struct dups *d, size_t count)
{
	size_t next[BUCKETS];
	for (size_t i = 0; i < count; i++)
		if (d->entries[i].hash)
			d->starts[(d->entries[i].hash >> 56) + 1]++;
	for (size_t b = 0; b < BUCKETS; b++) {
		d->starts[b + 1] += d->starts[b];
		next[b] = d->starts[b];
	}
	for (size_t i = 0; i < count; i++)
		if (d->entries[i].hash)
			d->sorted[next[d->entries[i].hash >> 56]++] = d->entries[i];
}

static int by_content(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

static int by_waste(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	if (x->wasted != y->wasted)
		return x->wasted > y->wasted ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static bool equal(struct xc_window *a, struct xc_window *b, const struct xc_blocks *blocks, uint32_t x, uint32_t y)
{
	size_t x_len, y_len;
	bool x_text, y_text;
	const uint8_t *p = content(a, blocks, x, &x_len, &x_text), *q = content(b, blocks, y, &y_len, &y_text);
	return p && q && x_len == y_len && x_text == y_text && memcmp(p, q, x_len) == 0;
}

/* One run of equal hashes; blocks with only the hash in common are not counted. */
static struct group classify(const struct dups *d, struct xc_window windows[2], const struct entry *run, size_t count)
{
	const struct xc_blocks *blocks = &d->heap->blocks;
	struct group group = {.first = run[0].block, .len = run[0].len, .copies = 1};
	size_t len;
	(void)content(&windows[0], blocks, run[0].block, &len, &group.is_text);
	for (size_t i = 1; i < count; i++) {
		if (!equal(&windows[0], &windows[1], blocks, run[0].block, run[i].block))
			continue;
		group.copies++;
		group.wasted += xc_block_size(blocks, run[i].block);
	}
	return group;
}

static void add_group(struct dups *d, size_t bucket, const struct group *group, size_t *capacity)
{
	struct group **groups = &d->groups[bucket];
	*groups = xc_grow(*groups, d->group_count[bucket], capacity, sizeof **groups);
	(*groups)[d->group_count[bucket]++] = *group;
	d->all_wasted[bucket] += group->wasted;
	if (d->group_count[bucket] < 2 * d->limit + 1000)
		return;
	qsort(*groups, d->group_count[bucket], sizeof **groups, by_waste);
	d->group_count[bucket] = d->limit;
}

static void sort_bucket(void *context, size_t bucket, unsigned worker)
{
	struct dups *d = context;
	struct entry *entries = d->sorted + d->starts[bucket];
	size_t count = d->starts[bucket + 1] - d->starts[bucket], capacity = 0, end;
	struct xc_window windows[2];
	(void)worker;
	xc_window_init(&windows[0], d->heap->process->space);
	xc_window_init(&windows[1], d->heap->process->space);
	qsort(entries, count, sizeof *entries, by_content);
	for (size_t at = 0; at < count; at = end) {
		for (end = at + 1;
		     end < count && entries[end].hash == entries[at].hash && entries[end].len == entries[at].len;)
			end++;
		if (end - at < 2)
			continue;
		struct group group = classify(d, windows, entries + at, end - at);
		if (group.copies > 1)
			add_group(d, bucket, &group, &capacity);
	}
	xc_window_fini(&windows[0]);
	xc_window_fini(&windows[1]);
}

/* ---- reporting ---- */

static char *shown(const struct dups *d, const struct group *group)
{
	char *bytes = xc_alloc(group->len);
	size_t got = xc_space_peek(d->heap->process->space, xc_block_addr(&d->heap->blocks, group->first), bytes,
				   group->len);
	size_t most = group->is_text ? SHOWN : SHOWN_BYTES, want = got < most ? got : most;
	bool repeats = got == group->len && memcmp(bytes, bytes + 1, got - 1) == 0;
	struct xc_text text = {0};
	xc_text_char(&text, '"');
	xc_text_escaped(&text, bytes, repeats ? 1 : want);
	xc_text_char(&text, '"');
	if (repeats)
		xc_text_printf(&text, " <repeats %zu times>", got);
	else if (want < group->len)
		xc_text_add(&text, "...");
	free(bytes);
	return xc_text_take(&text);
}

static void show_groups(struct xc_section *s, const struct dups *d, const struct group *groups, size_t count)
{
	static const struct xc_column columns[] = {
		{.key = "copies", .label = "COPIES", .kind = XC_FIELD_COUNT},
		{.key = "wasted", .label = "WASTED", .kind = XC_FIELD_BYTES},
		{.key = "size", .label = "SIZE", .kind = XC_FIELD_BYTES},
		{.key = "example", .label = "ONE OF THEM", .kind = XC_FIELD_ADDRESS},
		{.key = "type", .label = "TYPE", .kind = XC_FIELD_TEXT},
		{.key = "content", .label = "CONTENT", .kind = XC_FIELD_TEXT},
	};
	struct xc_table *table = xc_section_table(s, "dups", columns, XC_COUNT(columns));
	const struct xc_typing *typing = d->heap->typing;
	for (size_t i = 0; i < count; i++) {
		const char *type = typing ? xc_typing_name(typing, groups[i].first) : NULL;
		xc_auto(xc_freep) char *text = shown(d, &groups[i]);
		struct xc_cell row[] = {
			xc_cell_count(groups[i].copies),
			xc_cell_bytes(groups[i].wasted),
			xc_cell_bytes(groups[i].len),
			xc_cell_address(xc_block_addr(&d->heap->blocks, groups[i].first)),
			type                ? xc_cell_text(type)
			: groups[i].is_text ? xc_cell_text("text?")
					    : xc_cell_null("unknown"),
			xc_cell_text(text),
		};
		row[XC_COUNT(row) - 1].secret = true;
		xc_table_row(s, table, row);
	}
}

static void gather(struct xc_section *s, struct dups *d)
{
	struct group *all = NULL;
	size_t count = 0, capacity = 0;
	uint64_t wasted = 0;
	for (size_t b = 0; b < BUCKETS; b++) {
		wasted += d->all_wasted[b];
		for (size_t i = 0; i < d->group_count[b]; i++) {
			all = xc_grow(all, count, &capacity, sizeof *all);
			all[count++] = d->groups[b][i];
		}
		free(d->groups[b]);
	}
	xc_section_bytes(s, "wasted", "in second and further copies", wasted);
	if (count)
		qsort(all, count, sizeof *all, by_waste);
	show_groups(s, d, all, count < d->limit ? count : d->limit);
	free(all);
}

void xc_duplicates(struct xc_section *s, struct xc_heap *heap, size_t limit)
{
	xc_typing_or_note(s, heap); /* first: claims change the number of blocks */
	size_t count = heap->blocks.count;
	struct xc_reserve memory[2] = {xc_reserve_new(count, sizeof(struct entry)),
				       xc_reserve_new(count, sizeof(struct entry))};
	struct dups d = {.heap = heap, .entries = memory[0].items, .sorted = memory[1].items, .limit = limit};
	if (count) {
		xc_parallel(heap->jobs, PIECES, hash_piece, &d);
		spread(&d, count);
		xc_reserve_free(&memory[0]);
		xc_parallel(heap->jobs, BUCKETS, sort_bucket, &d);
	}
	gather(s, &d);
	for (size_t i = 0; i < XC_COUNT(memory); i++)
		xc_reserve_free(&memory[i]);
}

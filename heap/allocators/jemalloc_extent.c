/* jemalloc_extent: the records of extents; their layout, found by votes; and how far each record is believed.
 *
 *	edata_t (5.3), extent_t (5.0 to 5.2):
 *	 0 | bits: …, free regions (10), class (8), state, flags, slab (1), arena (12) |
 *	 8 | address: of large extents with the random offset in their first page |
 *	16 | size in whole pages, with a serial number in the bits below |
 *	   | links |
 *	64 | slab: bitmap, a set bit is a free region; large: profiling |
 *
 *	       state, bits   class   free regions
 *	5.0     15, 2         17        25
 *	5.1, 2  16, 2         18        26
 *	5.3     17, 3         20        28
 *
 * Checked against jemalloc 5.3.0 (include/jemalloc/internal/edata.h), a running 5.2.1, and extent_structs.h of 5.0.
 * Versions are not used. The leaves of the radix tree repeat the class, which shows its place in the bits. A slab's
 * number of free regions equals the number of set bits in its bitmap, which shows the bitmap's place. The sizes of
 * slabs and large extents show the classes.
 *
 * Leaves can replace what a damaged record lost: each page of a slab has an entry, and so have a large extent's
 * first and last page. */
#include "heap/allocators/jemalloc_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ORPHANS_MAX = 1 << 20, SLAB_BIT = 12, ARENA_MASK = 0xfff, NO_ARENA = 0xfff };

/* The forms of the data beside the pointer in a leaf. */
enum leaf_form { COMPACT, WIDE, WIDE_OLD, LEAF_FORMS };

/* Consecutive entries of a leaf that lead to the same record. */
struct run {
	xc_addr key, last; /* pages */
	xc_addr edata;
	uint64_t rest, pages; /* of the first entry; how many entries */
	uint64_t bits, addr, size;
	bool orphan; /* the record has another address, or cannot be read */
	bool unreadable;
};

struct runs {
	const struct xc_space *space;
	const struct xc_jemalloc_geometry *g;
	struct run *items;
	size_t count, capacity, orphans;
};

static void add_run(struct runs *r, const struct xc_jemalloc_entry *e)
{
	uint8_t buf[24];
	uint64_t page = UINT64_C(1) << r->g->lg_page;
	const uint8_t *record = e->edata % 64 ? NULL : xc_jemalloc_peek(r->space, e->edata, buf, sizeof buf);
	struct run run = {
		.key = e->key, .last = e->key, .edata = e->edata, .rest = e->rest, .pages = 1, .orphan = true};
	run.unreadable = !record;
	if (record) {
		run.bits = xc_jemalloc_word(record);
		run.addr = xc_jemalloc_word(record + 8);
		run.size = xc_jemalloc_word(record + 16) & ~(page - 1);
		run.orphan = run.addr >> r->g->lg_page != e->key >> r->g->lg_page;
	}
	r->items = xc_grow(r->items, r->count, &r->capacity, sizeof *r->items);
	r->items[r->count++] = run;
}

/* An entry amid the pages of an extent that leads to a record without that page: only the entry is wrong. */
static bool astray(const struct run *before, const struct run *run)
{
	return run->orphan && !before->orphan && run->key - before->key < before->size;
}

static void take_entry(void *context, const struct xc_jemalloc_entry *e)
{
	struct runs *r = context;
	struct run *run = r->count ? &r->items[r->count - 1] : NULL;
	if (run && run->edata == e->edata) {
		run->last = e->key;
		run->pages++;
	} else if (r->orphans < ORPHANS_MAX) {
		add_run(r, e);
		if (r->count > 1 && astray(&r->items[r->count - 2], &r->items[r->count - 1]))
			r->count--;
		else
			r->orphans += r->items[r->count - 1].orphan;
	}
}

/* ---- votes ---- */

static unsigned leaf_class(const struct xc_jemalloc_geometry *g, unsigned form, uint64_t rest)
{
	return (unsigned)(form == COMPACT ? rest >> g->vaddr : form == WIDE ? rest >> 5 & 0xff : rest & UINT32_MAX);
}

static bool leaf_slab(unsigned form, uint64_t rest)
{
	return rest >> (form == WIDE_OLD ? 32 : 0) & 1;
}

static unsigned class_of(const struct xc_jemalloc_layout *l, uint64_t bits)
{
	return bits >> l->szind_shift & 0xff;
}

static unsigned nfree_of(const struct xc_jemalloc_layout *l, uint64_t bits)
{
	return (unsigned)(bits >> l->nfree_shift & (l->page / 4 - 1)); /* at most a page's worth of 8 bytes */
}

static unsigned state_of(const struct xc_jemalloc_layout *l, uint64_t bits)
{
	return (unsigned)(bits >> (l->szind_shift - l->state_bits)) & ((1U << l->state_bits) - 1);
}

static bool slab_of(uint64_t bits)
{
	return bits >> SLAB_BIT & 1;
}

struct vote {
	size_t yes, all;
};

static bool clear(const struct vote *v)
{
	return v->yes > 0 && v->yes >= v->all - v->all / 5;
}

/* Free extents have no vote: up to 5.2 their leaves keep the old class. */
static struct vote vote_for_class(const struct runs *r, unsigned form, unsigned shift)
{
	struct vote v = {0};
	unsigned state = shift >= 20 ? 7 : 3, state_bits = shift >= 20 ? 3 : 2;
	for (size_t i = 0; i < r->count; i++) {
		const struct run *run = &r->items[i];
		if (run->orphan || run->bits >> (shift - state_bits) & state)
			continue;
		v.all++;
		v.yes += leaf_class(r->g, form, run->rest) == (run->bits >> shift & 0xff) &&
			 leaf_slab(form, run->rest) == slab_of(run->bits);
	}
	return v;
}

/* The place of the class in leaves and in records. */
static struct vote find_class(const struct runs *r, struct xc_jemalloc_layout *l)
{
	static const uint8_t shifts[] = {20, 18, 17, 19, 21, 16, 22};
	struct vote best = {0};
	for (unsigned form = 0; form < LEAF_FORMS; form++)
		for (size_t i = 0; i < XC_COUNT(shifts) && (form == COMPACT) == (r->g->entry == 8); i++) {
			struct vote v = vote_for_class(r, form, shifts[i]);
			if (v.yes <= best.yes)
				continue;
			best = v;
			l->leaf_form = (uint8_t)form;
			l->szind_shift = shifts[i];
		}
	l->state_bits = l->szind_shift >= 20 ? 3 : 2;
	l->nfree_shift = (uint8_t)(l->szind_shift + 8);
	return best;
}

/* Sizes of the classes: 8 … below the quantum, four multiples of it, then four to each doubling (src/sc.c). */
static void set_sizes(struct xc_jemalloc_layout *l, unsigned lg_quantum)
{
	unsigned tiny = lg_quantum - 3, count = 0;
	l->lg_quantum = (uint8_t)lg_quantum;
	memset(l->sizes, 0, sizeof l->sizes);
	while (count < tiny) {
		l->sizes[count] = UINT64_C(8) << count;
		count++;
	}
	for (uint64_t i = 1; i <= 4; i++)
		l->sizes[count++] = i << lg_quantum;
	/* The largest class is below half of the address space, so the last doubling lacks its last class. */
	for (unsigned lg = lg_quantum + 2; lg <= 62; lg++)
		for (uint64_t i = 1; i <= (lg == 62 ? 3 : 4); i++)
			l->sizes[count++] = (UINT64_C(1) << lg) + (i << (lg - 2));
	l->class_count = count;
}

/* Is it exactly the size for the class? For slabs: the smallest number of pages that regions fill. */
static bool size_fits(const struct xc_jemalloc_layout *l, unsigned class, bool is_slab, uint64_t extent)
{
	uint64_t size = class < l->class_count ? l->sizes[class] : 0, slab = l->page;
	if (size == 0)
		return false;
	if (!is_slab)
		return extent == size || extent == size + l->page;
	while (slab % size && slab < 64 * l->page)
		slab += l->page;
	return extent == slab;
}

static struct vote find_sizes(const struct runs *r, struct xc_jemalloc_layout *l)
{
	static const uint8_t quanta[] = {4, 3, 5};
	struct vote best = {0};
	unsigned winner = 4;
	for (size_t q = 0; q < XC_COUNT(quanta); q++) {
		struct vote v = {0};
		set_sizes(l, quanta[q]);
		for (size_t i = 0; i < r->count; i++) {
			const struct run *run = &r->items[i];
			if (run->orphan || state_of(l, run->bits) || class_of(l, run->bits) >= l->class_count)
				continue;
			v.all++;
			v.yes += size_fits(l, class_of(l, run->bits), slab_of(run->bits), run->size);
		}
		if (v.yes > best.yes) {
			best = v;
			winner = quanta[q];
		}
	}
	set_sizes(l, winner);
	return best;
}

static unsigned regions_of(const struct xc_jemalloc_layout *l, unsigned class, uint64_t size)
{
	uint64_t each = class < l->class_count ? l->sizes[class] : 0, most = l->page / 8;
	uint64_t count = each ? size / each : 0;
	return count > most ? 0 : (unsigned)count;
}

static unsigned count_free(const uint8_t *bitmap, unsigned regions)
{
	unsigned count = 0;
	for (unsigned i = 0; i < regions; i += 64) {
		uint64_t word = xc_jemalloc_word(bitmap + i / 8);
		if (regions - i < 64)
			word &= (UINT64_C(1) << (regions - i)) - 1;
		count += (unsigned)__builtin_popcountll(word);
	}
	return count;
}

/* Slabs without free regions prove little: unused memory is zero too. */
static struct vote vote_for_bitmap(const struct runs *r, const struct xc_jemalloc_layout *l, unsigned offset)
{
	struct vote v = {0};
	uint8_t buf[XC_JEMALLOC_BITMAP * 8];
	for (size_t i = 0; i < r->count && v.all < 10000; i++) {
		const struct run *run = &r->items[i];
		unsigned regions = regions_of(l, class_of(l, run->bits), run->size);
		unsigned nfree = nfree_of(l, run->bits);
		if (run->orphan || !slab_of(run->bits) || state_of(l, run->bits) || regions == 0 || nfree == 0)
			continue;
		const uint8_t *bitmap =
			xc_jemalloc_peek(r->space, run->edata + offset, buf, (regions + 63) / 64 * sizeof(uint64_t));
		v.all++;
		v.yes += bitmap && count_free(bitmap, regions) == nfree;
	}
	return v;
}

static struct vote find_bitmap(const struct runs *r, struct xc_jemalloc_layout *l)
{
	struct vote best = {0};
	static const uint8_t offsets[] = {64, 56, 72, 48, 80, 40, 88, 96, 104};
	l->bitmap = offsets[0];
	for (size_t i = 0; i < XC_COUNT(offsets); i++) {
		struct vote v = vote_for_bitmap(r, l, offsets[i]);
		if (v.yes > best.yes) {
			best = v;
			l->bitmap = offsets[i];
		}
	}
	return best;
}

/* ---- runs become extents ---- */

struct reading {
	struct xc_jemalloc *je;
	const struct xc_jemalloc_layout *l;
	const struct runs *runs;
	size_t tree;
};

static void damage(struct reading *d, const struct run *run, char *what, char *expected)
{
	struct xc_damage damage = {
		.addr = run->edata, .what = what, .expected = expected, .lost_lo = 1, .before = XC_NO_BLOCK};
	char *found = run->unreadable ? NULL
				      : xc_asprintf("arena %u, class %u, state %u, %s, %u free, address 0x%" PRIx64
						    ", size 0x%" PRIx64,
						    (unsigned)(run->bits & ARENA_MASK), class_of(d->l, run->bits),
						    state_of(d->l, run->bits), slab_of(run->bits) ? "slab" : "no slab",
						    nfree_of(d->l, run->bits), run->addr, run->size);
	damage.found = found;
	xc_heap_add_damage(d->je->heap, &damage);
	free(found);
	free(what);
	free(expected);
}

/* The pages of the run according to leaves: all of a slab, the first and last of others. */
static uint64_t size_by_leaves(const struct reading *d, const struct run *run)
{
	return run->last - run->key + d->l->page;
}

static xc_addr room(const struct reading *d, size_t i)
{
	const struct run *run = &d->runs->items[i];
	return (i + 1 < d->runs->count ? run[1].key : UINT64_C(1) << XC_BLOCK_ADDRESS_BITS) - run->key;
}

/* The record does not confirm the extent. */
static void mend_orphan(struct reading *d, const struct run *run, struct xc_jemalloc_extent *e)
{
	e->addr = run->key;
	e->size = size_by_leaves(d, run);
	e->doubtful = true;
	e->arena = NO_ARENA;
	damage(d, run,
	       run->unreadable
		       ? xc_asprintf("the record of the extent at 0x%" PRIx64 " cannot be read", run->key)
		       : xc_asprintf("the record of the extent at 0x%" PRIx64 " is of another address", run->key),
	       run->unreadable ? NULL : xc_asprintf("address 0x%" PRIx64, run->key));
}

/* Of two values of the class, the one that fits the size; that of the leaves if neither does. */
static void check_class(struct reading *d, const struct run *run, struct xc_jemalloc_extent *e)
{
	unsigned class = class_of(d->l, run->bits);
	bool slab = slab_of(run->bits);
	if (class == e->szind && slab == e->slab)
		return;
	damage(d, run,
	       xc_asprintf("the record and the radix tree name different classes of the extent at 0x%" PRIx64,
			   run->key),
	       xc_asprintf("class %u, %s", e->szind, e->slab ? "slab" : "no slab"));
	if (size_fits(d->l, e->szind, e->slab, e->size) || !size_fits(d->l, class, slab, e->size)) {
		e->arena = NO_ARENA;
		return;
	}
	e->szind = (uint8_t) class;
	e->slab = slab;
}

/* Of two values of the size, the one that fits the class. */
static void check_size(struct reading *d, const struct run *run, struct xc_jemalloc_extent *e, uint64_t most)
{
	uint64_t leaves = size_by_leaves(d, run);
	bool can = run->size && run->size <= most;
	bool every = e->slab && e->state == XC_JEMALLOC_ACTIVE; /* page has an entry */
	if (can && leaves == run->size && (!every || run->pages == leaves / d->l->page))
		return;
	damage(d, run,
	       xc_asprintf("the extent at 0x%" PRIx64 " has a size that the radix tree does not know", run->key),
	       xc_asprintf("0x%" PRIx64, leaves));
	if (can && (e->state != XC_JEMALLOC_ACTIVE || size_fits(d->l, e->szind, e->slab, run->size)))
		return;
	if (!can || size_fits(d->l, e->szind, e->slab, leaves))
		e->size = leaves;
}

static void check_slab(struct reading *d, const struct run *run, struct xc_jemalloc_extent *e)
{
	uint64_t words[XC_JEMALLOC_BITMAP];
	unsigned regions = regions_of(d->l, e->szind, e->size);
	if (regions == 0 || !xc_jemalloc_bitmap(d->je, e, words)) {
		e->doubtful = true;
		damage(d, run,
		       xc_asprintf("the slab at 0x%" PRIx64 " cannot have the size and class it tells", run->key),
		       NULL);
		return;
	}
	unsigned nfree = count_free((const uint8_t *)words, regions);
	if (nfree != e->nfree)
		damage(d, run,
		       xc_asprintf("the slab at 0x%" PRIx64 " counts %u free regions, its bitmap %u", run->key,
				   e->nfree, nfree),
		       NULL);
}

static void take_run(struct reading *d, size_t i)
{
	const struct run *run = &d->runs->items[i];
	const struct xc_jemalloc_layout *l = d->l;
	unsigned class = leaf_class(d->runs->g, l->leaf_form, run->rest);
	struct xc_jemalloc_extent e = {.addr = run->addr,
				       .edata = run->edata,
				       .size = run->size,
				       .arena = run->bits & ARENA_MASK,
				       .nfree = (uint16_t)nfree_of(l, run->bits),
				       .szind = (uint8_t)(class < l->class_count ? class : XC_JEMALLOC_CLASSES - 1),
				       .state = (uint8_t)state_of(l, run->bits),
				       .tree = (uint8_t)d->tree,
				       .slab = leaf_slab(l->leaf_form, run->rest)};
	if (run->orphan) {
		e.state = class < l->class_count ? XC_JEMALLOC_ACTIVE : XC_JEMALLOC_DIRTY;
		mend_orphan(d, run, &e);
	} else {
		/* A free extent has no class; its leaves may keep the old one. */
		if (e.slab && class_of(l, run->bits) != l->class_count)
			e.state = XC_JEMALLOC_ACTIVE;
		check_size(d, run, &e, room(d, i));
		if (e.state == XC_JEMALLOC_ACTIVE)
			check_class(d, run, &e);
	}
	if (e.slab && e.state == XC_JEMALLOC_ACTIVE && !e.doubtful)
		check_slab(d, run, &e);
	struct xc_jemalloc *je = d->je;
	je->extents = xc_grow(je->extents, je->extent_count, &je->extent_capacity, sizeof *je->extents);
	je->extents[je->extent_count++] = e;
}

static void note_unreadable(struct xc_jemalloc *je, const struct xc_jemalloc_tree *tree, uint64_t bytes)
{
	if (bytes == 0 && tree->bad_nodes == 0)
		return;
	char *what = xc_asprintf("the radix tree of jemalloc: %" PRIu64
				 " bytes of leaves cannot be read, %zu pointers to nodes "
				 "are wrong; extents may be missing",
				 bytes, tree->bad_nodes);
	xc_heap_add_damage(je->heap,
			   &(struct xc_damage){.addr = tree->root, .what = what, .lost_lo = 1, .before = XC_NO_BLOCK});
	free(what);
}

bool xc_jemalloc_read_extents(struct xc_jemalloc *je, size_t tree, const char **why_out)
{
	const struct xc_jemalloc_tree *t = &je->trees[tree];
	struct xc_jemalloc_layout *l = &je->layouts[tree];
	struct runs runs = {.space = je->heap->process->space, .g = &t->geometry};
	uint64_t unreadable = 0;
	l->page = UINT64_C(1) << t->geometry.lg_page;
	xc_jemalloc_each_entry(runs.space, t, take_entry, &runs, &unreadable);
	struct vote class = find_class(&runs, l), sizes = find_sizes(&runs, l), bitmap = find_bitmap(&runs, l);
	bool good = clear(&class) && clear(&sizes);
	if (good) {
		struct reading reading = {.je = je, .l = l, .runs = &runs, .tree = tree};
		note_unreadable(je, t, unreadable);
		je->evidence[tree] = xc_asprintf("radix tree of %u levels at 0x%" PRIx64
						 " in %s, %s%s; class at bit %u of extents' records (%zu of %zu "
						 "agree with the tree), sizes of quantum %u (%zu of %zu extents), "
						 "bitmap at %u (%zu of %zu slabs)",
						 t->geometry.levels, t->root, t->module->name,
						 t->prefix ? "by symbols with prefix " : "by its shape",
						 t->prefix ? (*t->prefix ? t->prefix : "none") : "", l->szind_shift,
						 class.yes, class.all, 1U << l->lg_quantum, sizes.yes, sizes.all,
						 l->bitmap, bitmap.yes, bitmap.all);
		for (size_t i = 0; i < runs.count; i++)
			take_run(&reading, i);
	} else if (runs.count) {
		*why_out = xc_arena_printf(
			&je->heap->memory,
			"jemalloc's radix tree in %s was found, but the records of its extents are of no known layout",
			t->module->name);
	}
	free(runs.items);
	return good;
}

/* ---- queries ---- */

static xc_addr first_page(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *e)
{
	return e->addr & ~(je->layouts[e->tree].page - 1);
}

const struct xc_jemalloc_extent *xc_jemalloc_extent_at(const struct xc_jemalloc *je, xc_addr addr)
{
	size_t below = XC_LOWER_BOUND(je->extent_count, i, first_page(je, &je->extents[i]) <= addr);
	const struct xc_jemalloc_extent *e = below ? &je->extents[below - 1] : NULL;
	return e && addr - first_page(je, e) < e->size ? e : NULL;
}

uint64_t xc_jemalloc_block_size(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent)
{
	bool used = extent->state == XC_JEMALLOC_ACTIVE;
	return used ? je->layouts[extent->tree].sizes[extent->szind] : 0;
}

unsigned xc_jemalloc_block_count(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent)
{
	uint64_t size = xc_jemalloc_block_size(je, extent);
	if (size == 0)
		return 0;
	return extent->slab ? regions_of(&je->layouts[extent->tree], extent->szind, extent->size) : 1;
}

bool xc_jemalloc_bitmap(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent,
			uint64_t words[XC_JEMALLOC_BITMAP])
{
	unsigned regions = xc_jemalloc_block_count(je, extent);
	size_t len = (regions + 63) / 64 * sizeof *words;
	xc_addr at = extent->edata + je->layouts[extent->tree].bitmap;
	return len > 0 && len <= XC_JEMALLOC_BITMAP * sizeof *words &&
	       xc_space_peek(je->heap->process->space, at, words, len) == len;
}

/* Finds musl's groups. Layout of musl 1.2.3 (the same since 1.2.1), src/malloc/mallocng/meta.h and glue.h:
 *
 *  malloc_context        secret | [pagesize] | init_done:32 mmap_counter:32 | free_meta_head | avail_meta
 *                        | avail_meta_count | avail_meta_area_count | meta_alloc_shift | meta_area_head
 *                        | meta_area_tail | avail_meta_areas | active[48] | usage_by_class[48] | …
 *                        (pagesize where the machine has several)
 *  meta_area (one page)  check = secret | next | nslots:32 pad:32 | meta …                       nslots ≤ 101
 *  meta (40 bytes)       prev | next | mem | avail_mask:32 freed_mask:32 | last_idx:5 freeable:1 sizeclass:6 maplen:52
 *  group at mem          meta | active_idx:5 pad | slot 0 …                            16 bytes before the first slot
 *
 * active[] has only groups with free slots, so groups are found through the areas: a meta in use has mem set. No
 * symbol is needed: the secret, 64 random bits in the context and at the start of each area, identifies all of
 * these. If the list of areas is broken, pages that begin with the secret are searched. */
#include "heap/allocators/mallocng_impl.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/symbol.h"
#include "heap/blocks/scan.h"

enum {
	AREA_HEAD = 24,
	META_SIZE = 40,
	AREA_METAS = (NG_PAGE - AREA_HEAD) / META_SIZE,
	PIECE_SLOTS = 1 << 16, /* blocks in a piece of work, about */
	SECRET_WORDS = 11,     /* of the context, up to avail_meta_areas, with pagesize */
};

/* Words of the context. Those after the second are one further if there is a pagesize. */
enum { SECRET = 0, INIT = 1, AREA_FIRST = 7, AREA_LAST = 8 };

struct finder {
	struct xc_heap *heap;
	struct ng_state *state;
	struct xc_window window;
	xc_addr first, last; /* areas, according to the context */
	const char *how;
	xc_addr *areas;
	size_t area_count, area_capacity;
};

static const uint16_t size_classes[NG_CLASSES] = {
	1,   2,   3,   4,    5,    6,    7,    8,    9,    10,   12,   15,   18,   20,   25,   31,
	36,  42,  50,  63,   72,   84,   102,  127,  146,  170,  204,  255,  292,  340,  409,  511,
	584, 682, 818, 1023, 1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

static uint64_t word_at(const uint8_t *bytes, size_t index)
{
	uint64_t word;
	memcpy(&word, bytes + 8 * index, sizeof word);
	return word;
}

/* ---- the context ---- */

static bool is_area(struct finder *f, xc_addr addr, uint64_t secret)
{
	uint64_t check;
	return addr && addr % NG_PAGE == 0 && xc_window_word(&f->window, addr, &check) && check == secret;
}

/* Is this a context? Only if its areas begin with its secret. */
static bool take_context(struct finder *f, xc_addr addr, const uint8_t bytes[static 8 * SECRET_WORDS])
{
	uint64_t words[SECRET_WORDS];
	memcpy(words, bytes, sizeof words);
	if (words[SECRET] == 0)
		return false;
	for (unsigned skip = 0; skip < 2; skip++) {
		xc_addr first = words[AREA_FIRST + skip], last = words[AREA_LAST + skip];
		bool sized = words[1] >= NG_PAGE && words[1] <= 1 << 16 && !(words[1] & (words[1] - 1));
		if ((uint32_t)words[INIT + skip] != 1 || (skip && !sized) || first % NG_PAGE || last % NG_PAGE ||
		    (!is_area(f, first, words[SECRET]) && !is_area(f, last, words[SECRET])))
			continue;
		f->state->context = addr;
		f->state->secret = words[SECRET];
		f->first = first;
		f->last = last;
		return true;
	}
	return false;
}

static bool context_by_symbol(struct finder *f)
{
	uint8_t bytes[8 * SECRET_WORDS];
	xc_addr addr;
	if (!xc_symbol_find(f->heap->process, "__malloc_context", NULL, &addr) ||
	    xc_space_peek(f->heap->process->space, addr, bytes, sizeof bytes) != sizeof bytes)
		return false;
	f->how = "symbol __malloc_context, areas begin with its secret";
	return take_context(f, addr, bytes);
}

static bool context_within(struct finder *f, xc_addr lo, xc_addr hi)
{
	for (xc_addr at = (lo + 7) & ~(xc_addr)7; at <= hi && hi - at >= 8 * SECRET_WORDS - 1;) {
		struct xc_window run;
		uint64_t len;
		xc_window_init(&run, f->heap->process->space);
		const uint8_t *bytes = xc_window_run(&run, at, hi - at + 1, &len);
		bool found = false;
		for (uint64_t i = 0; bytes && len >= 8 * SECRET_WORDS && i <= len - 8 * SECRET_WORDS && !found; i += 8)
			found = take_context(f, at + i, bytes + i);
		xc_window_fini(&run);
		if (found)
			return true;
		/* Runs may end inside a context: the next run begins so that it is seen whole. */
		at += bytes && len > 8 * SECRET_WORDS ? (len & ~(uint64_t)7) - 8 * (SECRET_WORDS - 1)
						      : NG_PAGE - at % NG_PAGE;
	}
	return false;
}

static bool is_musl(const struct xc_module *module)
{
	return strcmp(module->name, "libc.so") == 0 || strncmp(module->name, "ld-musl-", 8) == 0 ||
	       strncmp(module->name, "libc.musl-", 10) == 0;
}

/* Musl's own file, or a program without a separate C library, which may contain musl. */
static bool may_hold_musl(const struct xc_process *process, const struct xc_module *module)
{
	if (is_musl(module) || module->kind != XC_MODULE_EXE)
		return is_musl(module);
	for (size_t i = 0; i < process->module_count; i++)
		if (is_musl(process->modules[i]) || strcmp(process->modules[i]->name, "libc.so.6") == 0)
			return false;
	return true;
}

static bool context_by_shape(struct finder *f)
{
	const struct xc_process *process = f->heap->process;
	f->how = "by shape: init_done is 1, areas begin with its secret";
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_module *module = process->modules[i];
		if (!may_hold_musl(process, module))
			continue;
		for (size_t k = 0; k < process->mapping_count; k++) {
			const struct xc_mapping *m = &process->mappings[k];
			xc_addr lo = m->lo > module->lo ? m->lo : module->lo,
				hi = m->hi < module->hi ? m->hi : module->hi;
			if (m->writable && m->readable && !m->shared && lo <= hi && context_within(f, lo, hi))
				return true;
		}
	}
	return false;
}

/* ---- areas ---- */

static void add_area(struct finder *f, xc_addr addr)
{
	f->areas = xc_grow(f->areas, f->area_count, &f->area_capacity, sizeof *f->areas);
	f->areas[f->area_count++] = addr;
}

/* Follows the list. False if it breaks before the last area; memory missing in the core is recorded. */
static bool follow_areas(struct finder *f)
{
	xc_addr at = f->first, next, seen = 0; /* an earlier area, at growing distances: a circle meets it */
	while (at != seen && is_area(f, at, f->state->secret)) {
		seen = f->area_count & (f->area_count - 1) ? seen : at;
		add_area(f, at);
		if (at == f->last)
			return true;
		if (!xc_window_word(&f->window, at + 8, &next))
			return false;
		at = next;
	}
	f->state->lost = xc_heap_is_lost(f->heap, at, AREA_HEAD);
	return false;
}

static void search_areas(struct finder *f)
{
	const struct xc_process *process = f->heap->process;
	f->area_count = 0;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (!m->writable || !m->readable || m->shared || m->path)
			continue;
		for (xc_addr at = m->lo; xc_scan_stored(process->space, &at, m->hi, false); at += NG_PAGE) {
			at &= ~(xc_addr)(NG_PAGE - 1);
			if (is_area(f, at, f->state->secret))
				add_area(f, at);
			if (m->hi - at < NG_PAGE)
				break;
		}
	}
}

static int by_address(const void *a, const void *b)
{
	const xc_addr *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static void find_areas(struct finder *f)
{
	struct xc_arena *memory = &f->heap->memory;
	if (!follow_areas(f)) {
		xc_addr at = f->area_count ? f->areas[f->area_count - 1] : f->state->context;
		size_t listed = f->area_count;
		search_areas(f);
		struct xc_damage damage = {.addr = at, .lost_lo = 1, .arena = f->state->arena, .before = XC_NO_BLOCK};
		damage.what = xc_arena_printf(memory, "the list of meta areas breaks after %zu of them", listed);
		damage.found = xc_arena_printf(memory, "%zu pages begin with the secret and are taken for areas",
					       f->area_count);
		if (!f->state->lost)
			xc_heap_add_damage(f->heap, &damage);
	}
	if (f->area_count)
		qsort(f->areas, f->area_count, sizeof *f->areas, by_address);
	size_t kept = 0;
	for (size_t i = 0; i < f->area_count; i++)
		if (!kept || f->areas[kept - 1] != f->areas[i])
			f->areas[kept++] = f->areas[i];
	f->area_count = kept;
	for (size_t i = 0; i < kept;) {
		struct xc_region region = {.lo = f->areas[i], .arena = f->state->arena, .what = "meta areas"};
		do
			region.hi = f->areas[i++] + NG_PAGE - 1;
		while (i < kept && f->areas[i] == region.hi + 1);
		xc_heap_add_region(f->heap, &region);
	}
}

/* ---- groups ---- */

static void damaged_meta(struct finder *f, xc_addr meta, const char *what, const struct ng_group *group, bool lost)
{
	struct xc_damage damage = {
		.addr = meta, .what = what, .lost_lo = 1, .arena = f->state->arena, .before = XC_NO_BLOCK};
	if (lost) {
		damage.lost_lo = group->mem;
		damage.lost_hi = group->mem + ng_extent(group) - 1;
	}
	damage.found = xc_arena_printf(&f->heap->memory, "mem 0x%llx, class %u, %u slots of %llu bytes, %llu mapped",
				       (unsigned long long)group->mem, group->size_class, group->count,
				       (unsigned long long)group->stride, (unsigned long long)group->mapped);
	xc_heap_add_damage(f->heap, &damage);
}

/* The rule that a meta breaks, or NULL. */
static const char *check_meta(const struct ng_group *group, uint64_t pages)
{
	const xc_addr end = UINT64_C(1) << XC_BLOCK_ADDRESS_BITS;
	if (group->mem % NG_UNIT || group->mem >= end)
		return "meta of a group at no possible address";
	if (group->size_class >= NG_CLASSES && (group->size_class != NG_SINGLE || group->count != 1 || !pages))
		return "meta of a size class that does not exist";
	if (pages > (end - group->mem) / NG_PAGE || group->mem + ng_extent(group) > end)
		return "meta of a group that is larger than memory";
	if (pages && (group->mem % NG_PAGE || NG_UNIT + group->stride * group->count > group->mapped))
		return "meta of a group whose slots do not fit its mapping";
	return NULL;
}

static void take_meta(struct finder *f, xc_addr addr, const uint8_t bytes[static META_SIZE])
{
	uint64_t bits = word_at(bytes, 4), masks = word_at(bytes, 3), pages = bits >> 12;
	struct ng_group group = {.meta = addr,
				 .mem = word_at(bytes, 2),
				 .count = (uint8_t)((bits & 31) + 1),
				 .size_class = bits >> 6 & 63,
				 .free = (uint32_t)masks | (uint32_t)(masks >> 32)};
	if (!group.mem)
		return;
	group.mapped = pages < UINT64_MAX / NG_PAGE ? pages * NG_PAGE : UINT64_MAX - NG_PAGE + 1;
	group.stride = group.count == 1 && pages       ? group.mapped - NG_UNIT
		       : group.size_class < NG_CLASSES ? (uint64_t)NG_UNIT * size_classes[group.size_class]
						       : 0;
	const char *wrong = check_meta(&group, pages);
	uint64_t owner = addr;
	bool unread = !wrong && !xc_window_word(&f->window, group.mem, &owner);
	if (unread && xc_heap_is_lost(f->heap, group.mem, 8)) {
		f->state->lost = true;
		return;
	}
	if (unread)
		wrong = "meta of a group that cannot be read";
	group.damaged = owner != addr;
	if (group.damaged)
		damaged_meta(f, group.mem, "group whose header names another meta", &group, false);
	else if (wrong)
		damaged_meta(f, addr, wrong, &group, unread);
	if (wrong)
		return;
	f->state->groups = xc_grow(f->state->groups, f->state->count, &f->state->capacity, sizeof *f->state->groups);
	f->state->groups[f->state->count++] = group;
}

static void take_area(struct finder *f, xc_addr area)
{
	uint8_t page[NG_PAGE];
	size_t have = xc_space_peek(f->heap->process->space, area, page, sizeof page);
	uint32_t slots;
	if (have < AREA_HEAD)
		return;
	memcpy(&slots, page + 16, sizeof slots);
	/* A damaged count does not limit the search: unused metas are zero. */
	slots = slots > 0 && slots < AREA_METAS ? slots : AREA_METAS;
	for (uint32_t i = 0; i < slots && have - AREA_HEAD >= (i + 1) * META_SIZE; i++)
		take_meta(f, area + AREA_HEAD + i * META_SIZE, page + AREA_HEAD + i * META_SIZE);
}

static int by_mem(const void *a, const void *b)
{
	const struct ng_group *x = a, *y = b;
	if (x->mem != y->mem)
		return x->mem < y->mem ? -1 : 1;
	return x->damaged - y->damaged;
}

/* Two metas of the same memory: the one that the memory names is right. */
static void drop_doubles(struct ng_state *state)
{
	size_t kept = 0;
	for (size_t i = 0; i < state->count; i++)
		if (!kept || state->groups[kept - 1].mem != state->groups[i].mem)
			state->groups[kept++] = state->groups[i];
	state->count = kept;
}

/* Makes regions and pieces of work: outermost groups together with the groups inside. */
static void cut(struct finder *f)
{
	struct ng_state *state = f->state;
	xc_addr end = 0; /* end of the outermost group */
	size_t slots = PIECE_SLOTS;
	state->pieces = xc_alloc((state->count + 1) * sizeof *state->pieces);
	for (size_t i = 0; i < state->count; i++) {
		const struct ng_group *group = &state->groups[i];
		if (group->mem >= end) {
			struct xc_region region = {.lo = group->mem, .arena = state->arena};
			end = group->mem + ng_extent(group);
			region.hi = end - 1;
			region.what = !group->mapped      ? "donated slot"
				      : group->count == 1 ? "mapped block"
							  : "mapped group";
			xc_heap_add_region(f->heap, &region);
			if (slots >= PIECE_SLOTS)
				state->pieces[state->piece_count++] = i, slots = 0;
		}
		slots += group->count;
	}
	state->pieces[state->piece_count] = state->count;
}

bool ng_find(struct xc_heap *heap, struct ng_state *state, const char **why_out)
{
	struct finder f = {.heap = heap, .state = state};
	const struct xc_arch *arch = heap->process->arch;
	xc_window_init(&f.window, heap->process->space);
	bool found = arch->word == 8 && !arch->big_endian && (context_by_symbol(&f) || context_by_shape(&f));
	if (!found && xc_symbol_find(heap->process, "__malloc_context", NULL, NULL))
		*why_out = arch->word != 8 || arch->big_endian
				   ? "musl's mallocng is read only where words are 8 bytes, little-endian"
				   : "musl's mallocng has not been used, or its context is damaged or not in the core";
	if (found) {
		state->arena = xc_heap_add_arena(heap, &(struct xc_heap_arena){.allocator = &xc_allocator_mallocng,
									       .name = "mallocng",
									       .addr = state->context,
									       .evidence = f.how});
		find_areas(&f);
		for (size_t i = 0; i < f.area_count; i++)
			take_area(&f, f.areas[i]);
		if (state->count)
			qsort(state->groups, state->count, sizeof *state->groups, by_mem);
		drop_doubles(state);
		cut(&f);
	}
	free(f.areas);
	xc_window_fini(&f.window);
	return found;
}

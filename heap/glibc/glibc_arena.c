/* glibc_arena: the arenas of glibc's malloc, found without symbols.
 *
 * The main arena is in the writable data of libc (or of a static program). Nothing else looks like its 127 bins: an
 * empty bin is a pair of links to itself. In every version all fields after the bins are at fixed distances from
 * them. The ring of arenas determines where the structure begins: the `next` of its last arena points to the main
 * arena (to itself if there is no other). So the bins give the place, the ring gives the layout, and each confirms
 * the other. If the relocation of `next` (its initial value is the arena's own address) or the symbol main_arena is
 * available, it is compared too, and the evidence records it. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/process/module.h"
#include "dwarf/elf/symbol.h"
#include "heap/glibc/glibc_impl.h"
#include "heap/glibc/glibc_symbol.h"
#include "heap/blocks/scan.h"

enum {
	PERFECT = XC_GLIBC_BINS,
	ENOUGH = 100,       /* pairs that must be right; others may be in the middle of a change, or damaged */
	EFFORT = 1 << 23,   /* bins and arenas examined in all: memory may be full of lookalikes */
	RING_MAX = 1 << 16, /* arenas: there are a few per processor, or at most M_ARENA_MAX */
	BINS_LOW = 3,       /* words before the bins in 2.43 … */
	BINS_HIGH = 16,     /* … and more than in any version */
};

struct finder {
	struct xc_glibc *glibc;
	struct xc_window *window;
	unsigned word;
	uint64_t effort;          /* left */
	struct xc_module *module; /* the range in which the main arena is searched */
};

static bool get(struct finder *f, xc_addr addr, uint64_t *value_out)
{
	return xc_glibc_word(f->glibc, f->window, addr, value_out);
}

/* ---- bins ---- */

/* Both links of a bin lead to chunks that link back to it. An empty bin links to itself. */
static bool is_bin(struct finder *f, xc_addr pair)
{
	uint64_t fd, bk, back, forth;
	xc_addr bin = pair - 2 * f->word;
	if (f->effort == 0)
		return false;
	f->effort--;
	return get(f, pair, &fd) && get(f, pair + f->word, &bk) && fd && bk && get(f, fd + 3 * f->word, &back) &&
	       get(f, bk + 2 * f->word, &forth) && back == bin && forth == bin;
}

static unsigned count_bins(struct finder *f, xc_addr bins)
{
	unsigned right = 0;
	for (unsigned i = 0; i < XC_GLIBC_BINS; i++)
		right += is_bin(f, bins + i * 2 * f->word);
	return right;
}

/* Offsets from the bins; see glibc_layout.h. */
static uint64_t next_from_bins(const struct finder *f)
{
	return 2 * XC_GLIBC_BINS * f->word + 16;
}

/* Does a heap begin before the supposed sub-arena? Then the size of the heap's header. */
static unsigned header_before(struct finder *f, xc_addr arena)
{
	static const uint8_t sizes64[] = {0x30, 0x20}, sizes32[] = {0x18};
	const uint8_t *sizes = f->word == 8 ? sizes64 : sizes32;
	size_t count = f->word == 8 ? XC_COUNT(sizes64) : XC_COUNT(sizes32);
	for (size_t i = 0; i < count; i++) {
		uint64_t owner, prev;
		xc_addr heap = arena - sizes[i];
		if ((heap & 0xfff) == 0 && get(f, heap, &owner) && owner == arena && get(f, heap + f->word, &prev) &&
		    prev == 0)
			return sizes[i];
	}
	return 0;
}

/* One of the two may be damaged. */
static bool is_sub_arena(struct finder *f, xc_addr arena, unsigned bins)
{
	if (f->effort == 0)
		return false;
	f->effort--;
	return header_before(f, arena) || count_bins(f, arena + bins) >= ENOUGH;
}

/* The number of sub-arenas on the ring that begins at a main arena whose bins have this offset; -1 if the ring does
 * not close. */
static int ring(struct finder *f, xc_addr main, unsigned bins)
{
	uint64_t at = main;
	for (int count = 0; count < RING_MAX; count++) {
		if (!get(f, at + bins + next_from_bins(f), &at))
			return -1;
		if (at == main)
			return count;
		if (!is_sub_arena(f, at, bins))
			return -1;
	}
	return -1;
}

/* ---- arenas ---- */

static void set_layout(struct finder *f, unsigned bins)
{
	unsigned word = f->word, fastbins = word == 8 ? XC_GLIBC_FASTBINS : XC_GLIBC_FASTBINS + 1;
	struct xc_glibc_layout *layout = &f->glibc->layout;
	layout->bins = (uint16_t)bins;
	layout->top = (uint16_t)(bins - 2 * word);
	layout->next = (uint16_t)(bins + next_from_bins(f));
	layout->system_mem = (uint16_t)(layout->next + 3 * word);
	layout->state_size = (uint16_t)(layout->next + 5 * word);
	layout->fastbin_count = (uint8_t)(layout->top >= fastbins * word ? fastbins : 0);
	layout->fastbins = (uint16_t)(layout->top - layout->fastbin_count * word);
}

static struct xc_glibc_arena *add_arena(struct finder *f, xc_addr addr, bool main, const char *how)
{
	struct xc_glibc *glibc = f->glibc;
	const struct xc_glibc_layout *layout = &glibc->layout;
	glibc->arenas = xc_grow(glibc->arenas, glibc->arena_count, &glibc->arena_capacity, sizeof *glibc->arenas);
	struct xc_glibc_arena *arena = &glibc->arenas[glibc->arena_count++];
	const uint8_t *flags = xc_window(f->window, addr + 4, 4);
	*arena = (struct xc_glibc_arena){.addr = addr, .main = main, .how = how};
	arena->contiguous = flags && !(flags[0] & XC_GLIBC_NONCONTIGUOUS);
	get(f, addr + layout->top, &arena->top);
	get(f, addr + layout->system_mem, &arena->system_mem);
	if (arena->top == addr + layout->bins - 2 * f->word) /* initial_top: the unsorted bin is in its place */
		arena->top = 0;
	return arena;
}

static void add_ring(struct finder *f, xc_addr main)
{
	struct xc_glibc_layout *layout = &f->glibc->layout;
	uint64_t at = main;
	size_t first = f->glibc->arena_count;
	xc_addr seen = 0; /* an earlier arena, at growing distances: a circle returns to it */
	layout->heap_info = f->word == 8 ? 0x30 : 0x18; /* unless a heap shows it */
	for (int count = 0; count < RING_MAX; count++) {
		if (!get(f, at + layout->next, &at) || at == main || at == seen || !is_sub_arena(f, at, layout->bins))
			break;
		seen = count & (count - 1) ? seen : at;
		unsigned header = header_before(f, at);
		layout->heap_info = header ? (uint16_t)header : layout->heap_info;
		add_arena(f, at, false, "on the ring of arenas");
	}
	for (size_t i = first; i < f->glibc->arena_count; i++) /* the ring begins with the newest */
		f->glibc->arenas[i].number = (unsigned)(f->glibc->arena_count - i);
}

/* Other evidence for or against a main arena here. */
static const char *proof(struct finder *f, xc_addr arena)
{
	const struct xc_process *process = f->glibc->heap->process;
	struct xc_arena *memory = &f->glibc->heap->memory;
	const char *loaded = "no relocation to compare", *symbol = "no symbols";
	xc_addr addr;
	if (xc_glibc_symbol_initial_value(process, f->module, arena + f->glibc->layout.next, &addr))
		loaded = addr == arena ? "the relocation of next agrees"
				       : xc_arena_printf(memory, "the relocation of next says 0x%" PRIx64, addr);
	if (xc_glibc_symbol_main_arena(process, f->module, &addr))
		symbol = addr == arena ? "the symbol main_arena agrees"
				       : xc_arena_printf(memory, "the symbol main_arena says 0x%" PRIx64, addr);
	return xc_arena_printf(memory, "%s; %s", loaded, symbol);
}

static void add_main(struct finder *f, xc_addr bins, unsigned offset, unsigned right, const char *about_ring)
{
	set_layout(f, offset);
	add_arena(f, bins - offset, true,
		  xc_arena_printf(&f->glibc->heap->memory, "%u of %d bins in order; %s; %s; top at 0x%x, next at 0x%x",
				  right, XC_GLIBC_BINS, about_ring, proof(f, bins - offset), f->glibc->layout.top,
				  f->glibc->layout.next));
	add_ring(f, bins - offset);
}

/* The bytes at `bins` look like bins: is it a main arena? */
static bool accept(struct finder *f, xc_addr bins)
{
	unsigned right = count_bins(f, bins);
	for (unsigned words = BINS_LOW; right >= ENOUGH && words <= BINS_HIGH; words++) {
		unsigned offset = words * f->word;
		int others = ring(f, bins - offset, offset);
		if (others < 0)
			continue;
		add_main(f, bins, offset, right,
			 xc_arena_printf(&f->glibc->heap->memory, "the ring of %d %s closes", others + 1,
					 others ? "arenas" : "arena"));
		return true;
	}
	return false;
}

/* ---- sub-arenas that no ring reaches ---- */

static bool is_known(const struct finder *f, xc_addr arena)
{
	for (size_t i = 0; i < f->glibc->arena_count; i++)
		if (f->glibc->arenas[i].addr == arena)
			return true;
	return false;
}

/* The apparent layout of a sub-arena, derived from its bins. */
struct sight {
	unsigned header;      /* bytes of its heap's header */
	unsigned bins, right; /* their offset; the number that are in order */
};

/* The offset in most versions. */
static unsigned usual_bins(const struct finder *f)
{
	return (f->word == 8 ? 14 : 16) * f->word;
}

/* Read one pair off, almost all bins still look right; as many do if a cut ends the state early. */
static bool is_better(const struct finder *f, const struct sight *one, const struct sight *other)
{
	return one->right > other->right || (one->right == other->right && one->bins == usual_bins(f));
}

/* The state of a sub-arena is in its first heap. */
static void look_at_heap(struct finder *f, xc_addr heap, struct sight *best)
{
	static const uint8_t headers[] = {0x30, 0x20, 0x18};
	for (size_t i = 0; i < sizeof headers; i++) {
		xc_addr arena = heap + headers[i];
		if (header_before(f, arena) != headers[i])
			continue;
		for (unsigned words = BINS_LOW; words <= BINS_HIGH; words++) {
			struct sight sight = {headers[i], words * f->word, count_bins(f, arena + words * f->word)};
			if (is_better(f, &sight, best))
				*best = sight;
		}
	}
}

static void add_first_heap(struct finder *f, xc_addr heap, struct sight *sight)
{
	xc_addr arena = heap + sight->header;
	if (is_known(f, arena) || header_before(f, arena) != sight->header ||
	    count_bins(f, arena + sight->bins) < ENOUGH)
		return;
	add_arena(f, arena, false, "by the header of its first heap")->number = (unsigned)f->glibc->arena_count - 1;
}

/* Searches the places where heaps may begin. */
static void each_heap(struct finder *f, void (*look)(struct finder *f, xc_addr heap, struct sight *sight),
		      struct sight *sight)
{
	const struct xc_process *process = f->glibc->heap->process;
	const uint64_t max = f->word == 8 ? UINT64_C(64) << 20 : UINT64_C(1) << 20;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		xc_addr at = m->lo;
		while (xc_glibc_may_be_heap(process, m) && xc_scan_stored(process->space, &at, m->hi, false)) {
			xc_addr heap = (at + max - 1) & ~(max - 1);
			if (heap < at || heap > m->hi)
				break;
			look(f, heap, sight);
			at = heap + 1;
		}
	}
}

/* All have one layout. The most complete one shows it best. */
static void add_unlinked(struct finder *f)
{
	struct sight best = {0};
	each_heap(f, look_at_heap, &best);
	if (best.right < ENOUGH)
		return;
	set_layout(f, best.bins);
	f->glibc->layout.heap_info = (uint16_t)best.header;
	each_heap(f, add_first_heap, &best);
}

/* ---- where to look ---- */

/* If the ring is broken, the bins begin where most bins are in order. The relocation or the symbol gives the
 * beginning of the arena; without either, the layout of most versions is assumed. */
static bool accept_broken(struct finder *f, xc_addr pair)
{
	const struct xc_process *process = f->glibc->heap->process;
	unsigned most = 0, offset = usual_bins(f);
	xc_addr bins = pair, arena;
	for (unsigned before = 0; before < XC_GLIBC_BINS; before++) {
		unsigned right = count_bins(f, pair - before * 2 * f->word);
		if (right > most) {
			most = right;
			bins = pair - before * 2 * f->word;
		}
	}
	if (most < ENOUGH)
		return false;
	bool told = xc_glibc_symbol_initial_value(process, f->module, bins + next_from_bins(f), &arena) ||
		    xc_glibc_symbol_main_arena(process, f->module, &arena);
	if (told && bins - arena >= BINS_LOW * f->word && bins - arena <= BINS_HIGH * f->word)
		offset = (unsigned)(bins - arena);
	add_main(f, bins, offset, most, "the ring of arenas is broken");
	add_unlinked(f);
	return true;
}

/* An empty bin was found at `pair`: the bins begin there, or earlier if the first ones are not empty. */
static bool try_around(struct finder *f, xc_addr pair)
{
	for (unsigned before = 0; before < XC_GLIBC_BINS; before++)
		if (accept(f, pair - before * 2 * f->word))
			return true;
	return accept_broken(f, pair);
}

/* Pairs that begin in [lo, end]; hi is the end of their range. */
static bool search_piece(struct finder *f, xc_addr lo, xc_addr end, xc_addr hi)
{
	const unsigned word = f->word;
	uint64_t fd, bk;
	for (xc_addr at = (lo + word - 1) & ~(uint64_t)(word - 1);
	     at >= lo && at <= end && hi - at >= 2 * word && f->effort; at += word)
		if (get(f, at, &fd) && fd == at - 2 * word && get(f, at + word, &bk) && bk == fd) {
			if (try_around(f, at))
				return true;
			at += 2 * word * 8; /* something else links to itself: skip it instead of trying each word */
		}
	return false;
}

static bool search_range(struct finder *f, xc_addr lo, xc_addr hi)
{
	const struct xc_space *space = f->glibc->heap->process->space;
	for (xc_addr end; xc_space_next_readable(space, &lo, hi, &end); lo = end + 1) {
		if (search_piece(f, lo, end, hi))
			return true;
		if (end == hi)
			break;
	}
	return false;
}

static bool search_module(struct finder *f, struct xc_module *module)
{
	f->module = module;
	const struct xc_process *process = f->glibc->heap->process;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (!m->writable || m->hi < module->lo || m->lo > module->hi)
			continue;
		if (search_range(f, m->lo > module->lo ? m->lo : module->lo, m->hi < module->hi ? m->hi : module->hi))
			return true;
	}
	return false;
}

/* ---- when libc's memory is lost ---- */

/* Cores are cut at the end, where libraries are. The heap is near the beginning. */
static bool is_lost(struct finder *f)
{
	const struct xc_process *process = f->glibc->heap->process;
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_module *module = process->modules[i];
		for (size_t k = 0; xc_module_matches_name(module, "libc") && k < process->mapping_count; k++) {
			const struct xc_mapping *m = &process->mappings[k];
			uint64_t word;
			if (m->writable && m->lo <= module->hi && m->hi >= module->lo && !get(f, m->lo, &word))
				return true;
		}
	}
	return false;
}

static void find_without_libc(struct finder *f)
{
	f->glibc->lost = true;
	set_layout(f, (f->word == 8 ? 14 : 16) * f->word); /* 2.27 to 2.42, for the main arena */
	f->glibc->arenas = xc_grow(f->glibc->arenas, 0, &f->glibc->arena_capacity, sizeof *f->glibc->arenas);
	f->glibc->arenas[f->glibc->arena_count++] = (struct xc_glibc_arena){
		.main = true, .how = "by chains of chunks alone, as libc's memory is lost; fastbins are not known"};
	add_unlinked(f);
}

/* The main arena is present, and its words for the top chunk have the linker's initial values. */
static bool is_unused(const struct finder *f)
{
	xc_addr arena;
	uint64_t top;
	if (!xc_symbol_find(f->glibc->heap->process, "main_arena", NULL, &arena))
		return false;
	for (unsigned at = 11; at <= 12; at++) /* 2.26, 2.27 and later; glibc_layout.h */
		if (!xc_glibc_word(f->glibc, f->window, arena + at * f->word, &top) || top != 0)
			return false;
	return true;
}

/* The runtime of a sanitizer takes malloc's place. */
static bool is_replaced(const struct xc_process *process)
{
	static const char *const symbols[] = {"__asan_init", "__tsan_init", "__msan_init", "__lsan_init",
					      "__hwasan_init"};
	for (size_t i = 0; i < XC_COUNT(symbols); i++)
		if (xc_symbol_find(process, symbols[i], NULL, &(xc_addr){0}))
			return true;
	return false;
}

bool xc_glibc_find_arenas(struct xc_glibc *glibc, struct xc_window *window, const char **why_out)
{
	const struct xc_process *process = glibc->heap->process;
	struct finder f = {.glibc = glibc, .window = window, .word = glibc->layout.word, .effort = EFFORT};
	bool there = false;
	for (size_t i = 0; i < process->module_count; i++) /* dlmopen loads more, each with its own malloc */
		if (xc_module_matches_name(process->modules[i], "libc") ||
		    xc_module_matches_name(process->modules[i], "libc_malloc_debug")) {
			there = true;
			search_module(&f, process->modules[i]);
		}
	for (size_t i = 0; i < process->module_count && glibc->arena_count == 0; i++) /* a static program */
		if (process->modules[i]->kind == XC_MODULE_EXE)
			search_module(&f, process->modules[i]);
	if (glibc->arena_count == 0 && there && is_lost(&f))
		find_without_libc(&f);
	if (glibc->arena_count == 0 && f.effort == 0)
		*why_out = "too much looks like the main arena of glibc's malloc: the search was abandoned";
	else if (glibc->arena_count == 0 && there)
		*why_out = is_replaced(process) ? "a sanitizer's allocator, whose blocks are not known here"
			   : is_unused(&f)      ? "malloc was never called"
						: "the main arena of glibc's malloc was not found in libc's memory";
	return glibc->arena_count > 0;
}

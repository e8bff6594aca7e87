/* Ranges are laid over each other as segments of a separate address space, in which the last one wins; excluded
 * memory is laid the same way. Then the words of the ranges, and the registers, are looked up in parallel pieces. */
#include "heap/graph/roots.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "core/base/parallel.h"
#include "core/elf/elf.h"
#include "heap/blocks/scan.h"
#include "heap/graph/thread_memory.h"

enum {
	PIECE = 4 << 20,
	LARGEST_PAGE = 64 << 10,
	BATCH = 32, /* pieces that are processed before their results are merged */
};

/* Live memory that was never written takes time to read: more than this in one mapping is left out and counted as
 * missing. */
#define MOST_LIVE (UINT64_C(1) << 36)

/* ---- ranges ---- */

/* The segment contexts, one for each kind and owner. */
struct painter {
	const struct xc_heap *heap;
	struct xc_space *canvas;
	struct xc_arena memory;
};

/* NULL paint: no roots there. */
static void lay(struct painter *p, xc_addr lo, xc_addr hi, const struct xc_root_range *paint)
{
	struct xc_segment segment = {.lo = lo, .hi = hi, .provenance = XC_FROM_CORE, .ctx = (void *)paint};
	if (lo <= hi)
		xc_space_add(p->canvas, &segment);
}

static void paint(struct painter *p, xc_addr lo, xc_addr hi, enum xc_root_kind kind, uint32_t owner)
{
	struct xc_root_range *range = xc_arena_alloc(&p->memory, sizeof *range);
	*range = (struct xc_root_range){.owner = owner, .kind = (uint8_t)kind};
	lay(p, lo, hi, range);
}

static uint32_t module_index(const struct xc_process *process, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(process->module_count, i, process->by_address[i]->hi < addr);
	return lo < process->module_count && process->by_address[lo]->lo <= addr &&
			       process->by_address[lo]->kind != XC_MODULE_VDSO
		       ? (uint32_t)lo
		       : UINT32_MAX;
}

/* Data that the loader wrote and then protected are directly below the writable data. */
static bool is_relro(const struct xc_process *process, size_t number, uint32_t module)
{
	const struct xc_mapping *mapping = &process->mappings[number], *next = mapping + 1;
	return number + 1 < process->mapping_count && !mapping->executable && next->lo == mapping->hi + 1 &&
	       next->writable && module_index(process, next->lo) == module;
}

/* Where the data of the module begin in the mapping: before them, its first page has what the file has there, the end
 * of the constants. */
static xc_addr first_datum(const struct xc_process *process, uint32_t module, const struct xc_mapping *m)
{
	const struct xc_module *of = process->by_address[module];
	xc_addr first = 0; /* none is in the mapping: in a gap of the module there may be somebody else's */
	struct xc_elf elf;
	if (!of->bias_known || !of->file || !of->file->bytes)
		return m->lo;
	struct xc_error *err = xc_elf_parse(of->file->bytes, of->file->size, &elf);
	for (uint32_t i = 0; !err && i < elf.phdrs_readable; i++) {
		const struct xc_phdr p = xc_elf_phdr(&elf, i);
		const xc_addr at = of->bias + p.vaddr;
		if (p.type != PT_LOAD || !(p.flags & PF_W) || !p.memsz || at > m->hi)
			continue;
		if (at > m->lo && (!first || at < first))
			first = at;
		else if (at <= m->lo && m->lo - at < p.memsz)
			first = m->lo;
	}
	xc_error_free(err);
	return first > m->lo && first - m->lo < LARGEST_PAGE ? first : m->lo;
}

static bool is_data_file(const struct xc_mapping *mapping)
{
	static const char *const memory[] = {"/dev/zero", "/memfd:", "/SYSV", "/dev/shm/", "/anon_hugepage"};
	if (!mapping->path || mapping->path[0] != '/' || (!mapping->shared && mapping->writable))
		return false;
	for (size_t i = 0; i < XC_COUNT(memory); i++)
		if (!strncmp(mapping->path, memory[i], strlen(memory[i])))
			return false;
	return true;
}

static void paint_mapping(struct painter *p, size_t number)
{
	const struct xc_process *process = p->heap->process;
	const struct xc_mapping *m = &process->mappings[number];
	uint32_t module = module_index(process, m->lo);
	bool kernels = m->label && (!strncmp(m->label, "[vvar", 5) || !strcmp(m->label, "[vdso]") ||
				    !strcmp(m->label, "[vsyscall]"));
	if (!m->readable || kernels)
		return;
	if (module != UINT32_MAX) {
		if (m->writable || is_relro(process, number, module))
			paint(p, first_datum(process, module, m), m->hi, XC_ROOT_GLOBAL, module);
	} else if (!is_data_file(m)) {
		paint(p, m->lo, m->hi, XC_ROOT_MAPPING, (uint32_t)number);
	}
}

static void paint_threads(struct painter *p)
{
	const struct xc_process *process = p->heap->process;
	struct xc_thread_memory *threads = xc_alloc((process->thread_count + 1) * sizeof *threads);
	for (size_t i = 0; i < process->thread_count; i++)
		xc_thread_memory(process, (uint32_t)i, &threads[i]);
	for (size_t i = 0; i < process->thread_count; i++)
		lay(p, threads[i].dead_lo, threads[i].dead_hi, NULL);
	for (size_t i = 0; i < process->thread_count; i++)
		paint(p, threads[i].stack_lo, threads[i].stack_hi, XC_ROOT_STACK, threads[i].thread);
	for (size_t i = 0; i < process->thread_count; i++)
		paint(p, threads[i].tls_lo, threads[i].tls_hi, XC_ROOT_TLS, threads[i].thread);
	free(threads);
}

static void paint_heap(struct painter *p)
{
	const struct xc_heap *heap = p->heap;
	for (size_t i = 0; i < heap->region_count; i++)
		lay(p, heap->regions[i].lo, heap->regions[i].hi, NULL);
	for (size_t i = 0; i < heap->arena_count; i++)
		if (heap->arenas[i].addr && heap->arenas[i].size)
			lay(p, heap->arenas[i].addr, heap->arenas[i].addr + (heap->arenas[i].size - 1), NULL);
	for (size_t i = 0; i < heap->damage_count; i++)
		paint(p, heap->damages[i].lost_lo, heap->damages[i].lost_hi, XC_ROOT_DAMAGED, heap->damages[i].arena);
}

/* The stacks of ended threads, in memory without an owner. */
struct ended {
	struct ended_stack {
		xc_addr lo, hi, dtv;
	} * items;
	size_t count, capacity;
};

static void take_ended(void *context, xc_addr lo, xc_addr hi, xc_addr dtv)
{
	struct ended *ended = context;
	ended->items = xc_grow(ended->items, ended->count, &ended->capacity, sizeof *ended->items);
	ended->items[ended->count++] = (struct ended_stack){lo, hi, dtv};
}

/* Excludes them; the ranges of living threads and of the heap are laid over them again. */
static void paint_ended(struct painter *p)
{
	struct ended ended = {0};
	struct xc_ended_search search;
	xc_ended_search_init(&search, p->heap);
	for (size_t i = 0; i < xc_space_count(p->canvas); i++) {
		const struct xc_segment *segment = xc_space_at(p->canvas, i);
		const struct xc_root_range *paint = segment->ctx;
		const struct xc_mapping *mapping = xc_process_mapping(p->heap->process, segment->lo);
		if (paint && paint->kind == XC_ROOT_MAPPING && mapping && mapping->writable && !mapping->path)
			xc_ended_search_range(&search, segment->lo, segment->hi, take_ended, &ended);
	}
	xc_ended_search_fini(&search);
	for (size_t i = 0; i < ended.count; i++) {
		const struct ended_stack *stack = &ended.items[i];
		lay(p, stack->lo, stack->hi, NULL);
		paint(p, stack->dtv, stack->dtv + p->heap->process->arch->word - 1, XC_ROOT_TLS, UINT32_MAX);
	}
	free(ended.items);
	if (ended.count) {
		paint_threads(p);
		paint_heap(p);
		xc_space_seal(p->canvas);
	}
}

static int range_order(const void *a, const void *b)
{
	const struct xc_root_range *x = a, *y = b;
	return x->kind != y->kind ? x->kind - y->kind : x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void take_ranges(struct xc_root_ranges *ranges, const struct xc_space *canvas, bool live)
{
	for (size_t i = 0; i < xc_space_count(canvas); i++) {
		const struct xc_segment *segment = xc_space_at(canvas, i);
		const struct xc_root_range *paint = segment->ctx;
		if (!paint)
			continue;
		ranges->items = xc_grow(ranges->items, ranges->count, &ranges->capacity, sizeof *ranges->items);
		struct xc_root_range *range = &ranges->items[ranges->count++];
		*range = (struct xc_root_range){segment->lo, segment->hi, paint->owner, paint->kind};
		if (live && range->kind == XC_ROOT_MAPPING && range->hi - range->lo >= MOST_LIVE) {
			ranges->missing += range->hi - range->lo - MOST_LIVE + 1;
			range->hi = range->lo + MOST_LIVE - 1;
		}
	}
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof *ranges->items, range_order);
}

/* Bytes of a range that are in neither the core nor a file. */
static uint64_t missing_bytes(const struct xc_space *space, const struct xc_root_range *range)
{
	uint64_t missing = 0;
	for (xc_addr at = range->lo;;) {
		const struct xc_segment *segment = xc_space_find(space, at);
		if (!segment)
			return missing; /* the mappings know more than the space: nothing was there */
		xc_addr last = segment->hi < range->hi ? segment->hi : range->hi;
		if (segment->provenance == XC_NOT_DUMPED || segment->provenance == XC_CUT_SHORT)
			missing += last - at + 1;
		if (last == range->hi)
			return missing;
		at = last + 1;
	}
}

/* The kernel dumps private memory that was written, even if it was protected later; the parts of a module's data
 * that it left out were never written. The program itself can exclude other memory (MADV_DONTDUMP). */
static bool may_be_written(const struct xc_mapping *mapping, uint8_t kind)
{
	return mapping->cut ||
	       (mapping->writable && (kind != XC_ROOT_GLOBAL || mapping->shared || mapping->dumped > 0));
}

static void count_missing(struct xc_root_ranges *ranges, const struct xc_process *process)
{
	for (size_t i = 0; i < ranges->count; i++) {
		const struct xc_mapping *mapping = xc_process_mapping(process, ranges->items[i].lo);
		if (mapping && may_be_written(mapping, ranges->items[i].kind))
			ranges->missing += missing_bytes(process->space, &ranges->items[i]);
	}
	for (size_t i = 0; i < process->thread_count; i++)
		ranges->threads_without_regs += !process->threads[i].has_regs;
}

void xc_root_ranges_find(struct xc_root_ranges *ranges, const struct xc_heap *heap)
{
	const struct xc_process *process = heap->process;
	struct painter p = {.heap = heap, .canvas = xc_space_new()};
	*ranges = (struct xc_root_ranges){0};
	for (size_t i = 0; i < process->mapping_count; i++)
		paint_mapping(&p, i);
	paint_threads(&p);
	paint_heap(&p);
	xc_space_seal(p.canvas);
	paint_ended(&p);
	take_ranges(ranges, p.canvas, process->live);
	count_missing(ranges, process);
	xc_space_free(p.canvas);
	xc_arena_fini(&p.memory);
}

void xc_root_ranges_fini(struct xc_root_ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct xc_root_ranges){0};
}

/* ---- words ---- */

/* A part of a range, and its roots. */
struct piece {
	const struct xc_heap *heap;
	struct xc_root_range range;
	struct xc_root *roots;
	size_t count, capacity;
};

static void keep_hits(struct piece *piece, struct xc_scan *scan, xc_addr base)
{
	scan->resolve(scan);
	for (size_t i = 0; i < scan->count; i++) {
		if (scan->hits[i] == XC_NO_BLOCK)
			continue;
		piece->roots = xc_grow(piece->roots, piece->count, &piece->capacity, sizeof *piece->roots);
		piece->roots[piece->count++] = (struct xc_root){
			.at = base + (uint64_t)scan->tags[i] * scan->word,
			.block = scan->hits[i] & ~XC_SCAN_INTERIOR,
			.owner = piece->range.owner,
			.kind = piece->range.kind,
			.interior = scan->hits[i] & XC_SCAN_INTERIOR,
		};
	}
	scan->count = 0;
}

static void scan_bytes(struct piece *piece, struct xc_scan *scan, const uint8_t *bytes, xc_addr at, uint64_t len)
{
	uint64_t skip = (scan->word - at % scan->word) % scan->word;
	size_t words = len > skip ? (size_t)((len - skip) / scan->word) : 0, done = 0;
	while (done < words) {
		done += xc_scan_collect(scan, bytes + skip + done * scan->word, words - done, (uint32_t)done, 1);
		if (xc_scan_is_full(scan))
			keep_hits(piece, scan, at + skip);
	}
	keep_hits(piece, scan, at + skip);
}

static void scan_piece(void *context, size_t number, unsigned worker)
{
	struct piece *piece = (struct piece *)context + number;
	struct xc_window window;
	struct xc_scan scan;
	const uint8_t *bytes;
	uint64_t len;
	(void)worker;
	xc_window_init(&window, piece->heap->process->space);
	xc_scan_init(&scan, piece->heap);
	xc_addr at = piece->range.lo, hi = piece->range.hi;
	while (xc_scan_next(&window, &at, hi, PIECE, true, &bytes, &len)) {
		scan_bytes(piece, &scan, bytes, at, len);
		if (hi - at < len)
			break;
		at += len;
	}
	xc_window_fini(&window);
}

/* ---- registers ---- */

static void add_register(struct piece *piece, uint32_t thread, int number, uint64_t value)
{
	uint32_t block = xc_blocks_find(&piece->heap->blocks, value);
	if (block == XC_NO_BLOCK || !xc_scan_has_edges(piece->heap->blocks.heads[block]))
		return;
	piece->roots = xc_grow(piece->roots, piece->count, &piece->capacity, sizeof *piece->roots);
	piece->roots[piece->count++] = (struct xc_root){
		.at = (uint64_t)number,
		.block = block,
		.owner = thread,
		.kind = XC_ROOT_REGISTER,
		.interior = value != xc_block_addr(&piece->heap->blocks, block),
	};
}

/* A register of AVX, of 32 bytes, where its high half is known. */
static void add_vector(struct piece *piece, uint32_t thread, const struct xc_vector_regs *vector, int r)
{
	uint8_t bytes[XC_YMM_SIZE] = {0};
	if (!xc_vector_ymm(vector, (uint64_t)r, bytes))
		memcpy(bytes, vector->xmm[r], sizeof vector->xmm[r]);
	for (size_t at = 0; at < sizeof bytes; at += sizeof(uint64_t))
		add_register(piece, thread, piece->heap->process->arch->vector + r, xc_load_uint(bytes + at, 8, false));
}

static void add_registers(struct piece *piece)
{
	const struct xc_process *process = piece->heap->process;
	for (uint32_t i = 0; i < process->thread_count; i++) {
		const struct xc_thread *thread = &process->threads[i];
		uint64_t value;
		for (int r = 0; r < XC_REG_MAX; r++)
			if (xc_regs_get(&thread->regs, r, &value))
				add_register(piece, i, r, value);
		for (int r = 0; thread->vector && r < thread->vector->xmm_count; r++)
			add_vector(piece, i, thread->vector, r);
	}
}

/* ---- all steps ---- */

static struct piece *plan(const struct xc_heap *heap, const struct xc_root_ranges *ranges, size_t *count_out)
{
	struct piece *pieces = NULL;
	size_t count = 0, capacity = 0;
	for (size_t i = 0; i < ranges->count; i++) {
		xc_addr hi = ranges->items[i].hi;
		for (xc_addr at = ranges->items[i].lo; xc_scan_stored(heap->process->space, &at, hi, true);
		     at += PIECE) {
			struct xc_root_range part = ranges->items[i];
			part.lo = at;
			part.hi = hi - at < PIECE ? hi : at + PIECE - 1;
			pieces = xc_grow(pieces, count, &capacity, sizeof *pieces);
			pieces[count++] = (struct piece){.heap = heap, .range = part};
			if (part.hi == hi)
				break;
		}
	}
	*count_out = count;
	return pieces;
}

/* Blocks that have a root already: to their first byte (0), into them (1). */
struct rooted {
	uint64_t *bits[2];
	struct xc_root *roots;
	size_t count, capacity;
};

static bool is_new(struct rooted *all, const struct xc_root *root)
{
	uint64_t *word = &all->bits[root->interior][root->block >> 6], bit = UINT64_C(1) << (root->block & 63);
	bool before = *word & bit || (root->interior && all->bits[0][root->block >> 6] & bit);
	*word |= bit;
	return !before;
}

static void take_piece(struct rooted *all, struct piece *piece)
{
	for (size_t i = 0; i < piece->count; i++)
		if (is_new(all, &piece->roots[i]) || all->count < XC_ROOTS_KEPT) {
			all->roots = xc_grow(all->roots, all->count, &all->capacity, sizeof *all->roots);
			all->roots[all->count++] = piece->roots[i];
		}
	free(piece->roots);
}

/* One batch at a time, so that duplicates do not accumulate. */
static void take_batch(struct rooted *all, const struct xc_heap *heap, struct piece *pieces, size_t count)
{
	xc_parallel(heap->jobs, count, scan_piece, pieces);
	for (size_t i = 0; i < count; i++)
		take_piece(all, &pieces[i]);
}

static void take_pieces(struct rooted *all, const struct xc_heap *heap, struct piece *pieces, size_t count)
{
	for (size_t at = 0; at < count; at += BATCH)
		take_batch(all, heap, pieces + at, count - at < BATCH ? count - at : BATCH);
}

struct xc_root *xc_roots_find(const struct xc_heap *heap, const struct xc_root_ranges *ranges, size_t *count_out)
{
	size_t count, words = heap->blocks.count / 64 + 1, before = 0;
	struct piece *pieces = plan(heap, ranges, &count), registers = {.heap = heap};
	struct rooted all = {.bits = {xc_alloc(words * 8), xc_alloc(words * 8)}};
	while (before < count && pieces[before].range.kind < XC_ROOT_REGISTER)
		before++;
	take_pieces(&all, heap, pieces, before);
	add_registers(&registers);
	take_piece(&all, &registers);
	take_pieces(&all, heap, pieces + before, count - before);
	free(pieces);
	free(all.bits[0]);
	free(all.bits[1]);
	*count_out = all.count;
	return all.roots;
}

const char *xc_root_kind_word(enum xc_root_kind kind)
{
	static const char *const words[XC_ROOT_KINDS] = {
		[XC_ROOT_GLOBAL] = "global",        [XC_ROOT_TLS] = "thread-local", [XC_ROOT_REGISTER] = "register",
		[XC_ROOT_STACK] = "stack",          [XC_ROOT_PLUGIN] = "plugin",    [XC_ROOT_MAPPING] = "mapping",
		[XC_ROOT_DAMAGED] = "damaged heap",
	};
	return kind < XC_ROOT_KINDS ? words[kind] : NULL;
}

#include "heap/graph/thread_memory.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "heap/blocks/scan.h"

enum {
	DESCRIPTOR = 0x1000, /* maximum bytes of a descriptor (glibc 2.41: 0x900) */
	ABOVE = 0x10000,     /* maximum between a descriptor and the end of its stack */
	PAGE = 0x1000,
	STEP = 64,       /* alignment of descriptors */
	AT_RANDOM_ = 25, /* offset in the main thread's stack */
};

/* ---- one thread ---- */

static bool word_at(const struct xc_process *process, xc_addr addr, uint64_t *out)
{
	return xc_space_peek_uint(process->space, addr, process->arch->word, out);
}

/* The readable bytes of a descriptor and the next word. They are read at once, since each word of a heap may look
 * like a descriptor. */
struct descriptor {
	const struct xc_process *process;
	size_t begin, end; /* of what is there */
	uint8_t bytes[DESCRIPTOR + 8];
};

static void read_descriptor(struct descriptor *d, const struct xc_process *process, xc_addr from)
{
	size_t size = DESCRIPTOR + process->arch->word, page = PAGE - from % PAGE;
	d->process = process;
	d->begin = 0;
	d->end = xc_space_peek(process->space, from, d->bytes, size);
	if (d->end == 0 && page < size) { /* memory may begin in the middle of it */
		d->begin = page;
		d->end = page + xc_space_peek(process->space, from + page, d->bytes + page, size - page);
	}
}

static bool descriptor_word(const struct descriptor *d, size_t at, uint64_t *out)
{
	const struct xc_arch *arch = d->process->arch;
	if (at < d->begin || d->end < arch->word || at > d->end - arch->word)
		return false;
	*out = xc_load_uint(d->bytes + at, arch->word, arch->big_endian);
	return true;
}

/* The stack according to the descriptor at tp: a pair of words, its beginning and its length, that encloses tp. */
static bool described_stack(const struct xc_process *process, xc_addr tp, xc_addr *lo_out, xc_addr *hi_out)
{
	unsigned word = process->arch->word;
	struct descriptor d;
	uint64_t begin, length;
	read_descriptor(&d, process, process->arch->tls.below ? tp : tp - DESCRIPTOR);
	for (unsigned at = 0; at < DESCRIPTOR; at += word) {
		if (!descriptor_word(&d, at, &begin) || !descriptor_word(&d, at + word, &length))
			continue;
		if (begin == 0 || begin % PAGE || length < PAGE || begin > tp || tp - begin >= length ||
		    length - (tp - begin) > ABOVE)
			continue;
		*lo_out = begin;
		*hi_out = begin + length - 1;
		return true;
	}
	return false;
}

static uint64_t static_tls(const struct xc_process *process)
{
	uint64_t most = 0;
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_module *m = process->modules[i];
		if (m->tls_offset_known && m->tls_offset > 0 && (uint64_t)m->tls_offset > most)
			most = (uint64_t)m->tls_offset;
	}
	return most < (UINT64_C(1) << 24) ? most : 0;
}

static xc_addr red_zone(const struct xc_process *process)
{
	return xc_arch_is_x86_64(process->arch) ? 128 : strcmp(process->arch->name, "ppc64le") == 0 ? 288 : 0;
}

static xc_addr at_most(xc_addr a, xc_addr b)
{
	return a < b ? a : b;
}

static xc_addr at_least(xc_addr a, xc_addr b)
{
	return a > b ? a : b;
}

static void place_tls(const struct xc_process *process, xc_addr tp, struct xc_thread_memory *out)
{
	const struct xc_mapping *mapping = xc_process_mapping(process, tp);
	uint64_t local = (static_tls(process) + STEP - 1) / STEP * STEP;
	tp -= tp % process->arch->word; /* so that ranges do not split words */
	if (!mapping)
		return;
	xc_addr below = process->arch->tls.below ? local : DESCRIPTOR, above = process->arch->tls.below ? 0 : local;
	out->tls_lo = tp - mapping->lo > below ? tp - below : mapping->lo;
	out->tls_hi = mapping->hi - tp > above + DESCRIPTOR ? tp + above + DESCRIPTOR - 1 : mapping->hi;
}

static bool is_main_stack(const struct xc_process *process, const struct xc_mapping *mapping)
{
	uint64_t random;
	return (mapping->label && !strcmp(mapping->label, "[stack]")) ||
	       (xc_process_auxv(process, AT_RANDOM_, &random) && random >= mapping->lo && random <= mapping->hi);
}

/* Is the memory below this mapping unusable? */
static bool is_guarded(const struct xc_process *process, const struct xc_mapping *mapping)
{
	return mapping == process->mappings || mapping[-1].hi + 1 != mapping->lo || !mapping[-1].readable;
}

bool xc_thread_memory(const struct xc_process *process, uint32_t number, struct xc_thread_memory *out)
{
	const struct xc_thread *thread = &process->threads[number];
	const struct xc_arch *arch = process->arch;
	uint64_t sp, tp = 0;
	xc_addr lo, hi;
	*out = (struct xc_thread_memory){.thread = number, .stack_lo = 1, .dead_lo = 1, .tls_lo = 1};
	bool has_tp = xc_regs_get(&thread->regs, arch->tls.tp, &tp) && tp;
	if (has_tp)
		place_tls(process, tp, out);
	const struct xc_mapping *mapping =
		xc_regs_get(&thread->regs, arch->sp, &sp) ? xc_process_mapping(process, sp) : NULL;
	if (!mapping)
		return false;
	bool own = has_tp && tp > sp && tp <= mapping->hi;
	bool described = own && described_stack(process, tp, &lo, &hi) && lo <= sp;
	sp -= sp % arch->word;
	out->stack_lo = sp - mapping->lo > red_zone(process) ? sp - red_zone(process) : mapping->lo;
	out->stack_hi = described ? at_most(hi, mapping->hi) : mapping->hi;
	if (described || is_main_stack(process, mapping) || (own && is_guarded(process, mapping))) {
		out->dead_lo = described ? at_least(lo, mapping->lo) : mapping->lo;
		out->dead_hi = out->stack_lo - 1;
	}
	return true;
}

/* ---- ended threads ---- */

/* The offset of the thread id in a descriptor, at which all threads have theirs. 0: unknown. */
static unsigned tid_offset(const struct xc_process *process)
{
	for (unsigned at = process->arch->word; at < DESCRIPTOR; at += 4) {
		size_t agree = 0;
		for (size_t i = 0; i < process->thread_count; i++) {
			uint64_t tp, tid;
			if (!xc_regs_get(&process->threads[i].regs, process->arch->tls.tp, &tp))
				continue;
			if (!xc_space_peek_uint(process->space, tp + at, 4, &tid) ||
			    (pid_t)tid != process->threads[i].tid) {
				agree = 0;
				break;
			}
			agree++;
		}
		if (agree)
			return at;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const xc_addr *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static void find_living(struct xc_ended_search *search)
{
	const struct xc_process *process = search->heap->process;
	search->living = xc_alloc((process->thread_count + 1) * sizeof *search->living);
	for (size_t i = 0; i < process->thread_count; i++) {
		uint64_t tp;
		if (xc_regs_get(&process->threads[i].regs, process->arch->tls.tp, &tp))
			search->living[search->living_count++] = tp;
	}
	qsort(search->living, search->living_count, sizeof *search->living, by_address);
}

static bool is_thread(const struct xc_ended_search *search, xc_addr tp)
{
	return search->living_count &&
	       bsearch(&tp, search->living, search->living_count, sizeof *search->living, by_address);
}

/* A word equal to its own address may begin a descriptor. */
static bool is_ended(const struct xc_ended_search *search, xc_addr at, xc_addr *lo_out, xc_addr *hi_out)
{
	const struct xc_process *process = search->heap->process;
	uint64_t self, tid;
	return word_at(process, at + 2U * process->arch->word, &self) && self == at && !is_thread(search, at) &&
	       xc_space_peek_uint(process->space, at + search->tid_at, 4, &tid) && (int32_t)tid <= 0 &&
	       described_stack(process, at, lo_out, hi_out);
}

static bool own_address(const uint8_t *bytes, xc_addr at, unsigned word)
{
	uint64_t value = 0;
	memcpy(&value, bytes, word);
	return value == at;
}

void xc_ended_search_init(struct xc_ended_search *search, const struct xc_heap *heap)
{
	const struct xc_arch *arch = heap->process->arch;
	*search = (struct xc_ended_search){.heap = heap};
	xc_window_init(&search->window, heap->process->space);
	if (arch->tls.below && !arch->big_endian) {
		search->tid_at = tid_offset(heap->process);
		find_living(search);
	}
}

void xc_ended_search_fini(struct xc_ended_search *search)
{
	xc_window_fini(&search->window);
	free(search->living);
}

void xc_ended_search_range(struct xc_ended_search *search, xc_addr lo, xc_addr hi, xc_ended_fn *each, void *context)
{
	unsigned word = search->heap->process->arch->word;
	const uint8_t *bytes;
	uint64_t len;
	xc_addr at = lo, stack_lo, stack_hi;
	while (search->tid_at && xc_scan_next(&search->window, &at, hi, XC_WINDOW_COPY, true, &bytes, &len)) {
		for (uint64_t i = (STEP - at % STEP) % STEP; i < len && len - i >= word; i += STEP)
			if (own_address(bytes + i, at + i, word) && is_ended(search, at + i, &stack_lo, &stack_hi))
				each(context, stack_lo, stack_hi, at + i + word);
		if (hi - at < len)
			break;
		at += len;
	}
}

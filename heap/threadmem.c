#include "threadmem.h"

#include <stdlib.h>
#include <string.h>

#include "scan.h"

enum {
	DESCRIPTOR = 0x1000, /* bytes that a descriptor takes at most (glibc 2.41: 0x900) */
	ABOVE = 0x10000,     /* between a descriptor and the end of its stack, at most */
	PAGE = 0x1000,
	STEP = 64,       /* descriptors are aligned so */
	AT_RANDOM_ = 25, /* its bytes lie on the main thread's stack */
};

/* ---- one thread ---- */

static bool word_at(const struct xc_process *process, xc_addr addr, uint64_t *out)
{
	return xc_space_peek_uint(process->space, addr, process->arch->word, out);
}

/* The stack as the descriptor at tp tells it: a pair of words, its begin and its length, that encloses tp. */
static bool described_stack(const struct xc_process *process, xc_addr tp, xc_addr *lo_out, xc_addr *hi_out)
{
	unsigned word = process->arch->word;
	xc_addr from = process->arch->tls.below ? tp : tp - DESCRIPTOR;
	uint64_t begin, length;
	for (unsigned at = 0; at < DESCRIPTOR; at += word) {
		if (!word_at(process, from + at, &begin) || !word_at(process, from + at + word, &length))
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
	uint64_t local = static_tls(process);
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

/* Is what lies below this mapping no memory that can be used? */
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
	out->stack_lo = sp - mapping->lo > red_zone(process) ? sp - red_zone(process) : mapping->lo;
	out->stack_hi = described ? at_most(hi, mapping->hi) : mapping->hi;
	if (described || is_main_stack(process, mapping) || (own && is_guarded(process, mapping))) {
		out->dead_lo = described ? at_least(lo, mapping->lo) : mapping->lo;
		out->dead_hi = out->stack_lo - 1;
	}
	return true;
}

/* ---- threads that ended ---- */

/* The place of the thread id in a descriptor: where all threads have theirs. 0: not known. */
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

static bool is_thread(const struct xc_process *process, xc_addr tp)
{
	uint64_t other;
	for (size_t i = 0; i < process->thread_count; i++)
		if (xc_regs_get(&process->threads[i].regs, process->arch->tls.tp, &other) && other == tp)
			return true;
	return false;
}

struct search {
	const struct xc_heap *heap;
	struct xc_window window;
	unsigned tid_at;
	xc_ended_fn *each;
	void *context;
};

/* A word that is its own address may begin a descriptor. */
static void look_at(struct search *s, xc_addr at)
{
	const struct xc_process *process = s->heap->process;
	uint64_t self, tid;
	xc_addr lo, hi;
	if (!word_at(process, at + 2 * process->arch->word, &self) || self != at || is_thread(process, at) ||
	    !xc_space_peek_uint(process->space, at + s->tid_at, 4, &tid) || (int32_t)tid > 0)
		return;
	if (described_stack(process, at, &lo, &hi))
		s->each(s->context, lo, hi);
}

static bool own_address(const uint8_t *bytes, xc_addr at, unsigned word)
{
	uint64_t value = 0;
	memcpy(&value, bytes, word);
	return value == at;
}

static void search_mapping(struct search *s, const struct xc_mapping *mapping)
{
	unsigned word = s->heap->process->arch->word;
	const uint8_t *bytes;
	uint64_t len;
	for (xc_addr at = mapping->lo;
	     xc_scan_next(&s->window, &at, mapping->hi, XC_WINDOW_COPY, true, &bytes, &len);) {
		for (uint64_t i = (STEP - at % STEP) % STEP; i < len && len - i >= word; i += STEP)
			if (own_address(bytes + i, at + i, word)) {
				look_at(s, at + i);
			}
		if (mapping->hi - at < len)
			break;
		at += len;
	}
}

void xc_threads_ended(const struct xc_heap *heap, xc_ended_fn *each, void *context)
{
	const struct xc_process *process = heap->process;
	struct search s = {.heap = heap, .each = each, .context = context};
	if (!process->arch->tls.below || process->arch->big_endian || !(s.tid_at = tid_offset(process)))
		return;
	xc_window_init(&s.window, process->space);
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		const struct xc_region *region = xc_heap_region(heap, m->lo);
		bool managed = region && region->hi >= m->hi;
		if (m->readable && m->writable && !m->path && !m->shared && !managed)
			search_mapping(&s, m);
	}
	xc_window_fini(&s.window);
}

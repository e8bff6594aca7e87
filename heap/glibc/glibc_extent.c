/* The main arena grows by moving the break, so its memory is one mapping: the one that contains the top chunk, or
 * the chunks in its bins, or the first one after the program. An overrun of the last block destroys the header of
 * the top chunk first; the rest of the arena must not be lost with it. */
#include "heap/glibc/glibc_extent.h"

enum { PROOF = 4 }; /* chunks in a row */

static bool is_heap_mapping(const struct xc_mapping *m)
{
	return m && m->writable && !m->path && !m->shared;
}

/* The first mapping above the program that could be its heap. */
static const struct xc_mapping *behind_program(const struct xc_process *process)
{
	const struct xc_module *exe = process->module_count ? process->modules[0] : NULL;
	for (size_t i = 0; exe && i < process->mapping_count; i++)
		if (process->mappings[i].lo > exe->hi)
			return is_heap_mapping(&process->mappings[i]) ? &process->mappings[i] : NULL;
	return NULL;
}

/* The mapping with chunks of the main arena, by any pointer to one. */
static const struct xc_mapping *main_mapping(const struct xc_glibc *glibc, struct xc_window *window,
					     const struct xc_glibc_arena *arena)
{
	const struct xc_process *process = glibc->heap->process;
	const unsigned word = glibc->layout.word;
	const struct xc_mapping *m = xc_process_mapping(process, arena->top);
	uint64_t chunk;
	for (unsigned i = 0; i < 2 * XC_GLIBC_BINS && !is_heap_mapping(m); i++)
		if (xc_glibc_word(glibc, window, arena->addr + glibc->layout.bins + i * word, &chunk))
			m = xc_process_mapping(process, chunk);
	return is_heap_mapping(m) ? m : behind_program(process);
}

static bool chunks_begin(const struct xc_glibc *glibc, struct xc_window *window, size_t arena, xc_addr lo, xc_addr hi)
{
	const struct xc_glibc_segment segment = {
		.glibc = (struct xc_glibc *)glibc, .lo = lo, .hi = hi, .arena = (uint32_t)arena};
	return xc_glibc_run(&segment, window, lo, PROOF) == PROOF;
}

bool xc_glibc_main_extent(const struct xc_glibc *glibc, struct xc_window *window, size_t arena, xc_addr *lo_out,
			  xc_addr *hi_out)
{
	const struct xc_glibc_arena *owner = &glibc->arenas[arena];
	struct xc_glibc_chunk top;
	if (owner->top == 0)
		return false;
	if (xc_glibc_chunk(glibc, window, owner->top, &top)) {
		uint64_t size = xc_glibc_size(top.head), system = owner->system_mem;
		xc_addr end = owner->top + size;
		*lo_out = end - system;
		*hi_out = end - 1;
		if (size && end > owner->top && system >= size && system - size <= owner->top &&
		    chunks_begin(glibc, window, arena, *lo_out, *hi_out))
			return true;
	}
	const struct xc_mapping *m = main_mapping(glibc, window, owner);
	if (!m)
		return false;
	*hi_out = m->hi;
	*lo_out = m->hi - owner->system_mem + 1;
	bool inside = xc_inside(*lo_out, 1, m->lo, m->hi);
	if (!inside || (!chunks_begin(glibc, window, arena, *lo_out, *hi_out) &&
			chunks_begin(glibc, window, arena, m->lo, *hi_out)))
		*lo_out = m->lo; /* others also took memory from the break there */
	return true;
}

bool xc_glibc_first_heap_extent(const struct xc_glibc *glibc, size_t arena, xc_addr *lo_out, xc_addr *hi_out)
{
	const struct xc_glibc_arena *owner = &glibc->arenas[arena];
	const struct xc_mapping *m = xc_process_mapping(glibc->heap->process, owner->addr);
	xc_addr heap = owner->addr - glibc->layout.heap_info;
	if (!is_heap_mapping(m) || heap < m->lo)
		return false;
	*lo_out = owner->addr + glibc->layout.state_size;
	*hi_out = m->hi - heap < glibc->layout.heap_max ? m->hi : heap + glibc->layout.heap_max - 1;
	return *lo_out < *hi_out;
}

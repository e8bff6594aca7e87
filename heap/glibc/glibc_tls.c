/* glibc_tls: the pointers in the thread-local storage of libc.
 *
 * That storage is small, and only its variable `tcache` points to the start of a block of that size. So no symbol
 * is needed. */
#include <stdlib.h>

#include "core/process/module.h"
#include "heap/glibc/glibc_impl.h"

enum { TLS_BYTES = 512 }; /* more than libc has; also the range below the thread pointer if the place is unknown */

const struct xc_module *xc_glibc_module(const struct xc_process *process)
{
	for (size_t i = 0; i < process->module_count; i++)
		if (xc_module_matches_name(process->modules[i], "libc"))
			return process->modules[i];
	return process->module_count ? process->modules[0] : NULL;
}

/* The range to search for a thread. False if its thread pointer is missing. */
static bool range_of(const struct xc_process *process, const struct xc_thread *thread, xc_addr *lo_out,
		     uint64_t *size_out)
{
	const struct xc_tls_layout *tls = &process->arch->tls;
	const struct xc_module *libc = xc_glibc_module(process);
	uint64_t tp;
	if (tls->tp < 0 || !xc_regs_get(&thread->regs, tls->tp, &tp) || tp < TLS_BYTES)
		return false;
	*size_out = TLS_BYTES;
	*lo_out = tls->below ? tp - TLS_BYTES : tp;
	if (libc && libc->tls_offset_known)
		*lo_out = tls->below ? tp - (uint64_t)libc->tls_offset : tp - tls->bias + (uint64_t)libc->tls_offset;
	if (tls->below && tp - *lo_out < TLS_BYTES)
		*size_out = tp - *lo_out;
	return true;
}

static void add_words(struct xc_glibc *glibc, const struct xc_thread *thread)
{
	const struct xc_process *process = glibc->heap->process;
	const unsigned word = glibc->layout.word;
	uint8_t bytes[TLS_BYTES];
	uint64_t size;
	xc_addr lo;
	if (!range_of(process, thread, &lo, &size))
		return;
	size = xc_space_peek(process->space, lo, bytes, size);
	for (uint64_t i = 0; i + word <= size; i += word) {
		uint64_t value = xc_glibc_load(bytes + i, word);
		if (!xc_glibc_is_chunk_place(glibc, value - 2 * word))
			continue;
		glibc->tls = xc_grow(glibc->tls, glibc->tls_count, &glibc->tls_capacity, sizeof *glibc->tls);
		glibc->tls[glibc->tls_count++] = (struct xc_glibc_tls){value, thread};
	}
}

static int tls_order(const void *a, const void *b)
{
	const struct xc_glibc_tls *x = a, *y = b;
	return x->value < y->value ? -1 : x->value > y->value;
}

void xc_glibc_read_tls(struct xc_glibc *glibc)
{
	const struct xc_process *process = glibc->heap->process;
	for (size_t i = 0; i < process->thread_count; i++)
		add_words(glibc, &process->threads[i]);
	if (glibc->tls_count)
		qsort(glibc->tls, glibc->tls_count, sizeof *glibc->tls, tls_order);
}

const struct xc_thread *xc_glibc_thread_with(const struct xc_glibc *glibc, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(glibc->tls_count, i, glibc->tls[i].value < addr);
	return lo < glibc->tls_count && glibc->tls[lo].value == addr ? glibc->tls[lo].thread : NULL;
}

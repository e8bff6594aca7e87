/* chunks: a process with libc's main arena and a small heap, laid out as glibc 2.36 does it.
 *
 *	0x555555558000   the heap: a tcache, CHUNKS_COUNT chunks of many sizes (each seventh free and in a bin, some in the tcache), top
 *	0x7ffff7df0000   data of libc: malloc_state in it
 *
 * Tests may change the bytes between openings of the heap. */
#ifndef XC_TEST_CHUNKS_H
#define XC_TEST_CHUNKS_H

#include <string.h>

#include "core/process/module.h"
#include "core/process/process.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"

enum { CHUNKS_COUNT = 120, CHUNKS_HEAP = 1 << 16, CHUNKS_DATA = 1 << 12, CHUNKS_STATE = 0x80, CHUNKS_TCACHE = 0x290 };
#define CHUNKS_HEAP_AT UINT64_C(0x555555558000)
#define CHUNKS_DATA_AT UINT64_C(0x7ffff7df0000)

struct chunks {
	struct xc_process *process;
	struct xc_mapping mappings[2];
	uint8_t *heap, *data;
	xc_addr at[CHUNKS_COUNT + 1]; /* headers; the last one is the top chunk's */
	uint64_t size[CHUNKS_COUNT];
	bool free[CHUNKS_COUNT], cached[CHUNKS_COUNT];
};

static inline void chunks_put(struct chunks *c, xc_addr addr, uint64_t word)
{
	if (addr >= CHUNKS_DATA_AT)
		memcpy(c->data + (addr - CHUNKS_DATA_AT), &word, sizeof word);
	else
		memcpy(c->heap + (addr - CHUNKS_HEAP_AT), &word, sizeof word);
}

static inline uint64_t chunks_get(const struct chunks *c, xc_addr addr)
{
	uint64_t word;
	memcpy(&word, addr >= CHUNKS_DATA_AT ? c->data + (addr - CHUNKS_DATA_AT) : c->heap + (addr - CHUNKS_HEAP_AT),
	       sizeof word);
	return word;
}

/* Append a free chunk to the unsorted bin. */
static inline void chunks_bin(struct chunks *c, xc_addr chunk)
{
	const xc_addr bin = CHUNKS_DATA_AT + CHUNKS_STATE + 0x60;
	xc_addr last = chunks_get(c, bin + 24);
	chunks_put(c, chunk + 16, bin);
	chunks_put(c, chunk + 24, last);
	chunks_put(c, last + 16, chunk);
	chunks_put(c, bin + 24, chunk);
}

/* Push a block onto the tcache list of its size. */
static inline void chunks_cache(struct chunks *c, xc_addr chunk, uint64_t size)
{
	const xc_addr tcache = CHUNKS_HEAP_AT + 16, block = chunk + 16;
	uint64_t slot = (size - 0x20) / 16;
	xc_addr entry = tcache + 128 + slot * 8;
	chunks_put(c, block, block >> 12 ^ chunks_get(c, entry));
	chunks_put(c, block + 8, UINT64_C(0x1234567890abcdef)); /* key */
	chunks_put(c, entry, block);
	c->heap[16 + slot * 2]++;
}

/* Write everything, which undoes all changes. */
static inline void chunks_write(struct chunks *c)
{
	const xc_addr state = CHUNKS_DATA_AT + CHUNKS_STATE;
	xc_addr at = CHUNKS_HEAP_AT + CHUNKS_TCACHE;
	memset(c->heap, 0, CHUNKS_HEAP);
	memset(c->data, 0, CHUNKS_DATA);
	for (unsigned i = 0; i < 254; i += 2) {
		chunks_put(c, state + 0x70 + i * 8, state + 0x60 + i * 8);
		chunks_put(c, state + 0x78 + i * 8, state + 0x60 + i * 8);
	}
	chunks_put(c, state + 0x870, state);
	chunks_put(c, state + 0x880, 1);
	chunks_put(c, state + 0x888, CHUNKS_HEAP);
	chunks_put(c, CHUNKS_HEAP_AT + 8, CHUNKS_TCACHE | 1);
	bool before = true;
	for (unsigned i = 0; i < CHUNKS_COUNT; i++, at += c->size[i - 1]) {
		c->at[i] = at;
		c->size[i] = 0x20 + 16 * ((i * 37) % 29);
		c->free[i] = i % 7 == 3;
		c->cached[i] = i % 11 == 5 && !c->free[i];
		chunks_put(c, at + 8, c->size[i] | before);
		for (xc_addr word = at + 16; word < at + c->size[i]; word += 8)
			chunks_put(c, word, i % 3 ? UINT64_C(0x6f77206f6c6c6568) : at); /* text, or a pointer */
		if (c->free[i])
			chunks_put(c, at + c->size[i], c->size[i]);
		before = !c->free[i];
	}
	c->at[CHUNKS_COUNT] = at;
	chunks_put(c, at + 8, (CHUNKS_HEAP_AT + CHUNKS_HEAP - at) | before);
	chunks_put(c, state + 0x60, at);
	for (unsigned i = 0; i < CHUNKS_COUNT; i++)
		if (c->free[i])
			chunks_bin(c, c->at[i]);
		else if (c->cached[i])
			chunks_cache(c, c->at[i], c->size[i]);
}

static inline void chunks_lay(struct chunks *c, unsigned number, xc_addr lo, const uint8_t *bytes, size_t size)
{
	xc_space_add(c->process->space,
		     &(struct xc_segment){.lo = lo, .hi = lo + size - 1, .provenance = XC_FROM_CORE, .bytes = bytes});
	c->mappings[number] =
		(struct xc_mapping){.lo = lo, .hi = lo + size - 1, .readable = true, .writable = true, .dumped = size};
}

static inline struct chunks *chunks_new(void)
{
	struct chunks *c = xc_alloc(sizeof *c);
	c->process = xc_process_new("chunks", false);
	c->process->arch = xc_arch_host();
	c->heap = xc_alloc(CHUNKS_HEAP);
	c->data = xc_alloc(CHUNKS_DATA);
	chunks_lay(c, 0, CHUNKS_HEAP_AT, c->heap, CHUNKS_HEAP);
	chunks_lay(c, 1, CHUNKS_DATA_AT, c->data, CHUNKS_DATA);
	xc_space_seal(c->process->space);
	c->process->mappings = c->mappings;
	c->process->mapping_count = XC_COUNT(c->mappings);
	struct xc_module *libc = xc_module_add(c->process, "/lib/libc.so.6", XC_MODULE_LIBRARY);
	libc->lo = CHUNKS_DATA_AT;
	libc->hi = CHUNKS_DATA_AT + CHUNKS_DATA - 1;
	xc_process_index(c->process);
	chunks_write(c);
	return c;
}

static inline void chunks_free(struct chunks *c)
{
	c->process->mappings = NULL;
	c->process->mapping_count = 0;
	xc_debuginfo_close(c->process);
	xc_debugfiles_close(c->process);
	xc_process_close(c->process);
	free(c->heap);
	free(c->data);
	free(c);
}

#endif

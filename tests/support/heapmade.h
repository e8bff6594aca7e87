/* heapmade: a hand-built process with a heap of random blocks and arbitrary pointers.
 *
 *	0x555500000000   the heap: blocks with gaps of 8 bytes, as chunk headers would be
 *	0x400000         data of a module
 *	0x7f0000000000   anonymous memory of nobody
 *	0x7ffd00000000   the main thread's stack; sp in its middle */
#ifndef XC_TEST_HEAPMADE_H
#define XC_TEST_HEAPMADE_H

#include <stdlib.h>
#include <string.h>

#include "heap/graph/graph.h"
#include "heap/evidence/evidence_list.h"
#include "heap/session/session.h"
#include "core/process/module.h"
#include "tests/support/check.h"

enum { HM_WORDS = 512, HM_SP_WORD = 256, HM_RBX = 3, HM_RSP = 7 };
#define HM_HEAP  UINT64_C(0x555500000000)
#define HM_DATA  UINT64_C(0x400000)
#define HM_OTHER UINT64_C(0x7f0000000000)
#define HM_STACK UINT64_C(0x7ffd00000000)

struct heapmade {
	struct xc_process *process;
	struct xc_heap *heap;
	uint64_t data[HM_WORDS], other[HM_WORDS], stack[HM_WORDS];
	uint64_t *memory; /* of the heap */
	size_t size;      /* bytes of it */
	struct xc_mapping mappings[4];
	struct xc_thread thread;
};

static inline void hm_lay(struct heapmade *m, size_t number, xc_addr lo, void *bytes, size_t size, const char *label)
{
	struct xc_segment s = {.lo = lo, .hi = lo + size - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	xc_space_add(m->process->space, &s);
	m->mappings[number] = (struct xc_mapping){
		.lo = lo, .hi = s.hi, .readable = true, .writable = true, .label = label, .dumped = size};
}

/* A process with a heap of `size` bytes and no blocks yet. */
static inline struct heapmade *hm_new(size_t size)
{
	struct heapmade *m = xc_alloc(sizeof *m);
	m->process = xc_process_new("made", false);
	m->process->arch = xc_arch_host();
	m->size = (size + 4095) & ~(size_t)4095;
	m->memory = xc_alloc(m->size);
	hm_lay(m, 0, HM_DATA, m->data, sizeof m->data, NULL);
	hm_lay(m, 1, HM_HEAP, m->memory, m->size, NULL);
	hm_lay(m, 2, HM_OTHER, m->other, sizeof m->other, NULL);
	hm_lay(m, 3, HM_STACK, m->stack, sizeof m->stack, "[stack]");
	xc_space_seal(m->process->space);
	m->process->mappings = m->mappings;
	m->process->mapping_count = XC_COUNT(m->mappings);
	struct xc_module *module = xc_module_add(m->process, "/program", XC_MODULE_EXE);
	module->lo = HM_DATA;
	module->hi = HM_DATA + sizeof m->data - 1;
	xc_process_index(m->process);
	m->thread.has_regs = true;
	xc_regs_set(&m->thread.regs, HM_RSP, HM_STACK + HM_SP_WORD * 8);
	m->process->threads = &m->thread;
	m->process->thread_count = 1;
	m->heap = xc_alloc(sizeof *m->heap);
	m->heap->process = m->process;
	m->heap->evidence = xc_evidence_list;
	return m;
}

/* The list of blocks in the heap. Creates a region around it. */
static inline void hm_blocks(struct heapmade *m, struct xc_block_list *list)
{
	struct xc_region region = {.lo = HM_HEAP, .hi = HM_HEAP + m->size - 1};
	xc_blocks_build(&m->heap->blocks, list, 1);
	xc_block_list_fini(list);
	xc_heap_add_region(m->heap, &region);
}

static inline void hm_free(struct heapmade *m)
{
	xc_heap_close(m->heap);
	m->process->mappings = NULL;
	m->process->threads = NULL;
	m->process->mapping_count = m->process->thread_count = 0;
	xc_process_close(m->process);
	free(m->memory);
	free(m);
}

/* Word `i` of a block. */
static inline uint64_t *hm_word(struct heapmade *m, uint32_t block, size_t i)
{
	return &m->memory[(xc_block_addr(&m->heap->blocks, block) - HM_HEAP) / 8 + i];
}

static uint64_t hm_seed = 20261121;

static inline uint64_t hm_any(uint64_t below)
{
	hm_seed ^= hm_seed << 13, hm_seed ^= hm_seed >> 7, hm_seed ^= hm_seed << 17;
	return hm_seed % below;
}

/* About `count` blocks of 16 to 200 bytes. One in `dead` is free (0: none). */
static inline struct heapmade *hm_random(size_t count, unsigned dead)
{
	struct heapmade *m = hm_new(count * 224);
	struct xc_block_list list;
	xc_block_list_init(&list, count);
	xc_addr at = HM_HEAP + 16;
	for (size_t i = 0; i < count; i++) {
		uint64_t size = 8 + 16 * (1 + hm_any(12));
		enum xc_block_state state =
			dead && hm_any(dead) == 0 ? (enum xc_block_state)(1 + hm_any(5)) : XC_BLOCK_LIVE;
		assert_true(xc_block_list_add(&list, at, size, state));
		at += size + 8;
	}
	hm_blocks(m, &list);
	return m;
}

/* A pointer to the block: to its start, or in one of `inside` cases to its interior (0: never). */
static inline uint64_t hm_pointer(struct heapmade *m, uint32_t block, unsigned inside)
{
	xc_addr addr = xc_block_addr(&m->heap->blocks, block);
	return inside && hm_any(inside) == 0 ? addr + hm_any(xc_block_size(&m->heap->blocks, block)) : addr;
}

#endif

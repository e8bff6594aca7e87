/* module_world: a hand-made process: an executable with PT_DYNAMIC → DT_DEBUG → r_debug → link_maps, laid out in a
 * space. */
#ifndef XC_TEST_MODULE_WORLD_H
#define XC_TEST_MODULE_WORLD_H

#include <elf.h>

#include "core/process/module.h"
#include "tests/support/check.h"
#include "tests/support/corefile.h"

enum {
	PAGE = OBJECT_PAGE,
	HEAP_SIZE = 1 << 16,
	MAX_MAPPINGS = 64,
	/* in the heap */
	R_DEBUG = 0x100,
	LINK_MAPS = 0x1000, /* 2 KiB each */
	LINK_MAP = 2048,
	NAMES = 0xc000,
};
static const xc_addr EXE = 0x555500000000, LIB = 0x7f0000000000, HEAP = 0x555600000000;
static const char exe_id[] = "exe build-id, 20 b..", lib_id[] = "lib build-id, 20 b..";

struct world {
	struct xc_process *p;
	uint8_t exe[OBJECT_SIZE], libs[8][OBJECT_SIZE], heap[HEAP_SIZE];
	size_t names_len;
};

static inline void put(struct world *w, size_t at, uint64_t value)
{
	memcpy(w->heap + at, &value, 8);
}

static inline void lay(struct world *w, xc_addr lo, const void *bytes, size_t size)
{
	struct xc_segment s = {
		.lo = lo, .hi = lo + size - 1, .provenance = bytes ? XC_FROM_CORE : XC_NOT_DUMPED, .bytes = bytes};
	xc_space_add(w->p->space, &s);
}

static inline void map(struct world *w, xc_addr lo, size_t size, uint64_t offset, const char *path, bool executable)
{
	struct xc_process *p = w->p;
	assert_true(p->mapping_count < MAX_MAPPINGS);
	struct xc_mapping *m = &p->mappings[p->mapping_count++];
	*m = (struct xc_mapping){.lo = lo,
				 .hi = lo + size - 1,
				 .readable = true,
				 .executable = executable,
				 .path = path,
				 .offset = offset};
}

/* The four mappings of an object; mappings are added in address order. */
static inline void map_object(struct world *w, xc_addr base, const char *path)
{
	for (uint64_t i = 0; i < 4; i++)
		map(w, base + i * PAGE, PAGE, i * PAGE, path, i == 1);
}

static inline void auxv(struct world *w, unsigned type, uint64_t value)
{
	w->p->auxv[type] = value;
	w->p->auxv_known |= UINT64_C(1) << type;
}

static inline xc_addr library(size_t i)
{
	return LIB + i * 0x100000;
}

static inline xc_addr link_map(size_t i)
{
	return HEAP + LINK_MAPS + i * LINK_MAP;
}

/* struct link_map number i: l_addr, l_name, l_ld, l_next (index, or SIZE_MAX for none), l_prev. */
static inline void put_link_map(struct world *w, size_t i, xc_addr base, const char *name, size_t next)
{
	size_t at = LINK_MAPS + i * LINK_MAP;
	put(w, at, base);
	put(w, at + 8, HEAP + NAMES + w->names_len);
	put(w, at + 16, base + OBJECT_DYNAMIC);
	put(w, at + 24, next == SIZE_MAX ? 0 : link_map(next));
	memcpy(w->heap + NAMES + w->names_len, name, strlen(name) + 1);
	w->names_len += strlen(name) + 1;
}

/* An executable with a dynamic section that leads to r_debug; its first link_map is number 0, followed by 1. */
static inline struct world *new_world(bool with_debug)
{
	struct world *w = xc_alloc(sizeof *w);
	uint64_t dynamic[4] = {DT_DEBUG, HEAP + R_DEBUG, DT_NULL, 0};
	w->p = xc_process_new("test", false);
	w->p->mappings = xc_alloc(MAX_MAPPINGS * sizeof *w->p->mappings);
	objectfile_build(exe_id, w->exe);
	if (with_debug)
		memcpy(w->exe + OBJECT_DYNAMIC, dynamic, sizeof dynamic);
	for (size_t i = 0; i < 8; i++)
		objectfile_build(lib_id, w->libs[i]);
	lay(w, EXE, w->exe, sizeof w->exe);
	lay(w, HEAP, w->heap, sizeof w->heap);
	map_object(w, EXE, "/bin/exe");
	map(w, HEAP, HEAP_SIZE, 0, NULL, false);
	auxv(w, AT_PHDR, EXE + 64);
	auxv(w, AT_PHNUM, 6);
	auxv(w, AT_ENTRY, EXE + PAGE);
	put(w, R_DEBUG, 1);
	put(w, R_DEBUG + 8, link_map(0));
	put_link_map(w, 0, EXE, "", 1);
	return w;
}

static inline void add_library(struct world *w, size_t i, const char *path)
{
	lay(w, library(i), w->libs[i], OBJECT_SIZE);
	map_object(w, library(i), path);
}

static inline struct xc_process *find(struct world *w)
{
	xc_space_seal(w->p->space);
	w->p->files_known = true;
	xc_modules_find(w->p);
	return w->p;
}

static inline void end(struct world *w)
{
	xc_process_close(w->p);
	free(w);
}

#endif

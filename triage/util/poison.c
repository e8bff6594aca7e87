/* poison: jemalloc 5 (src/jemalloc.c, JEMALLOC_ALLOC_JUNK, JEMALLOC_FREE_JUNK) and 4 (0xe5); mimalloc 2
 * (include/mimalloc/types.h, MI_DEBUG_UNINIT, MI_DEBUG_FREED, MI_DEBUG_PADDING); gperftools' tcmalloc_debug
 * (src/debugallocation.cc, kMagicUninitializedByte, kMagicDeletedByte); CPython's debug allocator
 * (Objects/obmalloc.c, PYMEM_CLEANBYTE, PYMEM_DEADBYTE, PYMEM_FORBIDDENBYTE); the compilers'
 * -ftrivial-auto-var-init=pattern (clang 14: lib/CodeGen/PatternInit.cpp, gcc 12: gcc/expr.c, 0xfe). glibc's
 * malloc.perturb has no fixed pattern.
 *
 * A byte has an owner only where the owner is in the process: memset() writes the same bytes. */
#include "triage/util/poison.h"

#include <string.h>

#include "heap/blocks/allocator.h"

enum { OFFSET = 4096 };

#define FREED  XC_POISON_FREED
#define UNSET  XC_POISON_UNSET
#define EITHER XC_POISON_EITHER

static const struct pattern {
	uint64_t pattern;
	unsigned bytes; /* of the pattern, which repeats */
	const char *whose;
	enum xc_poison_meaning meaning;
	const char *owner; /* an allocator of heap/, or a part of a module's name; NULL: any program */
} patterns[] = {
	{0x5a, 1, "that jemalloc fills freed memory with", FREED, "jemalloc"},
	{0xe5, 1, "that older versions of jemalloc fill freed memory with", FREED, "jemalloc"},
	{0xa5, 1, "that jemalloc fills new memory with", UNSET, "jemalloc"},
	{0xdf, 1, "that mimalloc fills freed memory with", FREED, "mimalloc"},
	{0xd0, 1, "that mimalloc fills new memory with", UNSET, "mimalloc"},
	{0xde, 1, "that mimalloc puts after blocks", EITHER, "mimalloc"},
	{0xcd, 1, "that tcmalloc's debugging variant fills freed memory with", FREED, "tcmalloc"},
	{0xab, 1, "that tcmalloc's debugging variant fills new memory with", UNSET, "tcmalloc"},
	{0xdd, 1, "that Python's debugging allocator fills freed memory with", FREED, "python"},
	{0xcd, 1, "that Python's debugging allocator fills new memory with", UNSET, "python"},
	{0xfd, 1, "that Python's debugging allocator puts around blocks", EITHER, "python"},
	{0xbe, 1, "that address sanitizers fill new memory with", UNSET, "libasan"},
	{0xaa, 1, "that clang initialises variables with when it is told to", UNSET, "clang"},
	{0xfe, 1, "that gcc initialises variables with when it is told to", UNSET, "GNU C"},
	{0xdeadbeef, 4, "that programs put where memory may no longer be used", FREED, NULL},
	{0xdeadc0de, 4, "that programs put where memory may no longer be used", FREED, NULL},
	{0xfeedface, 4, "that programs mark memory with", EITHER, NULL},
	{0xbaadf00d, 4, "that programs mark memory with", EITHER, NULL},
	{0xcafebabe, 4, "that programs mark memory with", EITHER, NULL},
};

/* Bytes of which no known owner is in the process. */
static const uint8_t fills[] = {0x5a, 0xe5, 0xa5, 0x6b, 0xdf, 0xd0, 0xde, 0xdd, 0xcd, 0xab, 0xfd, 0xbe, 0xaa, 0xfe};

static uint64_t repeat(uint64_t pattern, unsigned bytes, unsigned word)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < word; i += bytes)
		value |= pattern << (8 * i);
	return value;
}

static bool near(uint64_t value, uint64_t pattern)
{
	return value - pattern < OFFSET || pattern - value < OFFSET;
}

static bool is_present(const struct xc_poison_owners *owners, const char *name)
{
	const struct xc_heap *heap = owners->heap;
	if (owners->producer && strstr(owners->producer, name))
		return true;
	for (size_t i = 0; heap && i < heap->part_count; i++)
		if (strcmp(heap->parts[i].allocator->name, name) == 0)
			return true;
	for (size_t i = 0; i < owners->process->module_count; i++)
		if (owners->process->modules[i]->name && strstr(owners->process->modules[i]->name, name))
			return true;
	return false;
}

bool xc_poison_find(const struct xc_poison_owners *owners, uint64_t value, struct xc_poison *out)
{
	unsigned word = owners->process->arch->word;
	for (unsigned width = word; width >= 4; width /= 2) {
		for (size_t i = 0; i < XC_COUNT(patterns); i++) {
			const struct pattern *p = &patterns[i];
			uint64_t pattern = repeat(p->pattern, p->bytes, width);
			if (!near(value, pattern) || (p->owner && !is_present(owners, p->owner)))
				continue;
			*out = (struct xc_poison){.pattern = pattern, .whose = p->whose, .meaning = p->meaning};
			return true;
		}
		for (size_t i = 0; i < sizeof fills; i++) {
			uint64_t pattern = repeat(fills[i], 1, width);
			if (!near(value, pattern))
				continue;
			*out = (struct xc_poison){.pattern = pattern, .meaning = EITHER};
			return true;
		}
	}
	return false;
}

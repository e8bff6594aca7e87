/* poison: jemalloc 5 (src/jemalloc.c, JEMALLOC_ALLOC_JUNK, JEMALLOC_FREE_JUNK) and 4 (0xe5); Linux
 * include/linux/poison.h; the compilers' -ftrivial-auto-var-init=pattern (clang 14: lib/CodeGen/PatternInit.cpp, gcc
 * 12: gcc/expr.c, 0xfe); the debug runtime of Microsoft's compiler. glibc's malloc.perturb has no fixed pattern. */
#include "triage/util/poison.h"

enum { OFFSET = 4096 };

static const struct {
	uint64_t pattern;
	unsigned bytes; /* of the pattern, which repeats */
	const char *whose;
	bool freed;
} poisons[] = {
	{0x5a, 1, "that jemalloc fills freed memory with", true},
	{0xe5, 1, "that older versions of jemalloc fill freed memory with", true},
	{0xa5, 1, "that jemalloc fills new memory with", false},
	{0x6b, 1, "that debugging allocators fill freed memory with", true},
	{0xdd, 1, "that debugging allocators fill freed memory with", true},
	{0xcd, 1, "that debugging allocators fill new memory with", false},
	{0xfd, 1, "that debugging allocators put around blocks", false},
	{0xaa, 1, "that clang initialises variables with when it is told to", false},
	{0xfe, 1, "that compilers initialise variables with when they are told to, and allocators fill memory with",
	 false},
	{0xbe, 1, "that address sanitizers fill new memory with", false},
	{0xdeadbeef, 4, "that programs put where memory may no longer be used", true},
	{0xfeedface, 4, "that debugging allocators fill memory with", false},
	{0xbaadf00d, 4, "that debugging allocators fill new memory with", false},
	{0xdeadc0de, 4, "that programs put where memory may no longer be used", true},
	{0xcafebabe, 4, "that programs mark memory with", false},
};

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

bool xc_poison_find(uint64_t value, unsigned word, struct xc_poison *out)
{
	for (unsigned width = word; width >= 4; width /= 2)
		for (size_t i = 0; i < XC_COUNT(poisons); i++) {
			uint64_t pattern = repeat(poisons[i].pattern, poisons[i].bytes, width);
			if (!near(value, pattern))
				continue;
			*out = (struct xc_poison){
				.pattern = pattern, .whose = poisons[i].whose, .freed = poisons[i].freed};
			return true;
		}
	return false;
}

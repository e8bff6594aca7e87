/* arena: bump allocation in blocks that double up to 1 MiB; larger requests get a block of their own. */
#include "core/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef XC_HOSTILE
enum { FIRST_BLOCK = 1, LARGEST_BLOCK = 1, ALIGNMENT = 16 }; /* a block for each request: ASan sees every overrun */
#else
enum { FIRST_BLOCK = 8 << 10, LARGEST_BLOCK = 1 << 20, ALIGNMENT = 16 };
#endif

struct xc_arena_block {
	struct xc_arena_block *next;
	size_t used, size;
	_Alignas(ALIGNMENT) char bytes[];
};

static struct xc_arena_block *add_block(struct xc_arena *arena, size_t wanted)
{
	size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
	if (size > LARGEST_BLOCK)
		size = LARGEST_BLOCK;
	if (size < wanted)
		size = wanted;
	struct xc_arena_block *block = xc_alloc(sizeof *block + size);
	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *xc_arena_alloc(struct xc_arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		return xc_alloc(size); /* ends the program: rounding the size up would wrap to a small one */
	size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	struct xc_arena_block *block = arena->blocks;
	if (!block || rounded > block->size - block->used)
		block = add_block(arena, rounded);
	void *memory = block->bytes + block->used;
	block->used += rounded;
	return memory;
}

char *xc_arena_strndup(struct xc_arena *arena, const char *text, size_t max)
{
	size_t len = strnlen(text, max);
	char *copy = xc_arena_alloc(arena, len + 1);
	memcpy(copy, text, len);
	return copy;
}

char *xc_arena_strdup(struct xc_arena *arena, const char *text)
{
	return text ? xc_arena_strndup(arena, text, SIZE_MAX - 1) : NULL;
}

char *xc_arena_printf(struct xc_arena *arena, const char *format, ...)
{
	xc_auto(xc_freep) char *text = NULL;
	va_list args;
	va_start(args, format);
	int len = vasprintf(&text, format, args);
	va_end(args);
	return xc_arena_strdup(arena, len < 0 ? format : text);
}

void xc_arena_fini(struct xc_arena *arena)
{
	while (arena->blocks) {
		struct xc_arena_block *block = arena->blocks;
		arena->blocks = block->next;
		free(block);
	}
}

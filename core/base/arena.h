/* arena: memory that lives as long as its owner and is freed all at once.
 *
 * A process or a report keeps its names, modules and frames in one. Not thread-safe. */
#ifndef XC_ARENA_H
#define XC_ARENA_H

#include "core/base/base.h"

struct xc_arena {
	struct xc_arena_block *blocks; /* newest first */
};

void *xc_arena_alloc(struct xc_arena *arena, size_t size);                    /* zeroed, 16-byte aligned, never NULL */
char *xc_arena_strdup(struct xc_arena *arena, const char *text);              /* NULL gives NULL */
char *xc_arena_strndup(struct xc_arena *arena, const char *text, size_t max); /* stops at a NUL */
char *xc_arena_printf(struct xc_arena *arena, const char *format, ...) XC_PRINTF(2, 3);
void xc_arena_fini(struct xc_arena *arena);

#endif

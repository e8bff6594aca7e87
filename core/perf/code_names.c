#include "core/perf/code_names.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/intern.h"

enum {
	FUNCTIONS = 1 << 20,
	LINES = 1 << 22,
	NAME = 1000,
	NAMES = 64 << 20 /* bytes in all */,
	BACK = 1000 /* entries that may begin within a long function */
};

struct xc_code_names {
	struct xc_arena arena;
	struct xc_intern files;
	struct xc_code_name *items; /* by lo, once sorted */
	size_t count, capacity;
	size_t bytes, lines; /* of names; of functions */
	bool sorted;
};

struct xc_code_names *xc_code_names_new(void)
{
	return xc_alloc(sizeof(struct xc_code_names));
}

void xc_code_names_free(struct xc_code_names *n)
{
	if (!n)
		return;
	xc_arena_fini(&n->arena);
	xc_intern_fini(&n->files);
	free(n->items);
	free(n);
}

void xc_code_names_add(struct xc_code_names *n, xc_addr lo, uint64_t size, const char *name,
		       const struct xc_code_line *lines, size_t line_count)
{
	if (!size || size - 1 > UINT64_MAX - lo || n->count >= FUNCTIONS || n->bytes >= NAMES)
		return;
	n->items = xc_grow(n->items, n->count, &n->capacity, sizeof *n->items);
	n->items[n->count] = (struct xc_code_name){.lo = lo,
						   .hi = lo + (size - 1),
						   .name = xc_arena_printf(&n->arena, "%.*s", (int)NAME, name),
						   .lines = lines,
						   .line_count = lines ? line_count : 0,
						   .order = n->count};
	n->bytes += strlen(n->items[n->count++].name);
	n->sorted = false;
}

struct xc_code_line *xc_code_names_lines(struct xc_code_names *n, size_t count)
{
	if (count > LINES - n->lines)
		return NULL;
	n->lines += count;
	return xc_arena_alloc(&n->arena, count * sizeof(struct xc_code_line));
}

const char *xc_code_names_file(struct xc_code_names *n, const char *file)
{
	const uint32_t number = xc_intern(&n->files, file);
	return n->files.texts[number];
}

static int by_start(const void *a, const void *b)
{
	const struct xc_code_name *x = a, *y = b;
	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

const struct xc_code_name *xc_code_names_find(struct xc_code_names *n, xc_addr addr)
{
	const struct xc_code_name *found = NULL;
	if (!n || !n->count)
		return NULL;
	if (!n->sorted)
		qsort(n->items, n->count, sizeof *n->items, by_start);
	n->sorted = true;
	const size_t behind = XC_LOWER_BOUND(n->count, i, n->items[i].lo <= addr);
	for (size_t i = behind, back = 0; i-- > 0 && back < BACK; back++)
		if (n->items[i].hi >= addr && (!found || n->items[i].order > found->order))
			found = &n->items[i];
	return found;
}

const struct xc_code_line *xc_code_name_line(const struct xc_code_name *name, xc_addr addr)
{
	const size_t behind = XC_LOWER_BOUND(name->line_count, i, name->lines[i].at <= addr);
	return behind ? &name->lines[behind - 1] : NULL;
}

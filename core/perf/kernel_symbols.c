/* kernel_symbols: lines of "ffffffff81000000 T name [module]", by address or not. */
#include "core/perf/kernel_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

enum { MOST = 1 << 20, LONGEST = 512 };

struct symbol {
	xc_addr addr;
	const char *name;
};

struct xc_kernel_symbols {
	struct xc_arena arena;
	struct symbol *items;
	size_t count, capacity;
	unsigned users;
};

static struct xc_kernel_symbols *in_use;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void read_line(struct xc_kernel_symbols *s, const char *line)
{
	unsigned long long addr;
	char kind, name[LONGEST];
	if (sscanf(line, "%llx %c %511s", &addr, &kind, name) != 3 || !addr || !strchr("tTwW", kind))
		return;
	s->items = xc_grow(s->items, s->count, &s->capacity, sizeof *s->items);
	s->items[s->count++] = (struct symbol){addr, xc_arena_strdup(&s->arena, name)};
}

struct xc_kernel_symbols *xc_kernel_symbols_read(void)
{
	if (in_use) {
		in_use->users++;
		return in_use;
	}
	struct xc_kernel_symbols *s = xc_alloc(sizeof *s);
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[LONGEST];
	while (file && s->count < MOST && fgets(line, sizeof line, file))
		read_line(s, line);
	if (file)
		fclose(file);
	qsort(s->items, s->count, sizeof *s->items, by_address);
	s->users = 1;
	return in_use = s;
}

void xc_kernel_symbols_free(struct xc_kernel_symbols *s)
{
	if (!s || --s->users)
		return;
	in_use = NULL;
	xc_arena_fini(&s->arena);
	free(s->items);
	free(s);
}

const char *xc_kernel_symbols_find(const struct xc_kernel_symbols *s, xc_addr addr)
{
	const size_t at = XC_LOWER_BOUND(s->count, i, s->items[i].addr <= addr);
	return at ? s->items[at - 1].name : NULL;
}

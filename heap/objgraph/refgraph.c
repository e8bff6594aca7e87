/* While nodes are added, their arrays grow by half: realloc moves such large blocks without copying. */
#include "heap/objgraph/refgraph.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };

struct xc_refgraph *xc_refgraph_new(unsigned jobs)
{
	struct xc_refgraph *g = xc_alloc(sizeof *g);
	g->jobs = jobs;
	return g;
}

static void free_names(struct xc_refgraph_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct xc_refgraph_names){0};
}

static void free_reserves(struct xc_reserve *reserves, size_t count)
{
	for (size_t i = 0; i < count; i++)
		xc_reserve_free(&reserves[i]);
}

void xc_refgraph_free(struct xc_refgraph *g)
{
	if (!g)
		return;
	free_names(&g->kinds);
	free_names(&g->root_names);
	free_names(&g->label_names);
	free(g->addr);
	free(g->size);
	free(g->kind);
	free(g->row_from);
	free(g->row_end);
	free(g->target);
	free(g->roots);
	free(g->holders);
	xc_reserve_free(&g->index.memory);
	xc_reserve_free(&g->label_memory);
	xc_reserve_free(&g->rooted_memory);
	free_reserves(g->memory, XC_COUNT(g->memory));
	free_reserves(g->way_memory, XC_COUNT(g->way_memory));
	free_reserves(g->kept_memory, XC_COUNT(g->kept_memory));
	free(g);
}

/* ---- memory ---- */

enum {
	NODE = sizeof(xc_addr) + sizeof(uint64_t) + sizeof(uint16_t),
	ROW = sizeof(xc_addr) + sizeof(uint32_t),
};

static uint64_t reserved(const struct xc_reserve *reserves, size_t count)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++)
		bytes += reserves[i].size;
	return bytes;
}

uint64_t xc_refgraph_bytes(const struct xc_refgraph *g)
{
	return g->node_room * (uint64_t)NODE + g->row_room * (uint64_t)ROW + g->target_room * sizeof *g->target +
	       g->root_room * sizeof *g->roots + g->index.memory.size + g->label_memory.size + g->label_names.bytes +
	       g->rooted_memory.size + reserved(g->memory, XC_COUNT(g->memory)) +
	       reserved(g->way_memory, XC_COUNT(g->way_memory)) + reserved(g->kept_memory, XC_COUNT(g->kept_memory));
}

static size_t grown(size_t room, size_t count, size_t more)
{
	if (more <= room - count)
		return room;
	room += room / 2;
	room = room < FIRST_ROOM ? FIRST_ROOM : room;
	return more <= room - count ? room : count + more;
}

uint64_t xc_refgraph_reserve_cost(const struct xc_refgraph *g, size_t nodes, size_t rows, size_t targets)
{
	return (grown(g->node_room, g->count, nodes) - g->node_room) * (uint64_t)NODE +
	       (grown(g->row_room, g->row_count, rows) - g->row_room) * (uint64_t)ROW +
	       (grown(g->target_room, g->target_count, targets) - g->target_room) * sizeof *g->target;
}

void xc_refgraph_reserve(struct xc_refgraph *g, size_t nodes, size_t rows, size_t targets)
{
	size_t room = grown(g->node_room, g->count, nodes);
	if (room > g->node_room) {
		g->addr = xc_realloc(g->addr, room * sizeof *g->addr);
		g->size = xc_realloc(g->size, room * sizeof *g->size);
		g->kind = xc_realloc(g->kind, room * sizeof *g->kind);
		g->node_room = room;
	}
	room = grown(g->row_room, g->row_count, rows);
	if (room > g->row_room) {
		g->row_from = xc_realloc(g->row_from, room * sizeof *g->row_from);
		g->row_end = xc_realloc(g->row_end, room * sizeof *g->row_end);
		g->row_room = room;
	}
	room = grown(g->target_room, g->target_count, targets);
	if (room > g->target_room) {
		g->target = xc_realloc(g->target, room * sizeof *g->target);
		g->target_room = room;
	}
}

struct xc_error *xc_refgraph_fits(const struct xc_refgraph *g, size_t nodes, size_t rows, size_t targets)
{
	if (nodes > XC_REFGRAPH_MAX - g->count)
		return xc_error_new(XC_ERR_LIMIT, "more than %d nodes", XC_REFGRAPH_MAX);
	if (targets > XC_REFGRAPH_MAX - g->target_count || rows > XC_REFGRAPH_MAX - g->row_count)
		return xc_error_new(XC_ERR_LIMIT, "more than %d references", XC_REFGRAPH_MAX);
	return NULL;
}

/* ---- names and roots ---- */

uint32_t xc_refgraph_name(struct xc_refgraph_names *names, const char *name)
{
	names->items = xc_grow(names->items, names->count, &names->capacity, sizeof *names->items);
	names->items[names->count] = xc_strdup(name);
	names->bytes += strlen(name) + 32;
	return (uint32_t)names->count++;
}

void xc_refgraph_root(struct xc_refgraph *g, xc_addr addr, uint32_t name)
{
	g->roots = xc_grow(g->roots, g->root_count, &g->root_room, sizeof *g->roots);
	g->roots[g->root_count++] = (struct xc_refgraph_root){.addr = addr, .node = XC_NO_NODE, .name = name};
}

/* Like xc_grow: doubles the capacity. */
uint64_t xc_refgraph_roots_cost(const struct xc_refgraph *g, size_t more)
{
	uint64_t needed = (uint64_t)g->root_count + more;
	return needed <= g->root_room ? 0 : (2 * needed - g->root_room) * sizeof *g->roots;
}

void xc_refgraph_unlabel(struct xc_refgraph *g)
{
	free_names(&g->label_names);
	xc_reserve_free(&g->label_memory);
	g->labels = NULL;
}

void xc_refgraph_label(struct xc_refgraph *g)
{
	xc_refgraph_unlabel(g);
	g->label_memory = xc_reserve_new(g->count + 1, sizeof *g->labels);
	g->labels = g->label_memory.items;
}

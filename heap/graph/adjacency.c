/* The transposed rows are made by counting the entries for each node and then placing the sources. Each piece of
 * work owns a range of targets and reads all entries: sequential reads cost little compared with the random
 * accesses of counting. Sources are placed from the last to the first, so that the counters end as the beginnings
 * of rows and rows are in order. */
#include "heap/graph/adjacency.h"

#include "core/base/parallel.h"

struct turning {
	const struct xc_adjacency *links;
	uint32_t *start, *to;
	uint32_t piece; /* targets of one piece of work */
};

static void bounds(const struct turning *t, size_t number, uint32_t *lo_out, uint32_t *count_out)
{
	*lo_out = (uint32_t)number * t->piece;
	*count_out = t->links->nodes - *lo_out < t->piece ? t->links->nodes - *lo_out : t->piece;
}

static void count_piece(void *context, size_t number, unsigned worker)
{
	const struct turning *t = context;
	uint32_t lo, count, end = t->links->start[t->links->nodes];
	(void)worker;
	bounds(t, number, &lo, &count);
	for (uint32_t e = 0; e < end; e++) {
		uint32_t target = t->links->to[e] & ~XC_ADJACENCY_MARK;
		if (target - lo < count)
			t->start[target]++;
	}
}

static void put_piece(void *context, size_t number, unsigned worker)
{
	const struct turning *t = context;
	uint32_t lo, count, end = t->links->start[t->links->nodes];
	(void)worker;
	bounds(t, number, &lo, &count);
	for (uint32_t source = t->links->nodes; source-- > 0;) {
		uint32_t begin = t->links->start[source];
		while (end > begin) {
			uint32_t target = t->links->to[--end] & ~XC_ADJACENCY_MARK;
			if (target - lo < count)
				t->to[--t->start[target]] = source;
		}
	}
}

void xc_adjacency_transpose(const struct xc_adjacency *links, unsigned jobs, uint32_t *start, uint32_t *to)
{
	size_t pieces = xc_parallel_workers(jobs, SIZE_MAX);
	struct turning t = {.links = links, .start = start, .to = to};
	t.piece = (uint32_t)(links->nodes / pieces + 1);
	pieces = links->nodes / t.piece + (links->nodes % t.piece > 0);
	xc_parallel(jobs, pieces, count_piece, &t);
	for (uint32_t i = 1; i < links->nodes; i++)
		start[i] += start[i - 1];
	start[links->nodes] = links->start[links->nodes];
	xc_parallel(jobs, pieces, put_piece, &t);
}

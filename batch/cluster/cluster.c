/* cluster: the nearest-neighbour chain (Benzécri 1982, Juan 1982) over pairs that are near.
 *
 * A chain goes from a cluster to its nearest neighbour, to that one's nearest neighbour, and so on. Distances shrink
 * along it, so it ends at two clusters that are each other's nearest. These are joined in any case, and the chain
 * continues from before them. A joined cluster has the larger of the two distances to every other cluster, and no
 * distance to one that was near only one of them. So lists of neighbours only shrink, and are changed in place. Of
 * equally near neighbours, the previous one in the chain is taken, else the first. */
#include "batch/cluster/cluster.h"

#include <stdlib.h>

#include "batch/cluster/neighbours.h"

enum { FAR = UINT16_MAX, ROUNDS = 8 };

struct linkage {
	struct xc_neighbours *n;
	size_t *joined; /* by trace: an earlier one of its cluster, or itself */
	uint32_t *chain;
	size_t length;
};

/* The position of `other` in a list, or where it would be. */
static size_t find(const struct xc_neighbours *n, uint32_t list, uint32_t other)
{
	return xc_neighbours_position(n->others, n->starts[list], n->starts[list + 1], other);
}

static uint16_t between(const struct xc_neighbours *n, uint32_t list, uint32_t other)
{
	size_t at = find(n, list, other);
	return at < n->starts[list + 1] && n->others[at] == other ? n->distances[at] : FAR;
}

/* Sets it in both lists. */
static void set_distance(struct xc_neighbours *n, uint32_t one, uint32_t other, uint16_t distance)
{
	n->distances[find(n, one, other)] = distance;
	n->distances[find(n, other, one)] = distance;
}

static void join(struct linkage *l, uint32_t one, uint32_t other)
{
	struct xc_neighbours *n = l->n;
	uint32_t kept = one < other ? one : other, gone = one < other ? other : one;
	set_distance(n, kept, gone, FAR);
	for (size_t i = n->starts[kept]; i < n->starts[kept + 1]; i++) {
		uint16_t theirs = n->distances[i] == FAR ? FAR : between(n, gone, n->others[i]);
		if (n->distances[i] != FAR && theirs > n->distances[i])
			set_distance(n, kept, n->others[i], theirs);
	}
	for (size_t i = n->starts[gone]; i < n->starts[gone + 1]; i++)
		if (n->distances[i] != FAR)
			set_distance(n, gone, n->others[i], FAR);
	l->joined[gone] = kept;
}

/* FAR if it has no neighbour left. */
static uint16_t nearest(const struct xc_neighbours *n, uint32_t list, uint32_t *other_out)
{
	uint16_t best = FAR;
	for (size_t i = n->starts[list]; i < n->starts[list + 1]; i++)
		if (n->distances[i] < best) {
			best = n->distances[i];
			*other_out = n->others[i];
		}
	return best;
}

/* Extends the chain by a link, or joins a pair. False when the chain is empty and `start` has no neighbour. */
static bool step(struct linkage *l, uint32_t start)
{
	if (!l->length)
		l->chain[l->length++] = start;
	uint32_t last = l->chain[l->length - 1], next = 0;
	uint16_t distance = nearest(l->n, last, &next);
	if (distance == FAR) {
		l->length--;
		return false;
	}
	if (l->length > 1 && between(l->n, last, l->chain[l->length - 2]) == distance) {
		join(l, last, l->chain[l->length - 2]);
		l->length -= 2;
	} else {
		l->chain[l->length++] = next;
	}
	return true;
}

/* Makes all joins. True if not all neighbours were known. */
static bool link_all(const struct xc_observed_trace *const *observed, size_t count, uint32_t frames, uint32_t cut,
		     size_t *joined)
{
	struct linkage l = {.n = xc_neighbours_find(observed, count, frames, cut), .joined = joined};
	bool capped = l.n->capped;
	l.chain = xc_alloc((count + 1) * sizeof *l.chain);
	for (size_t i = 0; i < count; i++)
		joined[i] = i;
	for (size_t i = 0; i < count; i++)
		while (joined[i] == i && step(&l, (uint32_t)i))
			;
	free(l.chain);
	xc_neighbours_free(l.n);
	return capped;
}

/* Clusters the traces that still represent themselves. True if another round is needed. */
static bool one_round(const struct xc_observed_trace *observed, size_t count, uint32_t frames, uint32_t cut,
		      size_t *firsts)
{
	const struct xc_observed_trace **list = xc_alloc((count + 1) * sizeof *list);
	size_t *where = xc_alloc((count + 1) * sizeof *where), *joined = xc_alloc((count + 1) * sizeof *joined);
	size_t standing = 0, joins = 0;
	for (size_t i = 0; i < count; i++)
		if (firsts[i] == i) {
			where[standing] = i;
			list[standing++] = &observed[i];
		}
	bool capped = link_all(list, standing, frames, cut, joined);
	for (size_t i = 0; i < standing; i++) {
		firsts[where[i]] = where[joined[i]];
		joins += joined[i] != i;
	}
	free(list);
	free(where);
	free(joined);
	return capped && joins;
}

void xc_cluster(const struct xc_observed_trace *observed, size_t count, uint32_t frames, double cut, size_t *firsts_out)
{
	uint32_t limit = cut <= 0 ? 0 : cut >= 1 ? FAR : (uint32_t)(cut * XC_DISTANCE_ONE);
	for (size_t i = 0; i < count; i++)
		firsts_out[i] = i;
	for (int round = 0; round < ROUNDS && one_round(observed, count, frames, limit, firsts_out); round++)
		;
	/* A trace joined to one that was joined later belongs to the latter's cluster; a first precedes all its
	 * members. */
	for (size_t i = 0; i < count; i++)
		firsts_out[i] = firsts_out[firsts_out[i]];
}

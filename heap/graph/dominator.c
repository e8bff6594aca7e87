/* The algorithm of Georgiadis, Tarjan and Werneck known as semi-NCA: vertices are numbered in the order of a
 * depth-first search; from the last to the first each gets its semidominator, with path compression; from the first
 * to the last the dominator is found on the way up the tree. In practice it is linear, and it needs no recursion.
 *
 * The data of a vertex are in arrays by number, 24 bytes in all:
 *
 *	vertex   the node, or after the nodes, the holder
 *	number   (by node) its number; 0 while it has none
 *	way      above: its parent in the search; shortened by path compression; reversed while a path is walked
 *	         least: the least semi on the path that compression cut short
 *	up       the parent again; its dominator in the end
 *	semi     the number of its semidominator; while searching, the next link to follow; then the result of its roots
 *
 * A node with roots of several holders is dominated only by all roots together, regardless of other links to it. */
#include "heap/graph/dominator.h"

enum { AHEAD = 24, NEAR = 16, NEXT = 8, FEW = 4 };

#define NONE UINT32_MAX

struct way {
	uint32_t above, least;
};

struct search {
	struct xc_dominators *d;
	uint32_t nodes; /* of the graph */
	uint32_t count; /* numbered so far, number 0 included */
	struct xc_reserve memory[5];
	uint32_t *vertex, *number, *up, *semi;
	struct way *way;
};

/* ---- numbers ---- */

static uint32_t number_vertex(struct search *s, uint32_t vertex, uint32_t parent)
{
	uint32_t number = s->count++;
	s->vertex[number] = vertex;
	s->way[number].above = s->up[number] = parent;
	return number;
}

static uint32_t enter_node(struct search *s, uint32_t node, uint32_t parent)
{
	const struct xc_adjacency *links = &s->d->links;
	uint32_t number = number_vertex(s, node, parent), end = links->start[node + 1];
	s->number[node] = number;
	s->semi[number] = links->start[node];
	for (uint32_t e = links->start[node]; e < end && e < links->start[node] + AHEAD; e++)
		__builtin_prefetch(&s->number[links->to[e] & ~XC_ADJACENCY_MARK]);
	return number;
}

/* Numbers all nodes reachable from a node, depth first. */
static void number_from(struct search *s, uint32_t node, uint32_t holder)
{
	const struct xc_adjacency *links = &s->d->links;
	uint32_t at = enter_node(s, node, holder);
	while (at != holder) {
		uint32_t e = s->semi[at], end = links->start[s->vertex[at] + 1], target = NONE;
		while (e < end && target == NONE) {
			uint32_t there = links->to[e++] & ~XC_ADJACENCY_MARK;
			target = s->number[there] ? NONE : there;
		}
		s->semi[at] = e;
		at = target == NONE ? s->up[at] : enter_node(s, target, at);
	}
}

/* The semidominator of a node according to its roots: none, their holder, or, if there are several, all roots. */
static void number_all(struct search *s)
{
	const struct xc_dominators *d = s->d;
	s->count = 1;
	for (uint32_t h = 0; h < d->holders; h++) {
		uint32_t holder = number_vertex(s, s->nodes + h, 0);
		for (uint32_t i = d->begin[h]; i < d->begin[h + 1]; i++)
			if (!s->number[d->roots[i]])
				number_from(s, d->roots[i], holder);
		s->way[h].least = holder;
	}
	for (uint32_t number = 0; number < s->count; number++)
		s->semi[number] = NONE;
	for (uint32_t h = 0; h < d->holders; h++)
		for (uint32_t i = d->begin[h]; i < d->begin[h + 1]; i++) {
			uint32_t *semi = &s->semi[s->number[d->roots[i]]];
			*semi = *semi == NONE || *semi == s->way[h].least ? s->way[h].least : 0;
		}
}

/* ---- semidominators ---- */

/* The least semi on the path from a vertex up to, but excluding, the first one that is not linked yet (those below
 * `linked`). The path is reversed on the way up, so that it can be walked down again; then every vertex on it leads
 * directly to its end. */
static uint32_t least_above(struct search *s, uint32_t at, uint32_t linked)
{
	uint32_t below = 0;
	while (s->way[at].above >= linked) {
		uint32_t next = s->way[at].above;
		s->way[at].above = below;
		below = at;
		at = next;
	}
	uint32_t end = s->way[at].above, least = s->way[at].least;
	while (below) {
		uint32_t next = s->way[below].above;
		if (s->way[below].least > least)
			s->way[below].least = least;
		least = s->way[below].least;
		s->way[below].above = end;
		below = next;
	}
	return least;
}

static uint32_t semidominator(struct search *s, uint32_t number)
{
	const struct xc_adjacency *back = &s->d->back;
	uint32_t node = s->vertex[number], semi = s->up[number], holder = s->semi[number];
	if (node >= s->nodes || holder == 0)
		return 0;
	if (holder != NONE && holder > number)
		return 0; /* found by way of an earlier holder */
	semi = holder < semi ? holder : semi;
	for (uint32_t e = back->start[node]; e < back->start[node + 1]; e++) {
		uint32_t from = s->number[back->to[e]];
		if (from == 0)
			continue;
		uint32_t least = from > number ? least_above(s, from, number + 1) : from;
		semi = least < semi ? least : semi;
	}
	return semi;
}

/* The first few links to a vertex that is processed soon. */
struct few {
	const uint32_t *begin, *end;
};

static struct few links_to(const struct search *s, uint32_t number, uint32_t ahead)
{
	const struct xc_adjacency *back = &s->d->back;
	uint32_t node = number > ahead ? s->vertex[number - ahead] : s->nodes;
	if (node >= s->nodes)
		return (struct few){NULL, NULL};
	uint32_t begin = back->start[node], count = back->start[node + 1] - begin;
	return (struct few){back->to + begin, back->to + begin + (count < FEW ? count : FEW)};
}

/* The data of a vertex are prefetched in four steps, each with the result of the previous one: its row, its links,
 * their numbers, their ways. */
static void ask_ahead(const struct search *s, uint32_t number)
{
	const struct xc_adjacency *back = &s->d->back;
	if (number > 2 * AHEAD && s->vertex[number - 2 * AHEAD] < s->nodes)
		__builtin_prefetch(&back->start[s->vertex[number - 2 * AHEAD]]);
	if (number > AHEAD && s->vertex[number - AHEAD] < s->nodes)
		__builtin_prefetch(&back->to[back->start[s->vertex[number - AHEAD]]]);
	struct few near = links_to(s, number, NEAR), next = links_to(s, number, NEXT);
	for (; near.begin < near.end; near.begin++)
		__builtin_prefetch(&s->number[*near.begin]);
	for (; next.begin < next.end; next.begin++)
		__builtin_prefetch(&s->way[s->number[*next.begin]]);
}

static void find_all(struct search *s)
{
	for (uint32_t number = s->count - 1; number > 0; number--) {
		ask_ahead(s, number);
		s->semi[number] = s->way[number].least = semidominator(s, number);
	}
	for (uint32_t number = 1; number < s->count; number++) {
		uint32_t up = s->up[number];
		while (up > s->semi[number])
			up = s->up[up];
		s->up[number] = up;
	}
}

/* ---- all steps ---- */

void xc_dominators_find(struct xc_dominators *d)
{
	struct search s = {.d = d, .nodes = d->links.nodes};
	uint32_t **const arrays[] = {&s.vertex, &s.up, &s.number, &s.semi};
	size_t room = (size_t)s.nodes + d->holders + 1;
	for (size_t i = 0; i < XC_COUNT(arrays); i++) {
		s.memory[i] = xc_reserve_new(room, sizeof(uint32_t));
		*arrays[i] = s.memory[i].items;
	}
	s.memory[XC_COUNT(arrays)] = xc_reserve_new(room, sizeof *s.way);
	s.way = s.memory[XC_COUNT(arrays)].items;
	number_all(&s);
	find_all(&s);
	for (size_t i = XC_COUNT(d->memory); i < XC_COUNT(s.memory); i++)
		xc_reserve_free(&s.memory[i]); /* later results may reuse its room */
	d->count = s.count;
	d->vertex = s.vertex;
	d->above = s.up;
	for (size_t i = 0; i < XC_COUNT(d->memory); i++)
		d->memory[i] = s.memory[i];
}

void xc_dominators_fini(struct xc_dominators *d)
{
	for (size_t i = 0; i < XC_COUNT(d->memory); i++)
		xc_reserve_free(&d->memory[i]);
}

/* ---- sums over the tree ---- */

/* The sums of a node are complete: adds them to its dominator. */
static void hand_up(const struct xc_dominators *d, const struct xc_dominator_sums *s, uint32_t node, uint32_t number)
{
	uint32_t nodes = d->links.nodes, above = d->vertex[number];
	if (number && above < nodes) {
		s->above[node] = above;
		s->bytes[above] += s->bytes[node];
		s->count[above] += s->count[node];
		return;
	}
	struct xc_dominator_sum *holder = &s->holders[number ? above - nodes : d->holders];
	if (number)
		s->above[node] = (above - nodes) | s->mark;
	holder->bytes += s->bytes[node];
	holder->count += s->count[node];
}

void xc_dominators_add_up(const struct xc_dominators *d, const struct xc_dominator_sums *s)
{
	uint32_t nodes = d->links.nodes;
	for (uint32_t number = d->count; number-- > 1;) {
		uint32_t node = d->vertex[number];
		if (number > AHEAD && d->vertex[number - AHEAD] < nodes) {
			__builtin_prefetch(&s->bytes[d->vertex[number - AHEAD]]);
			__builtin_prefetch(&s->count[d->vertex[number - AHEAD]]);
		}
		if (node < nodes)
			hand_up(d, s, node, d->above[number]);
	}
}

/* ---- the tree downwards ---- */

void xc_dominator_tree_init(struct xc_dominator_tree *t, const uint32_t *above, uint32_t nodes)
{
	*t = (struct xc_dominator_tree){.nodes = nodes, .above = above};
	t->memory[0] = xc_reserve_new((size_t)nodes + 1, sizeof *t->first_child);
	t->memory[1] = xc_reserve_new((size_t)nodes + 1, sizeof *t->next);
	t->first_child = t->memory[0].items;
	t->next = t->memory[1].items;
	for (uint32_t node = nodes; node-- > 0;) {
		if (above[node] >= nodes)
			continue;
		t->next[node] = t->first_child[above[node]];
		t->first_child[above[node]] = node + 1;
	}
}

void xc_dominator_tree_fini(struct xc_dominator_tree *t)
{
	for (size_t i = 0; i < XC_COUNT(t->memory); i++)
		xc_reserve_free(&t->memory[i]);
}

/* Down to the first child, else to the next sibling, else up. */
void xc_dominator_tree_walk(const struct xc_dominator_tree *t, uint32_t top, xc_dominator_tree_fn *arrive,
			    xc_dominator_tree_fn *leave, void *user)
{
	uint32_t at = top;
	arrive(user, at);
	for (;;) {
		if (t->first_child[at]) {
			at = t->first_child[at] - 1;
			arrive(user, at);
			continue;
		}
		leave(user, at);
		while (at != top && !t->next[at]) {
			at = t->above[at];
			leave(user, at);
		}
		if (at == top)
			return;
		at = t->next[at] - 1;
		arrive(user, at);
	}
}

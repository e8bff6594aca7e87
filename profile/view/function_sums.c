/* function_sums: what nodes have is added up from the inner end of the stacks; then a walk over the tree adds each node
 * to its function, unless an outer node of the walk's path is of the same function. */
#include "profile/view/function_sums.h"

#include <stdlib.h>

struct weight {
	uint64_t samples;
	double squares;
};

static void add_weight(struct weight *to, const struct weight *more)
{
	to->samples += more->samples;
	to->squares += more->squares;
}

struct line_sum {
	uint32_t function, file, line;
	uint64_t samples;
};

/* The hottest line of each function. */
static void find_lines(struct xc_function_sum *functions, const struct xc_profile_data *d, const struct weight *own)
{
	struct line_sum *lines = NULL;
	size_t count = 0, room = 0;
	struct xc_hashtable by_line = {0};
	for (size_t i = 1; i < d->node_count; i++) {
		const struct xc_profile_frame *frame = &d->frames[d->nodes[i].frame];
		if (!own[i].samples || !frame->line)
			continue;
		union xc_hashtable_value *found = xc_hashtable_at(
			&by_line, NULL, (uint64_t)frame->file << 32 | frame->line, frame->function + UINT64_C(1));
		if (!found->number) {
			lines = xc_grow(lines, count, &room, sizeof *lines);
			lines[count++] = (struct line_sum){frame->function, frame->file, frame->line, 0};
			found->number = count;
		}
		lines[found->number - 1].samples += own[i].samples;
	}
	xc_auto(xc_freep) uint64_t *most = xc_alloc((d->function_count + 1) * sizeof *most);
	for (size_t i = 0; i < count; i++) {
		const struct line_sum *line = &lines[i];
		if (line->samples <= most[line->function])
			continue;
		most[line->function] = line->samples;
		functions[line->function].file = line->file;
		functions[line->function].line = line->line;
	}
	xc_hashtable_fini(&by_line);
	free(lines);
}

/* The walk: callees of each node, as lists. */
struct walk {
	uint32_t *first, *next; /* 0: none */
	uint32_t *open;         /* of each function, how many nodes of the path are of it */
};

static void open_node(const struct walk *w, struct xc_function_sum *functions, const struct xc_profile_data *d,
		      const struct weight *all, uint32_t node)
{
	const uint32_t function = d->frames[d->nodes[node].frame].function;
	if (w->open[function]++)
		return;
	functions[function].total += all[node].samples;
	functions[function].total_squares += all[node].squares;
}

static void close_node(const struct walk *w, const struct xc_profile_data *d, uint32_t node)
{
	w->open[d->frames[d->nodes[node].frame].function]--;
}

static void walk_nodes(const struct walk *w, struct xc_function_sum *functions, const struct xc_profile_data *d,
		       const struct weight *all)
{
	uint32_t node = 0;
	for (;;) {
		if (w->first[node]) {
			node = w->first[node];
			open_node(w, functions, d, all, node);
			continue;
		}
		for (; node && !w->next[node]; node = d->nodes[node].parent)
			close_node(w, d, node);
		if (!node)
			return;
		close_node(w, d, node);
		node = w->next[node];
		open_node(w, functions, d, all, node);
	}
}

static void find_totals(struct xc_function_sum *functions, const struct xc_profile_data *d, struct weight *weights)
{
	xc_auto(xc_freep) uint32_t *first = xc_alloc(d->node_count * sizeof *first);
	xc_auto(xc_freep) uint32_t *next = xc_alloc(d->node_count * sizeof *next);
	xc_auto(xc_freep) uint32_t *open = xc_alloc((d->function_count + 1) * sizeof *open);
	for (size_t i = d->node_count; i-- > 1;) { /* callers precede callees */
		const uint32_t parent = d->nodes[i].parent;
		add_weight(&weights[parent], &weights[i]);
		next[i] = first[parent];
		first[parent] = (uint32_t)i;
	}
	walk_nodes(&(struct walk){first, next, open}, functions, d, weights);
}

struct xc_function_sum *xc_function_sums(const struct xc_profile_data *d, size_t from, size_t to)
{
	struct xc_function_sum *functions = xc_alloc((d->function_count + 1) * sizeof *functions);
	xc_auto(xc_freep) struct weight *weights = xc_alloc(d->node_count * sizeof *weights);
	for (size_t i = 0; i < d->function_count; i++)
		functions[i].function = (uint32_t)i;
	for (size_t i = from; i < to; i++) {
		const struct weight more = {d->sums[i].samples, (double)d->sums[i].squares};
		add_weight(&weights[d->sums[i].stack], &more);
	}
	for (size_t i = 1; i < d->node_count; i++) {
		struct xc_function_sum *f = &functions[d->frames[d->nodes[i].frame].function];
		f->self += weights[i].samples;
		f->self_squares += weights[i].squares;
	}
	find_lines(functions, d, weights);
	find_totals(functions, d, weights);
	return functions;
}

static int by_heat(const void *a, const void *b)
{
	const struct xc_function_sum *x = a, *y = b;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

void xc_function_sums_sort(struct xc_function_sum *sums, size_t count)
{
	qsort(sums, count, sizeof *sums, by_heat);
}

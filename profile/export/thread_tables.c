#include "profile/export/thread_tables.h"

#include <stdlib.h>

static void init_rows(struct xc_thread_rows *r, size_t most)
{
	r->number = xc_alloc((most + 1) * sizeof *r->number);
	r->round = xc_alloc((most + 1) * sizeof *r->round);
	r->items = xc_alloc((most + 1) * sizeof *r->items);
}

static void fini_rows(struct xc_thread_rows *r)
{
	free(r->number);
	free(r->round);
	free(r->items);
}

void xc_thread_tables_init(struct xc_thread_tables *t, const struct xc_profile_data *d)
{
	*t = (struct xc_thread_tables){.data = d};
	init_rows(&t->frames, d->frame_count + d->wait_count);
	init_rows(&t->functions, d->function_count + d->wait_count);
	init_rows(&t->modules, d->texts.count);
}

void xc_thread_tables_fini(struct xc_thread_tables *t)
{
	fini_rows(&t->frames);
	fini_rows(&t->functions);
	fini_rows(&t->modules);
	xc_hashtable_fini(&t->by_node);
	free(t->stacks);
}

void xc_thread_tables_next(struct xc_thread_tables *t)
{
	t->round++;
	t->frames.count = t->functions.count = t->modules.count = t->stack_count = 0;
	xc_hashtable_fini(&t->by_node);
}

static uint32_t row_of(const struct xc_thread_tables *t, struct xc_thread_rows *r, uint32_t item)
{
	if (r->round[item] != t->round) {
		r->round[item] = t->round;
		r->number[item] = (uint32_t)r->count;
		r->items[r->count++] = item;
	}
	return r->number[item];
}

/* A number of a function in the data, or of a wait behind those. */
static uint32_t function_of(const struct xc_profile_data *d, uint32_t frame)
{
	return frame < d->frame_count ? d->frames[frame].function
				      : (uint32_t)(d->function_count + (frame - d->frame_count));
}

static uint32_t module_of(const struct xc_profile_data *d, uint32_t function)
{
	return function < d->function_count ? d->functions[function].module : 0;
}

static uint32_t add_stack(struct xc_thread_tables *t, uint32_t caller, uint32_t frame)
{
	const uint32_t function = function_of(t->data, frame), module = module_of(t->data, function);
	t->stacks = xc_grow(t->stacks, t->stack_count, &t->stack_room, sizeof *t->stacks);
	t->stacks[t->stack_count] = (struct xc_thread_stack){caller, row_of(t, &t->frames, frame)};
	(void)row_of(t, &t->functions, function);
	if (module)
		(void)row_of(t, &t->modules, module);
	return (uint32_t)++t->stack_count;
}

static union xc_hashtable_value *known(struct xc_thread_tables *t, uint32_t node, uint32_t wait)
{
	return xc_hashtable_at(&t->by_node, NULL, node, wait + UINT64_C(1));
}

/* Callers get their numbers first. */
static uint32_t stack_of_node(struct xc_thread_tables *t, uint32_t node)
{
	uint32_t *path = NULL;
	size_t count = 0, room = 0;
	for (; node && !known(t, node, 0)->number; node = t->data->nodes[node].parent) {
		path = xc_grow(path, count, &room, sizeof *path);
		path[count++] = node;
	}
	uint32_t at = node ? (uint32_t)known(t, node, 0)->number : 0;
	while (count--) {
		at = add_stack(t, at, t->data->nodes[path[count]].frame);
		known(t, path[count], 0)->number = at;
	}
	free(path);
	return at;
}

/* Below `at`: the frame of a wait, or with wait 0 of no stack. */
static uint32_t stack_below(struct xc_thread_tables *t, uint32_t at, uint32_t node, uint32_t wait)
{
	union xc_hashtable_value *found = known(t, node, wait);
	if (!found->number)
		found->number = add_stack(t, at, (uint32_t)(t->data->frame_count + wait));
	return (uint32_t)found->number;
}

uint32_t xc_thread_tables_stack(struct xc_thread_tables *t, const struct xc_profile_sum *sum)
{
	const uint32_t at = sum->stack ? stack_of_node(t, sum->stack) : stack_below(t, 0, 0, 0);
	return (sum->wait ? stack_below(t, at, sum->stack, sum->wait) : at) - 1;
}

const struct xc_profile_frame *xc_thread_tables_frame(const struct xc_thread_tables *t, size_t row)
{
	const uint32_t item = t->frames.items[row];
	return item < t->data->frame_count ? &t->data->frames[item] : NULL;
}

uint32_t xc_thread_tables_function_of(struct xc_thread_tables *t, size_t frame)
{
	return row_of(t, &t->functions, function_of(t->data, t->frames.items[frame]));
}

int64_t xc_thread_tables_module_of(struct xc_thread_tables *t, size_t function)
{
	const uint32_t module = module_of(t->data, t->functions.items[function]);
	return module ? (int64_t)row_of(t, &t->modules, module) : -1;
}

const struct xc_profile_function *xc_thread_tables_function(const struct xc_thread_tables *t, size_t row,
							    uint32_t *wait_out)
{
	const struct xc_profile_data *d = t->data;
	const uint32_t item = t->functions.items[row];
	const bool is_one = item < d->function_count;
	*wait_out = is_one ? 0 : item - (uint32_t)d->function_count;
	return is_one ? &d->functions[item] : NULL;
}

#include "profile/data/profile_pair.h"

#include <inttypes.h>
#include <stdlib.h>

static uint32_t add_function(struct xc_profile_data *to, const struct xc_profile_data *from, uint32_t number)
{
	const struct xc_profile_function *f = &from->functions[number];
	return xc_profile_data_add_function(to, xc_profile_data_text(from, f->name),
					    xc_profile_data_text(from, f->module),
					    xc_profile_data_text(from, f->language));
}

static uint32_t add_frame(struct xc_profile_data *to, const struct xc_profile_data *from, uint32_t number)
{
	const struct xc_profile_frame *f = &from->frames[number];
	return xc_profile_data_add_frame(to, add_function(to, from, f->function), xc_profile_data_text(from, f->file),
					 f->line, f->kind);
}

/* The number in `to` of each node of `from`. Malloc'ed. */
static uint32_t *add_nodes(struct xc_profile_data *to, const struct xc_profile_data *from)
{
	xc_auto(xc_freep) uint32_t *frames = xc_alloc((from->frame_count + 1) * sizeof *frames);
	uint32_t *nodes = xc_alloc(from->node_count * sizeof *nodes);
	for (size_t i = 0; i < from->frame_count; i++)
		frames[i] = add_frame(to, from, (uint32_t)i);
	for (size_t i = 1; i < from->node_count; i++) /* callers precede callees */
		nodes[i] = xc_profile_data_add_node(to, nodes[from->nodes[i].parent], frames[from->nodes[i].frame]);
	return nodes;
}

/* Threads of two profiles are two, even where they are one. */
static void add_threads(struct xc_profile_data *to, const struct xc_profile_data *from)
{
	for (size_t i = 0; i < from->thread_count; i++) {
		to->threads = xc_grow(to->threads, to->thread_count, &to->thread_room, sizeof *to->threads);
		to->threads[to->thread_count] = from->threads[i];
		to->threads[to->thread_count++].name =
			xc_profile_data_add_text(to, xc_profile_data_text(from, from->threads[i].name));
	}
}

static void add_profile(struct xc_profile_data *to, const struct xc_profile_data *from)
{
	const uint32_t threads = (uint32_t)to->thread_count;
	xc_auto(xc_freep) uint32_t *nodes = add_nodes(to, from);
	add_threads(to, from);
	for (size_t i = 0; i < from->sum_count; i++) {
		struct xc_profile_sum sum = from->sums[i];
		const struct xc_profile_wait *wait = &from->waits[sum.wait];
		sum.stack = nodes[sum.stack];
		sum.thread += threads;
		sum.value = 0;
		sum.wait = sum.wait ? xc_profile_data_add_wait(to, xc_profile_data_text(from, wait->text),
							       wait->event_loop)
				    : 0;
		to->sums = xc_grow(to->sums, to->sum_count, &to->sum_room, sizeof *to->sums);
		to->sums[to->sum_count++] = sum;
	}
}

void xc_profile_pair_init(struct xc_profile_pair *pair, const struct xc_profile_data *earlier,
			  const struct xc_profile_data *later)
{
	struct xc_profile_data *d = xc_profile_data_new();
	add_profile(d, earlier);
	*pair = (struct xc_profile_pair){d, d->sum_count, (uint32_t)d->thread_count};
	add_profile(d, later);
	*d->head = *later->head;
	const char *one = xc_profile_data_text(earlier, earlier->head->title),
		   *other = xc_profile_data_text(later, later->head->title);
	xc_auto(xc_freep) char *title = xc_asprintf("%s → %s", one ? one : "?", other ? other : "?");
	xc_auto(xc_freep) char *account = xc_asprintf("%" PRIu64 " → %" PRIu64 " samples",
						      xc_profile_data_samples(earlier), xc_profile_data_samples(later));
	d->head->title = xc_profile_data_add_text(d, title);
	d->head->account = xc_profile_data_add_text(d, account);
	d->head->target = d->head->by = 0;
	d->head->events = xc_profile_data_add_text(d, xc_profile_data_text(later, later->head->events));
	d->head->runs |= earlier->head->runs;
	d->head->waits |= earlier->head->waits;
	d->head->slices = 0;
}

void xc_profile_pair_fini(struct xc_profile_pair *pair)
{
	xc_profile_data_free(pair->data);
	*pair = (struct xc_profile_pair){0};
}

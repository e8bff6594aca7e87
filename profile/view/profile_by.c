#include "profile/view/profile_by.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More nodes than that are not made: of what is left only the values are shown. */
enum { MOST_NODES = 1 << 22 };

/* ---- values ---- */

static uint32_t label_of(struct xc_profile_data *d, const struct xc_profile_thread *thread)
{
	const char *name = xc_profile_data_text(d, thread->name);
	xc_auto(xc_freep) char *label = thread->tid ? xc_asprintf("%s %" PRIu64, name ? name : "thread", thread->tid)
						    : xc_strdup(name ? name : "?");
	return xc_profile_data_add_text(d, label);
}

/* The thread that stands for the process of a thread: that with its number, or the first one. */
static const struct xc_profile_thread *main_of(const struct xc_profile_data *d, struct xc_hashtable *by_pid, size_t i)
{
	union xc_hashtable_value *found = xc_hashtable_at(by_pid, NULL, d->threads[i].pid, 1);
	for (size_t k = 0; !found->number && k < d->thread_count; k++)
		if (d->threads[k].pid == d->threads[i].pid && d->threads[k].tid == d->threads[k].pid)
			found->number = k + 1;
	if (!found->number)
		found->number = i + 1;
	return &d->threads[found->number - 1];
}

static uint32_t process_label(struct xc_profile_data *d, const struct xc_profile_thread *thread)
{
	const char *name = xc_profile_data_text(d, thread->name);
	xc_auto(xc_freep) char *label = xc_asprintf("%s %" PRIu64, name ? name : "process", thread->pid);
	return xc_profile_data_add_text(d, label);
}

static void by_thread(struct xc_profile_data *d, bool process)
{
	struct xc_hashtable by_pid = {0};
	xc_auto(xc_freep) uint32_t *labels = xc_alloc((d->thread_count + 1) * sizeof *labels);
	for (size_t i = 0; i < d->thread_count; i++)
		labels[i] = process ? process_label(d, main_of(d, &by_pid, i)) : label_of(d, &d->threads[i]);
	xc_hashtable_fini(&by_pid);
	for (size_t i = 0; i < d->sum_count; i++)
		d->sums[i].value = labels[d->sums[i].thread];
	d->head->by = xc_profile_data_add_text(d, process ? "process" : "thread");
}

struct xc_error *xc_profile_by(struct xc_profile_data *d, const char *by)
{
	const char *has = xc_profile_data_text(d, d->head->by);
	if (has && strcmp(has, by) == 0)
		return NULL;
	const bool process = strcmp(by, "process") == 0;
	if (!process && strcmp(by, "thread") != 0)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "--by %s: this profile has no values of it", by),
				     "it has those of %s%sthread and process", has ? has : "", has ? ", " : "");
	by_thread(d, process);
	return NULL;
}

/* ---- stacks ---- */

struct rooting {
	struct xc_profile_data *data;
	const struct xc_profile_node *nodes; /* as they were */
	struct xc_hashtable made;            /* (value, node as it was) → node; of node 0: that of the value */
	uint32_t *path;                      /* nodes of a stack that are to be made, innermost first */
	size_t path_count, path_room;
};

/* Not found by what it holds: each is added once. */
static uint32_t add_node(struct xc_profile_data *d, uint32_t parent, uint32_t frame)
{
	d->nodes = xc_grow(d->nodes, d->node_count, &d->node_room, sizeof *d->nodes);
	d->nodes[d->node_count] = (struct xc_profile_node){parent, frame};
	return (uint32_t)d->node_count++;
}

static uint32_t frame_of(struct xc_profile_data *d, uint32_t value)
{
	const char *text = value ? xc_profile_data_text(d, value) : "(none)";
	return xc_profile_data_add_frame(d, xc_profile_data_add_function(d, text, NULL, NULL), NULL, 0,
					 XC_PROFILE_REMARK);
}

static uint64_t known(const struct rooting *r, uint32_t value, uint32_t node)
{
	const union xc_hashtable_value *found = xc_hashtable_find(&r->made, value, node + UINT64_C(1));
	return found ? found->number : 0;
}

static uint32_t make(struct rooting *r, uint32_t value, uint32_t node, uint32_t parent)
{
	const uint32_t frame = node ? r->nodes[node].frame : frame_of(r->data, value);
	const uint32_t made = add_node(r->data, parent, frame);
	xc_hashtable_at(&r->made, NULL, value, node + UINT64_C(1))->number = made;
	return made;
}

/* The node below that of the value. */
static uint32_t rooted(struct rooting *r, uint32_t value, uint32_t node)
{
	uint64_t at = known(r, value, 0);
	if (!at)
		at = make(r, value, 0, 0);
	if (r->data->node_count > MOST_NODES)
		return (uint32_t)at;
	r->path_count = 0;
	for (; node && !known(r, value, node); node = r->nodes[node].parent) {
		r->path = xc_grow(r->path, r->path_count, &r->path_room, sizeof *r->path);
		r->path[r->path_count++] = node;
	}
	at = node ? known(r, value, node) : at;
	while (r->path_count)
		at = make(r, value, r->path[--r->path_count], (uint32_t)at);
	return (uint32_t)at;
}

void xc_profile_root(struct xc_profile_data *d)
{
	struct rooting r = {.data = d, .nodes = d->nodes};
	d->nodes = NULL;
	d->node_count = d->node_room = 0;
	(void)add_node(d, 0, 0);
	for (size_t i = 0; i < d->sum_count; i++)
		d->sums[i].stack = rooted(&r, d->sums[i].value, d->sums[i].stack);
	xc_hashtable_fini(&r.made);
	free(r.path);
	free((void *)(uintptr_t)r.nodes);
}

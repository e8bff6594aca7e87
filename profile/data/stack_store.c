#include "profile/data/stack_store.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

void xc_stack_store_init(struct xc_stack_store *s)
{
	*s = (struct xc_stack_store){.most = XC_STACK_STORE_MOST};
	s->nodes = xc_grow(s->nodes, 0, &s->node_capacity, sizeof *s->nodes);
	s->nodes[s->node_count++] = (struct xc_stack_node){0};
}

void xc_stack_store_fini(struct xc_stack_store *s)
{
	xc_hashtable_fini(&s->by_frame);
	free(s->by_path);
	free(s->places);
	free(s->nodes);
	*s = (struct xc_stack_store){0};
}

static uint32_t place_of(struct xc_stack_store *s, const struct xc_sample_frame *frame)
{
	union xc_hashtable_value *found = xc_hashtable_at(&s->by_frame, NULL, frame->at, (uint64_t)frame->kind + 1);
	if (!found->number) {
		s->places = xc_grow(s->places, s->place_count, &s->place_capacity, sizeof *s->places);
		s->places[s->place_count++] = *frame;
		found->number = s->place_count;
	}
	return (uint32_t)found->number - 1;
}

/* The slot of a child, or the free one for it. */
static uint32_t *slot_of(const struct xc_stack_store *s, uint32_t parent, uint32_t place)
{
	size_t at = (size_t)(xc_hash_mix(parent, place) >> 32) & (s->path_slots - 1);
	for (; s->by_path[at]; at = (at + 1) & (s->path_slots - 1)) {
		const struct xc_stack_node *node = &s->nodes[s->by_path[at]];
		if (node->parent == parent && node->place == place)
			break;
	}
	return &s->by_path[at];
}

static void make_room(struct xc_stack_store *s)
{
	if (2 * s->node_count < s->path_slots)
		return;
	s->path_slots = s->path_slots ? 2 * s->path_slots : FIRST_SLOTS;
	free(s->by_path);
	s->by_path = xc_alloc(s->path_slots * sizeof *s->by_path);
	for (uint32_t i = 1; i < s->node_count; i++)
		*slot_of(s, s->nodes[i].parent, s->nodes[i].place) = i;
}

/* 0: the store is full. */
static uint32_t child_of(struct xc_stack_store *s, uint32_t parent, const struct xc_sample_frame *frame)
{
	const bool full = s->node_count >= s->most;
	if (full && !xc_hashtable_find(&s->by_frame, frame->at, (uint64_t)frame->kind + 1))
		return 0;
	const uint32_t place = place_of(s, frame);
	make_room(s);
	uint32_t *slot = slot_of(s, parent, place);
	if (*slot || full)
		return *slot;
	s->nodes = xc_grow(s->nodes, s->node_count, &s->node_capacity, sizeof *s->nodes);
	s->nodes[s->node_count] = (struct xc_stack_node){parent, place};
	*slot = (uint32_t)s->node_count;
	return (uint32_t)s->node_count++;
}

uint32_t xc_stack_store_add(struct xc_stack_store *s, const struct xc_sample_stack *stack, bool *whole_out)
{
	uint32_t node = 0;
	*whole_out = true;
	for (size_t i = stack->count; i-- > 0;) {
		const uint32_t child = child_of(s, node, &stack->frames[i]);
		if (!child) {
			*whole_out = false;
			break;
		}
		node = child;
	}
	return node;
}

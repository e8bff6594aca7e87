#include "profile/data/stack_store.h"

#include <stdlib.h>

void xc_stack_store_init(struct xc_stack_store *s)
{
	*s = (struct xc_stack_store){.most = XC_STACK_STORE_MOST};
	s->nodes = xc_grow(s->nodes, 0, &s->node_capacity, sizeof *s->nodes);
	s->nodes[s->node_count++] = (struct xc_stack_node){0};
}

void xc_stack_store_fini(struct xc_stack_store *s)
{
	xc_hashtable_fini(&s->by_frame);
	xc_hashtable_fini(&s->by_path);
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

/* 0: the store is full. */
static uint32_t child_of(struct xc_stack_store *s, uint32_t parent, const struct xc_sample_frame *frame)
{
	const bool full = s->node_count >= s->most;
	if (full && !xc_hashtable_find(&s->by_frame, frame->at, (uint64_t)frame->kind + 1))
		return 0;
	const uint64_t path = (uint64_t)parent << 32 | place_of(s, frame);
	const union xc_hashtable_value *known = xc_hashtable_find(&s->by_path, path, 1);
	if (known || full)
		return known ? (uint32_t)known->number : 0;
	s->nodes = xc_grow(s->nodes, s->node_count, &s->node_capacity, sizeof *s->nodes);
	s->nodes[s->node_count] = (struct xc_stack_node){parent, (uint32_t)path};
	xc_hashtable_at(&s->by_path, NULL, path, 1)->number = s->node_count;
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

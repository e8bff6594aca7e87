/* index_items: a hash table by key over a growing array. */
#include "dwarf/index/index_items.h"

#include <stdlib.h>

static void grow_slots(struct xc_index_items *s)
{
	size_t count = s->slot_count ? 2 * s->slot_count : 1 << 12;
	free(s->slots);
	s->slots = xc_alloc(count * sizeof *s->slots);
	s->slot_count = count;
	for (size_t i = 0; i < s->count; i++) {
		size_t at = s->items[i].key & (count - 1);
		while (s->slots[at])
			at = (at + 1) & (count - 1);
		s->slots[at] = (uint32_t)i + 1;
	}
}

static uint32_t *slot_of(const struct xc_index_items *s, uint64_t key)
{
	size_t at = key & (s->slot_count - 1);
	while (s->slots[at] && s->items[s->slots[at] - 1].key != key)
		at = (at + 1) & (s->slot_count - 1);
	return &s->slots[at];
}

uint32_t xc_index_items_find(const struct xc_index_items *s, uint64_t key)
{
	return s->slot_count ? *slot_of(s, key) : 0;
}

/* A location ranks above a value: clang states the initial value of a class's variable as its value. */
static int worth(const struct xc_index_item *item)
{
	return !(item->flags & XC_INDEX_PLACED) ? 0 : item->flags & XC_INDEX_VALUE ? 1 : 2;
}

static bool is_first(const struct xc_index_item *a, const struct xc_index_item *b)
{
	if (worth(a) != worth(b))
		return worth(a) > worth(b);
	return a->unit != b->unit ? a->unit < b->unit : a->die < b->die;
}

uint32_t xc_index_items_add(struct xc_index_items *s, const struct xc_index_item *item)
{
	if (2 * (s->count + 1) > s->slot_count)
		grow_slots(s);
	uint32_t *slot = slot_of(s, item->key);
	if (*slot) {
		struct xc_index_item *have = &s->items[*slot - 1];
		/* One unit alone may mark a namespace as inline, and units come in any order. */
		const uint8_t transparent = (have->flags | item->flags) & XC_INDEX_TRANSPARENT;
		if (is_first(item, have))
			*have = *item;
		have->flags |= transparent;
		return *slot - 1;
	}
	s->items = xc_grow(s->items, s->count, &s->capacity, sizeof *s->items);
	s->items[s->count++] = *item;
	*slot = (uint32_t)s->count;
	return *slot - 1;
}

void xc_index_items_fini(struct xc_index_items *all)
{
	free(all->items);
	free(all->slots);
	*all = (struct xc_index_items){0};
}

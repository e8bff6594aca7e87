#include "heap/graph/folding.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 12 };

void xc_folding_init(struct xc_folding *f, struct xc_stacktree *tree, unsigned deepest)
{
	*f = (struct xc_folding){.tree = tree, .deepest = deepest};
}

void xc_folding_fini(struct xc_folding *f)
{
	free(f->slots);
}

static size_t place_of(const struct xc_folding *f, const struct xc_stacktree_node *parent, uint32_t label)
{
	uint64_t key = ((uint64_t)(uintptr_t)parent >> 4 ^ (uint64_t)label << 32) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(key >> 20) & (f->slot_count - 1);
	while (f->slots[at].parent && (f->slots[at].parent != parent || f->slots[at].label != label))
		at = (at + 1) & (f->slot_count - 1);
	return at;
}

static void widen(struct xc_folding *f)
{
	struct xc_folding_slot *old = f->slots;
	size_t count = f->slot_count;
	f->slot_count = count ? 2 * count : FIRST_SLOTS;
	f->slots = xc_alloc(f->slot_count * sizeof *f->slots);
	for (size_t i = 0; i < count; i++)
		if (old[i].parent)
			f->slots[place_of(f, old[i].parent, old[i].label)] = old[i];
	free(old);
}

static struct xc_stacktree_node *descend(struct xc_folding *f, struct xc_stacktree_node *parent, const char *name)
{
	unsigned depth = 0;
	for (struct xc_stacktree_node *up = parent; up; up = up->parent, depth++)
		if (up->name && strcmp(up->name, name) == 0)
			return up;
	return depth <= f->deepest ? xc_stacktree_grow(f->tree, parent, name, 0) : parent;
}

struct xc_stacktree_node *xc_folding_frame(struct xc_folding *f, struct xc_stacktree_node *parent, uint32_t label,
					   const char *(*name)(void *user, uint32_t thing), void *user, uint32_t thing)
{
	if (2 * f->used >= f->slot_count)
		widen(f);
	struct xc_folding_slot *slot = &f->slots[place_of(f, parent, label)];
	if (!slot->parent) {
		*slot = (struct xc_folding_slot){.parent = parent, .label = label};
		slot->node = descend(f, parent, name(user, thing));
		f->used++;
	}
	return slot->node;
}

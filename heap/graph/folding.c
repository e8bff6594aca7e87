#include "heap/graph/folding.h"

#include <string.h>

void xc_folding_init(struct xc_folding *f, struct xc_stacktree *tree, unsigned deepest)
{
	*f = (struct xc_folding){.tree = tree, .deepest = deepest};
}

void xc_folding_fini(struct xc_folding *f)
{
	xc_hashtable_fini(&f->frames);
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
	union xc_hashtable_value *frame = xc_hashtable_at(&f->frames, NULL, (uintptr_t)parent, label);
	if (!frame->pointer)
		frame->pointer = descend(f, parent, name(user, thing));
	return frame->pointer;
}

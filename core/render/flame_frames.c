#include "core/render/flame_frames.h"

#include <stdlib.h>

#include "core/base/say.h"
#include "core/base/text.h"

static const char *clean_title(struct xc_flame_frames *f, const struct xc_stacktree *tree)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_say_clean(&text, tree->title ? tree->title : "flame graph", XC_SAY_PROSE);
	return xc_arena_strdup(&f->names.arena, xc_text_string(&text));
}

static uint32_t clean_number(struct xc_flame_frames *f, const char *name)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_say_clean(&text, name, XC_SAY_NAME);
	return xc_intern(&f->names, xc_text_string(&text));
}

void xc_flame_frames_init(struct xc_flame_frames *f, const struct xc_stacktree *tree)
{
	size_t depth = 0;
	*f = (struct xc_flame_frames){0};
	f->title = clean_title(f, tree);
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));)
		(void)clean_number(f, node->name);
}

void xc_flame_frames_fini(struct xc_flame_frames *f)
{
	xc_intern_fini(&f->names);
}

void xc_flame_frames_each(struct xc_flame_frames *f, const struct xc_stacktree *tree, xc_flame_take *take, void *ctx)
{
	size_t depth = 0, capacity = 0;
	uint32_t *path = NULL;
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		while (capacity < depth)
			path = xc_grow(path, capacity, &capacity, sizeof *path);
		path[depth - 1] = clean_number(f, node->name);
		if (node->self)
			take(ctx, path, depth, node->self);
	}
	free(path);
}

/* path: a node is found by searching the children of its parent; there are few. */
#include "lua/vm/path.h"

#include <stdlib.h>
#include <string.h>

static void free_all(struct xc_path *path)
{
	while (path) {
		struct xc_path *next = path->next;
		free_all(path->children); /* at most XC_PATH_DEPTH deep */
		free(path);
		path = next;
	}
}

void xc_paths_fini(struct xc_paths *paths)
{
	free_all(paths->roots);
	*paths = (struct xc_paths){0};
}

static bool same_name(const struct xc_path *path, const char *prefix, const char *name)
{
	size_t len = strlen(prefix);
	return strncmp(path->name, prefix, len) == 0 && strncmp(path->name + len, name, XC_PATH_NAME - len) == 0;
}

static struct xc_path *node_new(const struct xc_path *parent, const char *prefix, const char *name)
{
	size_t len = strlen(prefix), rest = strnlen(name, XC_PATH_NAME - len);
	struct xc_path *node = xc_alloc(sizeof *node + len + rest + 1);
	char *text = (char *)(node + 1);
	memcpy(text, prefix, len);
	memcpy(text + len, name, rest);
	node->name = text;
	node->parent = parent;
	node->depth = parent ? parent->depth + 1 : 0;
	node->repeats = parent && parent->parent && same_name(parent, prefix, name);
	return node;
}

static const struct xc_path *step(struct xc_paths *paths, const struct xc_path *parent, const char *prefix,
				  const char *name)
{
	if (parent && parent->repeats && same_name(parent, prefix, name))
		return parent;
	struct xc_path **first = parent ? &((struct xc_path *)parent)->children : &paths->roots;
	for (struct xc_path *child = *first; child; child = child->next)
		if (same_name(child, prefix, name))
			return child;
	if (paths->count >= XC_PATH_NODES || (parent && parent->depth + 1 >= XC_PATH_DEPTH))
		return NULL;
	struct xc_path *node = node_new(parent, prefix, name);
	node->next = *first;
	*first = node;
	paths->count++;
	return node;
}

const struct xc_path *xc_path_root(struct xc_paths *paths, const char *name)
{
	return step(paths, NULL, "", name);
}

const struct xc_path *xc_path_member(struct xc_paths *paths, const struct xc_path *parent, const char *member)
{
	return parent ? step(paths, parent, ".", member) : NULL;
}

const struct xc_path *xc_path_element(struct xc_paths *paths, const struct xc_path *parent)
{
	return parent ? step(paths, parent, "", "[…]") : NULL;
}

void xc_path_write(struct xc_text *text, const struct xc_path *path)
{
	const struct xc_path *nodes[XC_PATH_DEPTH];
	size_t count = 0;
	for (; path && count < XC_PATH_DEPTH; path = path->parent)
		nodes[count++] = path;
	while (count-- > 0) {
		xc_text_name(text, nodes[count]->name);
		if (nodes[count]->repeats)
			xc_text_add(text, "…");
	}
}

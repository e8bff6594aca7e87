/* path: the C expression by which a script reached a value, for messages: "server.clients.head.next….fd".
 *
 * Paths are nodes of a small tree that grows only when a script takes a new path: a repeated member is one node
 * ("next…"), so a list of a million nodes has a path of a few. When the tree is full, or a path too long, there is
 * no path (NULL), and messages show type and address instead. */
#ifndef XC_PATH_H
#define XC_PATH_H

#include "core/base/text.h"

struct xc_path {
	const struct xc_path *parent; /* NULL for a root */
	const char *name;             /* "server", ".head", "[…]"; at most XC_PATH_NAME bytes */
	unsigned depth;
	bool repeats; /* stands for any number of steps with this name */
	struct xc_path *children, *next;
};

enum { XC_PATH_NODES = 4096, XC_PATH_DEPTH = 16, XC_PATH_NAME = 80 };

struct xc_paths {
	struct xc_path *roots;
	size_t count;
};

void xc_paths_fini(struct xc_paths *paths);

/* The path that consists of a variable or an expression. */
const struct xc_path *xc_path_root(struct xc_paths *paths, const char *name);

/* The path with one more step. If parent is NULL, so is the result. */
const struct xc_path *xc_path_member(struct xc_paths *paths, const struct xc_path *parent, const char *member);
const struct xc_path *xc_path_element(struct xc_paths *paths, const struct xc_path *parent);

void xc_path_write(struct xc_text *text, const struct xc_path *path);

#endif

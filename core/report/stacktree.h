/* stacktree: a tree of weighted call paths, merged by common prefix, as a flame graph shows it. */
#ifndef XC_STACKTREE_H
#define XC_STACKTREE_H

#include <stdio.h>

#include "core/base/error.h"
#include "core/base/hashtable.h"
#include "core/text/intern.h"

struct xc_stacktree_node {
	const char *name;
	uint64_t self, total;   /* in the tree's unit; total includes children */
	uint64_t items;         /* counted things; includes children after finish */
	uint64_t other, others; /* in a tree that compares: the weight in the other profile; others: with children */
	struct xc_stacktree_node *parent, *children, *next; /* children sorted by name after finish */
};

struct xc_stacktree {
	struct xc_arena arena;
	struct xc_intern long_names; /* once each */
	const char *title, *unit;    /* "stacks of core.1", "threads" or "bytes" */
	uint64_t unit_ns;            /* how long a unit is, where it stands for time; else 0 */
	const char *things;          /* things counted besides the weight: "blocks"; NULL: none */
	struct xc_stacktree_node root;
	size_t node_count;         /* without the root */
	struct xc_hashtable index; /* (parent, name) → node while building */
	bool grown;                /* built by xc_stacktree_grow: finish computes the totals */
	bool building;             /* from init to finish */
	bool compares;             /* two profiles: weights are those of the later one, unless */
	bool by_earlier;           /* widths are those of the earlier one */
};

/* The strings are copied. The tree must not be moved in memory afterwards: nodes point to its root. */
void xc_stacktree_init(struct xc_stacktree *tree, const char *title, const char *unit);
void xc_stacktree_fini(struct xc_stacktree *tree);

/* Add weight to the path of `count` names, outermost first; they are copied. A NULL name is "??". Sums stop at
 * 2^64 - 1. O(count). Not after finish. */
void xc_stacktree_add(struct xc_stacktree *tree, const char *const *names, size_t count, uint64_t weight);

/* Add weight to the child `name` of a node, creating it if needed, and return the child. name NULL: add to the node
 * itself. For building a tree node by node; finish computes the totals. O(1). Not after finish. */
struct xc_stacktree_node *xc_stacktree_grow(struct xc_stacktree *tree, struct xc_stacktree_node *parent,
					    const char *name, uint64_t weight);

/* Count one more thing of this weight in a node returned by xc_stacktree_grow, without a look-up. */
void xc_stacktree_put(struct xc_stacktree_node *node, uint64_t weight);

/* Add to the other weight of a node. The tree is one that compares. */
void xc_stacktree_add_other(struct xc_stacktree *tree, struct xc_stacktree_node *node, uint64_t weight);

/* Sort children by name; call once, after the last add. Not recursive. */
void xc_stacktree_finish(struct xc_stacktree *tree);

/* The node after `node` in depth-first order, children before siblings; start with &tree->root, NULL at the end.
 * *depth (0 for the root) follows. */
const struct xc_stacktree_node *xc_stacktree_next(const struct xc_stacktree_node *node, size_t *depth);

/* flame.c: "a;b;c 12" lines ("a;b;c 9 12", earlier and later weight, of a tree that compares), and a self-contained SVG
 * with search, zoom and tooltips. All need a finished tree. */
XC_MUST_CHECK struct xc_error *xc_flame_folded(const struct xc_stacktree *tree, FILE *out);
XC_MUST_CHECK struct xc_error *xc_flame_svg(const struct xc_stacktree *tree, FILE *out);

/* For other viewers: speedscope's JSON (flame_speedscope.c), and pprof's profile, compressed (flame_pprof.c). */
XC_MUST_CHECK struct xc_error *xc_flame_speedscope(const struct xc_stacktree *tree, FILE *out);
XC_MUST_CHECK struct xc_error *xc_flame_pprof(const struct xc_stacktree *tree, FILE *out);

/* The formats by name: "folded", "svg", "speedscope", "pprof"; NULL-terminated. The one that the name of a file asks
 * for by its end (".svg", ".speedscope.json", ".pb.gz", ".pb", ".pprof"); NULL: none. `kind` is one of them. */
extern const char *const xc_flame_kinds[];
const char *xc_flame_kind_of(const char *file);
bool xc_flame_is_binary(const char *kind);
XC_MUST_CHECK struct xc_error *xc_flame_write(const struct xc_stacktree *tree, const char *kind, FILE *out);

/* The same picture without a script, smaller, as an element of class "flame" of an HTML page. Names of frames are
 * tooltips. The stream keeps a write error. */
void xc_flame_element(const struct xc_stacktree *tree, FILE *out);

#endif

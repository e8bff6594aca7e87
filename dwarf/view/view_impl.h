/* view_impl: what the hooks share: opening views, summaries, children and nodes. */
#ifndef XC_VIEW_IMPL_H
#define XC_VIEW_IMPL_H

#include "dwarf/view/view.h"
#include "dwarf/view/view_function.h"
#include "dwarf/view/view_part.h"

enum {
	XC_VIEW_STEPS = 1 << 12, /* of a loop within one call (down a tree, over empty buckets) */
	XC_VIEW_DEPTH = 128,     /* a balanced tree of 2^64 elements is less deep */
};

/* A list of paths, at file scope. */
#define XC_VIEW_PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The tables of hooks, in the order in which they are tried; a hook without a name ends each. New views are a file
 * view_NAME.c that defines `const struct xc_view_hook xc_view_NAME[]`, and its name in this list. */
#define XC_VIEW_TABLES(X)                                                                                              \
	X(cxx) X(libstdcxx) X(cxx_nodes) X(cxx_holders) X(libcxx) X(erased) X(rust) X(rust_holders) X(rust_maps) X(go)

#define XC_VIEW_DECLARE(name) extern const struct xc_view_hook xc_view_##name[];
XC_VIEW_TABLES(XC_VIEW_DECLARE)
#undef XC_VIEW_DECLARE

/* ---- memory (view_part.c) ---- */

/* A pointer-sized word of memory. */
bool xc_view_word(const struct xc_view *view, xc_addr addr, uint64_t *word_out);

/* True when the first and the last byte of a range can be read; also for an empty range. */
bool xc_view_readable(const struct xc_view *view, xc_addr addr, uint64_t len);

/* ---- names ---- */

/* The name of a type as in sources: std::string for its long form, default template arguments left out. */
void xc_view_type_name(struct xc_text *text, const struct xc_type *type);
void xc_view_short_name(struct xc_text *text, const char *name);

/* ---- opening ---- */

/* Set view->why; returns false. */
bool xc_view_invalid(struct xc_view *view, const char *format, ...) XC_PRINTF(2, 3);

/* Set view->why to "WHAT at ADDRESS: REASON" for a part that cannot be read; returns false. */
bool xc_view_missing(struct xc_view *view, const char *what, const struct xc_value *part);

/* Make the view an array of shape->element in [begin, end), after checks (begin <= end <= cap, whole elements,
 * readable). */
bool xc_view_array(struct xc_view *view, xc_addr begin, xc_addr end, xc_addr cap);

/* The same for `count` elements. */
bool xc_view_counted(struct xc_view *view, xc_addr begin, uint64_t count);

/* Make the view a text of `count` characters of shape->element from addr on. */
bool xc_view_characters(struct xc_view *view, xc_addr addr, uint64_t count);

/* The next of contiguous elements; for hooks that have a `next` function. */
bool xc_view_next_contiguous(struct xc_view *view, struct xc_view_child *child);

/* Make the view that of one of its parts, if the part has a view with children; prefix goes before its summary. */
enum xc_view_result xc_view_become(struct xc_view *view, const struct xc_value *part, const char *prefix);

/* Make the view a wrapper of `part`, or the view of its content when that has children, as in gdb: "std::optional<…>
 * containing std::vector of length 2…". title: the text before " containing ". */
bool xc_view_wrap(struct xc_view *view, const struct xc_value *part, const char *title);

/* ---- shared by hooks of several libraries (view_common.c) ---- */

/* True when a path leads to a pointer; its target becomes the element. */
bool xc_view_points_at(const struct xc_type *type, const char *path, struct xc_view_shape *shape);

/* The last component of the title: "Vec" of "alloc::vec::Vec". Borrowed from it. */
const char *xc_view_last_name(const struct xc_view *view);

/* Summaries: none; "Vec(size=3)". */
void xc_view_no_summary(const struct xc_view *view, struct xc_text *text);
void xc_view_summary_with_size(const struct xc_view *view, struct xc_text *text);

/* Summaries: "std::map with 3 elements", "std::unique_ptr<int>", "std::vector of length 2, capacity 4" (state[0]). */
void xc_view_summary_with_capacity(const struct xc_view *view, struct xc_text *text);
void xc_view_tuple_summary(const struct xc_view *view, struct xc_text *text);
void xc_view_with_elements(const struct xc_view *view, struct xc_text *text);
void xc_view_title_with_element(const struct xc_view *view, struct xc_text *text);

/* Children: view->part without a name, or as "get()"; a pair in child->value, split into key and value. */
bool xc_view_next_bare(struct xc_view *view, struct xc_view_child *child);
bool xc_view_next_get(struct xc_view *view, struct xc_view_child *child);
bool xc_view_split_pair(struct xc_view *view, struct xc_view_child *child);

/* Make the view a wrapper of the part at the first of the paths that exists. */
bool xc_view_wrap_pointer(struct xc_view *view, const char *const paths[]);

/* Make the view a shared pointer. All owners together hold one weak count. block: 0 when it owns nothing. */
bool xc_view_counts(struct xc_view *view, xc_addr block, int64_t use, int64_t weak);
void xc_view_shared_summary(const struct xc_view *view, struct xc_text *text);

/* Make the view an optional of shape->element in `payload`, or a variant of shape->number alternatives, whose index has
 * shape->size bytes; all ones mean that there is none. */
bool xc_view_optional(struct xc_view *view, uint64_t engaged, const struct xc_value *payload);
void xc_view_optional_summary(const struct xc_view *view, struct xc_text *text);
bool xc_view_variant(struct xc_view *view, uint64_t index, const struct xc_value *storage);
void xc_view_variant_summary(const struct xc_view *view, struct xc_text *text);

/* xc_view_characters that also requires a NUL at the end, which uninitialised memory seldom has. */
bool xc_view_characters_ended(struct xc_view *view, xc_addr addr, uint64_t length);

/* A vector of `count` bits from begin on. Uses state[0] and state[1]. */
bool xc_view_bits(struct xc_view *view, xc_addr begin, uint64_t count, uint64_t capacity);
bool xc_view_next_bit(struct xc_view *view, struct xc_view_child *child);
void xc_view_bits_summary(const struct xc_view *view, struct xc_text *text);

/* Elements of shape->size bytes in blocks, to which a map at state[0] points. The first state[1] elements of the first
 * block are unused; a block has room for state[2]. */
bool xc_view_next_in_blocks(struct xc_view *view, struct xc_view_child *child);

/* ---- wrappers of Rust (view_rust.c) ---- */

/* The number or the pointer in the wrapper at the first of the paths that exists. */
bool xc_view_wrapped_number(const struct xc_value *value, const char *const paths[], uint64_t *bits_out);

/* The byte type within an unsized type and its wrappers: Path → OsStr → Slice → [u8]. NULL when there is none. */
const struct xc_type *xc_view_byte_below(const struct xc_type *type);

/* ---- nodes (view_nodes.c) ---- */

enum {
	XC_NODES_LIST,
	XC_NODES_CHAIN,
	XC_NODES_TREE,
	XC_NODES_HASH,
	XC_NODES_HASH_KEPT, /* with the hash */
	XC_NODES_LLVM_LIST,
	XC_NODES_LLVM_CHAIN,
	XC_NODES_LLVM_TREE,
	XC_NODES_LLVM_HASH,
	XC_NODES_COUNT
};

extern const struct xc_view_nodes xc_view_nodes[XC_NODES_COUNT];

/* The pair in an element of a map of libc++, which wraps it as __cc (or __cc_); other types as they are. */
const struct xc_type *xc_view_pair_of(const struct xc_type *element);

/* Fill the shape with the type of the links that a path leads (or points) to, and the offset of the element after
 * them. */
bool xc_view_place_element(const struct xc_type *type, const char *path, const struct xc_type *element,
			   struct xc_view_shape *shape);

/* The links of a node. */
struct xc_value xc_view_node(const struct xc_view *view, xc_addr addr);

/* A ring through `header` in the container. Uses state[0] to state[2]. */
bool xc_view_ring_open(struct xc_view *view, const struct xc_value *header);
bool xc_view_ring_next(struct xc_view *view, struct xc_view_child *child);

/* A chain from state[0] on that ends with a null pointer. Uses state[0] and state[1]. */
bool xc_view_chain_open(struct xc_view *view);
bool xc_view_chain_next(struct xc_view *view, struct xc_view_child *child);

/* "empty std::list", of a ring or a chain whose children are not read yet. */
void xc_view_empty_or_title(const struct xc_view *view, struct xc_text *text);

/* The same for a chain of view->count nodes: a shorter one is invalid. Children are elements, or keys with values. */
bool xc_view_counted_chain_open(struct xc_view *view);
bool xc_view_counted_chain_next(struct xc_view *view, struct xc_view_child *child);
bool xc_view_counted_chain_next_pair(struct xc_view *view, struct xc_view_child *child);

/* A binary tree in order. view->count is known, and the root's parent is the header in the container. */
bool xc_view_tree_open(struct xc_view *view, const struct xc_value *header, xc_addr root, xc_addr first);
bool xc_view_tree_next(struct xc_view *view, struct xc_view_child *child);
bool xc_view_tree_next_pair(struct xc_view *view, struct xc_view_child *child);

#endif

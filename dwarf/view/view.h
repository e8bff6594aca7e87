/* view: containers by their content instead of their members.
 *
 * A view presents a value of a class that a hook recognises by the name of its type and the shape of its members. It
 * shows what the program's source would call its content: a text, elements, keys with values, or named parts. Layouts
 * come from debug information: members are found by name, and no version of a library is assumed.
 *
 *	struct xc_view view;
 *	if (xc_view_open(&value, &view) == XC_VIEW_FOUND) {
 *		struct xc_view_child child;
 *		while (xc_view_next(&view, &child))
 *			… child.value …
 *		if (view.why[0]) … the rest cannot be read …
 *	}
 *
 * Containers may be uninitialised, destroyed or damaged. Opening one checks the invariants of a live container (begin
 * before end, whole elements, readable memory, consistent links). Each step checks its links, so a walk over a cycle
 * ends. A failed check gives XC_VIEW_INVALID with a reason; callers then show the members. A view is a plain struct
 * that owns nothing and may be copied. Not thread-safe. */
#ifndef XC_VIEW_H
#define XC_VIEW_H

#include "dwarf/value/value.h"

enum xc_view_result {
	XC_VIEW_NONE,    /* no hook knows the type, or parts of the container are missing (optimised out, not dumped) */
	XC_VIEW_FOUND,   /* can be read */
	XC_VIEW_INVALID, /* a damaged container: the reason is in view.why */
};

enum xc_view_kind {
	XC_VIEW_TEXT,    /* `count` characters from `elements` on; no children */
	XC_VIEW_LIST,    /* children without names */
	XC_VIEW_MAP,     /* children with keys */
	XC_VIEW_RECORD,  /* children with names, each once */
	XC_VIEW_WRAPPER, /* one child, the whole content: unique_ptr, optional, Cell */
	XC_VIEW_EMPTY,   /* an empty wrapper, such as an optional: only a summary */
	XC_VIEW_PLAIN,   /* only a summary, such as a duration */
};

enum {
	XC_VIEW_STATE = 8,
	XC_VIEW_TITLE = 96,
	XC_VIEW_PREFIX = 256,
	XC_VIEW_WHY = 160,
	XC_VIEW_NOTE = 256,
	XC_VIEW_NESTING = 8
};

/* The pointer of a link leads to … */
enum xc_view_link_kind {
	XC_LINK_NONE,    /* the end of a table */
	XC_LINK_TEXT,    /* characters; the block begins `words` words before them */
	XC_LINK_ARRAY,   /* elements */
	XC_LINK_TARGETS, /* an array of what the pointer points to */
	XC_LINK_MAP,     /* an array of pointers to elements */
	XC_LINK_BLOCKS,  /* pointers to arrays of elements, up to that at `by` and `words` more */
	XC_LINK_BUCKETS, /* the end of an array of elements, one more than the number at `by` */
	XC_LINK_NODE,    /* one of the shape's nodes */
	XC_LINK_OBJECT,  /* an element; if that is an array, its elements */
	XC_LINK_OWNED,   /* the same, but only of arrays: another pointer is an ordinary one */
	XC_LINK_ERASED,  /* an object, or it is at `at` itself: the function or table at `by` determines its type */
	/* Without a pointer: at `at` is … */
	XC_LINK_VALUE,   /* an element, if the byte at `by` is 1 */
	XC_LINK_VARIANT, /* the template argument whose number, of shape->size bytes, is at `by` */
};

/* A link from a container to memory that it owns, or to content that its members do not name: for readers that follow
 * pointers but list no elements (heap/evidence). Paths are those of view_part.h; the first that exists counts. */
struct xc_view_link {
	enum xc_view_link_kind kind;
	const char *what;                  /* the part's name: "elements" */
	const char *const *at, *const *by; /* paths of the pointer, and of a second word, NULL for most kinds */
	unsigned words;
};

/* The nodes of a container: links, then the content. Debug information seldom has their class. Offsets are those of
 * machines with 64 bits. */
struct xc_view_nodes {
	const char *name, *rest; /* of the template, and its arguments after the first: ", void *" */
	const char *links[3];    /* members: next; next, prev of rings; parent, left, right of trees */
	uint8_t at[3];           /* their offsets */
	uint8_t head, behind;    /* bytes before the content, without padding, and after it */
};

struct xc_view_hook;

/* The result of a hook for a type; computed once for each type and kept. */
struct xc_view_shape {
	const struct xc_view_hook *hook;   /* NULL: no hook knows the type */
	const char *title;                 /* name without template arguments and inline namespaces: "std::vector" */
	const struct xc_type *element;     /* of elements, or values of maps */
	const struct xc_view_link *links;  /* NULL: none */
	const struct xc_type *part;        /* the part at `offset` where the links' paths begin; NULL: the container */
	const struct xc_view_nodes *nodes; /* of links to nodes; their content is an element at `offset` */
	const struct xc_type *stored;      /* the first argument of the nodes' template; NULL: the element */
	uint64_t offset;
	const struct xc_type *node; /* private to the hook, like all below */
	uint64_t size, number;
};

struct xc_view {
	const struct xc_view_shape *shape;
	enum xc_view_kind kind;
	struct xc_value value;       /* the container, of a complete type without typedefs and qualifiers */
	bool numbered;               /* LIST: elements have no natural index; gdb writes [0] = … */
	bool contiguous;             /* LIST: the elements are an array that starts with `elements` */
	bool count_known;            /* false when counting needs a walk (lists of old libraries) */
	uint64_t count;              /* children (pairs of a MAP); characters of a TEXT */
	struct xc_value elements;    /* first element or character when contiguous or TEXT, also when count is 0 */
	char prefix[XC_VIEW_PREFIX]; /* of the adaptor around it: "std::stack wrapping: " */
	char why[XC_VIEW_WHY];       /* why it is invalid, or why the walk ended early; "" otherwise */
	/* Of an invalid one whose elements are not all in memory, `count` and `elements` are what it claims; it is a
	 * contiguous LIST then, also for a text. */

	/* private to the hook */
	uint64_t index; /* children returned so far */
	uint64_t state[XC_VIEW_STATE];
	struct xc_value part;
	char note[XC_VIEW_NOTE];
	unsigned nesting; /* depth of views that were opened to open this one */
};

struct xc_view_child {
	const char
		*name; /* of a RECORD's or WRAPPER's child: "get()", "first"; borrowed until the next call; else NULL */
	char number[24];       /* the storage of a generated name */
	struct xc_value key;   /* MAP */
	struct xc_value value; /* may be unreadable, like any value */
};

/* A kind of container. Filled in by dwarf/view/view_*.c, and by plugins through xc_view_add. */
struct xc_view_hook {
	const char *name; /* of the class without template arguments and inline namespaces; "alloc::vec::Vec" */
	/* Does this type have the shape? Fills shape. Called once for each type. NULL: the name is sufficient. */
	bool (*recognise)(const struct xc_type *type, struct xc_view_shape *shape);
	/* Fill kind and count of a view whose value and shape are set. False with `why` set (xc_view_invalid) when the
	 * container is damaged, and without when parts of it cannot be read. */
	bool (*open)(struct xc_view *view);
	/* Append the text before the children: "std::vector of length 3, capacity 4". NULL: only the title. */
	void (*summary)(const struct xc_view *view, struct xc_text *text);
	/* The next child. False at the end, or with why set. NULL: contiguous elements, or no children. */
	bool (*next)(struct xc_view *view, struct xc_view_child *child);
	void *context;                   /* of plugins */
	const struct xc_view_hook *link; /* of xc_view_add */
};

/* Open a view of a value whose type, without typedefs and qualifiers, is a container that some hook knows. Cost for
 * other types: one hash lookup. The view is valid as long as the process. */
enum xc_view_result xc_view_open(const struct xc_value *value, struct xc_view *view);

/* The shape of a type without typedefs and qualifiers; computed once for each type. Its hook is NULL when no hook
 * knows the type. Never NULL; lives as long as the process. */
const struct xc_view_shape *xc_view_shape_of(const struct xc_process *process, const struct xc_type *type);

/* The nodes whose class has the name of a type, and by the type's arguments their content (NULL: not known) and its
 * offset. NULL for other types. */
const struct xc_view_nodes *xc_view_nodes_of(const struct xc_type *type, const struct xc_type **content_out,
					     uint64_t *offset_out);

/* Append the summary of a view before its first child, "std::map with 2 elements"; nothing for texts and for types
 * without one (pairs). */
void xc_view_summary(const struct xc_view *view, struct xc_text *text);

/* The next child. False at the end, or, with view->why set, at an invalid link. The caller limits the number of
 * children: a count is bounded by the size of the memory behind it, but may be large. xc_view_open starts over. */
bool xc_view_next(struct xc_view *view, struct xc_view_child *child);

/* Append the short name of a type: std::vector<std::string> for its long form, Option<Vec<u8>> in Rust. False, and
 * nothing is appended, when it has no shorter name. */
bool xc_view_brief_name(struct xc_text *text, const struct xc_type *type);

/* Add a hook for types that were not seen yet; it is tried before all others. It must outlive the process. */
void xc_view_add(const struct xc_process *process, struct xc_view_hook *hook);

#endif

/* view: containers by their content, not by their innards.
 *
 * A view looks at a value of a class that a hook recognises by the name of its type and by the shape of its members,
 * and says what a reader of the program's source would call its content: a text, elements, keys with values, parts
 * with names. Layouts come from debug information, members are found by name, nothing goes by version.
 *
 *	struct xc_view view;
 *	if (xc_view_open(&value, &view) == XC_VIEW_FOUND) {
 *		struct xc_view_child child;
 *		while (xc_view_next(&view, &child))
 *			… child.value …
 *		if (view.why[0]) … the rest cannot be had …
 *	}
 *
 * Containers may be uninitialised, destroyed or damaged: opening one checks what must hold for a live one (begin
 * before end, whole elements, memory that is there, links that agree), and each step checks its own links, so that
 * steps on a cycle end. What fails is XC_VIEW_INVALID with a reason; callers then show the innards. A view is a
 * plain struct that owns nothing and may be copied. Not thread-safe. */
#ifndef XC_VIEW_H
#define XC_VIEW_H

#include "dwarf/value/value.h"

enum xc_view_result {
	XC_VIEW_NONE,  /* no hook knows the type, or parts of the container are not there (optimised out, not dumped) */
	XC_VIEW_FOUND, /* ready to be read */
	XC_VIEW_INVALID, /* a container, but not one in working order: view.why */
};

enum xc_view_kind {
	XC_VIEW_TEXT,    /* `count` characters from `elements` on; no children */
	XC_VIEW_LIST,    /* children without names */
	XC_VIEW_MAP,     /* children with keys */
	XC_VIEW_RECORD,  /* children with names, each once */
	XC_VIEW_WRAPPER, /* one child, which stands for the whole: unique_ptr, optional, Cell */
	XC_VIEW_EMPTY,   /* holds nothing (an empty optional): the summary is all */
	XC_VIEW_PLAIN,   /* the summary is all (a duration) */
};

enum {
	XC_VIEW_STATE = 8,
	XC_VIEW_TITLE = 96,
	XC_VIEW_PREFIX = 256,
	XC_VIEW_WHY = 160,
	XC_VIEW_NOTE = 256,
	XC_VIEW_NESTING = 8
};

struct xc_view_hook;

/* What a hook worked out for a type; made once for each type and kept. */
struct xc_view_shape {
	const struct xc_view_hook *hook; /* NULL: no hook knows the type */
	const char *title;               /* name without template arguments and inline namespaces: "std::vector" */
	const struct xc_type *element;   /* of elements, or values of maps */
	const struct xc_type *node;      /* for the hook's own use, as is all below */
	uint64_t size, offset, number;
};

struct xc_view {
	const struct xc_view_shape *shape;
	enum xc_view_kind kind;
	struct xc_value value;       /* the container, of a complete type without typedefs and qualifiers */
	bool numbered;               /* LIST: elements have no natural index; gdb writes [0] = … */
	bool contiguous;             /* LIST: the elements are an array that starts with `elements` */
	bool count_known;            /* false where counting needs a walk (lists of old libraries) */
	uint64_t count;              /* children (pairs of a MAP); characters of a TEXT */
	struct xc_value elements;    /* first element or character when contiguous or TEXT, also when count is 0 */
	char prefix[XC_VIEW_PREFIX]; /* of what is wrapped round it: "std::stack wrapping: " */
	char why[XC_VIEW_WHY];       /* why it is invalid, or why the walk ended early; "" otherwise */

	/* the hook's own */
	uint64_t index; /* children given out so far */
	uint64_t state[XC_VIEW_STATE];
	struct xc_value part;
	char note[XC_VIEW_NOTE];
	unsigned nesting; /* views opened to open this one */
};

struct xc_view_child {
	const char
		*name; /* of a RECORD's or WRAPPER's child: "get()", "first"; borrowed until the next call; else NULL */
	char number[24];       /* what name points to when it is made up */
	struct xc_value key;   /* MAP */
	struct xc_value value; /* may be in memory that cannot be read, as any value */
};

/* A kind of container. Bodies are filled by dwarf/view_*.c, and by plugins through xc_view_add. */
struct xc_view_hook {
	const char *name; /* of the class without template arguments and inline namespaces; "alloc::vec::Vec" */
	/* Does this type have the shape? Fills shape. Called once a type. NULL: the name suffices. */
	bool (*recognise)(const struct xc_type *type, struct xc_view_shape *shape);
	/* Fill kind and count of a view whose value and shape are set. False when it is not in working order, with
	 * `why` set by xc_view_invalid, or when parts of it cannot be read, without. */
	bool (*open)(struct xc_view *view);
	/* Append what stands before the children: "std::vector of length 3, capacity 4". NULL: the title alone. */
	void (*summary)(const struct xc_view *view, struct xc_text *text);
	/* The next child. False at the end, or with why set. NULL: contiguous elements, or no children. */
	bool (*next)(struct xc_view *view, struct xc_view_child *child);
	void *context;                   /* of plugins */
	const struct xc_view_hook *link; /* of xc_view_add */
};

/* Open a view of a value whose type, without typedefs and qualifiers, is a container that some hook knows. Cost: one
 * look-up for other types. The view may be used while the process lives. */
enum xc_view_result xc_view_open(const struct xc_value *value, struct xc_view *view);

/* The shape of a type without typedefs and qualifiers; computed once for each type. Its hook is NULL when no hook
 * knows the type. Never NULL; lives as long as the process. */
const struct xc_view_shape *xc_view_shape_of(const struct xc_process *process, const struct xc_type *type);

/* Append the summary of a view not yet walked, "std::map with 2 elements"; nothing for texts and for what needs
 * none (pairs). */
void xc_view_summary(const struct xc_view *view, struct xc_text *text);

/* The next child; false at the end, or, with view->why set, where a link leads nowhere. How many are asked for is up
 * to the caller: a count is at most as large as the memory that stands behind it, but may still be large. Starts over
 * with a fresh xc_view_open. */
bool xc_view_next(struct xc_view *view, struct xc_view_child *child);

/* Append the name of a type as people say it: std::vector<std::string> for its long form, Option<Vec<u8>> in Rust. False, and
 * nothing is appended, when it has no shorter one. */
bool xc_view_brief_name(struct xc_text *text, const struct xc_type *type);

/* Let one more hook look at types not seen yet, before all others. It must outlive the process. */
void xc_view_add(const struct xc_process *process, struct xc_view_hook *hook);

#endif

/* type_name: C declarators, built inside out.
 *
 *     char *(*(*)(int))[5]
 *
 * From the type towards its base, pointers are written to the left of the text so far, counts and parameters to the
 * right, and a pointer to an array or function is wrapped in parentheses. So one buffer that grows at both ends is
 * enough, and only parameter lists recurse. Spaces are where gdb writes them. */
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/types/type_impl.h"

enum {
	HALF = 2048,
	MAX_PARAMETERS = 32,
	MAX_NESTING = 6,
	MAX_TYPES = 2000, /* of one name: function types may take and return each other, and themselves */
};

/* Where a name stands: the depth of parameter lists, and how many more types it may use. */
struct naming {
	unsigned nesting, left;
};

struct declarator {
	char bytes[2 * HALF];
	size_t lo, hi; /* the text so far is [lo, hi) */
	bool cut;      /* something did not fit */
};

static void left(struct declarator *d, const char *text)
{
	size_t len = strlen(text);
	if (len > d->lo) {
		d->cut = true;
		return;
	}
	d->lo -= len;
	memcpy(d->bytes + d->lo, text, len);
}

static void right(struct declarator *d, const char *text)
{
	size_t len = strlen(text);
	if (len > sizeof d->bytes - d->hi) {
		d->cut = true;
		return;
	}
	memcpy(d->bytes + d->hi, text, len);
	d->hi += len;
}

enum { CONST = 1, VOLATILE = 2, RESTRICT = 4, ATOMIC = 8 };

/* The qualifiers on top of a type, and the type below them. */
static unsigned qualifiers(const struct xc_type **type)
{
	unsigned set = 0;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		const struct xc_type *t = *type;
		switch (t->kind) {
		case XC_TYPE_CONST:
			set |= CONST;
			break;
		case XC_TYPE_VOLATILE:
			set |= VOLATILE;
			break;
		case XC_TYPE_RESTRICT:
			set |= RESTRICT;
			break;
		case XC_TYPE_ATOMIC:
			set |= ATOMIC;
			break;
		default:
			return set;
		}
		*type = t->target;
	}
	return set;
}

static void add_qualifiers(struct xc_text *text, unsigned set, bool is_c)
{
	if (set & CONST)
		xc_text_add(text, "const ");
	if (set & VOLATILE)
		xc_text_add(text, "volatile ");
	if (set & RESTRICT)
		xc_text_add(text, is_c ? "restrict " : "__restrict__ ");
	if (set & ATOMIC)
		xc_text_add(text, "_Atomic ");
}

static void name_inner(struct xc_text *out, const struct xc_type *type, struct naming *n);

static void add_pointer(struct declarator *d, const struct xc_type *type, unsigned set)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	if (type->kind == XC_TYPE_MEMBER_POINTER)
		xc_text_printf(&text, "%s::*", type->container && type->container->name ? type->container->name : "");
	else
		xc_text_add(&text, type->kind == XC_TYPE_POINTER ? "*" : type->kind == XC_TYPE_REFERENCE ? "&" : "&&");
	if (set) {
		xc_text_char(&text, ' ');
		add_qualifiers(&text, set, type->is_c);
		/* the space that ends the list stays only between `* const` and a further `*` or a name */
		if (d->lo == d->hi || strchr("[()", d->bytes[d->lo]))
			text.bytes[--text.len] = '\0';
	}
	left(d, xc_text_string(&text));
	enum xc_type_kind below = type->target ? type->target->kind : XC_TYPE_VOID;
	if (below == XC_TYPE_ARRAY || below == XC_TYPE_FUNCTION) {
		left(d, "(");
		right(d, ")");
	}
}

static void add_dimension(struct declarator *d, const struct xc_type *type)
{
	char text[64] = "[]";
	if (type->is_vector && type->count_known)
		snprintf(text, sizeof text, " __attribute__ ((vector_size(%llu)))", (unsigned long long)type->count);
	else if (type->count_known)
		snprintf(text, sizeof text, "[%llu]", (unsigned long long)type->count);
	else if (type->is_dynamic)
		snprintf(text, sizeof text, "[variable length]");
	right(d, text + (d->lo == d->hi && *text == ' '));
}

static void add_parameters(struct declarator *d, const struct xc_type *type, struct naming *n)
{
	size_t count;
	const struct xc_type *const *list = xc_type_parameters(type, &count);
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_text_char(&text, '(');
	for (size_t i = 0; i < count; i++) {
		xc_text_add(&text, i ? ", " : "");
		if (i == MAX_PARAMETERS || n->nesting >= MAX_NESTING || text.len > HALF / 2) {
			xc_text_add(&text, "...");
			break;
		}
		name_inner(&text, list[i], n);
	}
	if (type->is_variadic && (count > 0 || type->is_prototyped)) /* not f(), which C leaves open */
		xc_text_add(&text, count ? ", ..." : "...");
	else if (count == 0 && type->is_prototyped)
		xc_text_add(&text, "void");
	xc_text_char(&text, ')');
	right(d, text.bytes);
}

static bool is_declarator(const struct xc_type *type)
{
	return (type->kind >= XC_TYPE_POINTER && type->kind <= XC_TYPE_ARRAY) || type->kind == XC_TYPE_FUNCTION;
}

static const char *keyword(enum xc_type_kind kind)
{
	switch (kind) {
	case XC_TYPE_STRUCT:
		return "struct ";
	case XC_TYPE_CLASS:
		return "class ";
	case XC_TYPE_UNION:
		return "union ";
	case XC_TYPE_ENUM:
		return "enum ";
	default:
		return "";
	}
}

static void name_rust_function(struct xc_text *out, const struct xc_type *type, struct naming *n)
{
	size_t count;
	const struct xc_type *const *list = xc_type_parameters(type, &count);
	xc_text_add(out, "fn(");
	for (size_t i = 0; i < count; i++) {
		xc_text_add(out, i ? ", " : "");
		if (i == MAX_PARAMETERS) {
			xc_text_add(out, "...");
			break;
		}
		name_inner(out, list[i], n);
	}
	xc_text_char(out, ')');
	if (type->target->kind != XC_TYPE_VOID) {
		xc_text_add(out, " -> ");
		name_inner(out, type->target, n);
	}
}

/* Rust writes types from left to right: [T; 4], *const T, fn(A) -> B; rustc gives pointers their names. */
static void name_rust(struct xc_text *out, const struct xc_type *type, struct naming *n)
{
	if (n->nesting >= MAX_NESTING || out->len > HALF) {
		xc_text_add(out, "...");
	} else if (type->name && *type->name) {
		xc_text_add(out, type->name);
	} else if (type->kind == XC_TYPE_ARRAY) {
		xc_text_char(out, '[');
		name_inner(out, type->target, n);
		if (type->count_known)
			xc_text_printf(out, "; %llu", (unsigned long long)type->count);
		xc_text_char(out, ']');
	} else if (type->kind == XC_TYPE_FUNCTION) {
		name_rust_function(out, type, n);
	} else {
		xc_text_add(out, type->kind == XC_TYPE_POINTER ? "*const " : "&");
		name_inner(out, type->target, n);
	}
}

/* Write the innermost type, which precedes the declarator. */
static void name_base(struct xc_text *out, const struct xc_type *type, struct naming *n)
{
	if (type->is_rust && is_declarator(type)) {
		name_rust(out, type, n);
		return;
	}
	const char *word = keyword(type->kind);
	bool named = type->name && *type->name;
	if (!named && *word)
		xc_text_printf(out, "%s{...}", word);
	else if (!named)
		xc_text_add(out, "<unnamed type>");
	else
		xc_text_printf(out, "%s%.*s", type->is_c ? word : "", HALF, type->name);
}

/* If `type` is a declarator: write it, and set *next to the type it declares. */
static bool declare(struct declarator *d, const struct xc_type *type, unsigned set, struct naming *n)
{
	if (type->is_rust && is_declarator(type))
		return false;
	switch (type->kind) {
	case XC_TYPE_POINTER:
	case XC_TYPE_REFERENCE:
	case XC_TYPE_RVALUE_REFERENCE:
	case XC_TYPE_MEMBER_POINTER:
		add_pointer(d, type, set);
		return true;
	case XC_TYPE_ARRAY:
		add_dimension(d, type);
		return true;
	case XC_TYPE_FUNCTION:
		add_parameters(d, type, n);
		return true;
	default:
		return type->kind == XC_TYPE_TYPEDEF && !type->name && type->target;
	}
}

/* Write the type around the text in the declarator; the base that remains goes to `out`. */
static void name_around(struct xc_text *out, struct declarator *d, const struct xc_type *type, struct naming *n)
{
	unsigned set = 0;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		set |= qualifiers(&type);
		bool keep = type->kind == XC_TYPE_ARRAY; /* `const` on an array applies to its elements */
		if (d->cut || !n->left || !declare(d, type, set, n))
			break;
		n->left--;
		set = keep ? set : 0;
		type = type->target;
	}
	add_qualifiers(out, set, type->is_c);
	name_base(out, type, n);
}

static void add_declarator(struct xc_text *out, const struct declarator *d)
{
	xc_text_addn(out, d->bytes + d->lo, d->hi - d->lo);
	if (d->cut)
		xc_text_add(out, "...");
}

static void name_type(struct xc_text *out, const struct xc_type *type, struct naming *n)
{
	struct declarator d;
	d.lo = d.hi = HALF;
	d.cut = false;
	name_around(out, &d, type, n);
	if (d.hi > d.lo)
		xc_text_char(out, ' ');
	add_declarator(out, &d);
}

static void name_inner(struct xc_text *out, const struct xc_type *type, struct naming *n)
{
	n->nesting++;
	name_type(out, type, n);
	n->nesting--;
}

void xc_type_declare(const struct xc_type *type, const char *name, struct xc_text *base, struct xc_text *declarator)
{
	struct naming n = {.left = MAX_TYPES};
	struct declarator d;
	d.lo = d.hi = HALF;
	d.cut = false;
	right(&d, name ? name : "");
	if (type->detail)
		name_around(base, &d, type, &n);
	else
		xc_text_add(base, xc_type_name(type));
	add_declarator(declarator, &d);
}

const char *xc_type_name(const struct xc_type *type)
{
	struct xc_type_detail *detail = type->detail;
	if (!detail)
		return type->name ? type->name : "<unknown type>";
	if (!detail->text) {
		xc_auto(xc_text_fini) struct xc_text text = {0};
		name_type(&text, type, &(struct naming){.left = MAX_TYPES});
		detail->text = xc_arena_strdup(detail->types->arena, text.bytes);
	}
	return detail->text;
}

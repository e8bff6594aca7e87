/* cexpr_impl: the tree, the names and the values of C expressions, shared by dwarf/cexpr/cexpr_*.c.
 *
 * The text is lexed on demand, so that the parser can go back: whether `(a)` is a cast depends on what `a` is. For the
 * same reason names are looked up while parsing, and the tree holds their meaning. Evaluation walks the tree once. */
#ifndef XC_CEXPR_IMPL_H
#define XC_CEXPR_IMPL_H

#include <string.h>

#include "dwarf/cexpr/cexpr.h"
#include "dwarf/cexpr/cexpr_parser.h"
#include "dwarf/types/ctype.h"
#include "dwarf/lookup/lookup.h"

enum { XC_CEXPR_NESTING = 400, XC_CEXPR_HEIGHT = 1000, XC_CEXPR_NAMES = 500 };

/* ---- the tree ---- */

enum xc_cnode_kind {
	XC_NODE_VALUE,  /* a constant, a variable, a register: value */
	XC_NODE_MEMBER, /* a.name */
	XC_NODE_INDEX,  /* a[b] */
	XC_NODE_UNARY,  /* op a */
	XC_NODE_BINARY, /* a op b; also && || , @ */
	XC_NODE_CONDITIONAL,
	XC_NODE_CAST,        /* (type) a */
	XC_NODE_REINTERPRET, /* reinterpret_cast<type>(a): no adjustment between class and base */
	XC_NODE_AT,          /* {type} a */
	XC_NODE_SIZEOF,      /* of a's type */
	XC_NODE_ALIGNOF,
};

struct xc_cnode {
	enum xc_cnode_kind kind;
	unsigned op;
	unsigned height;
	size_t at, len; /* the source span for errors */
	struct xc_cnode *a, *b, *c;
	const char *name; /* MEMBER: the member; VALUE: the source text, for messages, or NULL */
	const struct xc_type *type;
	struct xc_value value;
};

/* ---- parsing: cexpr_parse.c, cexpr_type.c ---- */

struct xc_cnode *xc_cexpr_parse(struct xc_cexpr *c); /* up to the end of the text */
struct xc_cnode *xc_cexpr_parse_expression(struct xc_cexpr *c);
struct xc_cnode *xc_cexpr_parse_conditional(struct xc_cexpr *c); /* without a comma */
struct xc_cnode *xc_cexpr_parse_unary(struct xc_cexpr *c);
struct xc_cnode *xc_cexpr_parse_postfix(struct xc_cexpr *c); /* cexpr_primary.c */

/* Parse the operand of a cast, and make the cast's node. */
struct xc_cnode *xc_cexpr_parse_cast_to(struct xc_cexpr *c, enum xc_cnode_kind kind, const struct xc_ctoken *spot,
					const struct xc_type *type);

/* A new node; NULL, with c->err set, when the tree becomes too high. */
struct xc_cnode *xc_cexpr_new_node(struct xc_cexpr *c, enum xc_cnode_kind kind, const struct xc_ctoken *spot,
				   struct xc_cnode *a, struct xc_cnode *b);
struct xc_cnode *xc_cexpr_value_node(struct xc_cexpr *c, const struct xc_ctoken *spot, const struct xc_value *value);

/* Skip an operator; if it is not the current token, and always in the second function, set an error that names the
 * expected thing. False, and NULL. */
bool xc_cexpr_expect(struct xc_cexpr *c, unsigned op, const char *name);
void *xc_cexpr_unexpected(struct xc_cexpr *c, const char *wanted);

/* A type name at the current token, with its declarator. When there is none, NULL with the token unchanged; c->err is
 * set when it is malformed. */
const struct xc_type *xc_cexpr_parse_type(struct xc_cexpr *c);

/* ---- names: cexpr_name.c, cexpr_scope.c, cexpr_symbol.c ---- */

/* A name as written: module!file::name. */
struct xc_cname {
	const char *module, *file; /* NULL when not given */
	bool global;               /* begins with :: */
	bool quoted;
	int tag; /* of the keyword before it: `struct name` is DW_TAG_structure_type; 0 without one */
	const char *name;
	size_t at, len; /* the whole name in the text */
};

enum xc_cfound { XC_FOUND_NOTHING, XC_FOUND_VALUE, XC_FOUND_TYPE };

/* Parse the name at the current token, after a keyword of this tag (0: none), and look it up. After a keyword, only
 * types are found. Errors are in c->err. */
enum xc_cfound xc_cexpr_parse_name(struct xc_cexpr *c, int tag, struct xc_cname *name, struct xc_value *value_out,
				   const struct xc_type **type_out);

/* Look up a name. XC_FOUND_NOTHING is not an error. */
struct xc_error *xc_cexpr_find(struct xc_cexpr *c, const struct xc_cname *name, enum xc_cfound *found_out,
			       struct xc_value *value_out, const struct xc_type **type_out);

/* Definitions of a qualified name, in the scope's module first; only_module: in no other one. The file of the name
 * restricts it; its own text serves errors. XC_FOUND_NOTHING is not an error. */
struct xc_error *xc_cexpr_find_global(struct xc_cexpr *c, const struct xc_cname *name, const char *full,
				      struct xc_module *only_module, enum xc_cfound *found_out,
				      struct xc_value *value_out, const struct xc_type **type_out);

/* The same without what is only declared. */
struct xc_error *xc_cexpr_find_defined(struct xc_cexpr *c, const struct xc_cname *name, const char *full,
				       struct xc_module *only_module, enum xc_cfound *found_out,
				       struct xc_value *value_out, const struct xc_type **type_out);

/* Look up a name in the scopes around the frame's function, and in what these import: namespace aliases,
 * `using a::b` and `using namespace` (cexpr_enclosing.c); of `::name` only in the unit. XC_FOUND_NOTHING is not an
 * error. */
struct xc_error *xc_cexpr_find_enclosing(struct xc_cexpr *c, const struct xc_cname *name, enum xc_cfound *found_out,
					 struct xc_value *value_out, const struct xc_type **type_out);

/* The scope's module, all of whose names are near; NULL without one, and for a runtime library. */
struct xc_module *xc_cexpr_home(const struct xc_cexpr *c);

/* Is the name that of the class itself: "Item" of "app::Item", "Box" of "Box<int>"? In the class it means the class;
 * only debug information has its constructors under it. */
bool xc_cexpr_is_own_name(const char *class, size_t len, const char *name);

/* Look up function::variable, also of a function in a class or namespace. XC_FOUND_NOTHING is not an error. */
struct xc_error *xc_cexpr_static_local(struct xc_cexpr *c, const struct xc_cname *name, struct xc_module *module,
				       enum xc_cfound *found_out, struct xc_value *out);

/* The place of the last `::` outside of brackets before `len`; 0 when there is none. */
size_t xc_cexpr_last_separator(const char *name, size_t len);

/* Look up a tagged type, `struct name`: in the scope's unit, then its module, then the others. *type_out is NULL when
 * there is none. Errors: XC_ERR_USAGE when units define it in different sizes, or there is no such module. */
struct xc_error *xc_cexpr_find_tag(struct xc_cexpr *c, const struct xc_cname *name, const struct xc_type **type_out);

/* An ELF symbol as a value; false when there is none. */
bool xc_cexpr_symbol(struct xc_cexpr *c, const struct xc_cname *name, struct xc_value *out);

/* A macro whose body is an expression, in programs built with -g3 (cexpr_macro.c). Errors: XC_ERR_USAGE when units
 * define it differently. */
struct xc_error *xc_cexpr_macro(struct xc_cexpr *c, const struct xc_cname *name, struct xc_module *module,
				bool *found_out, struct xc_value *out);

/* The value of another text in the same scope, such as the body of a macro; it shares this one's limits. */
struct xc_error *xc_cexpr_body(struct xc_cexpr *c, const char *text, struct xc_value *out);

/* The error "no `x` here…", with similar names as the hint. */
struct xc_error *xc_cexpr_unknown(struct xc_cexpr *c, const struct xc_cname *name);

/* The name without anonymous namespaces, which the index leaves out. */
const char *xc_cexpr_plain_name(struct xc_cexpr *c, const char *name);

/* A static member, or a function, of a class, by its name in the class. */
bool xc_cexpr_class_member(struct xc_cexpr *c, const struct xc_type *type, const char *name, struct xc_value *out);

/* The register after `$`: cexpr_register.c. */
struct xc_error *xc_cexpr_register(struct xc_cexpr *c, const char *name, struct xc_value *out);

/* ---- values: cexpr_eval.c, cexpr_member.c, cexpr_pointer.c, cexpr_cast.c, cexpr_arith.c ---- */

/* Evaluate a node; a reference is dereferenced. */
struct xc_error *xc_cexpr_operand(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out);

struct xc_error *xc_cexpr_member(struct xc_cexpr *c, const struct xc_value *value, const char *name,
				 struct xc_value *out);
struct xc_error *xc_cexpr_deref(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out);
struct xc_error *xc_cexpr_address(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out);
struct xc_error *xc_cexpr_index(struct xc_cexpr *c, const struct xc_value *value, const struct xc_value *index,
				struct xc_value *out);
struct xc_error *xc_cexpr_repeat(struct xc_cexpr *c, const struct xc_value *value, const struct xc_value *count,
				 struct xc_value *out);
struct xc_error *xc_cexpr_cast(struct xc_cexpr *c, const struct xc_value *value, const struct xc_type *type,
			       bool adjust, struct xc_value *out);

/* cexpr_container.c: the content of a smart pointer or optional; the element of a container at an index or key
 * (handled_out false: not a container); a field of a Rust enum's active variant, or that variant itself. */
bool xc_cexpr_content(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out);
struct xc_error *xc_cexpr_container_index(struct xc_cexpr *c, const struct xc_value *value,
					  const struct xc_value *index, struct xc_value *out, bool *handled_out);
bool xc_cexpr_variant_member(const struct xc_value *value, const char *name, struct xc_value *out);

/* Arrays and functions become pointers to them; other values are unchanged. */
struct xc_error *xc_cexpr_decay(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out);

/* Pointers in + - and comparisons. *handled_out: an operand is a pointer. */
struct xc_error *xc_cexpr_pointer_binary(struct xc_cexpr *c, unsigned op, const struct xc_value *a,
					 const struct xc_value *b, struct xc_value *out, bool *handled_out);

/* A number with the properties that C's arithmetic needs. */
struct xc_cnumber {
	const struct xc_type *type; /* stripped */
	bool is_real, is_signed;
	unsigned size;          /* bytes */
	unsigned bit_size;      /* of a bit-field, else 0 */
	unsigned __int128 bits; /* sign-extended when signed */
	long double real;
};

struct xc_error *xc_cexpr_number(struct xc_cexpr *c, const struct xc_value *value, struct xc_cnumber *out);
struct xc_error *xc_cexpr_truth(struct xc_cexpr *c, const struct xc_value *value, bool *out);
struct xc_error *xc_cexpr_convert(struct xc_cexpr *c, const struct xc_cnumber *number, const struct xc_type *type,
				  struct xc_value *out);
struct xc_error *xc_cexpr_unary(struct xc_cexpr *c, unsigned op, const struct xc_value *a, struct xc_value *out);
struct xc_error *xc_cexpr_binary(struct xc_cexpr *c, unsigned op, const struct xc_value *a, const struct xc_value *b,
				 struct xc_value *out);

/* The common type of two arithmetic values (the branches of ?:); NULL when they are not arithmetic. */
const struct xc_type *xc_cexpr_common_type(struct xc_cexpr *c, const struct xc_value *a, const struct xc_value *b);

struct xc_value xc_cexpr_int(struct xc_cexpr *c, enum xc_ctype type, uint64_t bits);
struct xc_value xc_cexpr_bool(struct xc_cexpr *c, bool truth); /* the result type of comparisons */

/* An error with the reason why the value cannot be read; NULL when it can. */
struct xc_error *xc_cexpr_unreadable(const struct xc_value *value);

bool xc_cexpr_is_untyped(const struct xc_cexpr *c, const struct xc_type *type);
struct xc_error *xc_cexpr_untyped(void);

#endif

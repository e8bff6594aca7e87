/* linear_expr: sums of terms: what a register holds, or where memory is, as the machine's code computes it. */
#ifndef XC_LINEAR_EXPR_H
#define XC_LINEAR_EXPR_H

#include "dwarf/types/type.h"

enum xc_symbolic_kind {
	XC_SYMBOLIC_UNKNOWN,
	XC_SYMBOLIC_VARIABLE, /* debug information says so: in register `reg` before instruction `at` */
	XC_SYMBOLIC_LOADED,   /* by instruction `at` from the place that text names */
	XC_SYMBOLIC_RESULT,   /* of the call `at` */
	XC_SYMBOLIC_ENTRY,    /* register `reg` as the function was entered, without a name */
};

struct xc_symbolic_value {
	enum xc_symbolic_kind kind;
	const char *text;           /* NULL: not known */
	const struct xc_type *type; /* NULL: not known */
	size_t at;
	int reg;
	bool value_known;
	uint64_t value;
	bool slot; /* LOADED from the frame's own stack */
};

enum { XC_LINEAR_EXPR_PARTS = 4 };

struct xc_linear_expr {
	bool known;    /* false: nothing is said */
	bool sure;     /* each step is the only possible one */
	bool absolute; /* the constant has an address in it */
	int64_t constant;
	struct xc_linear_expr_part {
		struct xc_symbolic_value term;
		int64_t times;
	} parts[XC_LINEAR_EXPR_PARTS];
	size_t count;
};

/* A number, and one term. */
struct xc_linear_expr xc_linear_expr_constant(int64_t constant);
struct xc_linear_expr xc_linear_expr_term(const struct xc_symbolic_value *term, bool sure);

/* Add a part, or another form, so many times; form is not known any more when that has too many terms, or two addresses in it. */
void xc_linear_expr_add_part(struct xc_linear_expr *form, const struct xc_linear_expr_part *part, int64_t times);
void xc_linear_expr_add(struct xc_linear_expr *form, const struct xc_linear_expr *other, int64_t times);

/* Are they written alike? Results of calls never are. */
bool xc_linear_expr_same(const struct xc_linear_expr *a, const struct xc_linear_expr *b);

#endif

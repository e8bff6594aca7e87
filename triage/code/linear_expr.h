/* linear_expr: sums of symbolic values: the content of a register, or an address, as the machine code computes it. */
#ifndef XC_LINEAR_EXPR_H
#define XC_LINEAR_EXPR_H

#include "dwarf/types/type.h"

enum xc_symbolic_kind {
	XC_SYMBOLIC_UNKNOWN,
	XC_SYMBOLIC_VARIABLE, /* by debug information: in register `reg` before instruction `at` */
	XC_SYMBOLIC_LOADED,   /* by instruction `at`, from the place that `text` names */
	XC_SYMBOLIC_RESULT,   /* of the call `at` */
	XC_SYMBOLIC_ENTRY,    /* register `reg` at the function's entry, without a name */
};

/* Another way to write a place: another member of a union there. */
struct xc_union_choice {
	const char *text;
	const struct xc_type *type;
	size_t pointer; /* which way to write the pointer it has: 0 as its text, 1 … as its choices */
};

enum { XC_UNION_CHOICES = 5 };

struct xc_symbolic_value {
	enum xc_symbolic_kind kind;
	const char *text;           /* NULL: not known */
	const struct xc_type *type; /* NULL: not known */
	size_t at;
	int reg;
	bool value_known;
	uint64_t value;
	bool slot;                             /* LOADED from the frame's own stack */
	const struct xc_union_choice *choices; /* that are as good as text and type; at most XC_UNION_CHOICES */
	size_t choice_count;
	size_t pointer; /* as in the choices */
};

enum { XC_LINEAR_EXPR_PARTS = 4 };

struct xc_linear_expr {
	bool known;    /* false: no information */
	bool sure;     /* each step is the only possible one */
	bool absolute; /* the constant contains an address */
	int64_t constant;
	struct xc_linear_expr_part {
		struct xc_symbolic_value term;
		int64_t times;
	} parts[XC_LINEAR_EXPR_PARTS];
	size_t count;
};

/* A constant, and a single term. */
struct xc_linear_expr xc_linear_expr_constant(int64_t constant);
struct xc_linear_expr xc_linear_expr_term(const struct xc_symbolic_value *term, bool sure);

/* Add a part, or another expression, so many times. The result is not known when it has too many terms, or two
 * addresses. */
void xc_linear_expr_add_part(struct xc_linear_expr *form, const struct xc_linear_expr_part *part, int64_t times);
void xc_linear_expr_add(struct xc_linear_expr *form, const struct xc_linear_expr *other, int64_t times);

/* Are they written alike? Results of calls never are. */
bool xc_linear_expr_same(const struct xc_linear_expr *a, const struct xc_linear_expr *b);

#endif

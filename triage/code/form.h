/* form: sums of terms: what a register holds, or where memory is, as the machine's code computes it. */
#ifndef XC_FORM_H
#define XC_FORM_H

#include "dwarf/types/type.h"

enum xc_term_kind {
	XC_TERM_UNKNOWN,
	XC_TERM_VARIABLE, /* debug information says so: in register `reg` before instruction `at` */
	XC_TERM_LOADED,   /* by instruction `at` from the place that text names */
	XC_TERM_RESULT,   /* of the call `at` */
	XC_TERM_ENTRY,    /* register `reg` as the function was entered, without a name */
};

struct xc_term {
	enum xc_term_kind kind;
	const char *text;           /* NULL: not known */
	const struct xc_type *type; /* NULL: not known */
	size_t at;
	int reg;
	bool value_known;
	uint64_t value;
	bool slot; /* LOADED from the frame's own stack */
};

enum { XC_FORM_PARTS = 4 };

struct xc_form {
	bool known;    /* false: nothing is said */
	bool sure;     /* each step is the only possible one */
	bool absolute; /* the constant has an address in it */
	int64_t constant;
	struct xc_form_part {
		struct xc_term term;
		int64_t times;
	} parts[XC_FORM_PARTS];
	size_t count;
};

/* A number, and one term. */
struct xc_form xc_form_constant(int64_t constant);
struct xc_form xc_form_term(const struct xc_term *term, bool sure);

/* Add a part, or another form, so many times; form is not known any more when that has too many terms, or two addresses in it. */
void xc_form_add_part(struct xc_form *form, const struct xc_form_part *part, int64_t times);
void xc_form_add(struct xc_form *form, const struct xc_form *other, int64_t times);

/* Are they written alike? Results of calls never are. */
bool xc_form_same(const struct xc_form *a, const struct xc_form *b);

#endif

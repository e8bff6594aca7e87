/* term: values and places of a function's machine code, the way its source writes them: `r`, `n->next`, `table[i].name`, `find()`.
 *
 * An address is a sum of terms: what variables hold, what was loaded from places (which are written by their own addresses, and so
 * on), results of calls, each some times, and a constant. One of the terms is a pointer whose type gives the constant a field's name and
 * the other terms the places of indexes. */
#ifndef XC_TERM_H
#define XC_TERM_H

#include "inquiry.h"
#include "slice.h"

/* A frame whose code is read. */
struct xc_scene {
	const struct xc_inquiry *q;
	size_t frame;         /* index into q->frames */
	struct xc_body *body; /* of its function */
	size_t at;            /* the instruction that runs: that faulted, or a call that has not returned */
	unsigned *fuel;       /* steps left, for all that is asked in one inquiry */
};

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

enum { XC_FORM_PARTS = 4, XC_TERM_FUEL = 400 };

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

/* Set the scene for a frame of the inquiry. False when its code cannot be read. */
bool xc_scene_set(const struct xc_inquiry *q, size_t frame, unsigned *fuel, struct xc_scene *out);

/* Pay for one slice of the scene's function; false when there is no fuel left: then nothing is asked. */
bool xc_scene_pay(const struct xc_scene *scene);

/* What register `reg` holds before instruction `at`. */
struct xc_form xc_form_register(const struct xc_scene *scene, size_t at, int reg);

/* What a definition of a slice set the register to. */
struct xc_form xc_form_definition(const struct xc_scene *scene, const struct xc_slice_definition *definition);

/* The address of a memory operand of instruction `at`. */
struct xc_form xc_form_memory(const struct xc_scene *scene, size_t at, const struct xc_insn_memory *memory);

/* The place of `size` bytes at an address, and its type. False when it cannot be written. text and type of out are set. */
bool xc_form_place(const struct xc_scene *scene, size_t at, const struct xc_form *form, uint32_t size,
		   struct xc_term *out);

/* The part that the others are offsets from: the only one that is a pointer; NULL when there is none. */
const struct xc_form_part *xc_form_pointer(const struct xc_form *form);

/* Is it memory of the frame's own stack, named by the stack or frame pointer alone? */
bool xc_scene_is_slot(const struct xc_scene *scene, const struct xc_insn_memory *memory);

#endif

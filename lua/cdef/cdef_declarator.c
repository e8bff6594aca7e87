/* cdef_declarator: declarators.
 *
 * char *(*(*name)(int))[5]
 *
 * A declarator is written down as the steps that lead from the name to the type: what is in parentheses, then what
 * follows, from left to right, then the pointers, from right to left. Taken backwards, from the specifiers on, they
 * make the type. */
#include "lua/cdef/cdef_impl.h"

enum { MAX_STEPS = 64, MAX_PARAMETERS = 128 };

struct step {
	enum xc_type_kind kind; /* POINTER, ARRAY, FUNCTION */
	unsigned set;           /* qualifiers of a pointer */
	bool known;             /* array: has a count */
	bool variadic, prototyped;
	uint64_t count;                    /* elements, or parameters */
	const struct xc_type **parameters; /* in the arena of the process */
	struct xc_cdef_token spot;
};

struct steps {
	struct step items[MAX_STEPS];
	size_t count;
	struct xc_cdef_token name;
	enum xc_cdef_naming naming;
};

static bool add(struct xc_cdef_parser *p, struct steps *s, const struct step *step)
{
	if (s->count == MAX_STEPS)
		return xc_cdef_fail(p, &p->token, XC_ERR_LIMIT, "a declarator with more than %d parts", MAX_STEPS);
	s->items[s->count++] = *step;
	return true;
}

/* ---- ( parameters ) ---- */

/* Arrays and functions are passed as pointers. */
static const struct xc_type *passed(const struct xc_process *process, const struct xc_type *type)
{
	const struct xc_type *plain = xc_type_strip(type);
	if (plain->kind == XC_TYPE_ARRAY)
		return xc_ctype_derive(process, XC_TYPE_POINTER, plain->target);
	return plain->kind == XC_TYPE_FUNCTION ? xc_ctype_derive(process, XC_TYPE_POINTER, type) : type;
}

static const struct xc_type *parse_parameter(struct xc_cdef_parser *p)
{
	struct xc_cdef_specifiers specifiers;
	struct xc_cdef_declarator d;
	if (!xc_cdef_enter(p))
		return NULL;
	bool ok = xc_cdef_parse_specifiers(p, &specifiers) &&
		  xc_cdef_parse_declarator(p, specifiers.type, XC_CDEF_UNNAMED, &d) &&
		  xc_cdef_parse_attributes(p, &d.attributes);
	xc_cdef_leave(p);
	return ok ? passed(p->process, d.type) : NULL;
}

static bool parse_parameters(struct xc_cdef_parser *p, struct step *step)
{
	const struct xc_type *list[MAX_PARAMETERS] = {NULL};
	while (!xc_cdef_is(p, ')')) {
		step->variadic = xc_cdef_skip(p, XC_OP3('.', '.', '.'));
		if (step->variadic)
			break;
		if (step->count == MAX_PARAMETERS)
			return xc_cdef_fail(p, &p->token, XC_ERR_LIMIT, "more than %d parameters", MAX_PARAMETERS);
		if (!(list[step->count] = parse_parameter(p)))
			return false;
		step->count++;
		if (!xc_cdef_skip(p, ','))
			break;
	}
	step->prototyped = step->count > 0 || step->variadic;
	if (step->count == 1 && list[0]->kind == XC_TYPE_VOID)
		step->count = 0;
	step->parameters = xc_arena_alloc(xc_types_of(p->process)->arena, step->count * sizeof *list + 1);
	memcpy(step->parameters, list, step->count * sizeof *list);
	return xc_cdef_expect(p, ')', ")");
}

/* ---- [ count ] ---- */

static bool parse_dimension(struct xc_cdef_parser *p, struct step *step)
{
	while (xc_cdef_qualifier(p) || xc_cdef_is_word(p, "static")) /* of parameters: they become pointers */
		xc_cdef_next(p);
	step->known = !xc_cdef_is(p, ']');
	if (step->known && !xc_cdef_parse_count(p, xc_cdef_most(p->process), "the number of elements", &step->count))
		return false;
	return xc_cdef_expect(p, ']', "]");
}

/* ---- steps ---- */

static bool parse_suffixes(struct xc_cdef_parser *p, struct steps *s)
{
	for (;;) {
		struct step step = {.kind = xc_cdef_is(p, '[') ? XC_TYPE_ARRAY : XC_TYPE_FUNCTION, .spot = p->token};
		if (!xc_cdef_is(p, '[') && !xc_cdef_is(p, '('))
			return !p->err;
		xc_cdef_next(p);
		bool ok = step.kind == XC_TYPE_ARRAY ? parse_dimension(p, &step) : parse_parameters(p, &step);
		if (!ok || !add(p, s, &step))
			return false;
	}
}

static bool parse_steps(struct xc_cdef_parser *p, struct steps *s);

/* A name, or a declarator in parentheses; where a name is optional, `(` before a type or `)` starts the parameters
 * of a function. */
static bool parse_core(struct xc_cdef_parser *p, struct steps *s)
{
	if (xc_cdef_at_name(p)) {
		s->name = p->token;
		xc_cdef_next(p);
		return parse_suffixes(p, s);
	}
	if (!xc_cdef_is(p, '('))
		return parse_suffixes(p, s);
	struct step function = {.kind = XC_TYPE_FUNCTION, .spot = p->token};
	xc_cdef_next(p);
	bool nested = s->naming == XC_CDEF_NAMED || xc_cdef_at_attribute(p);
	if (!nested && (xc_cdef_is(p, ')') || xc_cdef_at_type(p)))
		return parse_parameters(p, &function) && add(p, s, &function) && parse_suffixes(p, s);
	return parse_steps(p, s) && xc_cdef_expect(p, ')', ")") && parse_suffixes(p, s);
}

/* Attributes of the pointer or the parentheses here; those for layout have no agreed meaning. */
static bool skip_attributes(struct xc_cdef_parser *p)
{
	struct xc_cdef_attributes attributes = {0};
	struct xc_cdef_token spot = p->token;
	if (!xc_cdef_parse_attributes(p, &attributes))
		return false;
	return (!attributes.packed && !attributes.last) ||
	       xc_cdef_fail(p, &spot, XC_ERR_UNSUPPORTED, "packed and aligned are not supported in this place");
}

/* * const */
static bool parse_star(struct xc_cdef_parser *p, unsigned *sets, size_t *count)
{
	unsigned one;
	if (*count == MAX_STEPS)
		return xc_cdef_fail(p, &p->token, XC_ERR_LIMIT, "more than %d stars", MAX_STEPS);
	sets[*count] = 0;
	do {
		xc_cdef_next(p);
		if (!skip_attributes(p))
			return false;
		sets[*count] |= one = xc_cdef_qualifier(p);
	} while (one);
	++*count;
	return true;
}

static bool parse_steps(struct xc_cdef_parser *p, struct steps *s)
{
	unsigned sets[MAX_STEPS]; /* of each star */
	size_t count = 0;
	if (!xc_cdef_enter(p))
		return false;
	bool ok = skip_attributes(p);
	while (ok && xc_cdef_is(p, '*'))
		ok = parse_star(p, sets, &count);
	ok = ok && parse_core(p, s);
	while (ok && count > 0)
		ok = add(p, s, &(struct step){.kind = XC_TYPE_POINTER, .set = sets[--count]});
	xc_cdef_leave(p);
	return ok && !p->err;
}

/* ---- types ---- */

static bool fail(struct xc_cdef_parser *p, const struct step *step, const struct xc_type *type, const char *what)
{
	return xc_cdef_fail(p, &step->spot, XC_ERR_FORMAT, "%s `%s`", what, xc_type_name(type));
}

/* gcc rejects arrays whose elements would not all be aligned. */
static bool check_element(struct xc_cdef_parser *p, const struct step *step, const struct xc_type *element)
{
	uint64_t size, alignment = xc_cdef_full_alignment(p->process, element);
	if (xc_type_strip(element)->kind == XC_TYPE_FUNCTION)
		return fail(p, step, element, "an array of functions:");
	if (!xc_type_size(element, &size))
		return fail(p, step, element, "an array of what is not complete:");
	if (size % alignment != 0)
		return fail(p, step, element, "in an array some elements would not be aligned:");
	if (size > 0 && step->count > xc_cdef_most(p->process) / size)
		return fail(p, step, element, "larger than any object: an array of");
	return true;
}

static const struct xc_type *apply(struct xc_cdef_parser *p, const struct step *step, const struct xc_type *type)
{
	const struct xc_process *process = p->process;
	enum xc_type_kind below = xc_type_strip(type)->kind;
	switch (step->kind) {
	case XC_TYPE_POINTER:
		return xc_cdef_qualify(process, xc_ctype_derive(process, XC_TYPE_POINTER, type), step->set);
	case XC_TYPE_ARRAY:
		if (!check_element(p, step, type))
			return NULL;
		return step->known ? xc_ctype_array(process, type, step->count) : xc_ctype_unbounded(process, type);
	default:
		if (below == XC_TYPE_ARRAY || below == XC_TYPE_FUNCTION) {
			fail(p, step, type, "a function cannot return");
			return NULL;
		}
		struct xc_type *function = (struct xc_type *)xc_ctype_function(process, type, step->parameters,
									       step->count, step->variadic); /* new */
		function->is_prototyped = step->prototyped;
		return function;
	}
}

bool xc_cdef_parse_declarator(struct xc_cdef_parser *p, const struct xc_type *base, enum xc_cdef_naming naming,
			      struct xc_cdef_declarator *out)
{
	struct steps s;
	s.count = 0;
	s.naming = naming;
	s.name = (struct xc_cdef_token){.kind = XC_TOKEN_END};
	*out = (struct xc_cdef_declarator){.type = base};
	if (!parse_steps(p, &s))
		return false;
	for (size_t i = s.count; i > 0; i--) {
		if (!(out->type = apply(p, &s.items[i - 1], out->type)))
			return false;
	}
	out->name = s.name;
	return true;
}

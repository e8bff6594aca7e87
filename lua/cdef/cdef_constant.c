/* cdef_constant: integer constant expressions (C11 6.6), computed while they are parsed. Operands of && || and ?:
 * that are not evaluated may divide by zero. */
#include "lua/cdef/cdef_impl.h"

static struct xc_cdef_value int_of(__int128 bits)
{
	return xc_cdef_fit(bits, 4, true);
}

static struct xc_cdef_value size_of(const struct xc_cdef_parser *p, uint64_t bytes)
{
	return xc_cdef_fit((__int128)bytes, p->process->arch->word, false);
}

/* Parsing passes down whether the value is used. */
struct reader {
	struct xc_cdef_parser *p;
	unsigned skipped; /* nested operands that are not evaluated */
};

static bool conditional(struct reader *r, struct xc_cdef_value *out);
static bool unary(struct reader *r, struct xc_cdef_value *out);

/* ---- primary ---- */

static bool literal(struct xc_cdef_parser *p, struct xc_cdef_value *out)
{
	struct xc_cexpr c = {.process = p->process,
			     .text = p->token.text,
			     .len = p->token.len,
			     .token = {.kind = p->token.kind, .len = p->token.len}};
	struct xc_value value;
	unsigned __int128 bits;
	bool read = xc_cexpr_literal(&c, &value);
	if (!read)
		xc_cdef_fail(p, &p->token, XC_ERR_FORMAT, "%s", c.err->message);
	xc_error_free(c.err);
	if (!read)
		return false;
	const struct xc_type *type = xc_type_strip(value.type);
	if (type->kind == XC_TYPE_FLOAT || !xc_value_load_wide(&value, &bits))
		return xc_cdef_fail(p, &p->token, XC_ERR_FORMAT, "only integers are constants here");
	*out = xc_cdef_fit((__int128)bits, type->size, type->is_signed);
	if (type->kind == XC_TYPE_CHAR && type->size == 1)
		*out = xc_cdef_promote(*out); /* in C 'a' is an int */
	xc_cdef_next(p);
	return !p->err;
}

static bool name(struct xc_cdef_parser *p, struct xc_cdef_value *out)
{
	struct xc_cdef_token word = p->token;
	const struct xc_cdef_name *found = xc_cdef_find(p->cdef, XC_CDEF_ORDINARY, word.text, word.len);
	bool truth = xc_cdef_is_word(p, "true");
	if (found && found->kind == XC_CDEF_CONSTANT)
		*out = found->value;
	else if (truth || xc_cdef_is_word(p, "false"))
		*out = int_of(truth);
	else if (!xc_cdef_at_name(p) || xc_cdef_at_type(p))
		return xc_cdef_unexpected(p, "a constant");
	else
		return xc_cdef_fail(p, &word, p->is_name ? XC_ERR_NOT_FOUND : XC_ERR_FORMAT,
				    "no constant `%.*s` is declared", (int)(word.len < 80 ? word.len : 80), word.text);
	xc_cdef_next(p);
	return !p->err;
}

/* ( type-name ) */
static const struct xc_type *sized_type(struct xc_cdef_parser *p, uint64_t *size_out)
{
	struct xc_cdef_token spot = p->token;
	const struct xc_type *type = xc_cdef_parse_type_name(p);
	if (!type || !xc_cdef_expect(p, ')', ")"))
		return NULL;
	if (xc_type_strip(type)->kind == XC_TYPE_FUNCTION || xc_type_strip(type)->kind == XC_TYPE_VOID)
		*size_out = 1; /* as gcc */
	else if (!xc_type_size(type, size_out)) {
		xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "`%s` is not complete", xc_type_name(type));
		return NULL;
	}
	return type;
}

/* sizeof(type), sizeof constant, _Alignof(type) */
static bool size(struct reader *r, bool of_alignment, struct xc_cdef_value *out)
{
	struct xc_cdef_parser *p = r->p;
	bool full = xc_cdef_is_word(p, "__alignof__") || xc_cdef_is_word(p, "__alignof");
	uint64_t bytes;
	xc_cdef_next(p);
	bool paren = xc_cdef_skip(p, '(');
	if (paren && xc_cdef_at_type(p)) {
		const struct xc_type *type = sized_type(p, &bytes);
		if (type && of_alignment)
			bytes = full ? xc_cdef_full_alignment(p->process, type) : xc_cdef_alignment(p->process, type);
		*out = size_of(p, type ? bytes : 0);
		return type != NULL;
	}
	if (of_alignment)
		return xc_cdef_unexpected(p, "a type");
	r->skipped++;
	bool ok = paren ? conditional(r, out) && xc_cdef_expect(p, ')', ")") : unary(r, out);
	r->skipped--;
	if (ok)
		*out = size_of(p, out->size);
	return ok;
}

/* ---- offsetof ---- */

static const struct xc_member *find_member(const struct xc_type *record, const struct xc_cdef_token *name,
					   uint64_t *offset, unsigned depth)
{
	size_t count;
	const struct xc_member *members = xc_type_members(record, &count), *found = NULL;
	for (size_t i = 0; i < count && depth < XC_CDEF_NESTING && !found; i++) {
		const struct xc_member *m = &members[i];
		uint64_t inner = 0;
		if (!m->name && !m->bit_size)
			found = find_member(xc_type_strip(m->type), name, &inner, depth + 1);
		else if (m->name && strncmp(m->name, name->text, name->len) == 0 && !m->name[name->len])
			found = m;
		if (found)
			*offset += m->offset + (found == m ? 0 : inner);
	}
	return found;
}

static const struct xc_type *step_to_member(struct xc_cdef_parser *p, const struct xc_type *type, uint64_t *offset)
{
	struct xc_cdef_token name = p->token;
	if (!xc_cdef_at_name(p)) {
		xc_cdef_unexpected(p, "the name of a member");
		return NULL;
	}
	const struct xc_member *member = find_member(xc_type_strip(type), &name, offset, 0);
	if (!member || member->bit_size) {
		xc_cdef_fail(p, &name, XC_ERR_FORMAT, member ? "`%.*s` is a bit-field" : "no member `%.*s`",
			     (int)(name.len < 80 ? name.len : 80), name.text);
		return NULL;
	}
	xc_cdef_next(p);
	return member->type;
}

static const struct xc_type *step_to_element(struct reader *r, const struct xc_type *type, uint64_t *offset)
{
	struct xc_cdef_parser *p = r->p;
	struct xc_cdef_token spot = p->token;
	struct xc_cdef_value index;
	uint64_t size, by;
	const struct xc_type *array = xc_type_strip(type);
	xc_cdef_next(p);
	if (!conditional(r, &index) || !xc_cdef_expect(p, ']', "]"))
		return NULL;
	if (array->kind != XC_TYPE_ARRAY || !xc_type_size(array->target, &size) || index.bits < 0 ||
	    index.bits > INT64_MAX || __builtin_mul_overflow((uint64_t)index.bits, size, &by) ||
	    __builtin_add_overflow(*offset, by, offset)) {
		xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "no such element");
		return NULL;
	}
	return array->target;
}

/* offsetof(type, a.b[2].c) */
static bool offset(struct reader *r, struct xc_cdef_value *out)
{
	struct xc_cdef_parser *p = r->p;
	uint64_t at = 0;
	xc_cdef_next(p);
	if (!xc_cdef_expect(p, '(', "("))
		return false;
	const struct xc_type *type = xc_cdef_parse_type_name(p);
	if (!type || !xc_cdef_expect(p, ',', "a comma"))
		return false;
	type = step_to_member(p, type, &at);
	while (type && !p->err) {
		if (xc_cdef_is(p, '['))
			type = step_to_element(r, type, &at);
		else if (xc_cdef_skip(p, '.'))
			type = step_to_member(p, type, &at);
		else
			break;
	}
	*out = size_of(p, at);
	return type && xc_cdef_expect(p, ')', ")");
}

/* ---- unary ---- */

static bool cast(struct reader *r, struct xc_cdef_value *out)
{
	struct xc_cdef_parser *p = r->p;
	struct xc_cdef_token spot = p->token;
	const struct xc_type *type = xc_cdef_parse_type_name(p);
	if (!type || !xc_cdef_expect(p, ')', ")") || !unary(r, out))
		return false;
	const struct xc_type *plain = xc_type_strip(type);
	if (plain->kind == XC_TYPE_BOOL)
		*out = xc_cdef_fit(out->bits != 0, 1, false);
	else if ((plain->kind == XC_TYPE_INT || plain->kind == XC_TYPE_CHAR || plain->kind == XC_TYPE_ENUM) &&
		 plain->size_known)
		*out = xc_cdef_fit(out->bits, plain->size, plain->is_signed);
	else
		return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "`%s` is not an integer type", xc_type_name(type));
	return true;
}

static bool parenthesis(struct reader *r, struct xc_cdef_value *out)
{
	xc_cdef_next(r->p);
	if (xc_cdef_at_type(r->p))
		return cast(r, out);
	return conditional(r, out) && xc_cdef_expect(r->p, ')', ")");
}

static bool primary(struct reader *r, struct xc_cdef_value *out)
{
	static const char *const alignments[] = {"_Alignof", "alignof", "__alignof__", "__alignof", NULL};
	struct xc_cdef_parser *p = r->p;
	if (p->token.kind == XC_TOKEN_NUMBER || p->token.kind == XC_TOKEN_CHAR)
		return literal(p, out);
	if (xc_cdef_is(p, '('))
		return parenthesis(r, out);
	if (xc_cdef_is_word(p, "sizeof"))
		return size(r, false, out);
	if (xc_cdef_is_among(p, alignments))
		return size(r, true, out);
	if (xc_cdef_is_word(p, "offsetof") || xc_cdef_is_word(p, "__builtin_offsetof"))
		return offset(r, out);
	return p->token.kind == XC_TOKEN_WORD ? name(p, out) : xc_cdef_unexpected(p, "a constant");
}

static bool operated(struct reader *r, unsigned op, struct xc_cdef_value *out)
{
	xc_cdef_next(r->p);
	if (!unary(r, out))
		return false;
	struct xc_cdef_value v = xc_cdef_promote(*out);
	if (op == '!')
		*out = int_of(v.bits == 0);
	else
		*out = xc_cdef_fit(op == '-'   ? (__int128)-(unsigned __int128)v.bits
				   : op == '~' ? ~v.bits
					       : v.bits,
				   v.size, v.is_signed);
	return true;
}

static bool unary(struct reader *r, struct xc_cdef_value *out)
{
	struct xc_cdef_parser *p = r->p;
	bool op = p->token.kind == XC_TOKEN_OPERATOR && p->token.op < 0x80 && strchr("+-~!", (int)p->token.op);
	if (!xc_cdef_enter(p))
		return false;
	bool ok = op ? operated(r, p->token.op, out) : primary(r, out);
	xc_cdef_leave(p);
	return ok;
}

/* ---- binary ---- */

static unsigned precedence(const struct xc_cdef_token *token)
{
	static const struct {
		unsigned op, level;
	} levels[] = {{'*', 10},
		      {'/', 10},
		      {'%', 10},
		      {'+', 9},
		      {'-', 9},
		      {XC_OP2('<', '<'), 8},
		      {XC_OP2('>', '>'), 8},
		      {'<', 7},
		      {'>', 7},
		      {XC_OP2('<', '='), 7},
		      {XC_OP2('>', '='), 7},
		      {XC_OP2('=', '='), 6},
		      {XC_OP2('!', '='), 6},
		      {'&', 5},
		      {'^', 4},
		      {'|', 3},
		      {XC_OP2('&', '&'), 2},
		      {XC_OP2('|', '|'), 1}};
	for (size_t i = 0; token->kind == XC_TOKEN_OPERATOR && i < XC_COUNT(levels); i++) {
		if (levels[i].op == token->op)
			return levels[i].level;
	}
	return 0;
}

static bool binary(struct reader *r, unsigned least, struct xc_cdef_value *out)
{
	struct xc_cdef_parser *p = r->p;
	unsigned level;
	if (!unary(r, out))
		return false;
	while ((level = precedence(&p->token)) >= least && level > 0) {
		struct xc_cdef_token op = p->token;
		struct xc_cdef_value right;
		bool truth = out->bits != 0, is_and = op.op == XC_OP2('&', '&'), is_or = op.op == XC_OP2('|', '|');
		unsigned skip = (is_and && !truth) || (is_or && truth);
		xc_cdef_next(p);
		r->skipped += skip;
		bool ok = binary(r, level + 1, &right);
		r->skipped -= skip;
		if (!ok)
			return false;
		const char *why = NULL;
		if (is_and || is_or)
			*out = int_of(is_and ? truth && right.bits != 0 : truth || right.bits != 0);
		else
			why = xc_cdef_operate(op.op, out, right);
		if (why && !r->skipped)
			return xc_cdef_fail(p, &op, XC_ERR_FORMAT, "%s", why);
	}
	return !p->err;
}

static bool choice(struct reader *r, struct xc_cdef_value *out)
{
	struct xc_cdef_value other;
	bool truth = out->bits != 0;
	r->skipped += !truth;
	bool ok = conditional(r, out) && xc_cdef_expect(r->p, ':', ":");
	r->skipped -= !truth;
	r->skipped += truth;
	ok = ok && conditional(r, &other);
	r->skipped -= truth;
	if (!ok)
		return false;
	xc_cdef_convert(out, &other);
	*out = truth ? *out : other;
	return true;
}

static bool conditional(struct reader *r, struct xc_cdef_value *out)
{
	if (!xc_cdef_enter(r->p))
		return false;
	bool ok = binary(r, 1, out) && (!xc_cdef_skip(r->p, '?') || choice(r, out));
	xc_cdef_leave(r->p);
	return ok && !r->p->err;
}

bool xc_cdef_parse_constant(struct xc_cdef_parser *p, struct xc_cdef_value *out)
{
	struct reader r = {.p = p};
	return conditional(&r, out);
}

bool xc_cdef_parse_count(struct xc_cdef_parser *p, uint64_t most, const char *what, uint64_t *out)
{
	struct xc_cdef_token spot = p->token;
	struct xc_cdef_value value;
	if (!xc_cdef_parse_constant(p, &value))
		return false;
	bool negative = value.is_signed && value.bits < 0;
	if (negative || (unsigned __int128)value.bits > most)
		return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "%s is %s", what, negative ? "negative" : "too large");
	*out = (uint64_t)value.bits;
	return true;
}

bool xc_cdef_parse_assert(struct xc_cdef_parser *p)
{
	struct xc_cdef_value value;
	struct xc_cdef_token message = {.len = 0};
	xc_cdef_next(p);
	struct xc_cdef_token spot = p->token;
	if (!xc_cdef_expect(p, '(', "("))
		return false;
	if (p->token.kind != XC_TOKEN_END)
		spot = p->token;
	if (!xc_cdef_parse_constant(p, &value))
		return false;
	if (xc_cdef_skip(p, ',')) {
		message = p->token;
		while (p->token.kind == XC_TOKEN_STRING)
			xc_cdef_next(p);
	}
	if (!xc_cdef_expect(p, ')', ")") || !xc_cdef_expect(p, ';', "a semicolon"))
		return false;
	if (value.bits == 0)
		return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "static_assert does not hold%s%.*s",
				    message.len ? ": " : "", (int)(message.len < 200 ? message.len : 200),
				    message.len ? message.text : "");
	return true;
}

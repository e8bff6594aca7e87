/* cexpr_eval: evaluates the tree in one walk. Values are lazy: `&a->b[3]` reads the pointer a and nothing else. In dry
 * mode (sizeof, the branch of ?: that is not taken) only types are computed, and numbers are zero. */
#include "dwarf/cexpr/cexpr_impl.h"

struct xc_error *xc_cexpr_unreadable(const struct xc_value *value)
{
	struct xc_error *err = xc_value_check(value);
	if (!err)
		return NULL;
	uint64_t size = xc_value_size(value);
	char start[32];
	snprintf(start, sizeof start, "0x%llx: ", (unsigned long long)value->addr);
	if (value->kind != XC_VALUE_MEMORY || size == 0)
		return err;
	const char *why = err->message;
	if (strncmp(why, start, strlen(start)) == 0)
		why += strlen(start);
	struct xc_error *out =
		xc_error_new(XC_ERR_FAULT, "cannot read %llu byte%s at 0x%llx: %s", (unsigned long long)size,
			     size == 1 ? "" : "s", (unsigned long long)value->addr, why);
	out->addr = err->addr;
	xc_error_free(err);
	return out;
}

struct xc_value xc_cexpr_int(struct xc_cexpr *c, enum xc_ctype type, uint64_t bits)
{
	return xc_value_small(c->process, xc_ctype(c->process, type), &bits, sizeof bits);
}

struct xc_value xc_cexpr_bool(struct xc_cexpr *c, bool truth)
{
	return xc_cexpr_int(c, c->is_c ? XC_C_INT : XC_C_BOOL, truth);
}

/* ---- spots ---- */

/* The columns of the first len bytes: UTF-8 continuation bytes take none. */
static size_t columns(const char *text, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

struct xc_error *xc_cexpr_point(const struct xc_cexpr *c, struct xc_error *err, size_t at, size_t len)
{
	enum { BEFORE = 60, BEHIND = 30, MARKS = 60 };
	if (err->lines)
		return err;
	size_t from = at > BEFORE ? at - BEFORE : 0, to = at + len + BEHIND < c->len ? at + len + BEHIND : c->len;
	size_t most = from + BEFORE + BEHIND + MARKS;
	to = to < most ? to : most;
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_text_printf(&text, "%s%.*s%s\n", from > 0 ? "..." : "", (int)(to - from), c->text + from,
		       to < c->len ? "..." : "");
	size_t spaces = columns(c->text + from, at - from) + (from > 0 ? 3 : 0), marks = columns(c->text + at, len);
	xc_text_printf(&text, "%*s^", (int)spaces, "");
	for (size_t i = 1; i < marks && i < MARKS; i++)
		xc_text_char(&text, '~');
	return xc_error_lines(err, xc_text_string(&text));
}

/* Add the name of the variable to an error about its value. */
static struct xc_error *name_it(struct xc_error *err, const struct xc_cnode *node)
{
	if (node->kind != XC_NODE_VALUE || !node->name)
		return err;
	if (err->code == XC_ERR_ABSENT) {
		struct xc_error *named =
			strcmp(err->message, "optimized out") == 0
				? xc_error_new(XC_ERR_ABSENT, "`%s` is optimized out", node->name)
				: xc_error_new(XC_ERR_ABSENT, "`%s` is not available: %s", node->name, err->message);
		xc_error_free(err);
		return named;
	}
	return err;
}

static struct xc_error *point_at(const struct xc_cexpr *c, struct xc_error *err, const struct xc_cnode *node)
{
	if (!err || err->lines)
		return err;
	return xc_cexpr_point(c, name_it(err, node), node->at, node->len);
}

/* ---- operands ---- */

static struct xc_error *evaluate(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out);

static bool is_reference(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_REFERENCE || type->kind == XC_TYPE_RVALUE_REFERENCE;
}

struct xc_error *xc_cexpr_operand(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_error *err = evaluate(c, node, out);
	if (!err && is_reference(out->type))
		err = xc_cexpr_deref(c, out, out);
	return point_at(c, err, node);
}

/* When an operator failed because an operand cannot be read, the error points to the operand. */
static struct xc_error *blame(struct xc_cexpr *c, struct xc_error *err, const struct xc_cnode *node,
			      const struct xc_value *a, const struct xc_value *b)
{
	if (err && !err->lines && (err->code == XC_ERR_ABSENT || err->code == XC_ERR_FAULT)) {
		struct xc_error *own = xc_value_check(a);
		bool first = own != NULL;
		xc_error_free(own);
		if (first || (b && node->b))
			return point_at(c, err, first ? node->a : node->b);
	}
	return point_at(c, err, node);
}

/* ---- operators ---- */

static struct xc_error *eval_unary(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_value a;
	struct xc_error *err;
	if (node->op == '&') { /* a reference: the address of its target */
		if ((err = xc_cexpr_operand(c, node->a, &a)))
			return err;
		return point_at(c, xc_cexpr_address(c, &a, out), node->a);
	}
	if ((err = xc_cexpr_operand(c, node->a, &a)))
		return err;
	err = node->op == '*' ? xc_cexpr_deref(c, &a, out) : xc_cexpr_unary(c, node->op, &a, out);
	return blame(c, err, node, &a, NULL);
}

/* && and ||: the second operand is evaluated only when the first does not decide. */
static struct xc_error *eval_logic(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	bool is_or = node->op == XC_OP2('|', '|'), truth;
	struct xc_value a;
	struct xc_error *err = xc_cexpr_operand(c, node->a, &a);
	if (!err)
		err = point_at(c, xc_cexpr_truth(c, &a, &truth), node->a);
	if (!err && truth != is_or) {
		err = xc_cexpr_operand(c, node->b, &a);
		if (!err)
			err = point_at(c, xc_cexpr_truth(c, &a, &truth), node->b);
	}
	if (!err)
		*out = xc_cexpr_bool(c, truth);
	return err;
}

static struct xc_error *member_pointer(struct xc_cexpr *c, const struct xc_value *object, const struct xc_value *member,
				       struct xc_value *out)
{
	const struct xc_type *type = xc_type_strip(member->type);
	struct xc_value at = *object;
	uint64_t offset;
	struct xc_error *err;
	if (type->kind != XC_TYPE_MEMBER_POINTER || xc_type_strip(type->target)->kind == XC_TYPE_FUNCTION)
		return xc_error_new(XC_ERR_USAGE, "`%s` is not a pointer to a data member", xc_type_name(member->type));
	if (xc_type_strip(at.type)->kind == XC_TYPE_POINTER && (err = xc_cexpr_deref(c, &at, &at)))
		return err;
	if ((err = xc_value_number(member, &offset)))
		return err;
	if (at.kind != XC_VALUE_MEMORY || offset == UINT64_MAX)
		return xc_error_new(XC_ERR_USAGE, offset == UINT64_MAX ? "a null pointer to a member"
								       : "the object is not in memory");
	*out = xc_value_memory(c->process, type->target, at.addr + offset);
	return NULL;
}

static struct xc_error *eval_binary(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_value a, b;
	struct xc_error *err;
	bool handled;
	if (node->op == XC_OP2('&', '&') || node->op == XC_OP2('|', '|'))
		return eval_logic(c, node, out);
	bool dry = c->dry;
	if ((err = xc_cexpr_operand(c, node->a, &a)))
		return err;
	c->dry = dry && node->op != '@'; /* its right side is part of the type */
	err = xc_cexpr_operand(c, node->b, &b);
	c->dry = dry;
	if (err)
		return err;
	if (node->op == ',') {
		*out = b;
		return NULL;
	}
	if (node->op == '@') {
		err = xc_cexpr_repeat(c, &a, &b, out);
	} else if (node->op == XC_OP2('.', '*') || node->op == XC_OP3('-', '>', '*')) {
		err = member_pointer(c, &a, &b, out);
	} else {
		err = xc_cexpr_pointer_binary(c, node->op, &a, &b, out, &handled);
		if (!err && !handled)
			err = xc_cexpr_binary(c, node->op, &a, &b, out);
	}
	return blame(c, err, node, &a, &b);
}

/* Both branches have a common type in C, so the other branch is evaluated for its type. */
static struct xc_error *eval_conditional(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_value condition, other, chosen;
	struct xc_cnumber number;
	bool truth;
	struct xc_error *err = xc_cexpr_operand(c, node->c, &condition);
	if (err || (err = point_at(c, xc_cexpr_truth(c, &condition, &truth), node->c)) ||
	    (err = xc_cexpr_operand(c, truth ? node->a : node->b, &chosen)))
		return err;
	*out = chosen;
	bool was_dry = c->dry;
	c->dry = true;
	err = xc_cexpr_operand(c, truth ? node->b : node->a, &other);
	c->dry = was_dry;
	const struct xc_type *type = err ? NULL : xc_cexpr_common_type(c, &chosen, &other);
	xc_error_free(err); /* errors in the branch that is not taken do not matter */
	if (!type)
		return NULL;
	err = xc_cexpr_number(c, &chosen, &number);
	if (!err)
		err = xc_cexpr_convert(c, &number, type, out);
	return point_at(c, err, truth ? node->a : node->b);
}

static uint64_t alignment(const struct xc_type *type, unsigned depth)
{
	size_t count;
	uint64_t most = 1;
	type = xc_type_strip(type);
	if (type->kind == XC_TYPE_ARRAY && depth < XC_TYPE_DEPTH)
		return alignment(type->target, depth + 1);
	if (type->kind != XC_TYPE_STRUCT && type->kind != XC_TYPE_CLASS && type->kind != XC_TYPE_UNION)
		return type->kind == XC_TYPE_COMPLEX ? type->size / 2 : type->size_known ? type->size : 1;
	const struct xc_member *members = xc_type_members(xc_type_complete(type), &count);
	for (size_t i = 0; i < count && depth < 16; i++) {
		uint64_t one = alignment(members[i].type, depth + 1);
		most = one > most ? one : most;
	}
	return most;
}

static struct xc_error *eval_size(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_value operand;
	uint64_t size;
	bool was_dry = c->dry;
	c->dry = true;
	struct xc_error *err = xc_cexpr_operand(c, node->a, &operand);
	c->dry = was_dry;
	if (err)
		return err;
	const struct xc_type *type = xc_type_strip(operand.type);
	if (xc_cexpr_is_untyped(c, operand.type))
		return point_at(c, xc_cexpr_untyped(), node->a);
	if (type->kind == XC_TYPE_VOID || type->kind == XC_TYPE_FUNCTION) /* as in GNU C */
		size = 1;
	else if (!xc_type_size(operand.type, &size))
		return xc_error_new(XC_ERR_NOT_FOUND, "the size of `%s` is not known", xc_type_name(operand.type));
	*out = xc_cexpr_int(c, XC_C_ULONG, node->kind == XC_NODE_ALIGNOF ? alignment(type, 0) : size);
	return NULL;
}

static struct xc_error *eval_at(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_value where;
	struct xc_cnumber number;
	struct xc_error *err = xc_cexpr_operand(c, node->a, &where);
	if (err || (err = point_at(c, xc_cexpr_number(c, &where, &number), node->a)))
		return err;
	if (number.is_real)
		return point_at(c, xc_error_new(XC_ERR_USAGE, "expected an address"), node->a);
	*out = xc_value_memory(c->process, node->type, (uint64_t)number.bits);
	return NULL;
}

static struct xc_error *eval_index(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_value a, b;
	struct xc_error *err = xc_cexpr_operand(c, node->a, &a);
	if (err || (err = xc_cexpr_operand(c, node->b, &b)))
		return err;
	return blame(c, xc_cexpr_index(c, &a, &b, out), node, &a, &b);
}

static struct xc_error *eval_member(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_value a;
	struct xc_error *err = xc_cexpr_operand(c, node->a, &a);
	if (err)
		return err;
	err = xc_cexpr_member(c, &a, node->name, out);
	bool object = err && (err->code == XC_ERR_ABSENT || err->code == XC_ERR_FAULT);
	return point_at(c, err, object ? node->a : node);
}

static struct xc_error *eval_cast(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	struct xc_value a;
	struct xc_error *err = xc_cexpr_operand(c, node->a, &a);
	if (err)
		return err;
	return blame(c, xc_cexpr_cast(c, &a, node->type, node->kind == XC_NODE_CAST, out), node, &a, NULL);
}

static struct xc_error *dispatch(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	switch (node->kind) {
	case XC_NODE_VALUE:
		*out = node->value;
		c->guessed |= out->guessed && !c->dry;
		return NULL;
	case XC_NODE_MEMBER:
		return eval_member(c, node, out);
	case XC_NODE_INDEX:
		return eval_index(c, node, out);
	case XC_NODE_UNARY:
		return eval_unary(c, node, out);
	case XC_NODE_BINARY:
		return eval_binary(c, node, out);
	case XC_NODE_CONDITIONAL:
		return eval_conditional(c, node, out);
	case XC_NODE_CAST:
	case XC_NODE_REINTERPRET:
		return eval_cast(c, node, out);
	case XC_NODE_AT:
		return eval_at(c, node, out);
	case XC_NODE_SIZEOF:
	case XC_NODE_ALIGNOF:
		return eval_size(c, node, out);
	}
	return NULL;
}

static struct xc_error *evaluate(struct xc_cexpr *c, const struct xc_cnode *node, struct xc_value *out)
{
	return point_at(c, dispatch(c, node, out), node);
}

/* ---- the whole ---- */

static bool language_is_c(const struct xc_frame_scope *s)
{
	if (!s->has_frame || s->place->level_count == 0)
		return true;
	Dwarf_Die function = s->place->levels[s->place->level_count - 1].die;
	return xc_type_get(xc_types_of(s->process), &function)->is_c;
}

static struct xc_error *start(struct xc_cexpr *c, const struct xc_frame_scope *scope, const char *text,
			      struct xc_arena *arena)
{
	*c = (struct xc_cexpr){.scope = scope,
			       .process = scope->process,
			       .arena = arena,
			       .text = text,
			       .len = strnlen(text, XC_CEXPR_LENGTH + 1)};
	if (c->len > XC_CEXPR_LENGTH)
		return xc_error_new(XC_ERR_LIMIT, "an expression of more than %d bytes", XC_CEXPR_LENGTH);
	c->is_c = language_is_c(scope);
	xc_cexpr_lex(c, 0);
	return NULL;
}

static bool whole_or_part(const struct xc_value *value)
{
	uint64_t size = xc_value_size(value);
	uint8_t byte;
	if (value->kind != XC_VALUE_MEMORY || size == 0 || xc_type_strip(value->type)->kind == XC_TYPE_FUNCTION)
		return true;
	if (size <= 16 || value->bit_size > 0) {
		struct xc_error *err = xc_value_check(value);
		bool readable = !err;
		xc_error_free(err);
		return readable;
	}
	return xc_value_peek(value, 0, &byte, 1) || xc_value_peek(value, size - 1, &byte, 1);
}

struct xc_error *xc_cexpr_value(const struct xc_frame_scope *scope, const char *text, struct xc_arena *arena,
				struct xc_value *out)
{
	struct xc_cexpr c;
	struct xc_value value;
	struct xc_error *err = start(&c, scope, text, arena);
	if (err)
		return err;
	const struct xc_cnode *node = xc_cexpr_parse(&c);
	if (!node)
		return c.err;
	if ((err = evaluate(&c, node, &value)))
		return err;
	if (xc_cexpr_is_untyped(&c, value.type))
		return point_at(&c, xc_cexpr_untyped(), node);
	if (!whole_or_part(&value))
		return point_at(&c, xc_cexpr_unreadable(&value), node);
	*out = value;
	out->guessed |= c.guessed; /* a value computed from a guess is a guess */
	return NULL;
}

struct xc_error *xc_cexpr_body(struct xc_cexpr *outer, const char *text, struct xc_value *out)
{
	struct xc_cexpr c;
	struct xc_error *err = start(&c, outer->scope, text, outer->arena);
	if (err)
		return err;
	c.macros = outer->macros + 1;
	c.names = outer->names;
	c.dry = outer->dry;
	const struct xc_cnode *node = xc_cexpr_parse(&c);
	outer->names = c.names;
	return node ? evaluate(&c, node, out) : c.err;
}

struct xc_error *xc_cexpr_type(const struct xc_frame_scope *scope, const char *text, struct xc_arena *arena,
			       const struct xc_type **type_out, bool *named_out)
{
	struct xc_cexpr c;
	struct xc_value value;
	struct xc_error *err = start(&c, scope, text, arena);
	if (err)
		return err;
	const struct xc_type *type = xc_cexpr_parse_type(&c);
	bool named = type && c.token.kind == XC_TOKEN_END;
	if (!type && c.err)
		return c.err;
	if (!named) {
		xc_cexpr_forget(&c);
		xc_cexpr_lex(&c, 0);
		const struct xc_cnode *node = xc_cexpr_parse(&c);
		if (!node)
			return c.err;
		c.dry = true;
		if ((err = evaluate(&c, node, &value)))
			return err;
		type = value.type;
	}
	*type_out = type;
	if (named_out)
		*named_out = named;
	return NULL;
}

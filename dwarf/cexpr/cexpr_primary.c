/* cexpr_primary: primary and postfix expressions: names, constants, registers, parentheses, members and indexes. The
 * grammar is in cexpr_parse.c. */
#include "dwarf/cexpr/cexpr_impl.h"

/* ---- primaries ---- */

struct xc_cnode *xc_cexpr_parse_cast_to(struct xc_cexpr *c, enum xc_cnode_kind kind, const struct xc_ctoken *spot,
					const struct xc_type *type)
{
	struct xc_cnode *operand = xc_cexpr_parse_unary(c);
	struct xc_cnode *node = operand ? xc_cexpr_new_node(c, kind, spot, operand, NULL) : NULL;
	if (node)
		node->type = type;
	return node;
}

/* T(x), a cast in C++. */
static struct xc_cnode *parse_functional_cast(struct xc_cexpr *c, const struct xc_ctoken *spot,
					      const struct xc_type *type)
{
	if (!xc_cexpr_is(c, '('))
		return xc_cexpr_fail(
			c, spot->at, spot->len,
			xc_error_hint(xc_error_new(XC_ERR_USAGE, "`%.*s` is a type, not a value", (int)spot->len,
						   c->text + spot->at),
				      "sizeof(TYPE), (TYPE)value and {TYPE}address take types; ptype shows them"));
	return xc_cexpr_parse_cast_to(c, XC_NODE_CAST, spot, type);
}

static struct xc_cnode *parse_name(struct xc_cexpr *c)
{
	struct xc_cname name;
	struct xc_value value;
	const struct xc_type *type;
	struct xc_ctoken spot = c->token;
	enum xc_cfound found = xc_cexpr_parse_name(c, 0, &name, &value, &type);
	if (c->err)
		return NULL;
	spot.len = name.len;
	if (found == XC_FOUND_TYPE)
		return parse_functional_cast(c, &spot, type);
	if (found == XC_FOUND_NOTHING)
		return xc_cexpr_fail(c, spot.at, spot.len, xc_cexpr_unknown(c, &name));
	struct xc_cnode *node = xc_cexpr_value_node(c, &spot, &value);
	if (node)
		node->name = xc_arena_strndup(c->arena, c->text + name.at, name.len);
	return node;
}

/* static_cast<T>(x), const_cast, reinterpret_cast. */
static struct xc_cnode *parse_named_cast(struct xc_cexpr *c)
{
	struct xc_ctoken spot = c->token;
	enum xc_cnode_kind kind = xc_cexpr_is_word(c, "reinterpret_cast") ? XC_NODE_REINTERPRET : XC_NODE_CAST;
	xc_cexpr_next(c);
	if (!xc_cexpr_expect(c, '<', "<"))
		return NULL;
	const struct xc_type *type = xc_cexpr_parse_type(c);
	if (!type)
		return c->err ? NULL : xc_cexpr_unexpected(c, "a type");
	if (!xc_cexpr_expect(c, '>', ">"))
		return NULL;
	if (!xc_cexpr_is(c, '('))
		return xc_cexpr_unexpected(c, "(");
	return xc_cexpr_parse_cast_to(c, kind, &spot, type);
}

static struct xc_cnode *parse_word(struct xc_cexpr *c)
{
	static const char *const casts[] = {"static_cast", "reinterpret_cast", "const_cast", NULL};
	struct xc_ctoken spot = c->token;
	struct xc_value value;
	for (size_t i = 0; casts[i]; i++) {
		if (xc_cexpr_is_word(c, casts[i]))
			return parse_named_cast(c);
	}
	bool is_true = xc_cexpr_is_word(c, "true");
	if ((is_true || xc_cexpr_is_word(c, "false")) && !c->is_c) {
		value = xc_cexpr_bool(c, is_true);
		xc_cexpr_next(c);
		return xc_cexpr_value_node(c, &spot, &value);
	}
	if (xc_cexpr_is_word(c, "nullptr")) {
		value = xc_cexpr_int(c, XC_C_ULONG, 0);
		value.type = xc_ctype_derive(c->process, XC_TYPE_POINTER, xc_ctype(c->process, XC_C_VOID));
		xc_cexpr_next(c);
		return xc_cexpr_value_node(c, &spot, &value);
	}
	bool tagged = xc_cexpr_is_word(c, "struct") || xc_cexpr_is_word(c, "class") || xc_cexpr_is_word(c, "union") ||
		      xc_cexpr_is_word(c, "enum");
	const struct xc_type *type = tagged ? xc_cexpr_parse_type(c) : xc_cexpr_parse_base(c);
	if (c->err)
		return NULL;
	if (tagged && type)
		spot.len = c->token.at - spot.at;
	return type ? parse_functional_cast(c, &spot, type) : parse_name(c);
}

static struct xc_cnode *parse_register(struct xc_cexpr *c)
{
	struct xc_ctoken spot = c->token;
	const char *name = xc_arena_strndup(c->arena, c->text + spot.at + 1, spot.len - 1);
	struct xc_value value;
	struct xc_error *err = xc_cexpr_register(c, name, &value);
	if (err)
		return xc_cexpr_fail(c, spot.at, spot.len, err);
	xc_cexpr_next(c);
	struct xc_cnode *node = xc_cexpr_value_node(c, &spot, &value);
	if (node)
		node->name = xc_arena_strndup(c->arena, c->text + spot.at, spot.len);
	return node;
}

static struct xc_cnode *parse_literal(struct xc_cexpr *c)
{
	struct xc_ctoken spot = c->token;
	struct xc_value value;
	if (!xc_cexpr_literal(c, &value))
		return NULL;
	xc_cexpr_next(c);
	return xc_cexpr_value_node(c, &spot, &value);
}

static struct xc_cnode *parse_primary(struct xc_cexpr *c)
{
	struct xc_cnode *inner;
	switch (c->token.kind) {
	case XC_TOKEN_NUMBER:
	case XC_TOKEN_CHAR:
	case XC_TOKEN_STRING:
		return parse_literal(c);
	case XC_TOKEN_REGISTER:
		return parse_register(c);
	case XC_TOKEN_WORD:
		return parse_word(c);
	case XC_TOKEN_QUOTED:
		return parse_name(c);
	default:
		break;
	}
	if (xc_cexpr_is(c, XC_OP2(':', ':')))
		return parse_name(c);
	if (!xc_cexpr_is(c, '('))
		return xc_cexpr_unexpected(c, "a value");
	xc_cexpr_next(c);
	inner = xc_cexpr_parse_expression(c);
	return inner && xc_cexpr_expect(c, ')', ")") ? inner : NULL;
}

/* ---- postfix ---- */

static void *no_calls(struct xc_cexpr *c)
{
	return xc_cexpr_fail(c, c->token.at, c->token.len,
			     xc_error_hint(xc_error_new(XC_ERR_UNSUPPORTED, "functions cannot be called here"),
					   "xcore only reads the target; it never runs its code"));
}

/* The name after . or ->; a qualified one (a.Base::x) as a whole. Fields of Rust tuples are numbers: t.0 */
static struct xc_cnode *parse_member(struct xc_cexpr *c, struct xc_cnode *object)
{
	struct xc_ctoken spot = c->token;
	size_t end = spot.at + spot.len;
	if (spot.kind == XC_TOKEN_NUMBER)
		end = spot.at + strspn(c->text + spot.at, "0123456789");
	else if (spot.kind != XC_TOKEN_WORD)
		return xc_cexpr_unexpected(c, "the name of a member");
	xc_cexpr_lex(c, end);
	while (spot.kind == XC_TOKEN_WORD && xc_cexpr_is(c, XC_OP2(':', ':'))) {
		xc_cexpr_next(c);
		if (c->token.kind != XC_TOKEN_WORD)
			return xc_cexpr_unexpected(c, "the name of a member");
		end = c->token.at + c->token.len;
		xc_cexpr_next(c);
	}
	spot.len = end - spot.at;
	struct xc_cnode *node = xc_cexpr_new_node(c, XC_NODE_MEMBER, &spot, object, NULL);
	if (node)
		node->name = spot.kind == XC_TOKEN_NUMBER
				     ? xc_arena_printf(c->arena, "__%.*s", (int)spot.len, c->text + spot.at)
				     : xc_arena_strndup(c->arena, c->text + spot.at, spot.len);
	return node;
}

static struct xc_cnode *parse_index(struct xc_cexpr *c, struct xc_cnode *object)
{
	struct xc_ctoken spot = c->token;
	xc_cexpr_next(c);
	struct xc_cnode *index = xc_cexpr_parse_expression(c);
	size_t end = c->token.at + c->token.len;
	if (!index || !xc_cexpr_expect(c, ']', "]"))
		return NULL;
	spot.len = end - spot.at;
	return xc_cexpr_new_node(c, XC_NODE_INDEX, &spot, object, index);
}

struct xc_cnode *xc_cexpr_parse_postfix(struct xc_cexpr *c)
{
	struct xc_cnode *node = parse_primary(c);
	while (node) {
		const struct xc_ctoken *t = &c->token;
		if (xc_cexpr_is(c, '[')) {
			node = parse_index(c, node);
		} else if (xc_cexpr_is(c, '.') || xc_cexpr_is(c, XC_OP2('-', '>'))) {
			xc_cexpr_next(c);
			node = parse_member(c, node);
		} else if (t->kind == XC_TOKEN_NUMBER && c->text[t->at] == '.') { /* .0 has the syntax of a float */
			xc_cexpr_lex(c, t->at + 1);
			node = parse_member(c, node);
		} else if (xc_cexpr_is(c, '(')) {
			return no_calls(c);
		} else {
			break;
		}
	}
	return node;
}

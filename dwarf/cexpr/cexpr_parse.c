/* cexpr_parse: the grammar, by precedence climbing.
 *
 *	expression  = binary { "," binary }
 *	binary      = unary { operator unary }            by the table below; ?: is between || and =
 *	unary       = ("-" "+" "!" "~" "*" "&") unary | "(" type ")" unary | "{" type "}" unary
 *	            | "sizeof" (unary | "(" type ")") | "alignof" … | postfix
 *	postfix     = primary { "." name | "->" name | "[" expression "]" }
 *	primary     = constant | $register | name | "(" expression ")" | *_cast "<" type ">" "(" expression ")"
 *
 * Recursion is bounded by c->nesting, and the height of the tree by node->height, since evaluation recurses too. */
#include "dwarf/cexpr/cexpr_impl.h"

enum { COMMA = 1, ASSIGN, CONDITION, LOWEST_BINARY };

void *xc_cexpr_fail(struct xc_cexpr *c, size_t at, size_t len, struct xc_error *err)
{
	if (c->err)
		xc_error_free(err);
	else
		c->err = xc_cexpr_point(c, err, at, len);
	return NULL;
}

void xc_cexpr_forget(struct xc_cexpr *c)
{
	xc_error_free(c->err);
	c->err = NULL;
}

void *xc_cexpr_unexpected(struct xc_cexpr *c, const char *wanted)
{
	const struct xc_ctoken *t = &c->token;
	struct xc_error *err;
	if (t->kind == XC_TOKEN_END)
		err = xc_error_new(XC_ERR_FORMAT, "expected %s, but the expression ends", wanted);
	else if (t->kind == XC_TOKEN_WRONG && strchr("\"'", c->text[t->at]))
		err = xc_error_new(XC_ERR_FORMAT, "a quote without its end");
	else
		err = xc_error_new(XC_ERR_FORMAT, "expected %s, found `%.*s`", wanted, (int)(t->len < 40 ? t->len : 40),
				   c->text + t->at);
	return xc_cexpr_fail(c, t->at, t->len, err);
}

bool xc_cexpr_expect(struct xc_cexpr *c, unsigned op, const char *name)
{
	if (!xc_cexpr_is(c, op)) {
		xc_cexpr_unexpected(c, name);
		return false;
	}
	xc_cexpr_next(c);
	return true;
}

struct xc_cnode *xc_cexpr_new_node(struct xc_cexpr *c, enum xc_cnode_kind kind, const struct xc_ctoken *spot,
				   struct xc_cnode *a, struct xc_cnode *b)
{
	struct xc_cnode *node = xc_arena_alloc(c->arena, sizeof *node);
	node->kind = kind;
	node->at = spot->at;
	node->len = spot->len;
	node->op = spot->op;
	node->a = a;
	node->b = b;
	node->height = 1 + (a ? a->height : 0);
	if (b && b->height >= node->height)
		node->height = b->height + 1;
	if (node->height > XC_CEXPR_HEIGHT)
		return xc_cexpr_fail(c, spot->at, spot->len,
				     xc_error_new(XC_ERR_LIMIT, "more than %d operators in a row", XC_CEXPR_HEIGHT));
	return node;
}

static bool deeper(struct xc_cexpr *c)
{
	if (c->nesting++ < XC_CEXPR_NESTING)
		return true;
	xc_cexpr_fail(c, c->token.at, c->token.len,
		      xc_error_new(XC_ERR_LIMIT, "nested more than %d deep", XC_CEXPR_NESTING));
	return false;
}

struct xc_cnode *xc_cexpr_value_node(struct xc_cexpr *c, const struct xc_ctoken *spot, const struct xc_value *value)
{
	struct xc_cnode *node = xc_cexpr_new_node(c, XC_NODE_VALUE, spot, NULL, NULL);
	if (node)
		node->value = *value;
	return node;
}

/* ---- unary ---- */

static bool at_size_word(const struct xc_cexpr *c, enum xc_cnode_kind *kind_out)
{
	bool size = xc_cexpr_is_word(c, "sizeof");
	*kind_out = size ? XC_NODE_SIZEOF : XC_NODE_ALIGNOF;
	return size || xc_cexpr_is_word(c, "alignof") || xc_cexpr_is_word(c, "_Alignof");
}

/* sizeof x, sizeof(type): the operand is a value of the type, which is never read. */
static struct xc_cnode *parse_size(struct xc_cexpr *c, enum xc_cnode_kind kind)
{
	struct xc_ctoken spot = c->token, open;
	xc_cexpr_next(c);
	open = c->token;
	const struct xc_type *type = NULL;
	if (xc_cexpr_is(c, '(')) {
		xc_cexpr_next(c);
		type = xc_cexpr_parse_type(c);
		if (c->err || (type && !xc_cexpr_expect(c, ')', ")")))
			return NULL;
	}
	struct xc_cnode *operand;
	if (type) {
		struct xc_value value = xc_value_absent(c->process, type, "a type");
		operand = xc_cexpr_value_node(c, &open, &value);
	} else {
		xc_cexpr_lex(c, open.at);
		operand = xc_cexpr_parse_unary(c);
	}
	return operand ? xc_cexpr_new_node(c, kind, &spot, operand, NULL) : NULL;
}

/* (type) x; NULL without an error when the parenthesis is not followed by a type. */
static struct xc_cnode *parse_cast(struct xc_cexpr *c)
{
	struct xc_ctoken spot = c->token;
	xc_cexpr_next(c);
	const struct xc_type *type = xc_cexpr_parse_type(c);
	if (c->err)
		return NULL;
	if (!type || !xc_cexpr_is(c, ')')) { /* T(x) + 1 in parentheses */
		xc_cexpr_lex(c, spot.at);
		return NULL;
	}
	spot.len = c->token.at + c->token.len - spot.at;
	xc_cexpr_next(c);
	if (xc_cexpr_is(c, '{'))
		return xc_cexpr_fail(c, c->token.at, 1,
				     xc_error_new(XC_ERR_UNSUPPORTED, "compound literals are not supported"));
	return xc_cexpr_parse_cast_to(c, XC_NODE_CAST, &spot, type);
}

/* {type} address */
static struct xc_cnode *parse_at(struct xc_cexpr *c)
{
	struct xc_ctoken spot = c->token;
	xc_cexpr_next(c);
	const struct xc_type *type = xc_cexpr_parse_type(c);
	if (!type)
		return c->err ? NULL : xc_cexpr_unexpected(c, "a type");
	spot.len = c->token.at + c->token.len - spot.at;
	return xc_cexpr_expect(c, '}', "}") ? xc_cexpr_parse_cast_to(c, XC_NODE_AT, &spot, type) : NULL;
}

static void *no_writes(struct xc_cexpr *c)
{
	return xc_cexpr_fail(c, c->token.at, c->token.len,
			     xc_error_hint(xc_error_new(XC_ERR_UNSUPPORTED, "nothing can be assigned here"),
					   "the target is only read; == compares"));
}

static struct xc_cnode *parse_operator(struct xc_cexpr *c)
{
	struct xc_ctoken spot = c->token;
	enum xc_cnode_kind kind;
	if (at_size_word(c, &kind))
		return parse_size(c, kind);
	if (spot.kind != XC_TOKEN_OPERATOR)
		return xc_cexpr_parse_postfix(c);
	if (spot.op == '{')
		return parse_at(c);
	if (spot.op == '(') {
		struct xc_cnode *cast = parse_cast(c);
		return cast || c->err ? cast : xc_cexpr_parse_postfix(c);
	}
	if (spot.op == XC_OP2('+', '+') || spot.op == XC_OP2('-', '-'))
		return no_writes(c);
	if (!strchr("-+!~*&", (int)spot.op) || spot.op > 0x7f || spot.op == 0)
		return xc_cexpr_parse_postfix(c);
	xc_cexpr_next(c);
	struct xc_cnode *operand = xc_cexpr_parse_unary(c);
	return operand ? xc_cexpr_new_node(c, XC_NODE_UNARY, &spot, operand, NULL) : NULL;
}

struct xc_cnode *xc_cexpr_parse_unary(struct xc_cexpr *c)
{
	if (!deeper(c))
		return NULL;
	struct xc_cnode *node = parse_operator(c);
	c->nesting--;
	return node;
}

/* ---- binary ---- */

static unsigned precedence(const struct xc_cexpr *c)
{
	if (c->token.kind != XC_TOKEN_OPERATOR)
		return 0;
	switch (c->token.op) {
	case ',':
		return COMMA;
	case '=':
	case XC_OP2('+', '='):
	case XC_OP2('-', '='):
	case XC_OP2('*', '='):
	case XC_OP2('/', '='):
	case XC_OP2('%', '='):
	case XC_OP2('&', '='):
	case XC_OP2('|', '='):
	case XC_OP2('^', '='):
	case XC_OP3('<', '<', '='):
	case XC_OP3('>', '>', '='):
	case XC_OP2('+', '+'):
	case XC_OP2('-', '-'):
		return ASSIGN;
	case '?':
		return CONDITION;
	case XC_OP2('|', '|'):
		return LOWEST_BINARY;
	case XC_OP2('&', '&'):
		return LOWEST_BINARY + 1;
	case '|':
		return LOWEST_BINARY + 2;
	case '^':
		return LOWEST_BINARY + 3;
	case '&':
		return LOWEST_BINARY + 4;
	case XC_OP2('=', '='):
	case XC_OP2('!', '='):
		return LOWEST_BINARY + 5;
	case '<':
	case '>':
	case XC_OP2('<', '='):
	case XC_OP2('>', '='):
		return LOWEST_BINARY + 6;
	case XC_OP2('<', '<'):
	case XC_OP2('>', '>'):
		return LOWEST_BINARY + 7;
	case '@': /* the precedence of gdb */
		return LOWEST_BINARY + 8;
	case '+':
	case '-':
		return LOWEST_BINARY + 9;
	case '*':
	case '/':
	case '%':
		return LOWEST_BINARY + 10;
	case XC_OP2('.', '*'):
	case XC_OP3('-', '>', '*'):
		return LOWEST_BINARY + 11;
	default:
		return 0;
	}
}

static struct xc_cnode *parse_binary(struct xc_cexpr *c, unsigned least)
{
	struct xc_cnode *left = deeper(c) ? xc_cexpr_parse_unary(c) : NULL;
	while (left) {
		struct xc_ctoken spot = c->token;
		unsigned level = precedence(c);
		if (level < least || level < LOWEST_BINARY)
			break;
		xc_cexpr_next(c);
		struct xc_cnode *right = parse_binary(c, level + 1);
		left = right ? xc_cexpr_new_node(c, XC_NODE_BINARY, &spot, left, right) : NULL;
	}
	c->nesting--;
	return left;
}

struct xc_cnode *xc_cexpr_parse_conditional(struct xc_cexpr *c)
{
	struct xc_cnode *condition = deeper(c) ? parse_binary(c, LOWEST_BINARY) : NULL;
	struct xc_cnode *node = condition;
	if (condition && precedence(c) == ASSIGN)
		node = no_writes(c);
	if (condition && xc_cexpr_is(c, '?')) {
		struct xc_ctoken spot = c->token;
		xc_cexpr_next(c);
		struct xc_cnode *yes = xc_cexpr_parse_expression(c);
		struct xc_cnode *no = yes && xc_cexpr_expect(c, ':', ":") ? xc_cexpr_parse_conditional(c) : NULL;
		node = no ? xc_cexpr_new_node(c, XC_NODE_CONDITIONAL, &spot, yes, no) : NULL;
		if (node) {
			node->c = condition;
			node->height += condition->height;
		}
	}
	c->nesting--;
	return node;
}

struct xc_cnode *xc_cexpr_parse_expression(struct xc_cexpr *c)
{
	struct xc_cnode *left = xc_cexpr_parse_conditional(c);
	while (left && xc_cexpr_is(c, ',')) {
		struct xc_ctoken spot = c->token;
		xc_cexpr_next(c);
		struct xc_cnode *right = xc_cexpr_parse_conditional(c);
		left = right ? xc_cexpr_new_node(c, XC_NODE_BINARY, &spot, left, right) : NULL;
	}
	return left;
}

struct xc_cnode *xc_cexpr_parse(struct xc_cexpr *c)
{
	struct xc_cnode *node = xc_cexpr_parse_expression(c);
	if (node && c->token.kind != XC_TOKEN_END)
		return xc_cexpr_unexpected(c, "the end or an operator");
	return node;
}

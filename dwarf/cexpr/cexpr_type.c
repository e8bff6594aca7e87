/* cexpr_type: type names: specifiers and an abstract declarator.
 *
 *	unsigned long      struct foo *const *      char (*(*)(int))[5]      ns::C<int> const &      int ns::C::*
 *
 * A declarator is parsed from the inside out: `*` and qualifiers first, then the part after the parentheses, then the
 * part in them. So the lexer moves past the closing parenthesis and comes back. */
#include <dwarf.h>

#include "dwarf/cexpr/cexpr_impl.h"

enum { MAX_PARAMETERS = 64, MAX_ARRAY = 1 << 30 };

/* ---- keywords of C ---- */

struct words {
	unsigned is_signed, is_unsigned, is_short, longs, is_int, is_char, is_float, is_double, is_int128, is_complex;
	const struct xc_type *whole; /* void, bool, …: not combined with others */
};

static bool take_plain(struct xc_cexpr *c, struct words *w)
{
	struct {
		const char *word;
		unsigned *count;
	} plain[] = {
		{"signed", &w->is_signed},     {"unsigned", &w->is_unsigned}, {"short", &w->is_short},
		{"long", &w->longs},           {"int", &w->is_int},           {"char", &w->is_char},
		{"float", &w->is_float},       {"double", &w->is_double},     {"__int128", &w->is_int128},
		{"__signed__", &w->is_signed}, {"_Complex", &w->is_complex},
	};
	for (size_t i = 0; i < XC_COUNT(plain); i++) {
		if (xc_cexpr_is_word(c, plain[i].word)) {
			++*plain[i].count;
			return true;
		}
	}
	return false;
}

static bool take_whole(struct xc_cexpr *c, struct words *w)
{
	static const struct {
		const char *word;
		enum xc_ctype type;
	} whole[] = {{"void", XC_C_VOID},
		     {"_Bool", XC_C_BOOL},
		     {"_Float16", XC_C_FLOAT16},
		     {"_Float128", XC_C_FLOAT128},
		     {"__float128", XC_C_FLOAT128}};
	for (size_t i = 0; i < XC_COUNT(whole); i++) {
		if (!w->whole && xc_cexpr_is_word(c, whole[i].word)) {
			w->whole = xc_ctype(c->process, whole[i].type);
			return true;
		}
	}
	return false;
}

static const struct xc_type *integer_of(struct xc_cexpr *c, const struct words *w)
{
	bool is_unsigned = w->is_unsigned > 0;
	if (w->is_int128)
		return xc_ctype(c->process, is_unsigned ? XC_C_UINT128 : XC_C_INT128);
	if (w->is_char)
		return xc_ctype(c->process, is_unsigned ? XC_C_UCHAR : w->is_signed ? XC_C_SCHAR : XC_C_CHAR);
	if (w->is_short)
		return xc_ctype(c->process, is_unsigned ? XC_C_USHORT : XC_C_SHORT);
	if (w->longs == 1)
		return xc_ctype(c->process, is_unsigned ? XC_C_ULONG : XC_C_LONG);
	if (w->longs > 1)
		return xc_ctype(c->process, is_unsigned ? XC_C_ULLONG : XC_C_LLONG);
	return xc_ctype(c->process, is_unsigned ? XC_C_UINT : XC_C_INT);
}

static const struct xc_type *type_of_words(struct xc_cexpr *c, const struct words *w, size_t at)
{
	unsigned bases = w->is_char + w->is_float + w->is_double + w->is_int128 + (w->whole != NULL);
	unsigned sizes = w->is_short + w->longs, signs = w->is_signed + w->is_unsigned;
	bool real = w->is_float || w->is_double;
	bool wrong = bases > 1 || w->is_int > 1 || (bases && w->is_int && !w->is_int128) || signs > 1 ||
		     w->is_short > 1 || w->longs > 2 || (w->is_short && w->longs) ||
		     (sizes && bases && !(w->is_double && w->longs == 1)) || (signs && (real || w->whole));
	if (wrong)
		return xc_cexpr_fail(c, at, c->token.at - at,
				     xc_error_new(XC_ERR_FORMAT, "these words do not form a type"));
	if (w->is_complex)
		return xc_cexpr_fail(c, at, c->token.at - at,
				     xc_error_new(XC_ERR_UNSUPPORTED, "complex types are not supported here"));
	if (w->whole)
		return w->whole;
	if (w->is_float)
		return xc_ctype(c->process, XC_C_FLOAT);
	if (w->is_double)
		return xc_ctype(c->process, w->longs ? XC_C_LDOUBLE : XC_C_DOUBLE);
	return integer_of(c, w);
}

/* ---- qualifiers ---- */

enum { CONST = 1, VOLATILE = 2, RESTRICT = 4, ATOMIC = 8 };

static unsigned take_qualifier(struct xc_cexpr *c)
{
	static const struct {
		const char *word;
		unsigned flag;
	} words[] = {{"const", CONST},    {"volatile", VOLATILE},    {"restrict", RESTRICT},
		     {"__const", CONST},  {"__restrict", RESTRICT},  {"__restrict__", RESTRICT},
		     {"_Atomic", ATOMIC}, {"__volatile__", VOLATILE}};
	for (size_t i = 0; i < XC_COUNT(words); i++) {
		if (xc_cexpr_is_word(c, words[i].word))
			return words[i].flag;
	}
	return 0;
}

static unsigned take_qualifiers(struct xc_cexpr *c)
{
	unsigned set = 0, one;
	while ((one = take_qualifier(c))) {
		set |= one;
		xc_cexpr_next(c);
	}
	return set;
}

static const struct xc_type *qualify(struct xc_cexpr *c, const struct xc_type *type, unsigned set)
{
	if (set & ATOMIC)
		type = xc_ctype_derive(c->process, XC_TYPE_ATOMIC, type);
	if (set & RESTRICT)
		type = xc_ctype_derive(c->process, XC_TYPE_RESTRICT, type);
	if (set & VOLATILE)
		type = xc_ctype_derive(c->process, XC_TYPE_VOLATILE, type);
	if (set & CONST)
		type = xc_ctype_derive(c->process, XC_TYPE_CONST, type);
	return type;
}

/* Keywords and qualifiers in any order; set_out gets the qualifiers. */
static const struct xc_type *take_words(struct xc_cexpr *c, unsigned *set_out)
{
	struct words w = {0};
	size_t at = c->token.at;
	bool any = false;
	for (;;) {
		unsigned one = take_qualifier(c);
		*set_out |= one;
		if (!one && !take_plain(c, &w) && !take_whole(c, &w))
			break;
		any |= !one;
		xc_cexpr_next(c);
	}
	return any ? type_of_words(c, &w, at) : NULL;
}

const struct xc_type *xc_cexpr_parse_base(struct xc_cexpr *c)
{
	struct words w = {0};
	size_t at = c->token.at;
	bool any = false;
	for (; take_plain(c, &w) || take_whole(c, &w); any = true)
		xc_cexpr_next(c);
	return any ? type_of_words(c, &w, at) : NULL;
}

/* ---- names ---- */

static int tag_of(const struct xc_cexpr *c)
{
	static const struct {
		const char *word;
		int tag;
	} words[] = {{"struct", DW_TAG_structure_type},
		     {"class", DW_TAG_structure_type},
		     {"union", DW_TAG_union_type},
		     {"enum", DW_TAG_enumeration_type}};
	for (size_t i = 0; i < XC_COUNT(words); i++) {
		if (xc_cexpr_is_word(c, words[i].word))
			return words[i].tag;
	}
	return 0;
}

static const struct xc_type *parse_tagged(struct xc_cexpr *c, int tag)
{
	struct xc_ctoken keyword = c->token;
	struct xc_cname name = {.at = keyword.at};
	struct xc_value value;
	const struct xc_type *type;
	xc_cexpr_next(c);
	if (c->token.kind != XC_TOKEN_WORD && c->token.kind != XC_TOKEN_QUOTED && !xc_cexpr_is(c, XC_OP2(':', ':')))
		return xc_cexpr_fail(c, c->token.at, c->token.len,
				     xc_error_new(XC_ERR_FORMAT, "expected the name of a %.*s", (int)keyword.len,
						  c->text + keyword.at));
	enum xc_cfound found = xc_cexpr_parse_name(c, tag, &name, &value, &type);
	if (c->err)
		return NULL;
	if (found == XC_FOUND_TYPE) /* perhaps a class for struct foo, or a typedef of one */
		return type;
	char word[16];
	snprintf(word, sizeof word, "%.*s", (int)keyword.len, c->text + keyword.at);
	struct xc_text near = {0};
	struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "no %s `%s`", word, name.name);
	struct xc_query query = {.name = name.name, .kinds = XC_NAME_TYPE, .tag = tag};
	if (!c->scope->without_hints && xc_lookup_similar(c->process, &query, 3, &near))
		err = xc_error_hint(err, "did you mean %s?", xc_text_string(&near));
	xc_text_fini(&near);
	return xc_cexpr_fail(c, name.at, name.len, err);
}

/* The specifiers, before the declarator. NULL: not a type. */
static const struct xc_type *parse_specifiers(struct xc_cexpr *c)
{
	struct xc_ctoken start = c->token;
	unsigned set = 0;
	const struct xc_type *type = take_words(c, &set);
	if (c->err)
		return NULL;
	int tag = type ? 0 : tag_of(c);
	if (tag) {
		type = parse_tagged(c, tag);
	} else if (!type) {
		struct xc_cname name;
		struct xc_value value;
		if (xc_cexpr_is_word(c, "typename"))
			xc_cexpr_next(c);
		bool may = c->token.kind == XC_TOKEN_WORD || c->token.kind == XC_TOKEN_QUOTED ||
			   xc_cexpr_is(c, XC_OP2(':', ':'));
		if (!may || xc_cexpr_parse_name(c, 0, &name, &value, &type) != XC_FOUND_TYPE) {
			if (set && !c->err)
				return xc_cexpr_fail(c, c->token.at, c->token.len,
						     xc_error_new(XC_ERR_FORMAT, "expected a type"));
			xc_cexpr_forget(c); /* the error is reported where the word is used */
			c->token = start;
			return NULL;
		}
	}
	return type ? qualify(c, type, set | take_qualifiers(c)) : NULL;
}

/* ---- declarators ---- */

static const struct xc_type *parse_declarator(struct xc_cexpr *c, const struct xc_type *type);

static bool parse_count(struct xc_cexpr *c, uint64_t *count_out)
{
	struct xc_ctoken spot = c->token;
	struct xc_cnode *node = xc_cexpr_parse_conditional(c);
	struct xc_value value;
	struct xc_error *err = node ? xc_cexpr_operand(c, node, &value) : NULL;
	struct xc_cnumber number;
	if (!node)
		return false;
	if (!err)
		err = xc_cexpr_number(c, &value, &number);
	if (!err && (number.is_real || number.bits > MAX_ARRAY))
		err = xc_error_new(XC_ERR_LIMIT, "not a number of elements (at most %d)", MAX_ARRAY);
	if (err) {
		xc_cexpr_fail(c, spot.at, spot.len, err);
		return false;
	}
	*count_out = (uint64_t)number.bits;
	return true;
}

/* [3][4]: the outermost dimension comes first. */
static const struct xc_type *parse_dimensions(struct xc_cexpr *c, const struct xc_type *element)
{
	uint64_t count = 0;
	xc_cexpr_next(c);
	bool known = !xc_cexpr_is(c, ']');
	if (++c->nesting > XC_CEXPR_NESTING)
		return xc_cexpr_fail(c, c->token.at, 1, xc_error_new(XC_ERR_LIMIT, "too many dimensions"));
	if (known && !parse_count(c, &count))
		return NULL;
	if (!xc_cexpr_is(c, ']'))
		return xc_cexpr_fail(c, c->token.at, c->token.len, xc_error_new(XC_ERR_FORMAT, "expected ]"));
	xc_cexpr_next(c);
	if (xc_cexpr_is(c, '[') && !(element = parse_dimensions(c, element)))
		return NULL;
	c->nesting--;
	return known ? xc_ctype_array(c->process, element, count) : xc_ctype_unbounded(c->process, element);
}

/* (int, char *, ...) */
static const struct xc_type *parse_parameters(struct xc_cexpr *c, const struct xc_type *result)
{
	const struct xc_type *list[MAX_PARAMETERS];
	size_t count = 0;
	bool variadic = false;
	for (xc_cexpr_next(c); !xc_cexpr_is(c, ')');) {
		variadic = xc_cexpr_is(c, XC_OP3('.', '.', '.'));
		const struct xc_type *type = variadic || count == MAX_PARAMETERS ? NULL : xc_cexpr_parse_type(c);
		if (variadic)
			xc_cexpr_next(c);
		else if (!type)
			return xc_cexpr_fail(c, c->token.at, c->token.len,
					     xc_error_new(XC_ERR_FORMAT, "expected the type of a parameter"));
		else
			list[count++] = type;
		if (!xc_cexpr_is(c, ',') || variadic)
			break;
		xc_cexpr_next(c);
	}
	if (!xc_cexpr_is(c, ')'))
		return xc_cexpr_fail(c, c->token.at, c->token.len, xc_error_new(XC_ERR_FORMAT, "expected )"));
	xc_cexpr_next(c);
	if (count == 1 && list[0]->kind == XC_TYPE_VOID)
		count = 0;
	return xc_ctype_function(c->process, result, list, count, variadic);
}

static const struct xc_type *parse_suffix(struct xc_cexpr *c, const struct xc_type *type)
{
	if (xc_cexpr_is(c, '['))
		return parse_dimensions(c, type);
	return xc_cexpr_is(c, '(') ? parse_parameters(c, type) : type;
}

/* Does the parenthesis group a declarator, `(*)`, or begin parameters? */
static bool groups(struct xc_cexpr *c)
{
	struct xc_ctoken open = c->token;
	xc_cexpr_next(c);
	bool yes = xc_cexpr_is(c, '*') || xc_cexpr_is(c, '&') || xc_cexpr_is(c, XC_OP2('&', '&')) ||
		   xc_cexpr_is(c, '(') || xc_cexpr_is(c, '[');
	c->token = open;
	return yes;
}

/* Skip past the parenthesis that matches the current one. */
static bool skip_group(struct xc_cexpr *c)
{
	unsigned depth = 0;
	do {
		if (xc_cexpr_is(c, '('))
			depth++;
		else if (xc_cexpr_is(c, ')'))
			depth--;
		else if (c->token.kind == XC_TOKEN_END || c->token.kind == XC_TOKEN_WRONG)
			return false;
		xc_cexpr_next(c);
	} while (depth > 0);
	return true;
}

static const struct xc_type *parse_group(struct xc_cexpr *c, const struct xc_type *type)
{
	struct xc_ctoken open = c->token;
	if (!skip_group(c))
		return xc_cexpr_fail(c, open.at, open.len, xc_error_new(XC_ERR_FORMAT, "( without its )"));
	if (!(type = parse_suffix(c, type)))
		return NULL;
	struct xc_ctoken behind = c->token;
	xc_cexpr_lex(c, open.at + 1);
	if (!(type = parse_declarator(c, type)))
		return NULL;
	if (!xc_cexpr_is(c, ')'))
		return xc_cexpr_fail(c, c->token.at, c->token.len, xc_error_new(XC_ERR_FORMAT, "expected )"));
	c->token = behind;
	return type;
}

static const struct xc_type *parse_declarator(struct xc_cexpr *c, const struct xc_type *type)
{
	if (++c->nesting > XC_CEXPR_NESTING)
		return xc_cexpr_fail(c, c->token.at, c->token.len,
				     xc_error_new(XC_ERR_LIMIT, "a type that is nested too deeply"));
	for (;;) {
		enum xc_type_kind kind = xc_cexpr_is(c, '*')                ? XC_TYPE_POINTER
					 : xc_cexpr_is(c, '&')              ? XC_TYPE_REFERENCE
					 : xc_cexpr_is(c, XC_OP2('&', '&')) ? XC_TYPE_RVALUE_REFERENCE
									    : XC_TYPE_VOID;
		if (kind == XC_TYPE_VOID)
			break;
		xc_cexpr_next(c);
		type = qualify(c, xc_ctype_derive(c->process, kind, type), take_qualifiers(c));
	}
	type = xc_cexpr_is(c, '(') && groups(c) ? parse_group(c, type) : parse_suffix(c, type);
	c->nesting--;
	return type;
}

const struct xc_type *xc_cexpr_parse_type(struct xc_cexpr *c)
{
	struct xc_ctoken start = c->token;
	const struct xc_type *type = parse_specifiers(c);
	if (!type)
		return NULL;
	/* `T(x)` is a value; a function type is only accepted after pointers */
	if (xc_cexpr_is(c, '(') && !groups(c)) {
		type = parse_suffix(c, type);
		if (!type) {
			xc_cexpr_forget(c);
			c->token = start;
		}
		return type;
	}
	return parse_declarator(c, type);
}

/* cexpr_lex: splits the text into tokens. Identifiers may contain any byte above ASCII. In single quotes, one character
 * is a character constant; a longer text is the name of a file or symbol. */
#include "dwarf/cexpr/cexpr_impl.h"

bool xc_cexpr_is(const struct xc_cexpr *c, unsigned op)
{
	return c->token.kind == XC_TOKEN_OPERATOR && c->token.op == op;
}

bool xc_cexpr_is_word(const struct xc_cexpr *c, const char *word)
{
	return c->token.kind == XC_TOKEN_WORD && strlen(word) == c->token.len &&
	       memcmp(c->text + c->token.at, word, c->token.len) == 0;
}

static bool is_space(char ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static bool is_letter(char ch)
{
	return ch == '_' || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (unsigned char)ch >= 0x80;
}

static bool in_word(char ch)
{
	return is_letter(ch) || is_digit(ch) || ch == '$';
}

static size_t word_length(const char *at)
{
	size_t n = 0;
	while (in_word(at[n]))
		n++;
	return n;
}

/* A preprocessing number of C: digits, letters, dots, and signs after an exponent. */
static size_t number_length(const char *at)
{
	bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	size_t n = 0;
	for (;; n++) {
		bool exponent =
			n > 0 && (hex ? at[n - 1] == 'p' || at[n - 1] == 'P' : at[n - 1] == 'e' || at[n - 1] == 'E');
		bool sign = (at[n] == '+' || at[n] == '-') && exponent;
		bool separator = at[n] == '\'' && n > 0 && in_word(at[n + 1]);
		if (!in_word(at[n]) && at[n] != '.' && !sign && !separator)
			return n;
	}
}

/* Bytes up to and including the closing quote; 0 when there is none. */
static size_t quoted_length(const char *at)
{
	for (size_t n = 1; at[n]; n++) {
		if (at[n] == '\\' && at[n + 1])
			n++;
		else if (at[n] == at[0])
			return n + 1;
	}
	return 0;
}

/* Is the text in single quotes one character? */
static bool is_character(const char *at, size_t len)
{
	if (len < 3)
		return false;
	if (at[1] == '\\')
		return true;
	if ((unsigned char)at[1] < 0x80)
		return len == 3;
	size_t n = 2;
	while (((unsigned char)at[n] & 0xc0) == 0x80)
		n++;
	return n + 1 == len;
}

static unsigned operator_at(const char *at, size_t *len_out)
{
	static const char *const operators[] = {"<<=", ">>=", "->*", "...", "->", "++", "--", "<<", ">>",
						"<=",  ">=",  "==",  "!=",  "&&", "||", "::", ".*", "+=",
						"-=",  "*=",  "/=",  "%=",  "&=", "|=", "^=", NULL};
	for (size_t i = 0; operators[i]; i++) {
		size_t len = strlen(operators[i]);
		if (strncmp(at, operators[i], len) == 0) {
			*len_out = len;
			return XC_OP3(operators[i][0], operators[i][1], operators[i][2]);
		}
	}
	*len_out = 1;
	return strchr("+-*/%&|^~!<>=?:,.()[]{}@", at[0]) ? (unsigned char)at[0] : 0;
}

/* The length of the prefix of a character or string constant (L u U u8); 0 when there is none. */
static size_t prefix_length(const char *at)
{
	size_t n = at[0] == 'u' && at[1] == '8' ? 2 : at[0] == 'L' || at[0] == 'u' || at[0] == 'U';
	return n > 0 && (at[n] == '"' || at[n] == '\'') ? n : 0;
}

static void lex_quoted(struct xc_ctoken *token, const char *at, size_t prefix)
{
	size_t len = quoted_length(at + prefix);
	token->len = len > 0 ? prefix + len : strlen(at);
	if (len == 0)
		token->kind = XC_TOKEN_WRONG;
	else if (at[prefix] == '"')
		token->kind = XC_TOKEN_STRING;
	else
		token->kind = prefix > 0 || is_character(at, len) ? XC_TOKEN_CHAR : XC_TOKEN_QUOTED;
}

void xc_cexpr_lex(struct xc_cexpr *c, size_t from)
{
	struct xc_ctoken *token = &c->token;
	from = from < c->len ? from : c->len;
	while (is_space(c->text[from]))
		from++;
	const char *at = c->text + from;
	size_t prefix = prefix_length(at);
	*token = (struct xc_ctoken){.kind = XC_TOKEN_END, .at = from};
	if (*at == '\0')
		return;
	if (*at == '"' || *at == '\'' || prefix > 0) {
		lex_quoted(token, at, prefix);
	} else if (is_digit(*at) || (*at == '.' && is_digit(at[1]))) {
		token->kind = XC_TOKEN_NUMBER;
		token->len = number_length(at);
	} else if (is_letter(*at)) {
		token->kind = XC_TOKEN_WORD;
		token->len = word_length(at);
	} else if (*at == '$') {
		token->kind = XC_TOKEN_REGISTER;
		token->len = word_length(at);
	} else {
		token->op = operator_at(at, &token->len);
		token->kind = token->op ? XC_TOKEN_OPERATOR : XC_TOKEN_WRONG;
	}
}

void xc_cexpr_next(struct xc_cexpr *c)
{
	xc_cexpr_lex(c, c->token.at + c->token.len);
}

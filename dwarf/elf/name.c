/* name: integer types are recognized by their words in any order: {long, unsigned, int} is "unsigned long". */
#include "dwarf/elf/name.h"

#include <ctype.h>
#include <string.h>

enum { MAX_OPERATORS = 16 }; /* in one name; each is scanned to its end */

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* ---- integers ---- */

struct integer {
	unsigned longs, words;
	bool is_int, is_char, is_short, is_signed, is_unsigned, is_float, is_double, is_int128, is_complex;
};

/* Add one word to the integer type; false when it is not part of one. */
static bool add_word(struct integer *i, const char *word, size_t len)
{
	struct integer was = *i;
	switch (len) {
	case 3:
		i->is_int |= !memcmp(word, "int", 3);
		break;
	case 4:
		i->longs += !memcmp(word, "long", 4);
		i->is_char |= !memcmp(word, "char", 4);
		break;
	case 5:
		i->is_short |= !memcmp(word, "short", 5);
		i->is_float |= !memcmp(word, "float", 5);
		break;
	case 6:
		i->is_signed |= !memcmp(word, "signed", 6);
		i->is_double |= !memcmp(word, "double", 6);
		break;
	case 7:
		i->is_complex |= !memcmp(word, "complex", 7);
		break;
	case 8:
		i->is_unsigned |= !memcmp(word, "unsigned", 8);
		i->is_int128 |= !memcmp(word, "__int128", 8);
		i->is_complex |= !memcmp(word, "_Complex", 8);
		break;
	default:
		break;
	}
	bool taken = memcmp(&was, i, sizeof was) != 0;
	i->words += taken;
	return taken;
}

static void write_integer(const struct integer *i, struct xc_text *text)
{
	if (i->is_complex)
		xc_text_add(text, "complex ");
	if (i->is_unsigned)
		xc_text_add(text, "unsigned ");
	else if (i->is_signed && i->is_char)
		xc_text_add(text, "signed ");
	xc_text_add(text, i->is_char      ? "char"
			  : i->is_short   ? "short"
			  : i->is_double  ? (i->longs ? "long double" : "double")
			  : i->is_float   ? "float"
			  : i->is_int128  ? "__int128"
			  : i->longs > 1  ? "long long"
			  : i->longs == 1 ? "long"
					  : "int");
}

/* ---- spelling ---- */

static size_t word_length(const char *at, const char *end)
{
	const char *from = at;
	while (at < end && in_word(*at))
		at++;
	return (size_t)(at - from);
}

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

/* Take as many words as make up one integer type; returns where it ends. */
static const char *take_integer(const char *at, const char *end, struct integer *integer)
{
	for (const char *next = at; next < end;) {
		size_t len = word_length(next, end);
		if (!len || !add_word(integer, next, len))
			break;
		at = next + len;
		next = skip_space(at, end);
	}
	return at;
}

/* Append the canonical spelling of len bytes. O(len). */
static void add_canonical(const char *name, size_t len, struct xc_text *text)
{
	const char *at = name, *end = name + len;
	bool after_word = false;
	while ((at = skip_space(at, end)) < end) {
		struct integer integer = {0};
		size_t word = word_length(at, end);
		if (word && after_word)
			xc_text_char(text, ' ');
		after_word = word > 0;
		const char *next = word ? take_integer(at, end, &integer) : at;
		if (integer.words > integer.is_complex) { /* a struct may be named complex */
			write_integer(&integer, text);
			at = next;
		} else {
			xc_text_addn(text, at, word ? word : 1);
			at += word ? word : 1;
		}
	}
}

/* ---- hash ---- */

uint64_t xc_name_mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

static uint64_t hash_bytes(const char *bytes, size_t len)
{
	uint64_t hash = len, word;
	for (; len >= sizeof word; len -= sizeof word, bytes += sizeof word) {
		memcpy(&word, bytes, sizeof word);
		hash = xc_name_mix(hash, word);
	}
	word = 0;
	memcpy(&word, bytes, len);
	hash = xc_name_mix(hash, word);
	return hash ^ (hash >> 32);
}

/* "signed" and "unsigned" are integer types without a space in them, alone and as template arguments. */
static bool is_plain(const char *name, size_t len)
{
	static const char word[] = "signed";
	if (memchr(name, ' ', len) || memchr(name, '\t', len))
		return false;
	bool may_be_integer = (len == 6 || len == 8) ? *name == 's' || *name == 'u' : memchr(name, '<', len) != NULL;
	return !may_be_integer || !memmem(name, len, word, sizeof word - 1);
}

uint64_t xc_name_hash(const char *name, size_t len)
{
	if (is_plain(name, len))
		return hash_bytes(name, len);
	xc_auto(xc_text_fini) struct xc_text text = {0};
	add_canonical(name, len, &text);
	return hash_bytes(xc_text_string(&text), text.len);
}

bool xc_name_equal(const char *a, size_t a_len, const char *b, size_t b_len)
{
	if (a_len == b_len && !memcmp(a, b, a_len))
		return true;
	if (is_plain(a, a_len) && is_plain(b, b_len))
		return false;
	xc_auto(xc_text_fini) struct xc_text x = {0};
	xc_auto(xc_text_fini) struct xc_text y = {0};
	add_canonical(a, a_len, &x);
	add_canonical(b, b_len, &y);
	return x.len == y.len && (x.len == 0 || !memcmp(x.bytes, y.bytes, x.len));
}

/* ---- components ---- */

static bool is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t len = sizeof word - 1;
	return (size_t)(at - name) >= len && !memcmp(at - len, word, len) &&
	       ((size_t)(at - name) == len || !in_word(at[-(ptrdiff_t)len - 1]));
}

static bool opens(char c)
{
	return c && strchr("<([{", c);
}

/* The '>' of "->" closes nothing. */
static bool closes(const char *name, const char *at)
{
	return *at && strchr(">)]}", *at) && !(*at == '>' && at > name && at[-1] == '-');
}

static bool is_balanced(const char *from, const char *end)
{
	int depth = 0;
	for (const char *at = from; at < end && depth >= 0; at++)
		depth += opens(*at) ? 1 : closes(from, at) ? -1 : 0;
	return depth == 0;
}

/* `at` is after "operator". Returns the end of the operator's symbol, whose < and ( open nothing: the longest symbol
 * that leaves the brackets of template arguments balanced (clang writes "operator<<int>" for operator< of int). The
 * name of a conversion ends with its type and is one component. */
static const char *skip_operator(const char *at, const char *end)
{
	static const char *const symbols[] = {
		"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
		"--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "->", "()", "[]", "<",
		">",   "+",   "-",   "*",   "/",  "%",  "^",  "&",  "|",  "~",  "!",  "=",  ","};
	const char *from = skip_space(at, end), *longest = at;
	if (from > at && from < end && (in_word(*from) || *from == ':'))
		return end;
	for (size_t i = 0; i < XC_COUNT(symbols); i++) {
		size_t len = strlen(symbols[i]);
		if ((size_t)(end - from) < len || memcmp(from, symbols[i], len) != 0)
			continue;
		if (is_balanced(from + len, end))
			return from + len;
		longest = longest == at ? from + len : longest;
	}
	return longest;
}

const char *xc_name_last(const char *name, size_t *len, size_t *part_len)
{
	const char *end = name + *len, *part = name;
	int depth = 0, operators = 0;
	if (*len == 0)
		return NULL;
	for (const char *at = name; at < end; at++) {
		if (depth == 0 && is_operator(name, at) && operators++ < MAX_OPERATORS &&
		    (at = skip_operator(at, end)) >= end)
			break;
		if (opens(*at))
			depth++;
		else if (closes(name, at))
			depth -= depth > 0;
		else if (depth == 0 && end - at >= 2 && at[0] == ':' && at[1] == ':')
			part = at + 2, at++;
	}
	*part_len = (size_t)(end - part);
	*len = part > name ? (size_t)(part - name) - 2 : 0;
	return part;
}

void xc_name_without_anonymous(const char *name, struct xc_text *text)
{
	static const char anonymous[] = "(anonymous namespace)::";
	int depth = 0;
	for (const char *at; (at = strstr(name, anonymous));) {
		for (const char *c = name; c < at; c++)
			depth += *c == '<' ? 1 : *c == '>' ? -1 : 0;
		xc_text_addn(text, name, (size_t)(at - name) + (depth > 0 ? strlen(anonymous) : 0));
		name = at + strlen(anonymous);
	}
	xc_text_add(text, name);
}

const char *xc_name_without_keyword(const char *name)
{
	static const char *const keywords[] = {"struct ", "union ", "enum ", "class "};
	for (size_t i = 0; i < XC_COUNT(keywords); i++)
		if (strncmp(name, keywords[i], strlen(keywords[i])) == 0)
			return name + strlen(keywords[i]);
	return name;
}

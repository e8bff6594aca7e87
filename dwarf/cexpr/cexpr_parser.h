/* cexpr_parser: tokens and constants of C, and the state of a parser of C expressions.
 *
 * Public for other parsers of C (lua/cdef): they use the lexer, the constants and the base types. Zero a struct
 * xc_cexpr and set process, text and len; constants of strings also need an arena. */
#ifndef XC_CEXPR_PARSER_H
#define XC_CEXPR_PARSER_H

#include <string.h>

#include "dwarf/stack/frame_scope.h"
#include "dwarf/value/arith.h"
#include "dwarf/value/value.h"

enum xc_ctoken_kind {
	XC_TOKEN_END,
	XC_TOKEN_NUMBER,   /* 1, 0x1p3, .5f */
	XC_TOKEN_CHAR,     /* 'a', L'\n' */
	XC_TOKEN_QUOTED,   /* 'file.c' */
	XC_TOKEN_STRING,   /* "text" */
	XC_TOKEN_WORD,     /* identifiers and keywords */
	XC_TOKEN_REGISTER, /* $rip */
	XC_TOKEN_OPERATOR,
	XC_TOKEN_WRONG, /* a byte that starts no token, or a quote without its end */
};

struct xc_ctoken {
	enum xc_ctoken_kind kind;
	unsigned op;    /* OPERATOR: numbered as in arith.h */
	size_t at, len; /* in the text */
};

struct xc_cexpr {
	const struct xc_frame_scope *scope; /* NULL: no names are looked up */
	const struct xc_process *process;
	struct xc_arena *arena; /* of strings, names and the tree; borrowed */
	const char *text;
	size_t len;
	struct xc_ctoken token; /* the current one */
	struct xc_error *err;   /* the first error of parsing; from then on every function returns NULL. The caller's */
	unsigned nesting, names;
	unsigned macros; /* nested bodies of macros around this text */
	bool is_c;       /* the language of the frame: comparisons are int */
	bool dry;        /* only types are needed: nothing is read */
	bool guessed;    /* a value that was recovered from a call site took part */
};

/* Set c->token to the first token at or after `at`, or to the one after the current one. */
void xc_cexpr_lex(struct xc_cexpr *c, size_t at);
void xc_cexpr_next(struct xc_cexpr *c);

/* Is the current token this operator, or this word? */
bool xc_cexpr_is(const struct xc_cexpr *c, unsigned op);
bool xc_cexpr_is_word(const struct xc_cexpr *c, const char *word);

/* Append the text, with the spot marked below it, to an error that shows none yet. Returns err. */
struct xc_error *xc_cexpr_point(const struct xc_cexpr *c, struct xc_error *err, size_t at, size_t len);

/* Set c->err, which it then owns, with the spot that it concerns. Returns NULL, for `return xc_cexpr_fail(…)`. */
void *xc_cexpr_fail(struct xc_cexpr *c, size_t at, size_t len, struct xc_error *err);

/* Free c->err, before the text is parsed in another way. */
void xc_cexpr_forget(struct xc_cexpr *c);

/* The value of the current NUMBER, CHAR or STRING token; false with c->err set. */
bool xc_cexpr_literal(struct xc_cexpr *c, struct xc_value *out);

/* The type that one or more keywords of C name (`unsigned long`), without qualifiers or declarators. NULL when the
 * current token is no such keyword, or with c->err set. */
const struct xc_type *xc_cexpr_parse_base(struct xc_cexpr *c);

#endif

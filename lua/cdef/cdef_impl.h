/* cdef_impl: declarations that the files of lua/cdef share.
 *
 * A text is parsed in one pass, by recursive descent over tokens with macros expanded. The first error is kept; from
 * then on every token is END and every function fails, so few checks are needed.
 *
 * Declarations are appended to one list of names, and a failure truncates the list to its old length. A name that is
 * declared again, completed, or removed by #undef is appended again: the last entry counts. */
#ifndef XC_CDEF_IMPL_H
#define XC_CDEF_IMPL_H

#include <string.h>

#include "core/base/hashtable.h"
#include "core/base/text.h"
#include "dwarf/cexpr/cexpr_parser.h"
#include "dwarf/types/ctype.h"
#include "dwarf/types/type_make.h"
#include "lua/cdef/cdef.h"

/* ---- names: cdef_name.c ---- */

enum xc_cdef_space { XC_CDEF_TAG, XC_CDEF_ORDINARY, XC_CDEF_MACRO };

enum xc_cdef_kind {
	XC_CDEF_TYPE,     /* of a tag or typedef */
	XC_CDEF_LIBRARY,  /* a predefined typedef: declarations replace it */
	XC_CDEF_CONSTANT, /* an enumerator */
	XC_CDEF_TEXTUAL,  /* a macro: expands to `replacement` */
	XC_CDEF_CALLED,   /* a macro with parameters: known, not expanded */
	XC_CDEF_GONE,     /* after #undef */
};

/* An integer of C. */
struct xc_cdef_value {
	__int128 bits; /* extended to its sign */
	uint8_t size;  /* bytes */
	bool is_signed;
};

struct xc_cdef_name {
	const char *name;
	enum xc_cdef_space space;
	enum xc_cdef_kind kind;
	const struct xc_type *type;
	struct xc_cdef_value value;
	const char *replacement; /* tokens with a space between each */
	bool defines;            /* a tag's type became complete here */
	unsigned text, line;     /* number of the text, from 1, and line in it */
	uint64_t hash;
	size_t next; /* the one before with this hash: index + 1, 0 at the end */
};

struct xc_cdef {
	const struct xc_process *process;
	struct xc_arena arena; /* memory that is freed with the scope: replacements */
	struct xc_cdef_name *names;
	size_t count, capacity;
	struct xc_hashtable newest; /* (hash, 1) → index + 1 */
	unsigned texts;             /* read so far */
	size_t items;               /* members and enumerators so far */
};

/* NULL when it is not declared. Valid until the next name is added. */
const struct xc_cdef_name *xc_cdef_find(const struct xc_cdef *cdef, enum xc_cdef_space space, const char *name,
					size_t len);
void xc_cdef_add(struct xc_cdef *cdef, const struct xc_cdef_name *name);
void xc_cdef_cut(struct xc_cdef *cdef, size_t count);

/* Are two types compatible, so that one may be declared where the other was? Records with tags are compatible when
 * they are the same. */
bool xc_cdef_same(const struct xc_type *a, const struct xc_type *b);
bool xc_cdef_same_items(const struct xc_type *a, const struct xc_type *b); /* of two records or two enums */

/* ---- the parser and its tokens: cdef_parse.c, cdef_directive.c ---- */

enum { XC_CDEF_EXPANSIONS = 64, XC_CDEF_PACKS = 64, XC_CDEF_TOKENS = 1 << 22 };

struct xc_cdef_token {
	enum xc_ctoken_kind kind; /* QUOTED and REGISTER are not C */
	unsigned op;              /* XC_OP2 and the like */
	const char *text;         /* in the text or in a macro */
	size_t len;
	const char *macro;   /* the macro that it comes from; NULL: from the text */
	size_t at, spot_len; /* its place in the text; for a token from a macro the place of the macro's name */
};

/* The text, or the replacement of a macro that is being expanded. */
struct xc_cdef_frame {
	struct xc_cexpr lex;
	const char *macro; /* its name; NULL for the text */
};

struct xc_cdef_parser {
	struct xc_cdef *cdef;
	const struct xc_process *process;
	const char *original; /* the original text, for messages */
	char *text;           /* the same with comments and continued lines as blanks, malloc'ed */
	bool is_name;         /* a type name or a constant is parsed: mentioning a name declares nothing */
	struct xc_cdef_frame *frames;
	size_t depth; /* of the frame that is read */
	struct xc_cdef_token token;
	struct xc_error *err;
	unsigned nesting;
	size_t tokens;
	uint64_t pack; /* of #pragma pack: bytes, 0: none */
	uint64_t packs[XC_CDEF_PACKS];
	size_t pack_count;
	size_t line_at; /* `line` is the one that this place is in */
	unsigned line;
};

void xc_cdef_parser_init(struct xc_cdef_parser *p, struct xc_cdef *cdef, const char *text, bool is_name);
void xc_cdef_parser_fini(struct xc_cdef_parser *p);

void xc_cdef_next(struct xc_cdef_parser *p);
bool xc_cdef_is(const struct xc_cdef_parser *p, unsigned op);
bool xc_cdef_is_word(const struct xc_cdef_parser *p, const char *word);

/* Skip an operator, if it is the current token. */
bool xc_cdef_skip(struct xc_cdef_parser *p, unsigned op);

/* The same, but it is required: else an error names it. */
bool xc_cdef_expect(struct xc_cdef_parser *p, unsigned op, const char *name);

/* Is the token one of these words? NULL ends the list. */
bool xc_cdef_is_among(const struct xc_cdef_parser *p, const char *const *words);

/* Keep the first error, with its place. Return false, and NULL. */
bool xc_cdef_fail(struct xc_cdef_parser *p, const struct xc_cdef_token *spot, enum xc_error_code code,
		  const char *format, ...) XC_PRINTF(4, 5);
bool xc_cdef_unexpected(struct xc_cdef_parser *p, const char *wanted);

/* Enter a nested construct; every true must be followed by leave. */
bool xc_cdef_enter(struct xc_cdef_parser *p);
void xc_cdef_leave(struct xc_cdef_parser *p);

/* Skip everything up to the bracket that closes the one here. */
bool xc_cdef_skip_balanced(struct xc_cdef_parser *p);

/* Process the directive whose # is at `at`; returns the end of its line. */
size_t xc_cdef_directive(struct xc_cdef_parser *p, size_t at);

/* A name to declare at this token, in this text. */
struct xc_cdef_name xc_cdef_new_name(struct xc_cdef_parser *p, enum xc_cdef_space space, enum xc_cdef_kind kind,
				     const struct xc_cdef_token *token);

/* "on line 3", "on line 3 of an earlier text". */
bool xc_cdef_conflict(struct xc_cdef_parser *p, const struct xc_cdef_token *spot, const struct xc_cdef_name *before,
		      const char *what);

/* ---- constants: cdef_constant.c ---- */

/* An integer constant expression without commas. */
bool xc_cdef_parse_constant(struct xc_cdef_parser *p, struct xc_cdef_value *out);

/* The same for a size: not negative, at most `most`. */
bool xc_cdef_parse_count(struct xc_cdef_parser *p, uint64_t most, const char *what, uint64_t *out);

/* static_assert(…); */
bool xc_cdef_parse_assert(struct xc_cdef_parser *p);

/* ---- operators: cdef_operator.c ---- */

/* Cut to the size of an integer type, as a cast does. */
struct xc_cdef_value xc_cdef_fit(__int128 bits, uint64_t size, bool is_signed);

/* Promote small types to int; convert two operands to their common type. */
struct xc_cdef_value xc_cdef_promote(struct xc_cdef_value v);
void xc_cdef_convert(struct xc_cdef_value *a, struct xc_cdef_value *b);

/* a = a op b, for all binary operators but && and ||. Returns the reason why it has no value, or NULL. */
const char *xc_cdef_operate(unsigned op, struct xc_cdef_value *a, struct xc_cdef_value b);

/* ---- types: cdef_type.c (specifiers), cdef_declarator.c, cdef_record.c, cdef_enum.c, cdef_attribute.c ---- */

struct xc_cdef_attributes {
	bool packed;
	uint64_t aligned, last; /* bytes: the strictest that was asked for, and the last one; 0: none */
};

enum xc_cdef_storage { XC_CDEF_PLAIN, XC_CDEF_TYPEDEF, XC_CDEF_OTHER };

struct xc_cdef_specifiers {
	const struct xc_type *type;
	enum xc_cdef_storage storage;
	struct xc_cdef_attributes attributes;
	uint64_t alignas;  /* bytes; 0: none */
	bool is_anonymous; /* a struct or union without a tag is defined here: as a member it has no name */
};

struct xc_cdef_declarator {
	struct xc_cdef_token name; /* kind END: abstract */
	const struct xc_type *type;
	struct xc_cdef_attributes attributes;
};

/* Must a declarator have a name? If so, a name that is already a type may be declared again. */
enum xc_cdef_naming { XC_CDEF_NAMED, XC_CDEF_UNNAMED };

bool xc_cdef_at_type(const struct xc_cdef_parser *p);
bool xc_cdef_parse_specifiers(struct xc_cdef_parser *p, struct xc_cdef_specifiers *out);
bool xc_cdef_parse_declarator(struct xc_cdef_parser *p, const struct xc_type *base, enum xc_cdef_naming naming,
			      struct xc_cdef_declarator *out);
const struct xc_type *xc_cdef_parse_type_name(struct xc_cdef_parser *p); /* NULL: an error */

/* At the keyword; NULL: an error. */
const struct xc_type *xc_cdef_parse_record(struct xc_cdef_parser *p, bool *anonymous_out);
const struct xc_type *xc_cdef_parse_enum(struct xc_cdef_parser *p);

/* After struct, union or enum: attributes and the name, of kind XC_TOKEN_END when there is none. spot_out is the
 * place for messages about the type. False after an error. */
bool xc_cdef_parse_head(struct xc_cdef_parser *p, struct xc_cdef_attributes *attributes, struct xc_cdef_token *name_out,
			struct xc_cdef_token *spot_out);

/* The type of a tag: the known one, or a new incomplete one. */
struct xc_type *xc_cdef_tag(struct xc_cdef_parser *p, enum xc_type_kind kind, const struct xc_cdef_token *name);

/* A parsed record or enum becomes the definition of its tag (name NULL: it has none), or is compared with the
 * existing definition. Returns the type to use; NULL: an error. */
const struct xc_type *xc_cdef_define(struct xc_cdef_parser *p, struct xc_type *fresh, const struct xc_cdef_token *name);

/* Any number of __attribute__((…)) and asm("…"). */
bool xc_cdef_at_attribute(const struct xc_cdef_parser *p);
bool xc_cdef_parse_attributes(struct xc_cdef_parser *p, struct xc_cdef_attributes *out);
bool xc_cdef_parse_alignas(struct xc_cdef_parser *p, uint64_t *out);

/* Reserved words are not names. */
bool xc_cdef_at_name(const struct xc_cdef_parser *p);

/* Qualifiers: a set of these. */
enum { XC_CDEF_CONST = 1, XC_CDEF_VOLATILE = 2, XC_CDEF_RESTRICT = 4, XC_CDEF_ATOMIC = 8 };
unsigned xc_cdef_qualifier(const struct xc_cdef_parser *p); /* 0: none stands here */
const struct xc_type *xc_cdef_qualify(const struct xc_process *process, const struct xc_type *type, unsigned set);

/* ---- layout: cdef_layout.c ---- */

struct xc_cdef_field {
	struct xc_member member; /* the place is filled in; bit_size and alignment (0: none) are given */
	bool is_bits;            /* a bit-field, perhaps of width 0 */
	bool packed;
};

struct xc_cdef_record {
	bool is_union, packed;
	uint64_t aligned;             /* bytes; 0: none */
	uint64_t pack;                /* of #pragma pack, bytes; 0: none */
	struct xc_cdef_field *fields; /* malloc'ed */
	size_t count, capacity;
	/* The result. */
	uint64_t size, alignment; /* bytes */
	bool alignment_asked;
};

/* Compute the layout of the fields. False: the whole is larger than an object may be. */
bool xc_cdef_lay_out(const struct xc_process *process, struct xc_cdef_record *record);

/* _Alignof: the alignment of an object of the type, in bytes. */
uint64_t xc_cdef_alignment(const struct xc_process *process, const struct xc_type *type);

/* Of an array's element, say: with what typedefs ask for, but not as a member of a struct would be placed. */
uint64_t xc_cdef_full_alignment(const struct xc_process *process, const struct xc_type *type);

/* The largest size of an object, bytes. */
uint64_t xc_cdef_most(const struct xc_process *process);

/* What a bare `aligned` means, bytes. */
uint64_t xc_cdef_largest_alignment(const struct xc_process *process);

#endif

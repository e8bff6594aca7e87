/* cdef_type: specifiers: the words before a declarator (C11 6.7), in any order. */
#include "lua/cdef/cdef_impl.h"

static const char *const storages[] = {"extern", "static", "auto", "register", "_Thread_local", "__thread", NULL};
static const char *const ignored[] = {"inline", "__inline", "__inline__", "_Noreturn", "__extension__", NULL};
static const char *const tags[] = {"struct", "union", "enum", NULL};
static const char *const alignas_words[] = {"_Alignas", "alignas", NULL};

static const struct {
	const char *word;
	unsigned flag;
} qualifiers[] = {{"const", XC_CDEF_CONST},         {"volatile", XC_CDEF_VOLATILE},
		  {"restrict", XC_CDEF_RESTRICT},   {"_Atomic", XC_CDEF_ATOMIC},
		  {"__const", XC_CDEF_CONST},       {"__const__", XC_CDEF_CONST},
		  {"__volatile", XC_CDEF_VOLATILE}, {"__volatile__", XC_CDEF_VOLATILE},
		  {"__restrict", XC_CDEF_RESTRICT}, {"__restrict__", XC_CDEF_RESTRICT}};

unsigned xc_cdef_qualifier(const struct xc_cdef_parser *p)
{
	for (size_t i = 0; i < XC_COUNT(qualifiers); i++) {
		if (xc_cdef_is_word(p, qualifiers[i].word))
			return qualifiers[i].flag;
	}
	return 0;
}

const struct xc_type *xc_cdef_qualify(const struct xc_process *process, const struct xc_type *type, unsigned set)
{
	static const struct {
		unsigned flag;
		enum xc_type_kind kind;
	} kinds[] = {{XC_CDEF_ATOMIC, XC_TYPE_ATOMIC},
		     {XC_CDEF_RESTRICT, XC_TYPE_RESTRICT},
		     {XC_CDEF_VOLATILE, XC_TYPE_VOLATILE},
		     {XC_CDEF_CONST, XC_TYPE_CONST}};
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		if (set & kinds[i].flag)
			type = xc_ctype_derive(process, kinds[i].kind, type);
	}
	return type;
}

/* ---- words of C: `unsigned long` ---- */

/* The type of these words; NULL with or without an error in *err_out. */
static const struct xc_type *type_of_words(const struct xc_process *process, const char *text, size_t len,
					   struct xc_error **err_out)
{
	char words[128];
	if (len >= sizeof words)
		return NULL;
	memcpy(words, text, len);
	words[len] = '\0';
	struct xc_cexpr c = {.process = process, .text = words, .len = len};
	xc_cexpr_next(&c);
	const struct xc_type *type = xc_cexpr_parse_base(&c);
	*err_out = c.err;
	return type;
}

static bool at_base_word(const struct xc_cdef_parser *p)
{
	struct xc_error *err = NULL;
	if (p->token.kind != XC_TOKEN_WORD)
		return false;
	bool is = type_of_words(p->process, p->token.text, p->token.len, &err) || err; /* `_Complex` alone is wrong */
	xc_error_free(err);
	return is;
}

/* ---- names of types ---- */

/* Types that a C library would define. They are declared on first use. */
static const struct xc_cdef_name *find_library(struct xc_cdef_parser *p)
{
	char word[32];
	size_t len = p->token.len;
	if (len >= sizeof word)
		return NULL;
	memcpy(word, p->token.text, len);
	word[len] = '\0';
	bool c_name = (len > 2 && strcmp(word + len - 2, "_t") == 0) || strcmp(word, "bool") == 0;
	const struct xc_type *type = c_name ? xc_ctype_library(p->process, word) : NULL;
	if (!type)
		return NULL;
	struct xc_cdef_name name = xc_cdef_new_name(p, XC_CDEF_ORDINARY, XC_CDEF_LIBRARY, &p->token);
	if (strcmp(type->name, word) != 0) {
		struct xc_type *alias = xc_type_new(xc_types_of(p->process), XC_TYPE_TYPEDEF);
		alias->name = name.name;
		alias->target = type;
		alias->is_c = true;
		type = alias;
	}
	name.type = type;
	xc_cdef_add(p->cdef, &name);
	return &p->cdef->names[p->cdef->count - 1];
}

static const struct xc_type *named_type(const struct xc_cdef_parser *p)
{
	const struct xc_cdef_name *found;
	if (p->token.kind != XC_TOKEN_WORD)
		return NULL;
	found = xc_cdef_find(p->cdef, XC_CDEF_ORDINARY, p->token.text, p->token.len);
	if (!found)
		found = find_library((struct xc_cdef_parser *)p); /* looking adds what was there all along */
	return found ? found->type : NULL;
}

bool xc_cdef_at_type(const struct xc_cdef_parser *p)
{
	return xc_cdef_qualifier(p) || at_base_word(p) || xc_cdef_is_among(p, tags) ||
	       xc_cdef_is_word(p, "__extension__") || xc_cdef_at_attribute(p) || named_type(p);
}

bool xc_cdef_at_name(const struct xc_cdef_parser *p)
{
	static const char *const others[] = {"typedef", "sizeof", "offsetof", "_Alignof", "_Static_assert", NULL};
	return p->token.kind == XC_TOKEN_WORD && !xc_cdef_qualifier(p) && !at_base_word(p) &&
	       !xc_cdef_is_among(p, tags) && !xc_cdef_is_among(p, storages) && !xc_cdef_is_among(p, ignored) &&
	       !xc_cdef_is_among(p, alignas_words) && !xc_cdef_is_among(p, others) && !xc_cdef_at_attribute(p);
}

/* ---- specifiers ---- */

struct reader {
	struct xc_cdef_parser *p;
	struct xc_cdef_specifiers *out;
	struct xc_cdef_token start;
	struct xc_text words; /* of C */
	unsigned set;         /* qualifiers */
};

/* _Atomic(type); the parenthesis tells it from the qualifier. */
static bool read_qualifier(struct reader *r, unsigned flag)
{
	struct xc_cdef_parser *p = r->p;
	xc_cdef_next(p);
	r->set |= flag;
	if (flag != XC_CDEF_ATOMIC || r->out->type || r->words.len > 0 || !xc_cdef_skip(p, '('))
		return !p->err;
	r->out->type = xc_cdef_parse_type_name(p);
	return r->out->type && xc_cdef_expect(p, ')', ")");
}

static bool read_tagged(struct reader *r)
{
	struct xc_cdef_parser *p = r->p;
	if (!xc_cdef_enter(p))
		return false;
	r->out->type =
		xc_cdef_is_word(p, "enum") ? xc_cdef_parse_enum(p) : xc_cdef_parse_record(p, &r->out->is_anonymous);
	xc_cdef_leave(p);
	return r->out->type != NULL;
}

static bool read_storage(struct reader *r, enum xc_cdef_storage storage)
{
	if (r->out->storage == XC_CDEF_TYPEDEF || (storage == XC_CDEF_TYPEDEF && r->out->storage != XC_CDEF_PLAIN))
		return xc_cdef_fail(r->p, &r->p->token, XC_ERR_FORMAT, "conflicting storage classes");
	r->out->storage = storage;
	xc_cdef_next(r->p);
	return true;
}

/* Parse a specifier; *read_out: there was one. */
static bool read_one(struct reader *r, bool *read_out)
{
	struct xc_cdef_parser *p = r->p;
	unsigned flag = xc_cdef_qualifier(p);
	bool may = !r->out->type && r->words.len == 0; /* be a type */
	*read_out = true;
	if (flag)
		return read_qualifier(r, flag);
	if (xc_cdef_at_attribute(p))
		return xc_cdef_parse_attributes(p, &r->out->attributes);
	if (xc_cdef_is_among(p, alignas_words))
		return xc_cdef_parse_alignas(p, &r->out->alignas);
	if (xc_cdef_is_word(p, "typedef") || xc_cdef_is_among(p, storages))
		return read_storage(r, xc_cdef_is_word(p, "typedef") ? XC_CDEF_TYPEDEF : XC_CDEF_OTHER);
	if (may && xc_cdef_is_among(p, tags))
		return read_tagged(r);
	if (may && !at_base_word(p))
		r->out->type = named_type(p);
	if (!r->out->type && at_base_word(p)) {
		xc_text_addn(&r->words, p->token.text, p->token.len);
		xc_text_char(&r->words, ' ');
	} else if (!(may && r->out->type) && !xc_cdef_is_among(p, ignored)) {
		*read_out = false;
		return true;
	}
	xc_cdef_next(p);
	return !p->err;
}

static bool finish_words(struct reader *r)
{
	struct xc_cdef_parser *p = r->p;
	struct xc_error *err = NULL;
	const struct xc_type *type = type_of_words(p->process, r->words.bytes, r->words.len, &err);
	if (!type)
		xc_cdef_fail(p, &r->start, XC_ERR_FORMAT, "%s", err ? err->message : "too many words for a type");
	xc_error_free(err);
	if (type && type->size > 8 && type->kind == XC_TYPE_INT && p->process->arch->word < 8)
		return xc_cdef_fail(p, &r->start, XC_ERR_UNSUPPORTED, "there is no `%s` on %s", type->name,
				    p->process->arch->name);
	r->out->type = type;
	return type != NULL;
}

static bool fail_unknown(struct xc_cdef_parser *p)
{
	if (p->token.kind != XC_TOKEN_WORD || !xc_cdef_at_name(p))
		return xc_cdef_unexpected(p, "a type");
	return xc_cdef_fail(p, &p->token, p->is_name ? XC_ERR_NOT_FOUND : XC_ERR_FORMAT, "no type `%.*s` is declared",
			    (int)(p->token.len < 80 ? p->token.len : 80), p->token.text);
}

bool xc_cdef_parse_specifiers(struct xc_cdef_parser *p, struct xc_cdef_specifiers *out)
{
	struct reader r = {.p = p, .out = out, .start = p->token};
	bool ok = true, more = true;
	*out = (struct xc_cdef_specifiers){.type = NULL};
	while (ok && more)
		ok = read_one(&r, &more);
	if (ok && r.words.len > 0)
		ok = finish_words(&r);
	if (ok && !out->type)
		ok = fail_unknown(p);
	if (ok)
		out->type = xc_cdef_qualify(p->process, out->type, r.set);
	xc_text_fini(&r.words);
	return ok && !p->err;
}

const struct xc_type *xc_cdef_parse_type_name(struct xc_cdef_parser *p)
{
	struct xc_cdef_specifiers specifiers;
	struct xc_cdef_declarator d;
	if (!xc_cdef_enter(p))
		return NULL;
	bool ok = xc_cdef_parse_specifiers(p, &specifiers) &&
		  xc_cdef_parse_declarator(p, specifiers.type, XC_CDEF_UNNAMED, &d);
	xc_cdef_leave(p);
	if (ok && d.name.kind != XC_TOKEN_END)
		ok = xc_cdef_fail(p, &d.name, XC_ERR_FORMAT, "a type name must not declare another name");
	return ok ? d.type : NULL;
}

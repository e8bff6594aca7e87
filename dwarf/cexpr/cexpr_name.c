/* cexpr_name: the syntax of names.
 *
 *	name      = [ module "!" ] [ file "::" ] [ "::" ] component { "::" component }
 *	          | word "." word, where the first word alone is nothing: a global of a package of Go
 *	component = word [ "<" arguments ">" ] | "~" word | "operator" … | "(anonymous namespace)"
 *	file      = word with a dot and the suffix of a source file | a path in single quotes
 *
 * `a<b>c` may be a template or two comparisons: the longest reading that names an existing thing is chosen. */
#include "dwarf/cexpr/cexpr_impl.h"

enum { MAX_CUTS = 16 };

static bool in_word(char ch)
{
	return ch == '_' || ch == '$' || (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') ||
	       (ch >= 'A' && ch <= 'Z') || (unsigned char)ch >= 0x80;
}

static size_t skip_space(const char *text, size_t at)
{
	while (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))
		at++;
	return at;
}

/* ---- prefixes ---- */

/* The length of a module's name before `!`; 0 when there is none. `a != b` and `a-!b` are expressions. */
static size_t module_length(const char *at)
{
	size_t n = 0;
	while (in_word(at[n]) || (at[n] && strchr(".+-/[]", at[n])))
		n++;
	bool ends = at[n] == '!' && at[n + 1] != '=' && n > 0 && (in_word(at[n - 1]) || at[n - 1] == ']');
	return ends ? n : 0;
}

static bool ends_like_source(const char *at, size_t len)
{
	static const char *const endings[] = {".c",   ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp",
					      ".hxx", ".rs", ".m",   ".mm",  ".inc", ".S", ".s", NULL};
	for (size_t i = 0; endings[i]; i++) {
		size_t n = strlen(endings[i]);
		if (len > n && memcmp(at + len - n, endings[i], n) == 0)
			return true;
	}
	return false;
}

/* The length of a file's name before `::`; 0 when there is none. */
static size_t file_length(const char *at)
{
	size_t n = 0;
	while (in_word(at[n]) || (at[n] && strchr(".+-/", at[n])))
		n++;
	return at[n] == ':' && at[n + 1] == ':' && ends_like_source(at, n) ? n : 0;
}

static size_t parse_prefixes(struct xc_cexpr *c, struct xc_cname *name, size_t at)
{
	const char *text = c->text;
	size_t len = module_length(text + at);
	if (len > 0) {
		name->module = xc_arena_strndup(c->arena, text + at, len);
		at = skip_space(text, at + len + 1);
	}
	xc_cexpr_lex(c, at);
	if (c->token.kind == XC_TOKEN_QUOTED) {
		size_t behind = skip_space(text, at + c->token.len);
		const char *inner = xc_arena_strndup(c->arena, text + at + 1, c->token.len - 2);
		if (strncmp(text + behind, "::", 2) != 0) {
			name->name = inner;
			name->quoted = true;
			return at + c->token.len;
		}
		name->file = inner;
		at = skip_space(text, behind + 2);
	} else if ((len = file_length(text + at)) > 0) {
		name->file = xc_arena_strndup(c->arena, text + at, len);
		at = skip_space(text, at + len + 2);
	}
	if (strncmp(text + at, "::", 2) == 0) {
		name->global = true;
		at = skip_space(text, at + 2);
	}
	return at;
}

/* ---- components ---- */

static bool closes(char open, char close)
{
	return (open == '<' && close == '>') || (open == '(' && close == ')') || (open == '[' && close == ']') ||
	       (open == '{' && close == '}');
}

/* The position after the bracket that closes the one at `at`; 0 when it is not closed. Quoted text is skipped. */
static size_t behind_bracket(const char *text, size_t at)
{
	char open[64];
	size_t depth = 0;
	for (; text[at]; at++) {
		char ch = text[at];
		if (strchr("<([{", ch)) {
			if (depth == sizeof open)
				return 0;
			open[depth++] = ch;
		} else if (strchr(">)]}", ch)) {
			if (ch == '>' && at > 0 && text[at - 1] == '-')
				continue; /* -> */
			if (!closes(open[depth - 1], ch))
				return 0;
			if (--depth == 0)
				return at + 1;
		} else if (ch == ';' || ch == '"') {
			return 0;
		}
	}
	return 0;
}

static size_t operator_end(const char *text, size_t at)
{
	static const char *const signs[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "==", "!=", "<=", ">=", "<<",
					    ">>",  "&&",  "||",  "++",  "--", "->", "+=", "-=", "*=", "/=", NULL};
	at = skip_space(text, at);
	for (size_t i = 0; signs[i]; i++) {
		if (strncmp(text + at, signs[i], strlen(signs[i])) == 0)
			return at + strlen(signs[i]);
	}
	return text[at] && strchr("+-*/%^&|~!=<>,", text[at]) ? at + 1 : at;
}

/* The position after a component without template arguments; `at` itself when there is none. */
static size_t component_end(const char *text, size_t at)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t n = at;
	if (strncmp(text + at, anonymous, strlen(anonymous)) == 0)
		return at + strlen(anonymous);
	if (text[n] == '{') /* Rust: {impl#0}, {closure_env#1} */
		return behind_bracket(text, n);
	if (text[n] == '~' && in_word(text[n + 1]))
		n++;
	while (in_word(text[n]))
		n++;
	if (n - at == strlen("operator") && memcmp(text + at, "operator", n - at) == 0)
		return operator_end(text, n);
	return n;
}

/* The possible ends of the name, the longest last. It may end before each `<`, or continue after the matching `>`. */
static size_t find_cuts(const char *text, size_t at, size_t cuts[MAX_CUTS])
{
	size_t count = 0, end = component_end(text, at);
	while (end > at) {
		size_t behind = skip_space(text, end);
		if (text[behind] == '<' && count < MAX_CUTS - 1) {
			size_t closed = behind_bracket(text, behind);
			if (closed > 0) {
				cuts[count++] = end;
				end = closed;
				behind = skip_space(text, end);
			}
		}
		if (strncmp(text + behind, "::", 2) != 0)
			break;
		at = skip_space(text, behind + 2);
		size_t next = component_end(text, at);
		if (next <= at || text[at] == '{')
			break;
		end = next;
	}
	cuts[count++] = end;
	return count;
}

/* The end of `package.name`, the whole name of a global of Go, when the name ends at `at`; `at` when no dot follows. */
static size_t dotted_end(const char *text, size_t at)
{
	size_t next = text[at] == '.' ? component_end(text, at + 1) : at;
	return next > at + 1 ? next : at;
}

/* The most plausible reading, for the error when no reading is found. */
static size_t likely_cut(const char *text, const size_t *cuts, size_t count)
{
	size_t behind = skip_space(text, cuts[count - 1]);
	bool goes_on = in_word(text[behind]) || strchr("0123456789\"'", text[behind]);
	return count > 1 && text[behind] && goes_on ? cuts[0] : cuts[count - 1];
}

static void set_name(struct xc_cexpr *c, struct xc_cname *name, size_t from, size_t end)
{
	name->name = xc_arena_strndup(c->arena, c->text + from, end - from);
	name->len = end - name->at;
}

static enum xc_cfound finish(struct xc_cexpr *c, const struct xc_cname *name, struct xc_error *err,
			     enum xc_cfound found)
{
	xc_cexpr_lex(c, name->at + name->len);
	if (err)
		xc_cexpr_fail(c, name->at, name->len, err);
	return err ? XC_FOUND_NOTHING : found;
}

/* After `struct`, a variable or function of that name does not matter, not even one that is ambiguous. */
static struct xc_error *find(struct xc_cexpr *c, const struct xc_cname *name, enum xc_cfound *found_out,
			     struct xc_value *value_out, const struct xc_type **type_out)
{
	if (!name->tag)
		return xc_cexpr_find(c, name, found_out, value_out, type_out);
	struct xc_error *err = xc_cexpr_find_tag(c, name, type_out);
	if (err || *type_out) {
		*found_out = *type_out ? XC_FOUND_TYPE : XC_FOUND_NOTHING;
		return err;
	}
	xc_error_free(xc_cexpr_find(c, name, found_out, value_out, type_out));
	if (*found_out == XC_FOUND_VALUE)
		*found_out = XC_FOUND_NOTHING;
	return NULL;
}

enum xc_cfound xc_cexpr_parse_name(struct xc_cexpr *c, int tag, struct xc_cname *name, struct xc_value *value_out,
				   const struct xc_type **type_out)
{
	size_t cuts[MAX_CUTS], count;
	enum xc_cfound found = XC_FOUND_NOTHING;
	struct xc_error *err = NULL;
	*name = (struct xc_cname){.at = c->token.at, .tag = tag};
	size_t from = parse_prefixes(c, name, c->token.at);
	if (++c->names > XC_CEXPR_NAMES)
		return finish(c, name, xc_error_new(XC_ERR_LIMIT, "more than %d names", XC_CEXPR_NAMES), found);
	if (name->name) {
		name->len = from - name->at;
		err = find(c, name, &found, value_out, type_out);
		return finish(c, name, err, found);
	}
	count = find_cuts(c->text, from, cuts);
	if (cuts[count - 1] <= from) {
		name->len = from - name->at;
		return finish(c, name, xc_error_new(XC_ERR_FORMAT, "expected a name"), found);
	}
	for (size_t i = count; i-- > 0 && found == XC_FOUND_NOTHING && !err;) {
		set_name(c, name, from, cuts[i]);
		err = find(c, name, &found, value_out, type_out);
	}
	size_t end = dotted_end(c->text, cuts[0]);
	if (found == XC_FOUND_NOTHING && !err && count == 1 && end > cuts[0]) {
		set_name(c, name, from, end);
		err = find(c, name, &found, value_out, type_out);
	}
	if (found == XC_FOUND_NOTHING && !err)
		set_name(c, name, from, likely_cut(c->text, cuts, count));
	return finish(c, name, err, found);
}

size_t xc_cexpr_last_separator(const char *name, size_t len)
{
	int depth = 0;
	for (size_t i = len; i-- > 1;) {
		if (strchr(">)]}", name[i]))
			depth++;
		else if (strchr("<([{", name[i]))
			depth--;
		else if (depth == 0 && name[i] == ':' && name[i - 1] == ':')
			return i - 1;
	}
	return 0;
}

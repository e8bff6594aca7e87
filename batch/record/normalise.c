/* normalise: one walk over a demangled name, which keeps the components and drops the content of brackets
 * (normalise_scan.c).
 *
 * The walk restarts after a return type. So the name begins after the last blank outside of brackets that no qualifier
 * follows. Brackets at the start of a component are names themselves: "(anonymous namespace)", "{lambda()#1}", "<A as
 * B>". */
#include "batch/record/normalise.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "batch/record/normalise_impl.h"

enum { DEPTH = 8 }; /* nesting of "<<A as B> as C>"; deeper ones become "<T>" */

#define ANONYMOUS "(anonymous namespace)"

struct walk {
	const char *at, *end;
	struct xc_text out;
	size_t component; /* start of the current component in out */
	unsigned depth;
	bool type;   /* blanks are part of the name, as in "operator unsigned int" and inside "<A as B>" */
	bool called; /* a parameter list has been seen: qualifiers may follow */
};

static void walk_name(struct walk *w);

static bool begins(const struct walk *w, const char *word)
{
	size_t len = strlen(word);
	return (size_t)(w->end - w->at) >= len && memcmp(w->at, word, len) == 0;
}

static bool at_component(const struct walk *w)
{
	return w->out.len == w->component;
}

static bool out_ends(const struct walk *w, const char *tail)
{
	size_t len = strlen(tail);
	return w->out.len >= len && memcmp(w->out.bytes + w->out.len - len, tail, len) == 0;
}

static void cut_out(struct walk *w, size_t len)
{
	if (w->out.len > len)
		w->out.bytes[w->out.len = len] = '\0';
	if (w->component > w->out.len)
		w->component = w->out.len;
}

/* ---- brackets ---- */

/* Adds a type or name inside of another. */
static void add_inner(struct walk *w, const char *at, const char *end, bool type)
{
	struct walk inner = {.at = at, .end = end, .depth = w->depth + 1, .type = type};
	walk_name(&inner);
	xc_text_add(&w->out, xc_text_string(&inner.out));
	xc_text_fini(&inner.out);
}

static void add_pair(struct walk *w, const char *at, const char *middle, const char *word, const char *end)
{
	xc_text_char(&w->out, '<');
	add_inner(w, at, middle, true);
	xc_text_add(&w->out, word);
	add_inner(w, middle + strlen(word), end, true);
	xc_text_char(&w->out, '>');
}

/* "<…>" as a component. False: it is an argument list. */
static bool angle_component(struct walk *w, const char *behind)
{
	const char *from = w->at + 1, *to = behind - (behind[-1] == '>'), *middle;
	struct walk inside = {.at = from, .end = to};
	if (w->depth >= DEPTH)
		return false;
	if (begins(&inside, "lambda"))
		xc_text_add(&w->out, "{lambda}");
	else if (begins(&inside, "unnamed") || begins(&inside, "anonymous"))
		xc_text_add(&w->out, ANONYMOUS);
	else if ((middle = xc_normalise_find_outside(from, to, " as ")))
		add_pair(w, from, middle, " as ", to);
	else if (begins(&inside, "impl ") && (middle = xc_normalise_find_outside(from, to, " for ")))
		add_pair(w, from, middle, " for ", to);
	else if (begins(&inside, "impl ")) {
		xc_text_char(&w->out, '<');
		add_inner(w, from, to, true);
		xc_text_char(&w->out, '>');
	} else if (w->out.len == 0 && from < to && strchr("[*&(", *from))
		xc_text_printf(&w->out, "<%s>",
			       *from == '['   ? "[T]"
			       : *from == '(' ? "(T)"
			       : *from == '*' ? "*T"
					      : "&T");
	else if (w->out.len == 0)
		add_inner(w, from, to, w->type);
	else
		return false;
	return true;
}

static void angle(struct walk *w)
{
	const char *behind = xc_normalise_behind_bracket(w->at, w->end);
	if (!at_component(w) || !angle_component(w, behind)) {
		if (out_ends(w, "::")) /* Rust's "f::<u8>", which older manglings omit */
			cut_out(w, w->out.len - 2);
		else if (!out_ends(w, "<T>"))
			xc_text_add(&w->out, "<T>");
	}
	w->at = behind;
}

/* "{lambda(int)#1}", "{closure#0}", "{{closure}}", "{impl#3}", "{unnamed type#1}": the numbers change with every
 * edit. */
static void brace(struct walk *w)
{
	const char *behind = xc_normalise_behind_bracket(w->at, w->end), *from = w->at + 1,
		   *to = behind - (behind[-1] == '}');
	if (from < to && *from == '{') {
		from++;
		to -= to > from && to[-1] == '}';
	}
	struct walk inside = {.at = from, .end = to};
	const char *number = memchr(from, '#', (size_t)(to - from));
	if (begins(&inside, "lambda"))
		xc_text_add(&w->out, "{lambda}");
	else if (begins(&inside, "closure"))
		xc_text_add(&w->out, "{closure}");
	else if (begins(&inside, "anonymous"))
		xc_text_add(&w->out, ANONYMOUS);
	else {
		xc_text_char(&w->out, '{');
		xc_text_addn(&w->out, from, (size_t)((number ? number : to) - from));
		xc_text_char(&w->out, '}');
	}
	w->at = behind;
}

/* "(*G[go.shape.int])": symbols have the type arguments; stripped programs have "[...]". */
static void receiver(struct walk *w, const char *behind)
{
	while (w->at < behind)
		if (*w->at == '[') {
			xc_text_add(&w->out, "<T>");
			w->at = xc_normalise_behind_bracket(w->at, behind);
		} else {
			xc_text_char(&w->out, *w->at++);
		}
}

/* "(u8, u16)", with or without the blank. */
static void tuple(struct walk *w, const char *behind)
{
	for (; w->at < behind; w->at++)
		if (*w->at != ' ' || w->at[-1] != ',')
			xc_text_char(&w->out, *w->at);
}

/* Parameters are dropped; Go receivers ("main.(*queue).pop") and anonymous namespaces stay. */
static void parenthesis(struct walk *w)
{
	const char *behind = xc_normalise_behind_bracket(w->at, w->end);
	if (begins(w, "(anonymous"))
		xc_text_add(&w->out, ANONYMOUS);
	else if (out_ends(w, "."))
		receiver(w, behind);
	else if (w->type)
		tuple(w, behind);
	else
		w->called = true;
	w->at = behind;
}

/* ABI tags, "[clone .cold]" and Rust's disambiguators are dropped; Go's type arguments become <T>. */
static void square(struct walk *w)
{
	const char *behind = xc_normalise_behind_bracket(w->at, w->end);
	size_t digits = strspn(w->at + 1, "0123456789abcdef");
	bool disambiguates = digits && w->at + 1 + digits + 1 == behind;
	if (w->type && !begins(w, "[abi:"))
		xc_text_addn(&w->out, w->at, (size_t)(behind - w->at));
	else if (!begins(w, "[abi:") && !begins(w, "[clone") && !disambiguates && w->out.len)
		xc_text_add(&w->out, "<T>");
	w->at = behind;
}

/* ---- between brackets ---- */

static void blank(struct walk *w)
{
	static const char *const qualifiers[] = {"const", "volatile", "&&", "&", "noexcept", "restrict", NULL};
	while (w->at < w->end && *w->at == ' ')
		w->at++;
	if (w->at == w->end || *w->at == '<')
		return;
	if (begins(w, "[clone") || begins(w, "(.") || (w->called && begins(w, "requires "))) { /* ends the name */
		w->at = w->end;
		return;
	}
	for (const char *const *q = qualifiers; w->called && *q; q++)
		if (begins(w, *q) && (w->at + strlen(*q) == w->end || !xc_normalise_is_word(w->at[strlen(*q)]))) {
			w->at += strlen(*q);
			return;
		}
	if (w->type && w->out.len)
		xc_text_char(&w->out, ' ');
	else if (!w->type)
		cut_out(w, 0); /* drops a return type */
	w->component = w->out.len;
	w->called = false;
}

/* Skips inline namespaces, by which libraries separate their ABI versions. */
static bool skip_inline_namespace(struct walk *w)
{
	static const char *const names[] = {"__cxx11::", "_V2::", "__ndk1::", "__1::", "__2::", "__8::", NULL};
	if (!out_ends(w, " std::") && (w->out.len < 5 || memcmp(w->out.bytes, "std::", 5) != 0))
		return false;
	for (const char *const *n = names; *n; n++)
		if (begins(w, *n)) {
			w->at += strlen(*n);
			return true;
		}
	return false;
}

/* "operator" and its operand: a sign, new and delete, a literal suffix, a type. */
static void operator_name(struct walk *w)
{
	xc_text_add(&w->out, "operator");
	w->at += strlen("operator");
	size_t sign = xc_normalise_operator_sign(w->at, w->end);
	if (sign || w->at == w->end) {
		xc_text_addn(&w->out, w->at, sign);
		w->at += sign;
		return;
	}
	w->type = true;
	if (begins(w, "\"\"") && !begins(w, "\"\" ")) { /* debug information has no blank in "operator"" _km" */
		xc_text_add(&w->out, "\"\" ");
		w->at += 2;
	}
	while (w->at < w->end && *w->at != '(' && *w->at != '<' && *w->at != '[')
		if (!skip_inline_namespace(w))
			xc_text_char(&w->out, *w->at++);
	if (begins(w, "[]")) { /* new[] */
		xc_text_add(&w->out, "[]");
		w->at += 2;
	}
	if (w->at < w->end && *w->at == '<')
		angle(w);
	w->type = false;
}

/* clang's "$_0" and "'lambda0'"; "_GLOBAL__N_1". */
static bool other_spellings(struct walk *w)
{
	const char *close = NULL;
	if (begins(w, "$_")) {
		for (w->at += 2; w->at < w->end && isdigit((unsigned char)*w->at); w->at++)
			;
		xc_text_add(&w->out, "{lambda}");
	} else if (begins(w, "'lambda") && (close = memchr(w->at + 1, '\'', (size_t)(w->end - w->at - 1)))) {
		w->at = close + 1;
		xc_text_add(&w->out, "{lambda}");
	} else if (begins(w, "_GLOBAL__N_1")) {
		w->at += strlen("_GLOBAL__N_1");
		xc_text_add(&w->out, ANONYMOUS);
	} else {
		return false;
	}
	return true;
}

/* A lambda is named by its enclosing function; its operator() adds nothing. */
static bool lambda_call(struct walk *w)
{
	static const char lambda[] = "{lambda}";
	if (!out_ends(w, "{lambda}::") || !begins(w, "operator()"))
		return false;
	w->at += strlen("operator()");
	if (w->at < w->end && *w->at == '<')
		w->at = xc_normalise_behind_bracket(w->at, w->end);
	cut_out(w, w->out.len - 2);
	w->component = w->out.len - strlen(lambda);
	return true;
}

static bool component_start(struct walk *w)
{
	if (lambda_call(w))
		return true;
	if (xc_normalise_is_operator(w->at, w->at, w->end)) {
		operator_name(w);
		return true;
	}
	return skip_inline_namespace(w) || other_spellings(w);
}

static void step(struct walk *w)
{
	if (at_component(w) && component_start(w))
		return;
	switch (*w->at) {
	case '<':
		angle(w);
		return;
	case '{':
		brace(w);
		return;
	case '(':
		parenthesis(w);
		return;
	case '[':
		square(w);
		return;
	case ' ':
		blank(w);
		return;
	case ':':
		if (begins(w, "::")) {
			xc_text_add(&w->out, "::");
			w->at += 2;
			w->component = w->out.len;
			w->called = false;
			return;
		}
		break;
	default:
		break;
	}
	xc_text_char(&w->out, *w->at++);
}

static void walk_name(struct walk *w)
{
	while (w->at < w->end)
		step(w);
}

size_t xc_normalise_cut(const char *bytes, size_t len, size_t max)
{
	enum { LETTER = 4 };
	if (len <= max)
		return len;
	for (size_t back = 0; back < LETTER && back < max; back++)
		if (((unsigned char)bytes[max - back] & 0xc0) != 0x80)
			return max - back;
	return max;
}

static const char *normalise(const char *name, bool go, struct xc_arena *arena)
{
	if (!name || !*name)
		return NULL;
	char *plain = xc_normalise_decoded(name);
	size_t len = xc_normalise_without_tails(plain, go);
	struct walk w = {.at = plain, .end = plain + len};
	bool objective = (*plain == '-' || *plain == '+') && plain[1] == '['; /* "-[Shop orderFor:count:]" */
	if (objective)
		xc_text_addn(&w.out, plain, len);
	else
		walk_name(&w);
	while (out_ends(&w, " "))
		cut_out(&w, w.out.len - 1);
	char *kept = w.out.len ? w.out.bytes : plain;
	kept[xc_normalise_cut(kept, strlen(kept), XC_NORMALISE_NAME)] = '\0';
	const char *result = xc_normalise_alias(kept, arena);
	xc_text_fini(&w.out);
	free(plain);
	return result;
}

const char *xc_normalise_name(const char *name, struct xc_arena *arena)
{
	return normalise(name, false, arena);
}

const char *xc_normalise_go_name(const char *name, struct xc_arena *arena)
{
	return normalise(name, true, arena);
}

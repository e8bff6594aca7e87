/* pattern_match: a backtracking matcher over the pattern's own text.
 *
 * A pattern is a row of items: a single (character, '.', %class, [set]) with an optional suffix * + - ?, a capture's
 * parenthesis, %bxy, %f[set], %1. `match` walks the row in a loop and calls itself only where it may have to come
 * back: at suffixes and parentheses. So the depth is bounded by the pattern, and by DEEPEST, which is Lua's limit.
 * The text ends in a NUL (Lua's strings do), so one byte after the pattern's end may be read. As in Lua, an error
 * in a pattern is raised when matching reaches it. */
#include "lua/vm/pattern_impl.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { DEEPEST = 200 };

static const char *match(struct xc_match *m, const char *s, const char *p);

/* ---- singles ---- */

/* The end of the set that starts at p with '['. A leading ']' is a member. */
static const char *set_end(struct xc_match *m, const char *p)
{
	const char *start = p;
	p += p[1] == '^' ? 2 : 1;
	do {
		if (p >= m->pattern_end)
			luaL_error(m->L, "malformed pattern (missing ']')");
		p += *p == '%' && p + 1 < m->pattern_end ? 2 : 1;
	} while (*p != ']');
	xc_match_charge(m, (size_t)(p - start) / XC_MATCH_BYTES_A_STEP);
	return p + 1;
}

/* The end of the single that starts at p. */
static const char *single_end(struct xc_match *m, const char *p)
{
	if (*p == '[')
		return set_end(m, p);
	if (*p != '%')
		return p + 1;
	if (p + 1 >= m->pattern_end)
		luaL_error(m->L, "malformed pattern (ends with '%%')");
	return p + 2;
}

static bool in_class(int c, int letter)
{
	bool in;
	switch (tolower(letter)) {
	case 'a':
		in = isalpha(c);
		break;
	case 'c':
		in = iscntrl(c);
		break;
	case 'd':
		in = isdigit(c);
		break;
	case 'g':
		in = isgraph(c);
		break;
	case 'l':
		in = islower(c);
		break;
	case 'p':
		in = ispunct(c);
		break;
	case 's':
		in = isspace(c);
		break;
	case 'u':
		in = isupper(c);
		break;
	case 'w':
		in = isalnum(c);
		break;
	case 'x':
		in = isxdigit(c);
		break;
	case 'z': /* deprecated, but still in Lua */
		in = c == 0;
		break;
	default:
		return letter == c;
	}
	return isupper(letter) ? !in : in;
}

/* The set from p, its '[', to `last`, its ']'. */
static bool in_set(struct xc_match *m, int c, const char *p, const char *last)
{
	bool inverted = p[1] == '^';
	for (p += inverted ? 2 : 1; p < last; p++) {
		xc_match_charge(m, 1);
		if (*p == '%') {
			p++;
			if (in_class(c, (unsigned char)*p))
				return !inverted;
		} else if (p[1] == '-' && p + 2 < last) {
			if ((unsigned char)p[0] <= c && c <= (unsigned char)p[2])
				return !inverted;
			p += 2;
		} else if ((unsigned char)*p == c) {
			return !inverted;
		}
	}
	return inverted;
}

/* Does the single [p, end) match the character at s? */
static bool takes(struct xc_match *m, const char *s, const char *p, const char *end)
{
	xc_match_charge(m, 1);
	if (s >= m->end)
		return false;
	int c = (unsigned char)*s;
	switch (*p) {
	case '.':
		return true;
	case '%':
		return in_class(c, (unsigned char)p[1]);
	case '[':
		return in_set(m, c, p, end - 1);
	default:
		return (unsigned char)*p == c;
	}
}

/* ---- suffixes: the single [p, end) has matched at s; the rest of the pattern follows the suffix ---- */

/* Try the longest repetition first, down to `least`. */
static const char *longest_first(struct xc_match *m, const char *s, const char *least, const char *p, const char *end)
{
	const char *found = NULL;
	do
		s++;
	while (takes(m, s, p, end));
	for (; s >= least && !(found = match(m, s, end + 1)); s--)
		xc_match_charge(m, 1);
	return found;
}

static const char *shortest_first(struct xc_match *m, const char *s, const char *p, const char *end)
{
	const char *found;
	while (!(found = match(m, s, end + 1)) && takes(m, s, p, end))
		s++;
	return found;
}

/* ---- captures ---- */

static const char *open_capture(struct xc_match *m, const char *s, const char *rest, ptrdiff_t len)
{
	if (m->count >= XC_MATCH_MAX_CAPTURES)
		luaL_error(m->L, "too many captures");
	m->captures[m->count++] = (struct xc_capture){s, len};
	const char *found = match(m, s, rest);
	m->count -= found == NULL;
	return found;
}

static const char *close_capture(struct xc_match *m, const char *s, const char *rest)
{
	int i = m->count - 1;
	while (i >= 0 && m->captures[i].len != XC_MATCH_OPEN)
		i--;
	if (i < 0)
		luaL_error(m->L, "invalid pattern capture");
	m->captures[i].len = s - m->captures[i].start;
	const char *found = match(m, s, rest);
	if (!found)
		m->captures[i].len = XC_MATCH_OPEN;
	return found;
}

/* %1: the end of the repeated capture, or NULL when s does not continue with it. */
static const char *same_again(struct xc_match *m, const char *s, char digit)
{
	int i = digit - '1';
	if (i < 0 || i >= m->count || m->captures[i].len == XC_MATCH_OPEN)
		luaL_error(m->L, "invalid capture index %%%d", i + 1);
	const struct xc_capture *capture = &m->captures[i];
	if (capture->len < 0 || m->end - s < capture->len)
		return NULL;
	size_t len = (size_t)capture->len;
	xc_match_charge(m, len / XC_MATCH_BYTES_A_STEP);
	return memcmp(s, capture->start, len) == 0 ? s + len : NULL;
}

/* ---- %b and %f ---- */

/* The end of the text that starts at s with p[0] and ends with the balancing p[1]. */
static const char *balanced(struct xc_match *m, const char *s, const char *p)
{
	if (p + 1 >= m->pattern_end)
		luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
	if (s >= m->end || *s != *p)
		return NULL;
	size_t depth = 1;
	for (s++; s < m->end; s++) {
		xc_match_charge(m, 1);
		if (*s == p[1] && --depth == 0)
			return s + 1;
		if (*s == p[0] && p[0] != p[1])
			depth++;
	}
	return NULL;
}

/* %f: is s where characters of the set begin? Both ends of the subject count as NUL. p is the '['. */
static bool at_frontier(struct xc_match *m, const char *s, const char *p, const char *end)
{
	int before = s == m->subject ? 0 : (unsigned char)s[-1];
	int here = s < m->end ? (unsigned char)*s : 0;
	return !in_set(m, before, p, end - 1) && in_set(m, here, p, end - 1);
}

/* ---- the row of items ---- */

/* Items that start with '%' and are not singles. */
static bool is_special(const char *p)
{
	return *p == '%' && (p[1] == 'b' || p[1] == 'f' || isdigit((unsigned char)p[1]));
}

/* The end of the match of such an item at s, or NULL. *p_io becomes the end of the item. */
static const char *match_special(struct xc_match *m, const char *s, const char **p_io)
{
	const char *p = *p_io;
	if (p[1] == 'b') {
		*p_io = p + 4;
		return balanced(m, s, p + 2);
	}
	if (p[1] != 'f') {
		*p_io = p + 2;
		return same_again(m, s, p[1]);
	}
	if (p[2] != '[')
		luaL_error(m->L, "missing '[' after '%%f' in pattern");
	*p_io = set_end(m, p + 2);
	return at_frontier(m, s, p + 2, *p_io) ? s : NULL;
}

/* Match a single with its suffix. True: continue with the next item; else *found_out is the result for the rest. */
static bool match_single(struct xc_match *m, const char **s_io, const char **p_io, const char **found_out)
{
	const char *s = *s_io, *p = *p_io, *end = single_end(m, p);
	bool may_lack = *end == '*' || *end == '-' || *end == '?';
	bool has_suffix = may_lack || *end == '+';
	*found_out = NULL;
	*p_io = end + has_suffix;
	if (!takes(m, s, p, end))
		return may_lack;
	switch (*end) {
	case '*':
	case '+':
		*found_out = longest_first(m, s, s + (*end == '+'), p, end);
		return false;
	case '-':
		*found_out = shortest_first(m, s, p, end);
		return false;
	case '?':
		return !(*found_out = match(m, s + 1, end + 1)); /* or without the single */
	default:
		*s_io = s + 1;
		return true;
	}
}

static const char *match_row(struct xc_match *m, const char *s, const char *p)
{
	const char *found;
	while (p < m->pattern_end) {
		xc_match_charge(m, 1);
		if (*p == '(')
			return p[1] == ')' ? open_capture(m, s, p + 2, XC_MATCH_POSITION)
					   : open_capture(m, s, p + 1, XC_MATCH_OPEN);
		if (*p == ')')
			return close_capture(m, s, p + 1);
		if (*p == '$' && p + 1 == m->pattern_end)
			return s == m->end ? s : NULL;
		if (is_special(p)) {
			if (!(s = match_special(m, s, &p)))
				return NULL;
		} else if (!match_single(m, &s, &p, &found)) {
			return found;
		}
	}
	return s;
}

/* Match the pattern from p on at s: the end of the match, or NULL. */
static const char *match(struct xc_match *m, const char *s, const char *p)
{
	if (m->depth >= DEEPEST)
		luaL_error(m->L, "pattern too complex");
	m->depth++;
	s = match_row(m, s, p);
	m->depth--;
	return s;
}

const char *xc_match_at(struct xc_match *m, const char *s, const char *p)
{
	m->count = 0;
	m->depth = 0;
	return match(m, s, p);
}

/* pattern: a backtracking matcher over the pattern's own text.
 *
 * A pattern is a row of items: a single (character, '.', %class, [set]) with an optional suffix * + - ?, a capture's
 * parenthesis, %bxy, %f[set], %1. `match` goes along the row in a loop and calls itself only where it may have to come back: at
 * suffixes and parentheses. So the depth is bounded by the pattern, and by DEEPEST, which is Lua's. The text ends in a NUL (Lua's strings
 * do), so one byte behind the pattern's end may be read. Errors of a pattern are raised when matching gets there, as
 * Lua's are. */
#include "lua/vm/pattern.h"

#include <ctype.h>
#include <string.h>

#include <lauxlib.h>

#include "lua/vm/limit.h"

enum { MAX_CAPTURES = 32, DEEPEST = 200, STEPS_AT_ONCE = 1000, BYTES_A_STEP = 16 };

/* What stands for a capture's length while it has none. */
enum { OPEN = -1, POSITION = -2 };

struct capture {
	const char *start;
	ptrdiff_t len;
};

struct match {
	lua_State *L;
	const char *subject, *end; /* what is searched */
	const char *pattern_end;
	unsigned depth;
	size_t steps; /* not charged yet */
	int count;
	struct capture captures[MAX_CAPTURES];
};

static const char *match(struct match *m, const char *s, const char *p);

static inline void charge(struct match *m, size_t steps)
{
	m->steps += steps;
	if (m->steps >= STEPS_AT_ONCE) {
		xc_limit_spend(m->L, m->steps);
		m->steps = 0;
	}
}

/* ---- singles ---- */

/* Behind the set that starts at p with '['. A ']' that comes first is a member. */
static const char *set_end(struct match *m, const char *p)
{
	const char *start = p;
	p += p[1] == '^' ? 2 : 1;
	do {
		if (p >= m->pattern_end)
			luaL_error(m->L, "malformed pattern (missing ']')");
		p += *p == '%' && p + 1 < m->pattern_end ? 2 : 1;
	} while (*p != ']');
	charge(m, (size_t)(p - start) / BYTES_A_STEP);
	return p + 1;
}

/* Behind the single that starts at p. */
static const char *single_end(struct match *m, const char *p)
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
	case 'z': /* deprecated, and still there */
		in = c == 0;
		break;
	default:
		return letter == c;
	}
	return isupper(letter) ? !in : in;
}

/* The set from p, its '[', to `last`, its ']'. */
static bool in_set(struct match *m, int c, const char *p, const char *last)
{
	bool inverted = p[1] == '^';
	for (p += inverted ? 2 : 1; p < last; p++) {
		charge(m, 1);
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

/* Does the single [p, end) take the character at s? */
static bool takes(struct match *m, const char *s, const char *p, const char *end)
{
	charge(m, 1);
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

/* ---- suffixes: the single [p, end) has taken s; the rest of the pattern is behind the suffix ---- */

/* At least down to `least`. */
static const char *longest_first(struct match *m, const char *s, const char *least, const char *p, const char *end)
{
	const char *found = NULL;
	do
		s++;
	while (takes(m, s, p, end));
	for (; s >= least && !(found = match(m, s, end + 1)); s--)
		charge(m, 1);
	return found;
}

static const char *shortest_first(struct match *m, const char *s, const char *p, const char *end)
{
	const char *found;
	while (!(found = match(m, s, end + 1)) && takes(m, s, p, end))
		s++;
	return found;
}

/* ---- captures ---- */

static const char *open_capture(struct match *m, const char *s, const char *rest, ptrdiff_t len)
{
	if (m->count >= MAX_CAPTURES)
		luaL_error(m->L, "too many captures");
	m->captures[m->count++] = (struct capture){s, len};
	const char *found = match(m, s, rest);
	m->count -= found == NULL;
	return found;
}

static const char *close_capture(struct match *m, const char *s, const char *rest)
{
	int i = m->count - 1;
	while (i >= 0 && m->captures[i].len != OPEN)
		i--;
	if (i < 0)
		luaL_error(m->L, "invalid pattern capture");
	m->captures[i].len = s - m->captures[i].start;
	const char *found = match(m, s, rest);
	if (!found)
		m->captures[i].len = OPEN;
	return found;
}

/* %1: behind what the capture holds; NULL when s does not go on with it. */
static const char *same_again(struct match *m, const char *s, char digit)
{
	int i = digit - '1';
	if (i < 0 || i >= m->count || m->captures[i].len == OPEN)
		luaL_error(m->L, "invalid capture index %%%d", i + 1);
	const struct capture *capture = &m->captures[i];
	if (capture->len < 0 || m->end - s < capture->len)
		return NULL;
	size_t len = (size_t)capture->len;
	charge(m, len / BYTES_A_STEP);
	return memcmp(s, capture->start, len) == 0 ? s + len : NULL;
}

/* ---- %b and %f ---- */

/* Behind the text that starts at s with p[0] and ends with the p[1] that balances it. */
static const char *balanced(struct match *m, const char *s, const char *p)
{
	if (p + 1 >= m->pattern_end)
		luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
	if (s >= m->end || *s != *p)
		return NULL;
	size_t depth = 1;
	for (s++; s < m->end; s++) {
		charge(m, 1);
		if (*s == p[1] && --depth == 0)
			return s + 1;
		if (*s == p[0] && p[0] != p[1])
			depth++;
	}
	return NULL;
}

/* Does a set's run begin at s? Both ends of the subject count as NUL. p is the '['. */
static bool at_frontier(struct match *m, const char *s, const char *p, const char *end)
{
	int before = s == m->subject ? 0 : (unsigned char)s[-1];
	int here = s < m->end ? (unsigned char)*s : 0;
	return !in_set(m, before, p, end - 1) && in_set(m, here, p, end - 1);
}

/* ---- the row of items ---- */

/* Items that begin with '%' and are no singles. */
static bool is_special(const char *p)
{
	return *p == '%' && (p[1] == 'b' || p[1] == 'f' || isdigit((unsigned char)p[1]));
}

/* Behind what such an item matches at s, or NULL. *p_io goes behind the item. */
static const char *match_special(struct match *m, const char *s, const char **p_io)
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

/* A single and its suffix. True when the row goes on, behind the item; else *found_out is what the rest has found. */
static bool match_single(struct match *m, const char **s_io, const char **p_io, const char **found_out)
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
		return !(*found_out = match(m, s + 1, end + 1)); /* or without it */
	default:
		*s_io = s + 1;
		return true;
	}
}

static const char *match_row(struct match *m, const char *s, const char *p)
{
	const char *found;
	while (p < m->pattern_end) {
		charge(m, 1);
		if (*p == '(')
			return p[1] == ')' ? open_capture(m, s, p + 2, POSITION) : open_capture(m, s, p + 1, OPEN);
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

/* Match the pattern from p on at s: behind the match, or NULL. */
static const char *match(struct match *m, const char *s, const char *p)
{
	if (m->depth >= DEEPEST)
		luaL_error(m->L, "pattern too complex");
	m->depth++;
	s = match_row(m, s, p);
	m->depth--;
	return s;
}

static const char *match_afresh(struct match *m, const char *s, const char *p)
{
	m->count = 0;
	m->depth = 0;
	return match(m, s, p);
}

/* ---- what was found ---- */

static void push_capture(const struct match *m, int i, const char *s, const char *end)
{
	if (i >= m->count) {
		if (i > 0)
			luaL_error(m->L, "invalid capture index %%%d", i + 1);
		lua_pushlstring(m->L, s, (size_t)(end - s)); /* without captures the whole match is the first */
		return;
	}
	const struct capture *capture = &m->captures[i];
	if (capture->len == OPEN)
		luaL_error(m->L, "unfinished capture");
	if (capture->len == POSITION)
		lua_pushinteger(m->L, capture->start - m->subject + 1);
	else
		lua_pushlstring(m->L, capture->start, (size_t)capture->len);
}

/* Captures, or with none the whole match. */
static int push_match(const struct match *m, const char *s, const char *end)
{
	int count = m->count ? m->count : 1;
	luaL_checkstack(m->L, count, "too many captures");
	for (int i = 0; i < count; i++)
		push_capture(m, i, s, end);
	return count;
}

/* ---- string.find, string.match ---- */

static int push_nothing(lua_State *L)
{
	luaL_pushfail(L);
	return 1;
}

/* The argument as an offset from 0: past the end is len + 1. */
static size_t check_start(lua_State *L, int arg, size_t len)
{
	lua_Integer at = luaL_optinteger(L, arg, 1);
	if (at > 0)
		return (lua_Unsigned)at - 1 > len ? len + 1 : (size_t)at - 1;
	if (at == 0 || at < -(lua_Integer)len)
		return 0;
	return (size_t)((lua_Integer)len + at);
}

static bool is_plain(const char *pattern, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (pattern[i] && strchr("^$*+?.([%-", pattern[i]))
			return false;
	return true;
}

static int find_plain(lua_State *L, size_t start)
{
	size_t len, wanted_len;
	const char *subject = lua_tolstring(L, 1, &len), *wanted = lua_tolstring(L, 2, &wanted_len);
	xc_limit_spend(L, (len - start) / BYTES_A_STEP);
	const char *found = memmem(subject + start, len - start, wanted, wanted_len);
	if (!found)
		return push_nothing(L);
	lua_pushinteger(L, found - subject + 1);
	lua_pushinteger(L, found - subject + (lua_Integer)wanted_len);
	return 2;
}

static void begin(struct match *m, lua_State *L, const char *subject, size_t len, const char *pattern_end)
{
	m->L = L;
	m->subject = subject;
	m->end = subject + len;
	m->pattern_end = pattern_end;
	m->steps = 0;
}

/* Where the pattern, which may have an anchor, matches first from *s_io on: behind the match, and *s_io its start. */
static const char *search(struct match *m, const char **s_io, const char *pattern)
{
	bool anchored = *pattern == '^';
	const char *found, *s = *s_io;
	pattern += anchored;
	while (!(found = match_afresh(m, s, pattern)) && s < m->end && !anchored)
		s++;
	*s_io = s;
	return found;
}

static int find_or_match(lua_State *L, bool find)
{
	struct match m;
	size_t len, pattern_len;
	const char *subject = luaL_checklstring(L, 1, &len), *pattern = luaL_checklstring(L, 2, &pattern_len);
	size_t start = check_start(L, 3, len);
	if (start > len)
		return push_nothing(L);
	if (find && (lua_toboolean(L, 4) || is_plain(pattern, pattern_len)))
		return find_plain(L, start);
	begin(&m, L, subject, len, pattern + pattern_len);
	const char *s = subject + start, *end = search(&m, &s, pattern);
	if (!end)
		return push_nothing(L);
	if (!find)
		return push_match(&m, s, end);
	lua_pushinteger(L, s - subject + 1);
	lua_pushinteger(L, end - subject);
	return 2 + (m.count ? push_match(&m, s, end) : 0);
}

static int string_find(lua_State *L)
{
	return find_or_match(L, true);
}

static int string_match(lua_State *L)
{
	return find_or_match(L, false);
}

/* ---- string.gmatch ---- */

/* Upvalues: subject, pattern, where to go on (offset), where the last match ended (offset; -1: none). */
enum { SUBJECT = 1, PATTERN, NEXT, LAST };

static int next_match(lua_State *L)
{
	struct match m;
	size_t len, pattern_len;
	const char *subject = lua_tolstring(L, lua_upvalueindex(SUBJECT), &len);
	const char *pattern = lua_tolstring(L, lua_upvalueindex(PATTERN), &pattern_len);
	lua_Integer next = lua_tointeger(L, lua_upvalueindex(NEXT)), last = lua_tointeger(L, lua_upvalueindex(LAST));
	begin(&m, L, subject, len, pattern + pattern_len);
	for (; next <= (lua_Integer)len; next++) {
		const char *end = match_afresh(&m, subject + next, pattern);
		if (!end || end - subject == last)
			continue;
		lua_pushinteger(L, end - subject);
		lua_copy(L, -1, lua_upvalueindex(NEXT));
		lua_replace(L, lua_upvalueindex(LAST));
		return push_match(&m, subject + next, end);
	}
	return 0;
}

static int string_gmatch(lua_State *L)
{
	size_t len;
	luaL_checklstring(L, 1, &len);
	luaL_checkstring(L, 2);
	size_t start = check_start(L, 3, len);
	lua_settop(L, 2);
	lua_pushinteger(L, (lua_Integer)start);
	lua_pushinteger(L, -1);
	lua_pushcclosure(L, next_match, 4);
	return 1;
}

/* ---- string.gsub ---- */

/* A replacement text, in which %0 to %9 and %% stand for something. */
static void add_text(struct match *m, luaL_Buffer *out, const char *s, const char *end)
{
	size_t len;
	const char *text = lua_tolstring(m->L, 3, &len), *text_end = text + len, *mark;
	for (; (mark = memchr(text, '%', (size_t)(text_end - text))); text = mark + 2) {
		charge(m, 1);
		luaL_addlstring(out, text, (size_t)(mark - text));
		if (mark[1] == '%') {
			luaL_addchar(out, '%');
		} else if (mark[1] == '0') {
			luaL_addlstring(out, s, (size_t)(end - s));
		} else if (isdigit((unsigned char)mark[1])) {
			push_capture(m, mark[1] - '1', s, end);
			luaL_addvalue(out);
		} else {
			luaL_error(m->L, "invalid use of '%%' in replacement string");
		}
	}
	luaL_addlstring(out, text, (size_t)(text_end - text));
}

/* What a table or function says the match becomes; nil and false: the match stays. True when it changed. */
static bool add_answer(const struct match *m, luaL_Buffer *out, const char *s, const char *end)
{
	if (lua_istable(m->L, 3)) {
		push_capture(m, 0, s, end);
		lua_gettable(m->L, 3);
	} else {
		lua_pushvalue(m->L, 3);
		lua_call(m->L, push_match(m, s, end), 1);
	}
	if (!lua_toboolean(m->L, -1)) {
		lua_pop(m->L, 1);
		luaL_addlstring(out, s, (size_t)(end - s));
		return false;
	}
	if (!lua_isstring(m->L, -1))
		luaL_error(m->L, "invalid replacement value (a %s)", luaL_typename(m->L, -1));
	luaL_addvalue(out);
	return true;
}

static bool add_replacement(struct match *m, luaL_Buffer *out, const char *s, const char *end)
{
	if (!lua_isstring(m->L, 3))
		return add_answer(m, out, s, end);
	add_text(m, out, s, end);
	return true;
}

/* Replaces at most `most` matches; returns how many. *changed_out: does `out` differ from the subject? */
static lua_Integer replace(struct match *m, luaL_Buffer *out, const char *pattern, lua_Integer most, bool *changed_out)
{
	bool anchored = *pattern == '^';
	const char *s = m->subject, *last = NULL;
	lua_Integer count = 0;
	pattern += anchored;
	while (count < most) {
		xc_limit_make_room_in(m->L, out, LUAL_BUFFERSIZE);
		const char *end = match_afresh(m, s, pattern);
		if (end && end != last) {
			count++;
			*changed_out |= add_replacement(m, out, s, end);
			s = last = end;
		} else if (s < m->end) {
			luaL_addchar(out, *s);
			s++;
		} else {
			break;
		}
		if (anchored)
			break;
	}
	luaL_addlstring(out, s, (size_t)(m->end - s));
	return count;
}

static int string_gsub(lua_State *L)
{
	struct match m;
	luaL_Buffer out;
	size_t len, pattern_len;
	bool changed = false;
	const char *subject = luaL_checklstring(L, 1, &len), *pattern = luaL_checklstring(L, 2, &pattern_len);
	int type = lua_type(L, 3);
	lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)len + 1);
	luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TTABLE || type == LUA_TFUNCTION,
			 3, "string/function/table");
	begin(&m, L, subject, len, pattern + pattern_len);
	luaL_buffinit(L, &out);
	lua_Integer count = replace(&m, &out, pattern, most, &changed);
	if (changed)
		luaL_pushresult(&out);
	else
		lua_pushvalue(L, 1);
	lua_pushinteger(L, count);
	return 2;
}

void xc_pattern_open(lua_State *L)
{
	static const luaL_Reg functions[] = {{"find", string_find},
					     {"match", string_match},
					     {"gmatch", string_gmatch},
					     {"gsub", string_gsub},
					     {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
}

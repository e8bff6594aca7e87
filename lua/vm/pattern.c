/* pattern: the string functions that use the matcher. */
#include "lua/vm/pattern.h"

#include <ctype.h>
#include <string.h>

#include "lua/vm/pattern_impl.h"

/* ---- what was found ---- */

static void push_capture(const struct xc_match *m, int i, const char *s, const char *end)
{
	if (i >= m->count) {
		if (i > 0)
			luaL_error(m->L, "invalid capture index %%%d", i + 1);
		lua_pushlstring(m->L, s, (size_t)(end - s)); /* without captures, capture 1 is the whole match */
		return;
	}
	const struct xc_capture *capture = &m->captures[i];
	if (capture->len == XC_MATCH_OPEN)
		luaL_error(m->L, "unfinished capture");
	if (capture->len == XC_MATCH_POSITION)
		lua_pushinteger(m->L, capture->start - m->subject + 1);
	else
		lua_pushlstring(m->L, capture->start, (size_t)capture->len);
}

/* Push the captures, or without captures the whole match. */
static int push_match(const struct xc_match *m, const char *s, const char *end)
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

/* The argument as an offset from 0; beyond the end it is len + 1. */
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
	xc_limit_spend(L, (len - start) / XC_MATCH_BYTES_A_STEP);
	const char *found = memmem(subject + start, len - start, wanted, wanted_len);
	if (!found)
		return push_nothing(L);
	lua_pushinteger(L, found - subject + 1);
	lua_pushinteger(L, found - subject + (lua_Integer)wanted_len);
	return 2;
}

static void begin(struct xc_match *m, lua_State *L, const char *subject, size_t len, const char *pattern_end)
{
	m->L = L;
	m->subject = subject;
	m->end = subject + len;
	m->pattern_end = pattern_end;
	m->steps = 0;
}

/* Find the first match of the pattern, which may have an anchor, from *s_io on. Returns the end of the match; *s_io
 * is its start. */
static const char *search(struct xc_match *m, const char **s_io, const char *pattern)
{
	bool anchored = *pattern == '^';
	const char *found, *s = *s_io;
	pattern += anchored;
	while (!(found = xc_match_at(m, s, pattern)) && s < m->end && !anchored)
		s++;
	*s_io = s;
	return found;
}

static int find_or_match(lua_State *L, bool find)
{
	struct xc_match m;
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

/* Upvalues: subject, pattern, start of the next search (offset), end of the last match (offset; -1: none). */
enum { SUBJECT = 1, PATTERN, NEXT, LAST };

static int next_match(lua_State *L)
{
	struct xc_match m;
	size_t len, pattern_len;
	const char *subject = lua_tolstring(L, lua_upvalueindex(SUBJECT), &len);
	const char *pattern = lua_tolstring(L, lua_upvalueindex(PATTERN), &pattern_len);
	lua_Integer next = lua_tointeger(L, lua_upvalueindex(NEXT)), last = lua_tointeger(L, lua_upvalueindex(LAST));
	begin(&m, L, subject, len, pattern + pattern_len);
	for (; next <= (lua_Integer)len; next++) {
		const char *end = xc_match_at(&m, subject + next, pattern);
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

/* Append the replacement text with %0 to %9 and %% replaced. */
static void add_text(struct xc_match *m, luaL_Buffer *out, const char *s, const char *end)
{
	size_t len;
	const char *text = lua_tolstring(m->L, 3, &len), *text_end = text + len, *mark;
	for (; (mark = memchr(text, '%', (size_t)(text_end - text))); text = mark + 2) {
		xc_match_charge(m, 1);
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

/* Append the replacement that a table or function gives; for nil and false the match itself. True: it changed. */
static bool add_answer(const struct xc_match *m, luaL_Buffer *out, const char *s, const char *end)
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

static bool add_replacement(struct xc_match *m, luaL_Buffer *out, const char *s, const char *end)
{
	if (!lua_isstring(m->L, 3))
		return add_answer(m, out, s, end);
	add_text(m, out, s, end);
	return true;
}

/* Replace at most `most` matches; returns the number. *changed_out: does `out` differ from the subject? */
static lua_Integer replace(struct xc_match *m, luaL_Buffer *out, const char *pattern, lua_Integer most,
			   bool *changed_out)
{
	bool anchored = *pattern == '^';
	const char *s = m->subject, *last = NULL;
	lua_Integer count = 0;
	pattern += anchored;
	while (count < most) {
		xc_limit_make_room_in(m->L, out, LUAL_BUFFERSIZE);
		const char *end = xc_match_at(m, s, pattern);
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
	struct xc_match m;
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

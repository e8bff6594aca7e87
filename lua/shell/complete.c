/* complete: the text before the cursor is parsed backwards: inside a string it is a name of the target, after a dot
 * or colon a field or method of the expression before it, else a global. The expression is evaluated only if it
 * consists of names and dots, since a call could have side effects. */
#include "lua/shell/complete.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/name.h"
#include "lua/vm/bind.h"
#include "lua/shell/reference.h"

enum { MAX_LINE = 4096, MAX_NESTING = 8 };

struct completer {
	struct xc_completions *out;
	const char *prefix;
	size_t prefix_len;
};

static bool full(const struct completer *c)
{
	return c->out->count >= XC_COMPLETE_MAX;
}

/* A name of the target with control characters cannot be typed, and must not reach the terminal. */
static bool is_typeable(const char *word)
{
	const size_t len = strlen(word);
	for (size_t at = 0, one; at < len; at += one)
		if (!(one = xc_text_plain_length(word + at, len - at)))
			return false;
	return true;
}

static void offer(struct completer *c, const char *word)
{
	if (!word || strncmp(word, c->prefix, c->prefix_len) != 0 || !is_typeable(word))
		return;
	if (full(c)) {
		c->out->more = true;
		return;
	}
	c->out->words = xc_grow(c->out->words, c->out->count, &c->out->capacity, sizeof *c->out->words);
	c->out->words[c->out->count++] = xc_strdup(word);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct xc_completions *out)
{
	size_t kept = 0;
	if (out->count > 0)
		qsort(out->words, out->count, sizeof *out->words, compare);
	for (size_t i = 0; i < out->count; i++) {
		if (kept > 0 && strcmp(out->words[kept - 1], out->words[i]) == 0)
			free(out->words[i]);
		else
			out->words[kept++] = out->words[i];
	}
	out->count = kept;
}

/* ---- names of the target ---- */

static bool offer_name(void *context, const char *name, const struct xc_definition *definition)
{
	struct completer *c = context;
	(void)definition;
	offer(c, name);
	return !c->out->more;
}

static void offer_names(struct completer *c, struct xc_process *process, unsigned kinds)
{
	size_t keyword = (size_t)(xc_name_without_keyword(c->prefix) - c->prefix);
	if (kinds == XC_NAME_TYPE && keyword <= c->prefix_len) { /* "struct cli" completes to "struct client" */
		c->prefix += keyword;
		c->prefix_len -= keyword;
		c->out->start += keyword;
	}
	for (size_t i = 0; process && i < process->module_count && !c->out->more; i++)
		xc_lookup_each(process, process->modules[i], kinds, offer_name, c);
}

/* The kind of names that a string argument takes, by the method before its quote; 0: none. */
static unsigned kinds_of(const char *line, size_t quote)
{
	static const struct {
		const char *method;
		unsigned kinds;
	} methods[] = {
		{":var", XC_NAME_VARIABLE},
		{":ref", XC_NAME_VARIABLE},
		{":has_var", XC_NAME_VARIABLE},
		{":eval", XC_NAME_VARIABLE},
		{":type", XC_NAME_TYPE},
		{":has_type", XC_NAME_TYPE},
		{"xcore.sizeof", XC_NAME_TYPE},
		{"xcore.offsetof", XC_NAME_TYPE},
		{":symbol", XC_NAME_FUNCTION | XC_NAME_VARIABLE},
	};
	while (quote > 0 && (line[quote - 1] == ' ' || line[quote - 1] == '('))
		quote--;
	for (size_t i = 0; i < XC_COUNT(methods); i++) {
		size_t len = strlen(methods[i].method);
		if (quote >= len && strncmp(line + quote - len, methods[i].method, len) == 0)
			return methods[i].kinds;
	}
	return 0;
}

/* The position after the unclosed quote at the end of the line; 0: there is none. */
static size_t open_quote(const char *line, size_t len)
{
	size_t at = 0;
	char quote = 0;
	for (size_t i = 0; i < len; i++) {
		if (quote && line[i] == '\\') {
			i++;
		} else if (quote ? line[i] == quote : line[i] == '"' || line[i] == '\'') {
			quote = quote ? 0 : line[i];
			at = i + 1;
		}
	}
	return quote ? at : 0;
}

/* ---- fields and methods ---- */

static void offer_members(struct completer *c, const struct xc_type *shape, unsigned nesting)
{
	size_t count;
	const struct xc_member *members = xc_type_members(shape, &count);
	for (size_t i = 0; i < count && !c->out->more; i++) {
		if (members[i].name && !members[i].base)
			offer(c, members[i].name);
		else if (nesting < MAX_NESTING)
			offer_members(c, xc_bind_shape(members[i].type), nesting + 1);
	}
}

static void offer_class(struct completer *c, const char *class_name, bool methods)
{
	size_t count;
	const struct xc_reference *all = xc_reference_all(&count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].class_name, class_name) == 0 && (all[i].kind == XC_REFERENCE_METHOD) == methods)
			offer(c, all[i].name);
}

static void offer_keys(struct completer *c, lua_State *L)
{
	lua_pushnil(L);
	while (lua_next(L, -2)) {
		lua_pop(L, 1);
		if (lua_type(L, -1) == LUA_TSTRING)
			offer(c, lua_tostring(L, -1));
	}
}

/* The class of an object of the API ("Target"), by its metatable; NULL for others. */
static const char *class_of(lua_State *L)
{
	const char *name = NULL;
	if (luaL_getmetafield(L, -1, "__name") == LUA_TSTRING) {
		name = lua_tostring(L, -1); /* kept by the metatable */
		name = strncmp(name, "xcore.", 6) == 0 ? name + 6 : NULL;
	}
	lua_settop(L, 1);
	return name;
}

static void offer_of(struct completer *c, lua_State *L, bool methods)
{
	const struct xc_lua_value *value = xc_bind_test(L, 1);
	const char *class_name = class_of(L);
	if (value) {
		offer_members(c, value->shape, 0);
		return;
	}
	if (class_name)
		offer_class(c, class_name, methods);
	if (lua_istable(L, 1) && !methods)
		offer_keys(c, L);
}

/* The expression before a dot: `t:var "variable"` or nothing, then names separated by dots. */
struct object {
	const char *variable; /* NULL: the first name is a global */
	const char *names;
};

static void push_first(lua_State *L, const struct object *object)
{
	lua_settop(L, 0);
	if (!object->variable) {
		lua_pushglobaltable(L);
		return;
	}
	lua_getglobal(L, "t");
	lua_getfield(L, 1, "var");
	lua_rotate(L, 1, 1);
	lua_pushstring(L, object->variable);
	lua_call(L, 2, 1);
}

/* Leaves the object as the only value on the stack. Calls no function of the script: tables are accessed without
 * metatables. */
static int resolve(lua_State *L)
{
	const struct object *object = lua_touserdata(L, 1);
	const char *at = object->names;
	push_first(L, object);
	while (*at) {
		size_t len = strcspn(at, ".");
		lua_pushlstring(L, at, len);
		if (lua_istable(L, 1))
			lua_rawget(L, 1);
		else if (lua_isuserdata(L, 1)) /* ours */
			lua_gettable(L, 1);
		else
			return luaL_error(L, "not to be looked into");
		lua_replace(L, 1);
		at += len + (at[len] == '.');
	}
	return 1;
}

static void offer_after(struct completer *c, struct xc_host *host, struct object object, bool methods)
{
	lua_State *L = lua_newthread(host->L); /* a stack of its own */
	lua_pushcfunction(L, resolve);
	lua_pushlightuserdata(L, &object);
	if (lua_pcall(L, 1, 1, 0) == LUA_OK)
		offer_of(c, L, methods);
	lua_pop(host->L, 1);
}

static void offer_globals(struct completer *c, lua_State *L)
{
	static const char *const keywords[] = {"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
					       "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
					       "repeat",   "return", "then", "true", "until",  "while"};
	for (size_t i = 0; i < XC_COUNT(keywords); i++)
		offer(c, keywords[i]);
	lua_pushglobaltable(L);
	offer_keys(c, L);
	lua_pop(L, 1);
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void cut(char *to, const char *from, size_t len)
{
	memcpy(to, from, len);
	to[len] = '\0';
}

/* If the line ends at `end` with `t:var "NAME"` or `t:var("NAME")`, copy the name. */
static bool variable_before(const char *line, size_t end, char *name)
{
	static const char call[] = "t:var";
	size_t len = strlen(call), quote;
	end -= end > 0 && line[end - 1] == ')';
	if (end < 2 || line[end - 1] != '"')
		return false;
	for (quote = end - 1; quote > 0 && line[quote - 1] != '"';)
		quote--;
	if (quote < 1)
		return false;
	cut(name, line + quote, end - 1 - quote);
	for (quote--; quote > 0 && (line[quote - 1] == ' ' || line[quote - 1] == '(');)
		quote--;
	return quote >= len && strncmp(line + quote - len, call, len) == 0;
}

static void complete_word(struct completer *c, struct xc_host *host, const char *line, size_t len)
{
	size_t start = len, first;
	while (start > 0 && in_name(line[start - 1]))
		start--;
	c->out->start = start;
	c->prefix = line + start;
	c->prefix_len = len - start;
	if (start == 0 || (line[start - 1] != '.' && line[start - 1] != ':')) {
		offer_globals(c, host->L);
		return;
	}
	for (first = start - 1; first > 0 && (in_name(line[first - 1]) || line[first - 1] == '.');)
		first--;
	char names[MAX_LINE], variable[MAX_LINE];
	struct object object = {.names = names};
	cut(names, line + first, start - 1 - first);
	if (variable_before(line, first, variable))
		object = (struct object){variable, names + (names[0] == '.')};
	if (object.variable || names[0] != '.')
		offer_after(c, host, object, line[start - 1] == ':');
}

void xc_complete_line(struct xc_host *host, const char *line, size_t len, struct xc_completions *out)
{
	char text[MAX_LINE];
	*out = (struct xc_completions){0};
	if (len >= sizeof text)
		return;
	memcpy(text, line, len);
	text[len] = '\0';
	struct completer c = {.out = out};
	size_t quoted = open_quote(text, len);
	if (quoted > 0) {
		unsigned kinds = kinds_of(text, quoted - 1);
		out->start = quoted;
		c.prefix = text + quoted;
		c.prefix_len = len - quoted;
		if (kinds)
			offer_names(&c, host->process, kinds);
	} else {
		complete_word(&c, host, text, len);
	}
	sort(out);
}

size_t xc_completions_common(const struct xc_completions *completions)
{
	size_t common = completions->count > 0 ? strlen(completions->words[0]) : 0;
	for (size_t i = 1; i < completions->count; i++) {
		size_t n = 0;
		while (n < common && completions->words[i][n] == completions->words[0][n])
			n++;
		common = n;
	}
	return common;
}

void xc_completions_fini(struct xc_completions *completions)
{
	for (size_t i = 0; i < completions->count; i++)
		free(completions->words[i]);
	free(completions->words);
	*completions = (struct xc_completions){0};
}

/* bind_error: errors of xcore as errors of Lua, and back.
 *
 * An xcore.Error is a plain table, so scripts may read it and pass it on. The host owns a struct xc_error while it
 * is copied: Lua may run out of memory meanwhile. */
#include "lua/vm/bind.h"

#include <stdarg.h>
#include <string.h>

static const char error_key;

static const struct {
	enum xc_error_code code;
	const char *kind;
} kinds[] = {
	{XC_ERR_IO, "io"},
	{XC_ERR_FORMAT, "format"},
	{XC_ERR_FAULT, "fault"},
	{XC_ERR_NOT_FOUND, "not_found"},
	{XC_ERR_LIMIT, "limit"},
	{XC_ERR_PERMISSION, "permission"},
	{XC_ERR_UNSUPPORTED, "unsupported"},
	{XC_ERR_USAGE, "usage"},
	{XC_ERR_ABSENT, "absent"},
	{XC_ERR_TORN, "torn"},
	{XC_ERR_MISMATCH, "format"},
};

static const char *kind_of(enum xc_error_code code)
{
	for (size_t i = 0; i < XC_COUNT(kinds); i++)
		if (kinds[i].code == code)
			return kinds[i].kind;
	return "format";
}

static enum xc_error_code code_of(const char *kind)
{
	for (size_t i = 0; kind && i < XC_COUNT(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].code;
	return XC_ERR_FORMAT;
}

struct xc_text *xc_bind_scratch(lua_State *L)
{
	struct xc_text *text = &xc_bind_host(L)->scratch;
	text->len = 0;
	if (text->bytes)
		text->bytes[0] = '\0';
	return text;
}

int xc_bind_push_scratch(lua_State *L)
{
	const struct xc_text *text = &xc_bind_host(L)->scratch;
	lua_pushlstring(L, xc_text_string(text), text->len);
	return 1;
}

/* Push the place in the plugin: file and line of the innermost Lua function. */
static void push_where(lua_State *L)
{
	lua_Debug at;
	for (int level = 0; level < 8 && lua_getstack(L, level, &at); level++) {
		lua_getinfo(L, "Sl", &at);
		if (at.currentline > 0) {
			lua_pushfstring(L, "%s:%d", at.short_src, at.currentline);
			return;
		}
	}
	lua_pushnil(L);
}

static void push_error(lua_State *L, const struct xc_error *err, const char *path)
{
	luaL_checkstack(L, 6, NULL);
	lua_createtable(L, 0, 6);
	lua_pushstring(L, kind_of(err->code));
	lua_setfield(L, -2, "kind");
	lua_pushstring(L, err->message);
	lua_setfield(L, -2, "message");
	push_where(L);
	lua_setfield(L, -2, "where");
	lua_pushstring(L, path);
	lua_setfield(L, -2, "path");
	lua_pushstring(L, err->hint);
	lua_setfield(L, -2, "hint");
	if (err->code == XC_ERR_FAULT) {
		lua_pushinteger(L, (lua_Integer)err->addr);
		lua_setfield(L, -2, "addr");
	}
	lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key);
	lua_setmetatable(L, -2);
}

static int raise_error(lua_State *L, struct xc_error *err, const char *path)
{
	struct xc_host *host = xc_bind_host(L);
	xc_error_free(host->raised);
	host->raised = err;
	push_error(L, err, path);
	return lua_error(L);
}

/* After a path, "0x10: not mapped" becomes a sentence: "p->next: 0x10 is not mapped". Takes err. */
static struct xc_error *as_sentence(struct xc_error *err)
{
	static const char mark[] = ": not ";
	size_t digits = strspn(err->message, "0123456789abcdefx");
	if (err->code != XC_ERR_FAULT || digits == 0 || strncmp(err->message + digits, mark, sizeof mark - 1) != 0)
		return err;
	struct xc_error *said =
		xc_error_new(err->code, "%.*s is%s", (int)digits, err->message, err->message + digits + 1);
	said->addr = err->addr;
	if (err->hint)
		said = xc_error_hint(said, "%s", err->hint);
	xc_error_free(err);
	return said;
}

int xc_bind_raise(lua_State *L, struct xc_error *err)
{
	return err ? raise_error(L, as_sentence(err), NULL) : 0;
}

int xc_bind_fail(lua_State *L, enum xc_error_code code, const char *format, ...)
{
	char message[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	return raise_error(L, xc_error_new(code, "%s", message), NULL);
}

void xc_bind_path_text(struct xc_text *text, const struct xc_lua_value *value)
{
	if (value->path) {
		xc_path_write(text, value->path);
		return;
	}
	xc_text_add(text, "((");
	xc_text_name(text, xc_type_name(value->form == XC_FORM_POINTER ? value->type : value->shape));
	xc_text_printf(text, "%s) 0x%llx)", value->form == XC_FORM_POINTER ? "" : " *",
		       (unsigned long long)value->addr);
}

int xc_bind_raise_at(lua_State *L, struct xc_error *err, const struct xc_lua_value *value, const char *member)
{
	if (!err)
		return 0;
	struct xc_text *path = xc_bind_scratch(L);
	xc_bind_path_text(path, value);
	if (member)
		xc_text_name(path, member);
	return raise_error(L, xc_error_wrap(as_sentence(err), "%s", xc_text_string(path)), xc_text_string(path));
}

int xc_bind_raise_path(lua_State *L, struct xc_error *err, const struct xc_path *path)
{
	if (!err || !path)
		return xc_bind_raise(L, err);
	struct xc_text *text = xc_bind_scratch(L);
	xc_path_write(text, path);
	return raise_error(L, xc_error_wrap(as_sentence(err), "%s", xc_text_string(text)), xc_text_string(text));
}

static int error_tostring(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	lua_pushliteral(L, "where");
	lua_rawget(L, 1);
	lua_pushliteral(L, "message");
	lua_rawget(L, 1);
	if (!lua_isstring(L, 3))
		lua_pushliteral(L, "an error without a message");
	if (!lua_isstring(L, 2))
		return 1;
	lua_pushfstring(L, "%s: %s", lua_tostring(L, 2), lua_tostring(L, 3));
	return 1;
}

/* xcore.error(kind, message[, hint]): the place of the call is the place of the error. Errors about arguments, and
 * about things that do not exist, have no place: they are meant for the user of the script. */
static int make_error(lua_State *L)
{
	const char *kind = luaL_checkstring(L, 1);
	size_t i = 0;
	while (i < XC_COUNT(kinds) && strcmp(kinds[i].kind, kind) != 0)
		i++;
	if (i == XC_COUNT(kinds))
		return xc_bind_fail(L, XC_ERR_USAGE, "'%.60s' is not a kind of error", kind);
	struct xc_host *host = xc_bind_host(L);
	const char *message = luaL_checkstring(L, 2), *hint = luaL_optstring(L, 3, NULL);
	xc_error_free(host->raised);
	host->raised = xc_error_new(kinds[i].code, "%s", message);
	if (hint)
		host->raised = xc_error_hint(host->raised, "%s", hint);
	push_error(L, host->raised, NULL);
	if (kinds[i].code == XC_ERR_USAGE || kinds[i].code == XC_ERR_NOT_FOUND) {
		lua_pushnil(L);
		lua_setfield(L, -2, "where");
	}
	return 1;
}

void xc_bind_error_open(lua_State *L)
{
	lua_pushcfunction(L, make_error);
	lua_setfield(L, -2, "error");
	lua_createtable(L, 0, 3);
	lua_pushcfunction(L, error_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pushliteral(L, "xcore.Error");
	lua_setfield(L, -2, "__name");
	lua_pushliteral(L, "xcore.Error");
	lua_setfield(L, -2, "__metatable");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
}

bool xc_bind_error_is(lua_State *L, int index)
{
	if (!lua_istable(L, index) || !lua_getmetatable(L, index))
		return false;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key);
	bool ours = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return ours;
}

bool xc_bind_error_answers(lua_State *L, int index)
{
	if (!xc_bind_error_is(L, index))
		return false;
	lua_pushliteral(L, "where");
	lua_rawget(L, index);
	bool answers = lua_isnil(L, -1);
	lua_pop(L, 1);
	return answers;
}

/* The raw field of the table below, as a string that lives as long as the table; NULL when it is not a string. */
static const char *raw_string(lua_State *L, const char *name)
{
	lua_pushstring(L, name);
	lua_rawget(L, -2);
	const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
	lua_pop(L, 1);
	return text;
}

struct xc_error *xc_bind_error_take(lua_State *L)
{
	struct xc_error *err;
	if (xc_bind_error_is(L, -1)) {
		const char *where = raw_string(L, "where"), *message = raw_string(L, "message");
		const char *hint = raw_string(L, "hint");
		enum xc_error_code code = code_of(raw_string(L, "kind"));
		if (code == XC_ERR_USAGE && where) /* a wrong call by the script, not a wrong argument of its user */
			code = XC_ERR_FORMAT;
		lua_pushliteral(L, "addr"); /* before err exists, since this may raise */
		lua_rawget(L, -2);
		err = xc_error_new(code, "%s%s%s", where ? where : "", where ? ": " : "",
				   message ? message : "an error without a message");
		err->addr = (xc_addr)lua_tointeger(L, -1);
		lua_pop(L, 1);
		if (hint)
			err = xc_error_hint(err, "%s", hint);
	} else if (lua_type(L, -1) == LUA_TSTRING) {
		err = xc_error_new(XC_ERR_FORMAT, "%s", lua_tostring(L, -1));
	} else {
		err = xc_error_new(XC_ERR_FORMAT, "an error object that is a %s value", luaL_typename(L, -1));
	}
	lua_pop(L, 1);
	return err;
}

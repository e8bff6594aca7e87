/* bind_report_cell: arguments of report functions: keys, texts, options and cells, each checked by its kind. */
#include <string.h>

#include "lua/report/bind_report.h"

static bool is_key(const char *key, size_t len)
{
	if (len == 0 || len > XC_REPORT_KEY || key[0] < 'a' || key[0] > 'z')
		return false;
	for (size_t i = 1; i < len; i++)
		if (!(key[i] >= 'a' && key[i] <= 'z') && !(key[i] >= '0' && key[i] <= '9') && key[i] != '_')
			return false;
	return true;
}

const char *xc_report_check_key(lua_State *L, int arg)
{
	size_t len;
	const char *key = lua_type(L, arg) == LUA_TSTRING ? lua_tolstring(L, arg, &len) : NULL;
	if (key && is_key(key, len))
		return key;
	if (!key)
		xc_bind_fail(L, XC_ERR_USAGE, "a key must be a string, not a %s value", luaL_typename(L, arg));
	xc_bind_fail(L, XC_ERR_USAGE, "'%.70s' is not a valid key: keys are lower_case; use `label` for other names",
		     key);
	return NULL;
}

static const char *what_it_is(lua_State *L, int arg)
{
	return xc_bind_test(L, arg) ? "value of the target" : luaL_typename(L, arg);
}

static void fail_kind(lua_State *L, int arg, const char *what, const char *wanted)
{
	xc_bind_fail(L, XC_ERR_USAGE, "%s: expected %s, not a %s", what, wanted, what_it_is(L, arg));
}

const char *xc_report_check_text(lua_State *L, int arg, const char *what)
{
	size_t len;
	if (!lua_isstring(L, arg))
		fail_kind(L, arg, what, "a string");
	const char *text = lua_tolstring(L, arg, &len);
	if (strlen(text) == len)
		return text;
	if (len > XC_REPORT_BYTES / 4)
		xc_bind_fail(L, XC_ERR_LIMIT, "%s: a text with NUL bytes of more than %d MiB", what,
			     XC_REPORT_BYTES / 4 >> 20);
	struct xc_text *scratch = xc_bind_scratch(L);
	for (size_t i = 0; i < len; i += strlen(text + i) + 1) {
		xc_text_add(scratch, text + i);
		xc_text_add(scratch, i + strlen(text + i) < len ? "\\x00" : "");
	}
	xc_bind_push_scratch(L);
	lua_replace(L, arg);
	return lua_tostring(L, arg);
}

const char *xc_report_opt_text(lua_State *L, int arg, const char *what)
{
	return lua_isnoneornil(L, arg) ? NULL : xc_report_check_text(L, arg, what);
}

const char *xc_report_push_label(lua_State *L, const char *key, bool capitals)
{
	char label[XC_REPORT_KEY + 1];
	size_t len = strlen(key);
	for (size_t i = 0; i <= len; i++) {
		bool letter = capitals && key[i] >= 'a' && key[i] <= 'z';
		label[i] = key[i] == '_' ? ' ' : letter ? (char)(key[i] - 'a' + 'A') : key[i];
	}
	return lua_pushstring(L, label);
}

/* ---- options ---- */

static bool is_allowed(const char *name, const char *allowed)
{
	size_t len = strlen(name);
	for (const char *at = allowed; (at = strstr(at, name)); at += len)
		if ((at == allowed || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return len > 0;
	return false;
}

static const char *option_text(lua_State *L, const char *name)
{
	if (lua_type(L, -1) != LUA_TSTRING)
		fail_kind(L, lua_gettop(L), name, "a string");
	return xc_report_check_text(L, lua_gettop(L), name);
}

static bool option_bool(lua_State *L, const char *name)
{
	if (!lua_isboolean(L, -1))
		fail_kind(L, lua_gettop(L), name, "true or false");
	return lua_toboolean(L, -1);
}

/* The value of the option is on top and stays there. */
static void set_option(lua_State *L, struct xc_report_options *options, const char *name)
{
	if (strcmp(name, "label") == 0)
		options->label = option_text(L, name);
	else if (strcmp(name, "unit") == 0)
		options->unit = option_text(L, name);
	else if (strcmp(name, "title") == 0)
		options->title = option_text(L, name);
	else if (strcmp(name, "secret") == 0)
		options->secret = option_bool(L, name);
	else if (strcmp(name, "quiet") == 0)
		options->quiet = option_bool(L, name);
	else
		options->verbose = option_bool(L, name);
}

void xc_report_check_names(lua_State *L, int arg, const char *allowed)
{
	for (lua_pushnil(L); lua_next(L, arg); lua_pop(L, 1)) {
		if (lua_isinteger(L, -2))
			continue;
		const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
		if (!is_allowed(name, allowed))
			xc_bind_fail(L, XC_ERR_USAGE, "'%.70s' is not an option here; options: %s", name, allowed);
	}
}

struct xc_report_options xc_report_check_options(lua_State *L, int arg, const char *allowed)
{
	static const char *const names[] = {"label", "unit", "title", "secret", "quiet", "verbose"};
	struct xc_report_options options = {.secret = -1};
	if (lua_isnoneornil(L, arg))
		return options;
	if (!lua_istable(L, arg))
		fail_kind(L, arg, "options", "a table");
	luaL_checkstack(L, (int)XC_COUNT(names) + 8, NULL);
	arg = lua_absindex(L, arg);
	xc_report_check_names(L, arg, allowed);
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		lua_pushstring(L, names[i]);
		if (lua_rawget(L, arg) == LUA_TNIL)
			lua_pop(L, 1);
		else
			set_option(L, &options, names[i]);
	}
	return options;
}

/* ---- cells ---- */

static uint64_t check_integer(lua_State *L, int arg, const char *what)
{
	int is_integer = 0;
	lua_Integer value = lua_type(L, arg) == LUA_TNUMBER ? lua_tointegerx(L, arg, &is_integer) : 0;
	if (!is_integer && lua_type(L, arg) == LUA_TNUMBER)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: %f has a fraction or is too large for an integer", what,
			     lua_tonumber(L, arg));
	if (!is_integer)
		fail_kind(L, arg, what, "an integer");
	return (uint64_t)value;
}

static double check_number(lua_State *L, int arg, const char *what)
{
	if (lua_type(L, arg) != LUA_TNUMBER)
		fail_kind(L, arg, what, "a number");
	return lua_tonumber(L, arg);
}

static struct xc_cell check_address(lua_State *L, int arg, const char *what)
{
	const struct xc_lua_value *value = xc_bind_test(L, arg);
	return xc_cell_address(value ? xc_bind_address_of(L, value) : check_integer(L, arg, what));
}

static struct xc_cell check_bool(lua_State *L, int arg, const char *what)
{
	if (!lua_isboolean(L, arg))
		fail_kind(L, arg, what, "true or false");
	return xc_cell_bool(lua_toboolean(L, arg));
}

struct xc_cell xc_report_check_cell(lua_State *L, int arg, enum xc_field_kind kind, const char *what)
{
	if (lua_isnoneornil(L, arg))
		return xc_cell_null(NULL);
	switch (kind) {
	case XC_FIELD_TEXT:
		return xc_cell_text(xc_report_check_text(L, arg, what));
	case XC_FIELD_COUNT:
		return xc_cell_count(check_integer(L, arg, what));
	case XC_FIELD_BYTES:
		return xc_cell_bytes(check_integer(L, arg, what));
	case XC_FIELD_INTEGER:
		return xc_cell_integer((int64_t)check_integer(L, arg, what));
	case XC_FIELD_ADDRESS:
		return check_address(L, arg, what);
	case XC_FIELD_BOOL:
		return check_bool(L, arg, what);
	case XC_FIELD_SECONDS:
		return xc_cell_seconds(check_number(L, arg, what));
	case XC_FIELD_NUMBER:
		return xc_cell_number(check_number(L, arg, what));
	case XC_FIELD_RATIO:
		return xc_cell_ratio(check_number(L, arg, what));
	default:
		return xc_cell_null(NULL);
	}
}

enum xc_field_kind xc_report_kind(const char *name)
{
	static const struct {
		const char *name;
		enum xc_field_kind kind;
	} kinds[] = {
		{"text", XC_FIELD_TEXT},     {"count", XC_FIELD_COUNT},     {"integer", XC_FIELD_INTEGER},
		{"number", XC_FIELD_NUMBER}, {"bytes", XC_FIELD_BYTES},     {"address", XC_FIELD_ADDRESS},
		{"bool", XC_FIELD_BOOL},     {"seconds", XC_FIELD_SECONDS}, {"ratio", XC_FIELD_RATIO},
	};
	for (size_t i = 0; i < XC_COUNT(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].kind;
	return XC_FIELD_NULL;
}

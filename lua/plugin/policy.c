/* policy: each query is a C function that is called like a script, so that errors in it are caught. Scripts see a
 * record as its JSON; the table is created once for all queries about one record. */
#include "lua/plugin/policy.h"

#include <stdlib.h>
#include <string.h>

#include "batch/problems/problems.h"
#include "lua/vm/bind.h"

enum { MAX_CLASS = 64, JSON_DEPTH = 8 };

enum function { CLASS, KEEP, NAME, FUNCTIONS };

static const char *const names[] = {[CLASS] = "class", [KEEP] = "keep", [NAME] = "name"};

struct xc_policy_script {
	struct xc_host *host;
	struct xc_policy hooks;
	struct xc_policy_script_options options;
	char *title;                    /* "policy FILE" */
	const struct xc_record *record; /* the record of the table in the registry */
	json_t *json;                   /* of it, while the table is made */
	bool warned, over;
};

/* Its address is the registry key of the current record's table. */
static const char table_key;

/* ---- what scripts see ---- */

static void push_json(lua_State *L, const json_t *value, int depth);

static void push_array(lua_State *L, const json_t *array, int depth)
{
	lua_createtable(L, (int)json_array_size(array), 0);
	for (size_t i = 0; i < json_array_size(array); i++) {
		push_json(L, json_array_get(array, i), depth + 1);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/* `function` is a keyword of Lua: here it is `func`. */
static void push_object(lua_State *L, const json_t *object, int depth)
{
	const char *key;
	json_t *value;
	lua_newtable(L);
	json_object_foreach((json_t *)object, key, value)
	{
		push_json(L, value, depth + 1);
		lua_setfield(L, -2, strcmp(key, "function") == 0 ? "func" : key);
	}
}

static void push_json(lua_State *L, const json_t *value, int depth)
{
	luaL_checkstack(L, LUA_MINSTACK, NULL);
	xc_limit_spend(L, 1);
	if (depth < JSON_DEPTH && json_is_array(value))
		push_array(L, value, depth);
	else if (depth < JSON_DEPTH && json_is_object(value))
		push_object(L, value, depth);
	else if (json_is_string(value))
		lua_pushlstring(L, json_string_value(value), json_string_length(value));
	else if (json_is_integer(value))
		lua_pushinteger(L, (lua_Integer)json_integer_value(value));
	else if (json_is_boolean(value))
		lua_pushboolean(L, json_is_true(value));
	else
		lua_pushnil(L);
}

static void push_record(lua_State *L, struct xc_policy_script *script, const struct xc_record *record)
{
	if (script->record != record) {
		script->record = NULL;
		json_decref(script->json);
		script->json = xc_record_json(record);
		push_json(L, script->json, 0);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &table_key);
		script->record = record;
	}
	lua_rawgetp(L, LUA_REGISTRYINDEX, &table_key);
}

/* The frame of the record at the top: a script may have changed it. */
static void push_frame(lua_State *L, size_t frame, const char *name)
{
	if (lua_getfield(L, -1, "frames") != LUA_TTABLE || lua_rawgeti(L, -1, (lua_Integer)frame + 1) != LUA_TTABLE)
		xc_bind_fail(L, XC_ERR_FORMAT, "the record no longer has frame %d: a script removed it",
			     (int)frame + 1);
	lua_remove(L, -2);
	lua_pushstring(L, name);
	lua_setfield(L, -2, "name");
	lua_pushinteger(L, (lua_Integer)frame + 1);
	lua_setfield(L, -2, "index");
}

/* ---- asking ---- */

struct question {
	struct xc_policy_script *script;
	enum function function;
	const struct xc_record *record;
	size_t frame;
	const char *frame_name;
	struct xc_arena *arena;
	/* Answers: */
	const char *text, *severity;
	enum xc_policy_answer keep;
};

static const char *string_at(lua_State *L, int index, const struct question *q)
{
	size_t len;
	if (lua_isnoneornil(L, index))
		return NULL;
	if (lua_type(L, index) != LUA_TSTRING)
		xc_bind_fail(L, XC_ERR_FORMAT, "%s() returned a %s: expected a string, or nil", names[q->function],
			     luaL_typename(L, index));
	const char *text = lua_tolstring(L, index, &len);
	if (!len || strlen(text) != len)
		xc_bind_fail(L, XC_ERR_FORMAT, "%s() returned an empty string, or one with a NUL in it",
			     names[q->function]);
	return text;
}

/* Classes become names of rules in exported files: they use the same form. */
static void read_class(lua_State *L, struct question *q)
{
	const char *class_name = string_at(L, 2, q), *severity = string_at(L, 3, q);
	if (class_name && (strlen(class_name) > MAX_CLASS ||
			   strspn(class_name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(class_name)))
		xc_bind_fail(L, XC_ERR_FORMAT,
			     "class() returned an invalid class: lower-case letters, digits and '-', at most %d",
			     MAX_CLASS);
	if (severity && strcmp(severity, "info") != 0 && !xc_severity_rank(severity))
		xc_bind_fail(L, XC_ERR_FORMAT,
			     "class() returned a severity that is not one of info, low, medium, high, critical");
	q->text = xc_record_text(q->arena, class_name);
	q->severity = xc_record_text(q->arena, severity);
}

static void read_keep(lua_State *L, struct question *q)
{
	if (lua_isnoneornil(L, 2))
		return;
	if (!lua_isboolean(L, 2))
		xc_bind_fail(L, XC_ERR_FORMAT, "keep() returned a %s: expected true, false or nil",
			     luaL_typename(L, 2));
	q->keep = lua_toboolean(L, 2) ? XC_POLICY_KEEP : XC_POLICY_SKIP;
}

static int ask(lua_State *L)
{
	struct question *q = lua_touserdata(L, 1);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &names[q->function]);
	push_record(L, q->script, q->record);
	if (q->function != CLASS) {
		push_frame(L, q->frame, q->frame_name);
		lua_insert(L, -2);
	}
	lua_call(L, q->function == CLASS ? 1 : 2, 2);
	if (q->function == CLASS)
		read_class(L, q);
	else if (q->function == KEEP)
		read_keep(L, q);
	else
		q->text = xc_record_text(q->arena, string_at(L, 2, q));
	return 0;
}

static void warn(struct xc_policy_script *script, const struct xc_error *err)
{
	if (script->options.warn && (!script->warned || script->over))
		script->options.warn(script->options.warn_user, err);
	script->warned = true;
}

/* False, and no answers, after an error. */
static bool answered(struct question *q)
{
	struct xc_policy_script *script = q->script;
	lua_State *L = script->host->L;
	if (script->over)
		return false;
	lua_pushcfunction(L, ask);
	lua_pushlightuserdata(L, q);
	struct xc_error *err = xc_host_call(script->host, 1);
	lua_settop(L, 0);
	if (!err)
		return true;
	script->over = err->code == XC_ERR_LIMIT;
	warn(script, err);
	xc_error_free(err);
	return false;
}

/* ---- the hooks ---- */

static void classify(void *user, const struct xc_record *record, struct xc_arena *arena, const char **class_out,
		     const char **severity_out)
{
	struct question q = {.script = user, .function = CLASS, .record = record, .arena = arena};
	if (!answered(&q))
		return;
	*class_out = q.text;
	*severity_out = q.severity;
}

static enum xc_policy_answer keep(void *user, const struct xc_record *record, size_t frame, const char *name)
{
	struct question q = {.script = user, .function = KEEP, .record = record, .frame = frame, .frame_name = name};
	return answered(&q) ? q.keep : XC_POLICY_SILENT;
}

static const char *name_frame(void *user, const struct xc_record *record, size_t frame, const char *name,
			      struct xc_arena *arena)
{
	struct question q = {
		.script = user, .function = NAME, .record = record, .frame = frame, .frame_name = name, .arena = arena};
	return answered(&q) ? q.text : NULL;
}

/* ---- the script ---- */

/* The functions of the policy are kept in the registry, where scripts cannot reach them. Returns their number. */
static int keep_functions(lua_State *L)
{
	bool *defined = lua_touserdata(L, 1);
	lua_pushglobaltable(L);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		lua_pushstring(L, names[i]);
		int type = lua_rawget(L, -2);
		if (type != LUA_TNIL && type != LUA_TFUNCTION)
			return xc_bind_fail(L, XC_ERR_FORMAT, "%s is a %s: expected a function", names[i],
					    lua_typename(L, type));
		defined[i] = type == LUA_TFUNCTION;
		lua_rawsetp(L, LUA_REGISTRYINDEX, &names[i]);
	}
	return 0;
}

static struct xc_error *find_functions(struct xc_policy_script *script, const char *name)
{
	bool defined[FUNCTIONS] = {false};
	lua_State *L = script->host->L;
	lua_settop(L, 0);
	lua_pushcfunction(L, keep_functions);
	lua_pushlightuserdata(L, defined);
	struct xc_error *err = xc_host_call(script->host, 1);
	if (err)
		return xc_error_wrap(err, "%s", name);
	if (!defined[CLASS] && !defined[KEEP] && !defined[NAME])
		return xc_error_new(XC_ERR_FORMAT,
				    "%s: defines none of class(record), keep(frame, record), name(frame, record)",
				    name);
	script->hooks = (struct xc_policy){
		.user = script,
		.classify = defined[CLASS] ? classify : NULL,
		.keep = defined[KEEP] ? keep : NULL,
		.name = defined[NAME] ? name_frame : NULL,
	};
	return NULL;
}

struct xc_error *xc_policy_script_load(const char *name, const char *text, size_t len,
				       const struct xc_policy_script_options *options,
				       struct xc_policy_script **script_out)
{
	struct xc_policy_script *script = xc_alloc(sizeof *script);
	script->options = *options;
	script->title = xc_asprintf("policy %s", name);
	script->host = xc_host_new(&(struct xc_host_options){
		.name = script->title,
		.limits = options->limits,
	});
	struct xc_error *err = xc_host_run(script->host, name, text, len, NULL, 0);
	if (!err)
		err = find_functions(script, name);
	if (err)
		xc_policy_script_free(script);
	else
		*script_out = script;
	return err;
}

const struct xc_policy *xc_policy_script_hooks(const struct xc_policy_script *script)
{
	return &script->hooks;
}

bool xc_policy_script_failed(const struct xc_policy_script *script)
{
	return script->warned;
}

void xc_policy_script_free(struct xc_policy_script *script)
{
	if (!script)
		return;
	xc_host_free(script->host);
	json_decref(script->json);
	free(script->title);
	free(script);
}

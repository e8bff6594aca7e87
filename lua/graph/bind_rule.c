/* bind_rule: rules of claims from tables of a script.
 *
 * In a rule a pointer's type is "dict *", or false when it has none, or a table: its first element is the type and
 * its named elements are the types of the members of its target: { "dictEntry **", key = "sds" }. Such a table is a
 * variant of its record, and may contain others. A case is a number, or a symbol of the target; a symbol that the
 * target lacks is ignored. */
#include "lua/graph/bind_rule.h"

#include <string.h>

#include "dwarf/elf/symbol.h"
#include "heap/graph/claim.h"

enum { NEST = 8, CAST_MAX = 200 };

static void add_what(lua_State *L, struct xc_heap *heap, struct xc_claim_rule *rule, int nest);

static const char *text_at(lua_State *L, int arg, const char *what)
{
	if (lua_type(L, arg) != LUA_TSTRING)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected a string, not %s", what, luaL_typename(L, arg));
	const char *text = lua_tostring(L, arg);
	if (lua_rawlen(L, arg) > CAST_MAX || !*text)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: 1 to %d characters", what, CAST_MAX);
	return text;
}

/* Copy the record's name in "struct dictEntry **" to a scratch string of the table on the stack. */
static const char *push_record(lua_State *L, const char *cast)
{
	size_t len = strlen(cast);
	while (len && (cast[len - 1] == '*' || cast[len - 1] == ' '))
		len--;
	return lua_pushlstring(L, cast, len);
}

/* The members of a variant: the table at the top of the stack, whose first element is `cast`. */
static void add_members(lua_State *L, struct xc_heap *heap, const char *cast, uint32_t variant, int nest)
{
	struct xc_claim_rule rule = {.type = push_record(L, cast), .in = variant};
	int table = lua_absindex(L, -2);
	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			continue;
		rule.field = lua_tostring(L, -2);
		add_what(L, heap, &rule, nest + 1);
	}
	lua_pop(L, 1);
}

/* The pointer's type from the value at the top of the stack, which stays there. */
static void add_what(lua_State *L, struct xc_heap *heap, struct xc_claim_rule *rule, int nest)
{
	luaL_checkstack(L, 8, "nested rules");
	rule->as = 0;
	if (lua_istable(L, -1) && nest < NEST) {
		lua_rawgeti(L, -1, 1);
		rule->cast = text_at(L, -1, "the first element");
		lua_insert(L, -2); /* keeps the text alive below the table */
		xc_bind_raise(L, xc_claim_variant(heap, &rule->as));
		add_members(L, heap, rule->cast, rule->as, nest);
		xc_bind_raise(L, xc_claim_add_rule(heap, rule));
		lua_remove(L, -2);
		return;
	}
	rule->cast = lua_isboolean(L, -1) && !lua_toboolean(L, -1) ? "char" : text_at(L, -1, rule->field);
	xc_bind_raise(L, xc_claim_add_rule(heap, rule));
}

/* The value of a case, from the key below the top of the stack. False: the target has no such symbol. */
static bool case_value(lua_State *L, const struct xc_heap *heap, uint64_t *value_out)
{
	if (lua_isinteger(L, -2)) {
		*value_out = (uint64_t)lua_tointeger(L, -2);
		return true;
	}
	return xc_symbol_find(heap->process, text_at(L, -2, "a case"), NULL, value_out) != NULL;
}

void xc_bind_rule(lua_State *L, struct xc_heap *heap)
{
	struct xc_claim_rule rule = {0};
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	lua_getfield(L, 2, "type");
	rule.type = text_at(L, 3, "type");
	lua_getfield(L, 2, "field");
	rule.field = text_at(L, 4, "field");
	if (lua_getfield(L, 2, "by") != LUA_TNIL)
		rule.by = text_at(L, 5, "by");
	if (lua_getfield(L, 2, rule.by ? "cases" : "to") == LUA_TNIL)
		xc_bind_fail(L, XC_ERR_USAGE, "a rule has `to`, or `by` and `cases`");
	if (!rule.by) {
		add_what(L, heap, &rule, 0);
		return;
	}
	luaL_checktype(L, 6, LUA_TTABLE);
	for (lua_pushnil(L); lua_next(L, 6); lua_pop(L, 1))
		if (case_value(L, heap, &rule.value))
			add_what(L, heap, &rule, 0);
}

static int byte_field(lua_State *L, const char *key, int missing)
{
	lua_getfield(L, 2, key);
	lua_Integer number = luaL_optinteger(L, -1, missing);
	if (number < -4096 || number > 255)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: out of range", key);
	lua_pop(L, 1);
	return (int)number;
}

void xc_bind_header(lua_State *L, struct xc_heap *heap)
{
	struct xc_claim_header header = {0};
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	lua_getfield(L, 2, "pointer");
	header.pointer = text_at(L, 3, "pointer");
	header.at = byte_field(L, "at", -1);
	header.mask = (uint8_t)byte_field(L, "mask", 0xff);
	lua_getfield(L, 2, "cases");
	luaL_checktype(L, 4, LUA_TTABLE);
	for (lua_pushnil(L); lua_next(L, 4); lua_pop(L, 1)) {
		lua_Integer value = luaL_checkinteger(L, -2);
		if (value < 0 || value > 255)
			xc_bind_fail(L, XC_ERR_USAGE, "a case must be the value of a byte");
		header.value = (uint8_t)value;
		header.header = text_at(L, -1, "a header");
		xc_bind_raise(L, xc_claim_add_header(heap, &header));
	}
}

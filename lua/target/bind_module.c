/* bind_module: modules and mappings, as plain tables. */
#include "core/process/module.h"
#include "lua/bind/bind_class.h"

static void set_string(lua_State *L, const char *key, const char *text)
{
	if (!text)
		return;
	lua_pushstring(L, text);
	lua_setfield(L, -2, key);
}

static void set_integer(lua_State *L, const char *key, uint64_t number)
{
	lua_pushinteger(L, (lua_Integer)number);
	lua_setfield(L, -2, key);
}

static void set_boolean(lua_State *L, const char *key, bool is)
{
	lua_pushboolean(L, is);
	lua_setfield(L, -2, key);
}

/* ---- modules ---- */

static void push_module(lua_State *L, const struct xc_module *module)
{
	static const char *const kinds[] = {[XC_MODULE_EXE] = "exe",
					    [XC_MODULE_LIBRARY] = "library",
					    [XC_MODULE_LOADER] = "loader",
					    [XC_MODULE_VDSO] = "vdso"};
	static const char *const identities[] = {[XC_NO_FILE] = "none",
						 [XC_VERIFIED] = "verified",
						 [XC_UNVERIFIED] = "unverified",
						 [XC_REFUSED] = "refused"};
	char hex[2 * XC_BUILD_ID_MAX + 1];
	lua_createtable(L, 0, 10);
	set_string(L, "path", module->path);
	set_string(L, "name", module->name);
	set_string(L, "kind", kinds[module->kind]);
	set_integer(L, "lo", module->lo);
	set_integer(L, "hi", module->hi);
	if (module->bias_known)
		set_integer(L, "bias", module->bias);
	if (module->build_id.size)
		set_string(L, "build_id", xc_build_id_hex(&module->build_id, hex));
	if (module->identity == XC_VERIFIED || module->identity == XC_UNVERIFIED)
		set_string(L, "file", module->file_path);
	set_string(L, "identity", identities[module->identity]);
	set_string(L, "why", module->why);
}

static int modules(lua_State *L)
{
	const struct xc_process *process = xc_bind_check_target(L)->process;
	lua_newtable(L);
	for (size_t i = 0; i < process->module_count; i++) {
		push_module(L, process->modules[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int module_at(lua_State *L)
{
	const struct xc_process *process = xc_bind_check_target(L)->process;
	const struct xc_module *module = lua_type(L, 2) == LUA_TSTRING
						 ? xc_module_by_name(process, lua_tostring(L, 2))
						 : xc_process_module(process, xc_bind_check_address(L, 2));
	if (module)
		push_module(L, module);
	else
		lua_pushnil(L);
	return 1;
}

/* ---- mappings ---- */

static void push_mapping(lua_State *L, const struct xc_mapping *mapping)
{
	lua_createtable(L, 0, 9);
	set_integer(L, "lo", mapping->lo);
	set_integer(L, "hi", mapping->hi);
	set_boolean(L, "readable", mapping->readable);
	set_boolean(L, "writable", mapping->writable);
	set_boolean(L, "executable", mapping->executable);
	set_boolean(L, "shared", mapping->shared);
	set_string(L, "path", mapping->path);
	set_string(L, "label", mapping->label);
	set_integer(L, "offset", mapping->offset);
}

static int maps(lua_State *L)
{
	const struct xc_process *process = xc_bind_check_target(L)->process;
	lua_newtable(L);
	for (size_t i = 0; i < process->mapping_count; i++) {
		push_mapping(L, &process->mappings[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int map_at(lua_State *L)
{
	const struct xc_process *process = xc_bind_check_target(L)->process;
	const struct xc_mapping *mapping = xc_process_mapping(process, xc_bind_check_address(L, 2));
	if (mapping)
		push_mapping(L, mapping);
	else
		lua_pushnil(L);
	return 1;
}

void xc_bind_module_open(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"modules", modules}, {"module", module_at}, {"maps", maps}, {"map", map_at}, {NULL, NULL}};
	xc_bind_class_add(L, &xc_bind_target_class, methods);
}

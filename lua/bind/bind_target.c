/* bind_target: xcore.target: its properties, and its variables and types by name. Memory, symbols, modules and
 * threads are in other files. */
#include <string.h>

#include "core/facts/arguments.h"
#include "core/elf/arch.h"
#include "core/facts/facts.h"
#include "dwarf/cexpr/cexpr.h"
#include "lua/bind/bind_class.h"
#include "lua/bind/eval_context.h"

struct xc_process *xc_bind_process(lua_State *L)
{
	struct xc_process *process = xc_bind_host(L)->process;
	if (!process)
		xc_bind_fail(L, XC_ERR_USAGE, "there is no target");
	return process;
}

struct xc_host *xc_bind_check_target(lua_State *L)
{
	xc_bind_class_check(L, 1, &xc_bind_target_class);
	xc_bind_process(L);
	return xc_bind_host(L);
}

/* ---- names ---- */

static const struct xc_frame_scope *global_scope(lua_State *L)
{
	xc_bind_check_target(L);
	return &xc_eval_context_of(L)->global;
}

static int target_var(lua_State *L)
{
	const struct xc_frame_scope *nowhere = global_scope(L);
	xc_eval_context_push(L, nowhere, luaL_checkstring(L, 2));
	return 1;
}

static int target_ref(lua_State *L)
{
	const struct xc_frame_scope *nowhere = global_scope(L);
	xc_eval_context_push_reference(L, nowhere, luaL_checkstring(L, 2));
	return 1;
}

static int target_eval(lua_State *L)
{
	xc_bind_check_target(L);
	xc_eval_context_push(L, xc_eval_context_crashed(xc_eval_context_of(L)), luaL_checkstring(L, 2));
	return 1;
}

static int target_type(lua_State *L)
{
	xc_bind_check_target(L);
	xc_bind_push_type(L, xc_bind_check_type(L, 2));
	return 1;
}

static int target_value(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	const struct xc_type *type = xc_bind_check_type(L, 2);
	struct xc_value value = xc_value_memory(host->process, type, xc_bind_check_address(L, 3));
	xc_bind_push(L, &value, NULL);
	return 1;
}

/* Does the error mean that the thing does not exist, rather than that it exists and is unavailable? */
static int target_has_var(lua_State *L)
{
	struct xc_frame_scope nowhere = *global_scope(L);
	struct xc_value value;
	nowhere.without_hints = true;
	struct xc_error *err =
		xc_cexpr_value(&nowhere, luaL_checkstring(L, 2), xc_eval_context_arena(xc_eval_context_of(L)), &value);
	bool found = err ? err->code != XC_ERR_NOT_FOUND && err->code != XC_ERR_FORMAT
			 : xc_bind_shape(value.type)->kind != XC_TYPE_FUNCTION;
	xc_error_free(err);
	lua_pushboolean(L, found);
	return 1;
}

static int target_has_type(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	lua_pushboolean(L, xc_bind_has_type(host, luaL_checkstring(L, 2)));
	return 1;
}

/* ---- what it is ---- */

static const struct xc_process *process_of(lua_State *L)
{
	return xc_bind_check_target(L)->process;
}

static void push_live(lua_State *L, void *self)
{
	(void)self;
	lua_pushboolean(L, process_of(L)->live);
}

static void push_pid(lua_State *L, void *self)
{
	(void)self;
	const struct xc_process *process = process_of(L);
	if (process->ids_known)
		lua_pushinteger(L, process->pid);
	else
		lua_pushnil(L);
}

static void push_exe(lua_State *L, void *self)
{
	(void)self;
	const struct xc_process *process = process_of(L);
	const char *path = process->exe_path;
	for (size_t i = 0; !path && i < process->module_count; i++)
		if (process->modules[i]->kind == XC_MODULE_EXE)
			path = process->modules[i]->path;
	lua_pushstring(L, path);
}

static void push_comm(lua_State *L, void *self)
{
	(void)self;
	lua_pushstring(L, process_of(L)->comm);
}

static void push_args(lua_State *L, void *self)
{
	(void)self;
	xc_auto(xc_freep) char *arguments = xc_arguments(process_of(L));
	lua_pushstring(L, arguments);
}

static void push_arch(lua_State *L, void *self)
{
	(void)self;
	lua_pushstring(L, process_of(L)->arch->name);
}

static void push_pointer_size(lua_State *L, void *self)
{
	(void)self;
	lua_pushinteger(L, process_of(L)->arch->word);
}

static void push_endian(lua_State *L, void *self)
{
	(void)self;
	lua_pushstring(L, process_of(L)->arch->big_endian ? "big" : "little");
}

static void push_signal(lua_State *L, void *self)
{
	(void)self;
	const struct xc_signal *signal = &process_of(L)->signal;
	if (!signal->known) {
		lua_pushnil(L);
		return;
	}
	lua_createtable(L, 0, 4);
	lua_pushinteger(L, signal->number);
	lua_setfield(L, -2, "number");
	lua_pushstring(L, xc_signal_name(signal->number));
	lua_setfield(L, -2, "name");
	if (signal->has_info) {
		lua_pushinteger(L, signal->code);
		lua_setfield(L, -2, "code");
	}
	if (signal->has_info && signal->addr_known) {
		lua_pushinteger(L, (lua_Integer)signal->addr);
		lua_setfield(L, -2, "addr");
	}
}

static const struct xc_bind_property properties[] = {
	{"live", push_live},
	{"pid", push_pid},
	{"exe", push_exe},
	{"comm", push_comm},
	{"args", push_args},
	{"arch", push_arch},
	{"pointer_size", push_pointer_size},
	{"endian", push_endian},
	{"signal", push_signal},
	{NULL, NULL},
};

static const luaL_Reg methods[] = {
	{"var", target_var},     {"ref", target_ref},         {"eval", target_eval},         {"type", target_type},
	{"value", target_value}, {"has_var", target_has_var}, {"has_type", target_has_type}, {NULL, NULL},
};

const struct xc_bind_class xc_bind_target_class = {
	.name = "xcore.Target", .noun = "the target", .properties = properties, .methods = methods};

void xc_bind_target_open(lua_State *L)
{
	xc_eval_context_open(L);
	xc_bind_class_open(L, &xc_bind_target_class);
	xc_bind_memory_open(L);
	xc_bind_find_open(L);
	xc_bind_symbol_open(L);
	xc_bind_module_open(L);
	xc_bind_thread_open(L);
	xc_bind_heap_open(L);
	xc_bind_disas_open(L);
	xc_bind_profile_open(L);
	xc_bind_class_new(L, &xc_bind_target_class, 0);
	lua_setfield(L, -2, "target");
}

/* bind_thread: threads as objects: their properties, registers and stacks. */
#include <stdlib.h>

#include "core/elf/arch.h"
#include "core/facts/facts.h"
#include "core/live/sandbox.h"
#include "lua/bind/bind_class.h"
#include "lua/target/bind_frame.h"

enum { FRAMES = 1024, FRAMES_MAX = 1 << 20 };

static const struct xc_bind_class thread_class;

static void push_thread(lua_State *L, const struct xc_thread *thread)
{
	const struct xc_thread **box = xc_bind_class_new(L, &thread_class, sizeof(const struct xc_thread *));
	*box = thread;
}

static const struct xc_thread *thread_of(void *self)
{
	return *(const struct xc_thread **)self;
}

static const struct xc_thread *self_of(lua_State *L)
{
	return thread_of(xc_bind_class_check(L, 1, &thread_class));
}

/* ---- of the target ---- */

static int threads(lua_State *L)
{
	const struct xc_process *process = xc_bind_check_target(L)->process;
	lua_newtable(L);
	for (size_t i = 0; i < process->thread_count; i++) {
		push_thread(L, &process->threads[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

/* The crashed thread, else the first. */
static const struct xc_thread *main_thread(const struct xc_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].crashed)
			return &process->threads[i];
	return process->thread_count ? process->threads : NULL;
}

static int thread_by_tid(lua_State *L)
{
	const struct xc_process *process = xc_bind_check_target(L)->process;
	lua_Integer tid = luaL_optinteger(L, 2, 0);
	const struct xc_thread *thread = lua_isnoneornil(L, 2)         ? main_thread(process)
					 : tid > 0 && tid <= INT32_MAX ? xc_process_thread(process, (pid_t)tid)
								       : NULL;
	if (!thread && lua_isnoneornil(L, 2))
		return xc_bind_fail(L, XC_ERR_NOT_FOUND, "the target has no threads");
	if (!thread)
		return xc_bind_fail(L, XC_ERR_NOT_FOUND, "no thread %lld", (long long)tid);
	push_thread(L, thread);
	return 1;
}

/* ---- properties ---- */

static void push_tid(lua_State *L, void *self)
{
	lua_pushinteger(L, thread_of(self)->tid);
}

static void push_name(lua_State *L, void *self)
{
	lua_pushstring(L, thread_of(self)->name);
}

static void push_crashed(lua_State *L, void *self)
{
	lua_pushboolean(L, thread_of(self)->crashed);
}

static void push_state(lua_State *L, void *self)
{
	lua_pushstring(L, xc_thread_state_text(thread_of(self)->state));
}

static void push_signal(lua_State *L, void *self)
{
	if (thread_of(self)->signal)
		lua_pushinteger(L, thread_of(self)->signal);
	else
		lua_pushnil(L);
}

static void push_syscall(lua_State *L, void *self)
{
	const struct xc_process *process = xc_bind_host(L)->process;
	long number = thread_of(self)->syscall;
	if (!process->live || number < 0) {
		lua_pushnil(L);
		return;
	}
	char *name = xc_sandbox_call_name(process->arch->machine, number);
	struct xc_text *text = xc_bind_scratch(L);
	if (name)
		xc_text_add(text, name);
	else
		xc_text_printf(text, "%ld", number);
	free(name);
	xc_bind_push_scratch(L);
}

static void push_how(lua_State *L, void *self)
{
	lua_pushstring(L, thread_of(self)->regs_how);
}

static void push_why(lua_State *L, void *self)
{
	lua_pushstring(L, thread_of(self)->why_no_regs);
}

/* ---- methods ---- */

static int thread_registers(lua_State *L)
{
	static const struct xc_regs none;
	const struct xc_thread *thread = self_of(L);
	xc_bind_push_registers(L, thread->has_regs ? &thread->regs : &none);
	return 1;
}

static int thread_frames(lua_State *L)
{
	const struct xc_thread *thread = self_of(L);
	lua_Integer max = luaL_optinteger(L, 2, FRAMES);
	if (max < 0 || max > FRAMES_MAX)
		return xc_bind_fail(L, XC_ERR_LIMIT, "%lld frames: at most %d", (long long)max, FRAMES_MAX);
	return xc_bind_push_frames(L, thread, (uint64_t)max);
}

static int thread_tostring(lua_State *L)
{
	const struct xc_thread *thread = self_of(L);
	lua_pushfstring(L, "thread %d%s%s", (int)thread->tid, thread->name ? " " : "",
			thread->name ? thread->name : "");
	return 1;
}

static int thread_eq(lua_State *L)
{
	void *a = xc_bind_class_test(L, 1, &thread_class), *b = xc_bind_class_test(L, 2, &thread_class);
	lua_pushboolean(L, a && b && thread_of(a) == thread_of(b));
	return 1;
}

static const struct xc_bind_property properties[] = {
	{"tid", push_tid},     {"name", push_name},     {"crashed", push_crashed},
	{"state", push_state}, {"signal", push_signal}, {"syscall", push_syscall},
	{"how", push_how},     {"why", push_why},       {NULL, NULL},
};

static const luaL_Reg methods[] = {{"registers", thread_registers}, {"frames", thread_frames}, {NULL, NULL}};

static const luaL_Reg metamethods[] = {{"__tostring", thread_tostring}, {"__eq", thread_eq}, {NULL, NULL}};

static const struct xc_bind_class thread_class = {.name = "xcore.Thread",
						  .noun = "a thread",
						  .properties = properties,
						  .methods = methods,
						  .metamethods = metamethods};

void xc_bind_thread_open(lua_State *L)
{
	static const luaL_Reg of_target[] = {{"threads", threads}, {"thread", thread_by_tid}, {NULL, NULL}};
	xc_bind_class_open(L, &thread_class);
	xc_bind_frame_open(L);
	xc_bind_class_add(L, &xc_bind_target_class, of_target);
}

/* eval_context: created with the state, filled on first use, freed with the state. */
#include "lua/bind/eval_context.h"

#include <string.h>

#include "core/elf/arch.h"
#include "dwarf/cexpr/cexpr.h"

static const char stage_key;

static int stage_gc(lua_State *L)
{
	struct xc_eval_context *context = lua_touserdata(L, 1);
	if (context->is_open)
		xc_frame_scope_fini(&context->crashed);
	if (context->unwinder)
		xc_unwinder_free(context->unwinder);
	xc_arena_fini(&context->arena);
	return 0;
}

static const struct xc_thread *crashed_thread(const struct xc_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].crashed)
			return &process->threads[i];
	return process->thread_count ? process->threads : NULL;
}

void xc_eval_context_open(lua_State *L)
{
	const struct xc_process *process = xc_bind_host(L)->process;
	struct xc_eval_context *context = lua_newuserdatauv(L, sizeof *context, 0);
	*context = (struct xc_eval_context){.global = {.process = process, .why_no_frame = "no frame is selected"}};
	if (process)
		context->global.thread = crashed_thread(process);
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, stage_gc);
	lua_setfield(L, -2, "__gc");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &stage_key);
}

struct xc_eval_context *xc_eval_context_of(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &stage_key);
	struct xc_eval_context *context = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return context;
}

struct xc_arena *xc_eval_context_arena(struct xc_eval_context *context)
{
	xc_arena_fini(&context->arena);
	context->arena = (struct xc_arena){0};
	return &context->arena;
}

const struct xc_frame_scope *xc_eval_context_crashed(struct xc_eval_context *context)
{
	if (!context->is_open) {
		/* Row 0 never gives an error. */
		xc_error_free(xc_frame_scope_open(&context->crashed, context->global.process, NULL, 0));
		context->is_open = true;
	}
	return &context->crashed;
}

struct xc_unwinder *xc_eval_context_unwinder(struct xc_eval_context *context)
{
	if (!context->unwinder && context->global.process->arch->unwinds)
		context->unwinder = xc_unwinder_new(context->global.process);
	return context->unwinder;
}

void xc_eval_context_count_type(lua_State *L)
{
	if (++xc_eval_context_of(L)->types > XC_EVAL_CONTEXT_TYPES)
		xc_bind_fail(L, XC_ERR_LIMIT, "more than %d types were made: keep them in variables",
			     XC_EVAL_CONTEXT_TYPES);
}

/* The root of a path: an expression that is not a plain name is put in parentheses. */
static const struct xc_path *path_of(lua_State *L, const char *expression)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.$";
	struct xc_paths *paths = &xc_bind_host(L)->paths;
	if (expression[strspn(expression, plain)] == '\0')
		return xc_path_root(paths, expression);
	struct xc_text *text = xc_bind_scratch(L);
	xc_text_printf(text, "(%s)", expression);
	return text->len < XC_PATH_NAME ? xc_path_root(paths, xc_text_string(text)) : NULL;
}

static struct xc_value evaluate(lua_State *L, const struct xc_frame_scope *scope, const char *expression)
{
	struct xc_value value;
	struct xc_arena *arena = xc_eval_context_arena(xc_eval_context_of(L));
	xc_bind_raise(L, xc_cexpr_value(scope, expression, arena, &value));
	return value;
}

void xc_eval_context_push(lua_State *L, const struct xc_frame_scope *scope, const char *expression)
{
	struct xc_value value = evaluate(L, scope, expression);
	xc_bind_push(L, &value, path_of(L, expression));
}

void xc_eval_context_push_reference(lua_State *L, const struct xc_frame_scope *scope, const char *expression)
{
	struct xc_value value = evaluate(L, scope, expression);
	xc_bind_push_reference(L, &value, path_of(L, expression));
}

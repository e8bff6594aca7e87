/* bind_frame: a frame is a copy of the unwinder's frame, with its level of inlining and its number. Values are
 * evaluated on access, with the unwinder of the state (eval_context.h). */
#include "lua/target/bind_frame.h"

#include <string.h>

#include "core/elf/arch.h"
#include "core/text/suggest.h"
#include "dwarf/cfi/foreign_frame.h"
#include "lua/bind/bind_class.h"
#include "lua/bind/eval_context.h"

enum { STEPS_A_FRAME = 200 };

struct frame {
	const struct xc_thread *thread;
	struct xc_frame frame;
	const struct xc_place *place; /* NULL: not looked up yet (place_of) */
	size_t level;                 /* of the place */
	unsigned index;
	xc_addr callee; /* an address in the function that it called; 0: unknown */
};

static const struct xc_bind_class frame_class;

static struct frame *self_of(lua_State *L)
{
	return xc_bind_class_check(L, 1, &frame_class);
}

static const struct xc_place *place_of(lua_State *L, const struct frame *self)
{
	return self->place ? self->place : xc_debuginfo_place(xc_bind_host(L)->process, xc_frame_lookup(&self->frame));
}

static struct xc_frame_scope scope_of(lua_State *L, const struct frame *self)
{
	struct xc_eval_context *context = xc_eval_context_of(L);
	return (struct xc_frame_scope){.process = context->global.process,
				       .thread = self->thread,
				       .unwinder = xc_eval_context_unwinder(context),
				       .has_frame = true,
				       .frame = self->frame,
				       .place = place_of(L, self),
				       .level = self->level,
				       .row = self->index};
}

/* ---- the walk ---- */

/* One row for each inlined function, then one for the function itself. */
static unsigned push_rows(lua_State *L, const struct xc_thread *thread, const struct xc_frame *at, unsigned index,
			  uint64_t max)
{
	const struct xc_place *place = xc_debuginfo_place(xc_bind_host(L)->process, xc_frame_lookup(at));
	size_t levels = place->level_count ? place->level_count : 1;
	for (size_t level = 0; level < levels && index < max; level++, index++) {
		struct frame *frame = xc_bind_class_new(L, &frame_class, sizeof *frame);
		*frame = (struct frame){.thread = thread, .frame = *at, .place = place, .level = level, .index = index};
		lua_rawseti(L, -2, (lua_Integer)index + 1);
	}
	xc_limit_spend(L, STEPS_A_FRAME);
	return index;
}

void *xc_bind_push_frame(lua_State *L)
{
	return xc_bind_class_new(L, &frame_class, sizeof(struct frame));
}

void xc_bind_set_frame(void *frame, const struct xc_thread *thread, const struct xc_frame *at, xc_addr callee)
{
	*(struct frame *)frame = (struct frame){.thread = thread, .frame = *at, .index = at->index, .callee = callee};
}

int xc_bind_push_frames(lua_State *L, const struct xc_thread *thread, uint64_t max)
{
	struct xc_unwinder *unwinder = xc_eval_context_unwinder(xc_eval_context_of(L));
	const char *why = "the requested number of frames was reached";
	struct xc_frame at;
	unsigned count = 0;
	lua_newtable(L);
	if (!unwinder) {
		lua_pushliteral(L, "stacks of this machine are not supported");
		return 2;
	}
	if (!xc_unwind_first(unwinder, thread, &at)) {
		lua_pushstring(L, thread->why_no_regs ? thread->why_no_regs : "its registers are unknown");
		return 2;
	}
	do {
		count = push_rows(L, thread, &at, count, max);
	} while (count < max && xc_unwind_step(unwinder, &at, &at, &why));
	lua_pushstring(L, why);
	return 2;
}

/* ---- properties ---- */

static void push_index(lua_State *L, void *self)
{
	lua_pushinteger(L, ((struct frame *)self)->index);
}

static void push_pc(lua_State *L, void *self)
{
	lua_pushinteger(L, (lua_Integer)((struct frame *)self)->frame.pc);
}

static void push_at(lua_State *L, void *self)
{
	lua_pushinteger(L, (lua_Integer)xc_frame_lookup(&((struct frame *)self)->frame));
}

static void push_callee(lua_State *L, void *self)
{
	const xc_addr at = ((struct frame *)self)->callee;
	if (at)
		lua_pushinteger(L, (lua_Integer)at);
	else
		lua_pushnil(L);
}

static void push_register(lua_State *L, const struct frame *self, int number)
{
	uint64_t value;
	if (xc_regs_get(&self->frame.regs, number, &value))
		lua_pushinteger(L, (lua_Integer)value);
	else
		lua_pushnil(L);
}

static void push_sp(lua_State *L, void *self)
{
	push_register(L, self, xc_bind_host(L)->process->arch->sp);
}

static void push_cfa(lua_State *L, void *self)
{
	struct xc_frame *frame = &((struct frame *)self)->frame;
	if (frame->cfa_known || xc_unwind_cfa(xc_eval_context_unwinder(xc_eval_context_of(L)), frame))
		lua_pushinteger(L, (lua_Integer)frame->cfa);
	else
		lua_pushnil(L);
}

static void push_name(lua_State *L, void *self)
{
	struct xc_frame_scope scope = scope_of(L, self);
	lua_pushstring(L, xc_frame_scope_function(&scope));
}

static const struct xc_level *level_of(lua_State *L, const struct frame *self)
{
	const struct xc_place *place = place_of(L, self);
	return self->level < place->level_count ? &place->levels[self->level] : NULL;
}

static void push_file(lua_State *L, void *self)
{
	const struct xc_level *level = level_of(L, self);
	const struct xc_foreign_code *told = place_of(L, self)->told;
	lua_pushstring(L, level ? level->file : told ? told->file : NULL);
}

static void push_line(lua_State *L, void *self)
{
	const struct xc_level *level = level_of(L, self);
	const struct xc_foreign_code *told = place_of(L, self)->told;
	unsigned line = level ? level->line : told ? told->line : 0;
	if (line)
		lua_pushinteger(L, line);
	else
		lua_pushnil(L);
}

static void push_inlined(lua_State *L, void *self)
{
	const struct frame *frame = self;
	lua_pushboolean(L, frame->level + 1 < place_of(L, frame)->level_count);
}

static void push_signal(lua_State *L, void *self)
{
	lua_pushboolean(L, ((struct frame *)self)->frame.signal);
}

static void push_language(lua_State *L, void *self)
{
	const struct xc_foreign_code *told = place_of(L, self)->told;
	lua_pushstring(L, told ? told->language : NULL);
}

static void push_trust(lua_State *L, void *self)
{
	lua_pushstring(L, xc_trust_text(((struct frame *)self)->frame.trust));
}

static void push_module(lua_State *L, void *self)
{
	const struct xc_module *module = place_of(L, self)->module;
	lua_pushstring(L, module ? module->path : NULL);
}

static void push_offset(lua_State *L, void *self)
{
	const struct frame *frame = self;
	const struct xc_module *module = place_of(L, frame)->module;
	if (module && module->bias_known)
		lua_pushinteger(L, (lua_Integer)(frame->frame.pc - module->bias));
	else
		lua_pushnil(L);
}

static int frame_tostring(lua_State *L)
{
	const struct frame *self = self_of(L);
	struct xc_frame_scope scope = scope_of(L, self);
	const struct xc_level *level = level_of(L, self);
	const char *name = xc_frame_scope_function(&scope);
	struct xc_text *text = xc_bind_scratch(L);
	xc_text_printf(text, "#%u 0x%llx %s", self->index, (unsigned long long)self->frame.pc, name ? name : "?");
	if (level && level->file)
		xc_text_printf(text, " at %s:%u", level->file, level->line);
	return xc_bind_push_scratch(L);
}

/* ---- variables ---- */

/* Read the variable of a light userdata, in a protected call. */
static int push_value(lua_State *L)
{
	xc_bind_push(L, lua_touserdata(L, 1), NULL);
	return 1;
}

/* Set `value`, or the reason `why` there is none, in the table at the top. The reason lacks the leading name. */
static void set_value(lua_State *L, struct xc_named_value *item)
{
	lua_pushcfunction(L, push_value);
	lua_pushlightuserdata(L, &item->value);
	int status = lua_pcall(L, 1, 1, 0);
	xc_limit_check(L, status);
	if (status != LUA_OK) {
		lua_getfield(L, -1, "message");
		lua_remove(L, -2);
	} else if (xc_bind_test(L, -1)) {
		xc_bind_test(L, -1)->path = xc_path_root(&xc_bind_host(L)->paths, item->name);
	}
	lua_setfield(L, -2, status == LUA_OK ? "value" : "why");
}

static int push_variables(lua_State *L, bool locals)
{
	struct xc_frame_scope scope = scope_of(L, self_of(L));
	struct xc_frame_context context = xc_frame_scope_context(&scope);
	struct xc_named_value *items;
	size_t count =
		xc_variable_values(&context, scope.level, locals, xc_eval_context_arena(xc_eval_context_of(L)), &items);
	lua_createtable(L, (int)count, 0);
	for (size_t i = 0; i < count; i++) {
		lua_createtable(L, 0, 4);
		lua_pushstring(L, items[i].name);
		lua_setfield(L, -2, "name");
		xc_bind_push_type(L, items[i].value.type);
		lua_setfield(L, -2, "type");
		lua_pushboolean(L, items[i].value.guessed);
		lua_setfield(L, -2, "guessed");
		set_value(L, &items[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int frame_args(lua_State *L)
{
	return push_variables(L, false);
}

static int frame_locals(lua_State *L)
{
	return push_variables(L, true);
}

static bool consider(void *near, const char *name)
{
	xc_suggest_consider(near, name);
	return true;
}

static int frame_var(lua_State *L)
{
	struct xc_frame_scope scope = scope_of(L, self_of(L));
	struct xc_frame_context context = xc_frame_scope_context(&scope);
	const char *name = luaL_checkstring(L, 2);
	struct xc_value value;
	if (xc_variable_find(&context, scope.level, name, xc_eval_context_arena(xc_eval_context_of(L)), &value)) {
		xc_bind_push(L, &value, xc_path_root(&xc_bind_host(L)->paths, name));
		return 1;
	}
	const char *function = xc_frame_scope_function(&scope);
	struct xc_suggestion near = xc_suggest(name);
	xc_variable_names(&context, scope.level, consider, &near);
	struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "no argument or local '%s' in frame %u, %s", name,
					    scope.row, function ? function : "?");
	if (near.best)
		err = xc_error_hint(err, "did you mean %s?", near.best);
	else if (scope.place->level_count == 0)
		err = xc_error_hint(err, "this frame has no debug information");
	return xc_bind_raise(L, err);
}

static int frame_eval(lua_State *L)
{
	struct xc_frame_scope scope = scope_of(L, self_of(L));
	xc_eval_context_push(L, &scope, luaL_checkstring(L, 2));
	return 1;
}

void xc_bind_push_registers(lua_State *L, const struct xc_regs *regs)
{
	const struct xc_arch *arch = xc_bind_host(L)->process->arch;
	lua_newtable(L);
	for (int number = 0; number < XC_REG_MAX; number++) {
		const char *name = xc_arch_reg_name(arch, number);
		uint64_t value;
		if (!name || !xc_regs_get(regs, number, &value))
			continue;
		lua_pushinteger(L, (lua_Integer)value);
		lua_setfield(L, -2, name);
	}
}

static int frame_registers(lua_State *L)
{
	const struct frame *self = self_of(L);
	xc_bind_push_registers(L, &self->frame.regs);
	return 1;
}

static int frame_register(lua_State *L)
{
	const struct frame *self = self_of(L);
	const struct xc_arch *arch = xc_bind_host(L)->process->arch;
	const char *name = luaL_checkstring(L, 2);
	int number = xc_arch_reg_named(arch, name);
	if (number < 0)
		return xc_bind_fail(L, XC_ERR_NOT_FOUND, "%s has no register '%s'", arch->name, name);
	push_register(L, self, number);
	return 1;
}

static const struct xc_bind_property properties[] = {
	{"index", push_index},
	{"pc", push_pc},
	{"at", push_at},
	{"sp", push_sp},
	{"cfa", push_cfa},
	{"name", push_name},
	{"file", push_file},
	{"line", push_line},
	{"inlined", push_inlined},
	{"signal", push_signal},
	{"language", push_language},
	{"trust", push_trust},
	{"module", push_module},
	{"offset", push_offset},
	{"callee", push_callee},
	{NULL, NULL},
};

static const luaL_Reg methods[] = {
	{"args", frame_args},         {"locals", frame_locals},       {"var", frame_var}, {"eval", frame_eval},
	{"register", frame_register}, {"registers", frame_registers}, {NULL, NULL},
};

static const luaL_Reg metamethods[] = {{"__tostring", frame_tostring}, {NULL, NULL}};

static const struct xc_bind_class frame_class = {.name = "xcore.Frame",
						 .noun = "a frame",
						 .properties = properties,
						 .methods = methods,
						 .metamethods = metamethods};

void xc_bind_frame_open(lua_State *L)
{
	xc_bind_class_open(L, &frame_class);
}

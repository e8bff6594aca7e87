/* bind_stacks: arguments are first read into the arena of the object, so that an invalid one leaks nothing; then
 * they are reported together. */
#include "lua/target/bind_stacks.h"

#include <string.h>

#include "core/elf/arch.h"
#include "core/report/report.h"
#include "dwarf/cfi/foreign_frame.h"
#include "lua/bind/bind_class.h"
#include "lua/report/bind_report.h"
#include "lua/bind/eval_context.h"

enum { TEXTS = 128 << 20 }; /* bytes of all texts of a state */

struct stacks {
	const char *language;
	bool detached; /* stacks on no thread are wanted */
};

/* Shared by all such objects of a state. */
struct told {
	uint64_t bytes;   /* of texts */
	size_t variables; /* of the call that runs */
};

static const char TOLD; /* the registry's key */

static const struct xc_bind_class stacks_class;

/* A table that is being read. */
struct reading {
	const struct stacks *stacks;
	struct told *told;
	struct xc_arena *arena;
};

static struct told *told_of(lua_State *L)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &TOLD) == LUA_TNIL) {
		lua_pop(L, 1);
		struct told *told = lua_newuserdatauv(L, sizeof *told, 0);
		*told = (struct told){0};
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &TOLD);
	}
	struct told *told = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return told;
}

static struct reading begin_for(lua_State *L, const struct stacks *self)
{
	struct told *told = told_of(L);
	told->variables = 0;
	return (struct reading){self, told, xc_eval_context_arena(xc_eval_context_of(L))};
}

static struct reading begin(lua_State *L)
{
	return begin_for(L, xc_bind_class_check(L, 1, &stacks_class));
}

/* ---- fields ---- */

/* Push a field, without metamethods. False, and nothing is pushed: it is nil. */
static bool push_field(lua_State *L, int table, const char *key)
{
	lua_pushstring(L, key);
	if (lua_rawget(L, table) != LUA_TNIL)
		return true;
	lua_pop(L, 1);
	return false;
}

/* In the arena; NULL for nil. */
static const char *text_field(lua_State *L, const struct reading *r, int table, const char *key)
{
	int top = lua_gettop(L);
	if (!push_field(L, table, key))
		return NULL;
	const char *text = xc_report_check_text(L, top + 1, key);
	size_t len = strlen(text);
	if (len > TEXTS - r->told->bytes)
		xc_bind_fail(L, XC_ERR_LIMIT, "texts of more than %d MiB", TEXTS >> 20);
	r->told->bytes += len;
	xc_limit_spend(L, 2 + len / 64);
	text = xc_arena_strdup(r->arena, text);
	lua_settop(L, top);
	return text;
}

static xc_addr address_field(lua_State *L, int table, const char *key, xc_addr otherwise)
{
	if (!push_field(L, table, key))
		return otherwise;
	xc_addr addr = xc_bind_check_address(L, lua_gettop(L));
	lua_pop(L, 1);
	return addr;
}

/* 0 for nil, and for an invalid line number. */
static unsigned line_field(lua_State *L, int table)
{
	if (!push_field(L, table, "line"))
		return 0;
	lua_Integer line = luaL_checkinteger(L, -1);
	lua_pop(L, 1);
	return line > 0 && line <= INT32_MAX ? (unsigned)line : 0;
}

/* ---- code ---- */

static int check_register(lua_State *L, int arg)
{
	const struct xc_arch *arch = xc_bind_process(L)->arch;
	if (lua_type(L, arg) != LUA_TSTRING)
		xc_bind_fail(L, XC_ERR_USAGE, "expected a register's name, not a %s", luaL_typename(L, arg));
	int reg = xc_arch_reg_named(arch, lua_tostring(L, arg));
	if (reg < 0)
		xc_bind_fail(L, XC_ERR_USAGE, "%s has no register '%s'", arch->name, lua_tostring(L, arg));
	return reg;
}

static int64_t check_offset(lua_State *L, int arg, const char *what)
{
	int exact;
	lua_Integer offset = lua_tointegerx(L, arg, &exact);
	if (!exact)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected an offset in bytes, not a %s", what, luaL_typename(L, arg));
	return offset;
}

/* cfa = {"rsp", 112} */
static void read_cfa(lua_State *L, int table, struct xc_foreign_code *code)
{
	code->cfa_reg = -1;
	if (!push_field(L, table, "cfa"))
		return;
	int cfa = lua_gettop(L);
	if (!lua_istable(L, cfa) || lua_rawlen(L, cfa) != 2)
		xc_bind_fail(L, XC_ERR_USAGE, "cfa: expected a register and an offset: {\"sp\", 16}");
	lua_rawgeti(L, cfa, 1);
	lua_rawgeti(L, cfa, 2);
	code->cfa_reg = check_register(L, cfa + 1);
	code->cfa_offset = check_offset(L, cfa + 2, "cfa");
	lua_settop(L, cfa - 1);
}

/* saved = {rip = -8, rbx = "r12"} */
static void read_saved(lua_State *L, const struct reading *r, int table, struct xc_foreign_code *code)
{
	if (!push_field(L, table, "saved"))
		return;
	int saved = lua_gettop(L);
	if (!lua_istable(L, saved))
		xc_bind_fail(L, XC_ERR_USAGE, "saved: expected a table of registers, not a %s",
			     luaL_typename(L, saved));
	struct xc_foreign_saved *items = xc_arena_alloc(r->arena, XC_REG_MAX * sizeof *items);
	for (lua_pushnil(L); lua_next(L, saved); lua_pop(L, 1)) {
		if (code->saved_count == XC_REG_MAX)
			xc_bind_fail(L, XC_ERR_USAGE, "saved: more registers than the machine has");
		struct xc_foreign_saved *item = &items[code->saved_count++];
		*item = (struct xc_foreign_saved){.reg = check_register(L, saved + 1), .from = -1};
		if (lua_type(L, saved + 2) == LUA_TSTRING)
			item->from = check_register(L, saved + 2);
		else
			item->offset = check_offset(L, saved + 2, "saved");
	}
	code->saved = items;
	lua_settop(L, saved - 1);
}

int xc_bind_tell_code(lua_State *L)
{
	struct reading r = begin_for(L, NULL);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	xc_report_check_names(L, 2, "lo hi cfa saved override name file line language");
	if (!push_field(L, 2, "lo"))
		return xc_bind_fail(L, XC_ERR_USAGE, "'lo' is missing: the start of the code");
	lua_pop(L, 1);
	struct xc_foreign_code code = {.lo = address_field(L, 2, "lo", 0)};
	code.hi = address_field(L, 2, "hi", code.lo);
	if (push_field(L, 2, "override"))
		code.override = lua_toboolean(L, -1);
	lua_settop(L, 2);
	code.name = text_field(L, &r, 2, "name");
	code.file = text_field(L, &r, 2, "file");
	code.language = text_field(L, &r, 2, "language");
	code.line = line_field(L, 2);
	read_cfa(L, 2, &code);
	read_saved(L, &r, 2, &code);
	xc_limit_spend(L, 50);
	xc_bind_raise(L, xc_foreign_add_code(xc_bind_process(L), &code));
	return 0;
}

/* ---- frames ---- */

/* Append the variables of a row's field; upvalues are locals of a special kind. */
static void read_variables(lua_State *L, const struct reading *r, int row, const char *key,
			   struct xc_variable_text *into, size_t *count)
{
	if (!push_field(L, row, key))
		return;
	int list = lua_gettop(L);
	for (lua_Integer i = 1, n = (lua_Integer)lua_rawlen(L, list); i <= n; i++) {
		lua_rawgeti(L, list, i);
		if (!lua_istable(L, list + 1))
			xc_bind_fail(L, XC_ERR_USAGE, "%s: expected a list of tables", key);
		xc_report_check_names(L, list + 1, "name type value why");
		struct xc_variable_text *v = &into[(*count)++];
		v->name = text_field(L, r, list + 1, "name");
		v->type = text_field(L, r, list + 1, "type");
		v->value = text_field(L, r, list + 1, "value");
		v->why = text_field(L, r, list + 1, "why");
		if (!v->type && strcmp(key, "upvalues") == 0)
			v->type = "upvalue";
		lua_settop(L, list);
	}
	lua_settop(L, list - 1);
}

static size_t list_length(lua_State *L, int row, const char *key)
{
	if (!push_field(L, row, key))
		return 0;
	if (!lua_istable(L, -1))
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected a list, not a %s", key, luaL_typename(L, -1));
	size_t length = lua_rawlen(L, -1);
	if (length > XC_FOREIGN_VARIABLES)
		xc_bind_fail(L, XC_ERR_LIMIT, "%s: more than %d", key, XC_FOREIGN_VARIABLES);
	lua_pop(L, 1);
	return length;
}

static void read_row_variables(lua_State *L, const struct reading *r, int at, struct xc_stack_row *row)
{
	size_t args = list_length(L, at, "args"), locals = list_length(L, at, "locals"),
	       upvalues = list_length(L, at, "upvalues");
	if (args + locals + upvalues > XC_FOREIGN_VARIABLES - r->told->variables)
		xc_bind_fail(L, XC_ERR_LIMIT, "more than %d variables of frames", XC_FOREIGN_VARIABLES);
	r->told->variables += args + locals + upvalues;
	xc_limit_spend(L, args + locals + upvalues);
	row->args = xc_arena_alloc(r->arena, args * sizeof *row->args);
	row->locals = xc_arena_alloc(r->arena, (locals + upvalues) * sizeof *row->locals);
	read_variables(L, r, at, "args", row->args, &row->arg_count);
	read_variables(L, r, at, "locals", row->locals, &row->local_count);
	read_variables(L, r, at, "upvalues", row->locals, &row->local_count);
}

/* The table at the top of the stack. */
static void read_row(lua_State *L, const struct reading *r, struct xc_stack_row *row)
{
	int at = lua_gettop(L);
	if (!lua_istable(L, at))
		xc_bind_fail(L, XC_ERR_USAGE, "a row must be a table, not a %s", luaL_typename(L, at));
	xc_report_check_names(L, at, "name file line language kind pc args locals upvalues");
	row->function = text_field(L, r, at, "name");
	row->file = text_field(L, r, at, "file");
	row->language = text_field(L, r, at, "language");
	row->kind = text_field(L, r, at, "kind");
	row->line = line_field(L, at);
	row->pc = address_field(L, at, "pc", 0);
	if (!row->language)
		row->language = r->stacks->language;
	read_row_variables(L, r, at, row);
}

static void read_rows(lua_State *L, const struct reading *r, int list, struct xc_foreign_frames *frames)
{
	luaL_checktype(L, list, LUA_TTABLE);
	luaL_checkstack(L, 20, NULL);
	frames->row_count = lua_rawlen(L, list);
	if (frames->row_count > XC_FOREIGN_ROWS)
		xc_bind_fail(L, XC_ERR_LIMIT, "more than %d frames", XC_FOREIGN_ROWS);
	frames->rows = xc_arena_alloc(r->arena, frames->row_count * sizeof *frames->rows);
	for (size_t i = 0; i < frames->row_count; i++) {
		lua_rawgeti(L, list, (lua_Integer)i + 1);
		read_row(L, r, &frames->rows[i]);
		xc_limit_spend(L, 20);
		lua_pop(L, 1);
	}
}

static int stacks_code(lua_State *L)
{
	(void)xc_bind_class_check(L, 1, &stacks_class);
	return xc_bind_tell_code(L);
}

static int stacks_frames(lua_State *L)
{
	struct reading r = begin(L);
	lua_Integer tid = luaL_checkinteger(L, 2);
	lua_settop(L, 4);
	if (tid <= 0 || tid > INT32_MAX)
		return xc_bind_fail(L, XC_ERR_NOT_FOUND, "no thread %lld", (long long)tid);
	struct xc_foreign_frames frames = {.tid = (pid_t)tid, .at = xc_bind_check_address(L, 3)};
	read_rows(L, &r, 4, &frames);
	xc_bind_raise(L, xc_foreign_add_frames(xc_bind_process(L), &frames));
	return 0;
}

static int stacks_stack(lua_State *L)
{
	struct reading r = begin(L);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	xc_report_check_names(L, 2, "name state rows");
	struct xc_foreign_frames frames = {.name = text_field(L, &r, 2, "name"),
					   .state = text_field(L, &r, 2, "state")};
	if (!frames.name || !push_field(L, 2, "rows"))
		return xc_bind_fail(L, XC_ERR_USAGE, "expected 'name' and 'rows'");
	read_rows(L, &r, 3, &frames);
	xc_bind_raise(L, xc_foreign_add_frames(xc_bind_process(L), &frames));
	return 0;
}

static void push_detached(lua_State *L, void *self)
{
	lua_pushboolean(L, ((const struct stacks *)self)->detached);
}

static const struct xc_bind_property properties[] = {{"detached", push_detached}, {NULL, NULL}};

static const luaL_Reg methods[] = {
	{"code", stacks_code}, {"frames", stacks_frames}, {"stack", stacks_stack}, {NULL, NULL}};

static const struct xc_bind_class stacks_class = {
	.name = "xcore.Stacks", .noun = "the stacks", .properties = properties, .methods = methods};

void xc_bind_push_stacks(lua_State *L, const char *language, bool detached)
{
	struct stacks *self = xc_bind_class_new(L, &stacks_class, sizeof *self);
	self->language = language;
	self->detached = detached;
}

/* t:stacks() */
static int target_stacks(lua_State *L)
{
	(void)xc_bind_check_target(L);
	xc_bind_push_stacks(L, NULL, true);
	return 1;
}

void xc_bind_stacks_open(lua_State *L)
{
	static const luaL_Reg of_target[] = {{"stacks", target_stacks}, {NULL, NULL}};
	xc_bind_class_add(L, &xc_bind_target_class, of_target);
	xc_bind_class_open(L, &stacks_class);
}

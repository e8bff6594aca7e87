/* bind_disas: machine code as instructions. The decoder is created once per run; its userdata closes it. */
#include "dwarf/decode/disas.h"
#include "lua/bind/bind_class.h"

enum { BYTES_MAX = 1 << 20, COST = 200 /* cost of an instruction, in Lua instructions */ };

static const char DECODER; /* the registry's key */

static int decoder_gc(lua_State *L)
{
	struct xc_disas **decoder = lua_touserdata(L, 1);
	xc_disas_close(*decoder);
	*decoder = NULL;
	return 0;
}

/* Raises `unsupported` for a machine without a decoder. */
static struct xc_disas *decoder_of(lua_State *L, const struct xc_arch *arch)
{
	struct xc_disas **decoder;
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &DECODER) == LUA_TNIL) {
		decoder = lua_newuserdatauv(L, sizeof *decoder, 0);
		*decoder = NULL;
		lua_createtable(L, 0, 1);
		lua_pushcfunction(L, decoder_gc);
		lua_setfield(L, -2, "__gc");
		lua_setmetatable(L, -2);
		xc_bind_raise(L, xc_disas_open(arch, XC_SYNTAX_INTEL, decoder));
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &DECODER);
		lua_remove(L, -2);
	}
	decoder = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return *decoder;
}

static void push_code(lua_State *L, const struct xc_code *code)
{
	lua_createtable(L, 0, 5);
	lua_pushinteger(L, (lua_Integer)code->addr);
	lua_setfield(L, -2, "addr");
	lua_pushinteger(L, code->length);
	lua_setfield(L, -2, "length");
	lua_pushstring(L, code->text);
	lua_setfield(L, -2, "text");
	lua_pushboolean(L, code->valid);
	lua_setfield(L, -2, "valid");
	if (code->has_target) {
		lua_pushinteger(L, (lua_Integer)code->target);
		lua_setfield(L, -2, "target");
	}
}

/* t:disassemble(addr, len) */
static int target_disassemble(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	xc_addr addr = xc_bind_check_address(L, 2);
	lua_Integer len = luaL_checkinteger(L, 3);
	if (len < 0 || len > BYTES_MAX)
		return xc_bind_fail(L, XC_ERR_LIMIT, "t:disassemble of %lld bytes: at most %d at once", (long long)len,
				    BYTES_MAX);
	lua_settop(L, 2);
	struct xc_disas *disas = decoder_of(L, host->process->arch);
	uint8_t *bytes = lua_newuserdatauv(L, (size_t)len + 1, 0);
	size_t got = xc_space_peek(host->process->space, addr, bytes, (size_t)len);
	if (got == 0 && len > 0)
		return xc_bind_raise(L, xc_bind_fault(host, addr, 1));
	lua_newtable(L);
	lua_Integer count = 0;
	for (size_t at = 0; at < got;) {
		struct xc_code code;
		xc_disas_decode(disas, bytes + at, got - at, addr + at, &code);
		push_code(L, &code);
		lua_rawseti(L, -2, ++count);
		at += code.length;
		xc_limit_spend(L, COST);
	}
	return 1;
}

void xc_bind_disas_open(lua_State *L)
{
	static const luaL_Reg methods[] = {{"disassemble", target_disassemble}, {NULL, NULL}};
	xc_bind_class_add(L, &xc_bind_target_class, methods);
}

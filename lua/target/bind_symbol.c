/* bind_symbol: names of addresses, and addresses of names, from symbol tables and line tables. */
#include <elf.h>
#include <string.h>

#include "core/facts/facts.h"
#include "core/text/suggest.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/module/cfimodule.h"
#include "lua/bind/bind_class.h"

enum { NAME_MAX_BYTES = 1024 };

/* ---- by name ---- */

static struct xc_error *no_symbol(const struct xc_process *process, const char *name)
{
	struct xc_suggestion near = xc_suggest(name);
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_symtab *table = xc_debugfile_symbols(xc_debugfile_of(process, process->modules[i]));
		for (size_t j = 0; j < xc_symtab_count(table); j++)
			xc_suggest_consider(&near, xc_symtab_mangled(table, j));
	}
	struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "no symbol '%s'", name);
	return near.best ? xc_error_hint(err, "did you mean %s?", near.best) : err;
}

static int symbol_by_name(lua_State *L)
{
	const struct xc_process *process = xc_bind_check_target(L)->process;
	const char *name = luaL_checkstring(L, 2);
	struct xc_module *module;
	xc_addr addr;
	const struct xc_symbol *symbol = xc_symbol_find(process, name, &module, &addr);
	if (!symbol)
		return xc_bind_raise(L, no_symbol(process, name));
	if (symbol->type == STT_TLS)
		return xc_bind_fail(L, XC_ERR_UNSUPPORTED,
				    "%s is thread-local: it has a different address in each thread", name);
	uint64_t size = symbol->size;
	lua_createtable(L, 0, 4);
	lua_pushstring(L, name);
	lua_setfield(L, -2, "name");
	lua_pushinteger(L, (lua_Integer)addr);
	lua_setfield(L, -2, "addr");
	if (size > 0) {
		lua_pushinteger(L, (lua_Integer)size);
		lua_setfield(L, -2, "size");
	}
	lua_pushstring(L, module->path);
	lua_setfield(L, -2, "module");
	return 1;
}

static int has_symbol(lua_State *L)
{
	const struct xc_process *process = xc_bind_check_target(L)->process;
	lua_pushboolean(L, xc_symbol_find(process, luaL_checkstring(L, 2), NULL, NULL) != NULL);
	return 1;
}

/* ---- by address ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* "read_request+0x1c at server.c:120", else "libc.so.6+0x1f", "[stack]". NULL: nothing is mapped there. */
static const char *describe(struct xc_text *text, const struct xc_process *process, const struct xc_place *place,
			    xc_addr addr)
{
	char name[NAME_MAX_BYTES];
	const char *symbol = xc_symbol_describe(process, addr, name, sizeof name);
	if (!symbol)
		symbol = xc_facts_place(process, addr, name, sizeof name);
	if (!symbol && !xc_space_find(process->space, addr))
		return NULL;
	if (symbol)
		xc_text_add(text, symbol);
	else
		xc_text_printf(text, "0x%llx", (unsigned long long)addr);
	if (place->level_count && place->levels[0].file && place->levels[0].line)
		xc_text_printf(text, " at %s:%u", base_name(place->levels[0].file), place->levels[0].line);
	return xc_text_string(text);
}

/* The function, or else the symbol; the offset in it is from the symbol tables. */
static void set_name(lua_State *L, const struct xc_process *process, const struct xc_place *place)
{
	const char *function = place->level_count ? place->levels[place->level_count - 1].function : NULL;
	lua_pushstring(L, function ? function : place->symbol);
	lua_setfield(L, -2, "name");
	if (!place->module)
		return;
	const struct xc_symbol *symbol = xc_symbol_at(process, place->module, place->file_addr);
	if (!symbol)
		return;
	lua_pushinteger(L, (lua_Integer)(place->file_addr - symbol->value));
	lua_setfield(L, -2, "offset");
}

static void set_line(lua_State *L, const struct xc_place *place)
{
	if (!place->level_count || !place->levels[0].file)
		return;
	lua_pushstring(L, place->levels[0].file);
	lua_setfield(L, -2, "file");
	if (place->levels[0].line) {
		lua_pushinteger(L, place->levels[0].line);
		lua_setfield(L, -2, "line");
	}
}

static int symbolize(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	xc_addr addr = xc_bind_check_address(L, 2);
	const struct xc_place *place = xc_debuginfo_place(host->process, addr);
	struct xc_text *text = xc_bind_scratch(L);
	if (!describe(text, host->process, place, addr)) {
		lua_pushnil(L);
		return 1;
	}
	lua_createtable(L, 0, 6);
	xc_bind_push_scratch(L);
	lua_setfield(L, -2, "text");
	set_name(L, host->process, place);
	if (place->module) {
		lua_pushstring(L, place->module->path);
		lua_setfield(L, -2, "module");
	}
	set_line(L, place);
	return 1;
}

/* t:code_range(addr) → first and last address of the entry of call frame information; nil: there is none */
static int code_range(lua_State *L)
{
	struct xc_process *process = xc_bind_check_target(L)->process;
	const xc_addr addr = xc_bind_check_address(L, 2);
	struct xc_module *module = xc_process_module(process, addr);
	struct xc_cfientry entry;
	if (!module || !module->bias_known ||
	    !xc_cfimodule_find(xc_debugfile_of(process, module), addr - module->bias, &entry)) {
		lua_pushnil(L);
		return 1;
	}
	lua_pushinteger(L, (lua_Integer)(entry.lo + module->bias));
	lua_pushinteger(L, (lua_Integer)(entry.end + module->bias - 1));
	return 2;
}

void xc_bind_symbol_open(lua_State *L)
{
	static const luaL_Reg methods[] = {{"symbol", symbol_by_name},
					   {"has_symbol", has_symbol},
					   {"symbolize", symbolize},
					   {"code_range", code_range},
					   {NULL, NULL}};
	xc_bind_class_add(L, &xc_bind_target_class, methods);
}

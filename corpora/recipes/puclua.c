// puclua.c: a program that embeds PUC Lua 5.1 to 5.4, counts what Lua allocates, and dies in a C function that Lua calls.
// Usage: puclua SCRIPT ACCOUNT [ARG…]. `die(coroutines)` writes to ACCOUNT what Lua itself says of each stack, and then dies:
//	total N            bytes, by lua_gc
//	allocated N        bytes, by the allocator
//	objects TYPE N     objects that live, by the type that Lua told the allocator (none in 5.1)
//	stack NAME         then frames, innermost first, each with its locals behind it
//	frame WHAT LINE LINEDEFINED SOURCE
//	local NAME TYPE VALUE
#include "lua.h"
#include "lauxlib.h"
#include "lstate.h"
#include "lualib.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES = 16 };

struct header {
	size_t size, type;
};

static size_t allocated, objects[TYPES];
static const char *account;
static lua_State *main_thread;

// No state of Lua, but words that lead to each other as those of one do.
static union {
	struct {
		lua_State thread;
		global_State state;
	} s;
	void *words[(sizeof(lua_State) + sizeof(global_State)) / sizeof(void *)];
} lookalike;

static void make_lookalike(void)
{
	for (size_t i = 0; i < sizeof lookalike.words / sizeof *lookalike.words; i++)
		lookalike.words[i] = &lookalike.words[i];
	lookalike.s.thread.tt = LUA_TTHREAD;
	lookalike.s.thread.l_G = &lookalike.s.state;
	lookalike.s.state.mainthread = &lookalike.s.thread;
}

static void *forget(struct header *old)
{
	if (old) {
		allocated -= old->size;
		objects[old->type]--;
		free(old);
	}
	return NULL;
}

static void *count(void *ud, void *ptr, size_t osize, size_t nsize)
{
	struct header *old = ptr ? (struct header *)ptr - 1 : NULL;
	size_t type = old ? old->type : osize < TYPES ? osize : 0;
	struct header *new;
	(void)ud;
	if (nsize == 0)
		return forget(old);
	new = realloc(old, sizeof *new + nsize);
	if (!new)
		return NULL;
	if (old)
		allocated -= new->size;
	else
		objects[type]++;
	new->size = nsize;
	new->type = type;
	allocated += nsize;
	return new + 1;
}

static void tell_local(FILE *out, lua_State *L, const char *name)
{
	int type = lua_type(L, -1);
	fprintf(out, "local %s %s ", name, lua_typename(L, type));
	if (type == LUA_TSTRING || type == LUA_TBOOLEAN)
		fprintf(out, "%s\n",
			type == LUA_TSTRING    ? lua_tostring(L, -1)
			: lua_toboolean(L, -1) ? "true"
					       : "false");
	else if (type == LUA_TNUMBER)
		fprintf(out, "%.14g\n", (double)lua_tonumber(L, -1));
	else
		fprintf(out, "%p\n", lua_topointer(L, -1));
}

static void tell_stack(FILE *out, const char *name, lua_State *L)
{
	lua_Debug ar;
	fprintf(out, "stack %s %p\n", name, (void *)L);
	for (int level = 0; lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "Sl", &ar);
		fprintf(out, "frame %s %d %d %s\n", ar.what, ar.currentline, ar.linedefined, ar.source);
		const char *local;
		for (int i = 1; *ar.what != 'C' && (local = lua_getlocal(L, &ar, i)); i++) {
			if (*local != '(')
				tell_local(out, L, local);
			lua_pop(L, 1);
		}
	}
}

static int die(lua_State *L)
{
	static char buffer[1 << 16];
	FILE *out = fopen(account, "w");
	lua_checkstack(L, 20);
	setvbuf(out, buffer, _IOFBF, sizeof buffer);
	tell_stack(out, "running", L);
	tell_stack(out, "main", main_thread);
	lua_pushnil(L);
	while (lua_next(L, 1)) {
		lua_State *co = lua_tothread(L, -1);
		if (co && co != L)
			tell_stack(out, lua_tostring(L, -2), co);
		lua_pop(L, 1);
	}
	fprintf(out, "total %zu\nallocated %zu\n",
		(size_t)lua_gc(L, LUA_GCCOUNT, 0) * 1024 + (size_t)lua_gc(L, LUA_GCCOUNTB, 0), allocated);
	for (int type = 0; type < TYPES; type++)
		if (objects[type])
			fprintf(out, "objects %d %zu\n", type, objects[type]);
	fclose(out);
	*(volatile int *)0x10 = 1;
	return 0;
}

int main(int argc, char **argv)
{
	lua_State *L = lua_newstate(count, NULL);
	main_thread = L;
	make_lookalike();
	account = argv[2];
	luaL_openlibs(L);
	lua_register(L, "die", die);
	if (luaL_loadfile(L, argv[1]))
		return 1;
	for (int i = 3; i < argc; i++)
		lua_pushstring(L, argv[i]);
	if (lua_pcall(L, argc - 3, 0, 0))
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
	lua_close(L);
	return 1;
}

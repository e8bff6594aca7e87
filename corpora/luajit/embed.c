/* embed: three finished VMs in one process, one of them in a thread that runs Lua, and one that is being made: its allocator never
 * returns. Writes "vm MAIN-THREAD BYTES" for each that is finished, then "half", then "ready", and waits. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

enum { ALLOCATIONS = 2 }; /* of a new state, that succeed: itself and its stack */

static pthread_barrier_t all_set;

static void tell(lua_State *L)
{
	printf("vm 0x%lx %d\n", (unsigned long)L, lua_gc(L, LUA_GCCOUNT, 0) * 1024 + lua_gc(L, LUA_GCCOUNTB, 0));
}

static lua_State *make(int number)
{
	lua_State *L = luaL_newstate();
	luaL_openlibs(L);
	lua_pushinteger(L, number);
	lua_setglobal(L, "number");
	if (luaL_dostring(L, "held = {} for i = 1, number * 1000 do held[i] = 'string ' .. i end "
			     "co = coroutine.create(function() coroutine.yield(number) end) coroutine.resume(co)"))
		abort();
	lua_gc(L, LUA_GCSTOP, 0);
	return L;
}

static int meet(lua_State *L)
{
	tell(L);
	pthread_barrier_wait(&all_set);
	pause();
	return 0;
}

static void *run_lua(void *number)
{
	lua_State *L = make(*(int *)number);
	lua_pushcfunction(L, meet);
	lua_call(L, 0, 0);
	return NULL;
}

static void *stuck(void *count, void *old, size_t old_size, size_t size)
{
	(void)old_size;
	if (size && ++*(int *)count > ALLOCATIONS) {
		puts("half");
		pthread_barrier_wait(&all_set);
		pause();
	}
	return realloc(old, size);
}

static void *never_done(void *count)
{
	return lua_newstate(stuck, count);
}

int main(void)
{
	pthread_t threads[2];
	int third = 3, count = 0;
	pthread_barrier_init(&all_set, NULL, 3);
	tell(make(1));
	tell(make(2));
	pthread_create(&threads[0], NULL, run_lua, &third);
	pthread_create(&threads[1], NULL, never_done, &count);
	pthread_barrier_wait(&all_set);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

/* host: a program with Lua in it: a state a thread, each runs the script. host THREADS SCRIPT SECONDS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const char *script, *seconds;

static void *run(void *unused)
{
	(void)unused;
	lua_State *L = luaL_newstate();
	luaL_openlibs(L);
	if (luaL_loadfile(L, script) != 0)
		abort();
	lua_pushstring(L, seconds);
	if (lua_pcall(L, 1, 0, 0) != 0) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		abort();
	}
	lua_close(L);
	return NULL;
}

int main(int count, char **words)
{
	enum { MOST = 16 };
	pthread_t threads[MOST];
	const int wanted = count == 4 ? atoi(words[1]) : 0;
	if (wanted < 1 || wanted > MOST)
		return 2;
	script = words[2];
	seconds = words[3];
	for (int i = 0; i < wanted; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < wanted; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

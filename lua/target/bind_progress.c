/* bind_progress: xcore.progress: the progress bar of a run on the terminal (core/base/progress.h). */
#include "core/base/progress.h"
#include "lua/vm/bind.h"

static int progress(lua_State *L)
{
	lua_Integer done = luaL_checkinteger(L, 1), total = luaL_optinteger(L, 2, 0);
	xc_progress_step(xc_bind_host(L)->options.progress, done > 0 ? (uint64_t)done : 0,
			 total > 0 ? (uint64_t)total : 0);
	return 0;
}

void xc_bind_progress_open(lua_State *L)
{
	lua_pushcfunction(L, progress);
	lua_setfield(L, -2, "progress");
}

// host: a server in C++ with Lua in it: a state a thread, a coroutine a request. The script's on_request(handle) yields
// where it waits for the server; the server goes on with others meanwhile. host THREADS SCRIPT SECONDS
#include <lua.hpp>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

class request {
public:
	request(lua_State *of, int number) : main(of), own(lua_newthread(of)), kept(luaL_ref(of, LUA_REGISTRYINDEX))
	{
		lua_getglobal(own, "on_request");
		lua_pushinteger(own, number);
	}
	~request() { luaL_unref(main, LUA_REGISTRYINDEX, kept); }
	request(const request &) = delete;
	request &operator=(const request &) = delete;

	// True: it waits, and wants to be resumed.
	bool resume()
	{
		const int status = lua_resume(own, begun ? 0 : 1);
		begun = true;
		if (status != 0 && status != LUA_YIELD)
			throw std::runtime_error(lua_tostring(own, -1));
		return status == LUA_YIELD;
	}

private:
	lua_State *main, *own;
	int kept;
	bool begun = false;
};

class worker {
public:
	worker(const std::string &script, const char *seconds) : state(luaL_newstate(), lua_close)
	{
		luaL_openlibs(state.get());
		lua_pushstring(state.get(), seconds);
		lua_setglobal(state.get(), "SECONDS");
		if (luaL_dofile(state.get(), script.c_str()) != 0)
			throw std::runtime_error(lua_tostring(state.get(), -1));
	}

	void serve()
	{
		for (int number = 0; goes_on(); number++) {
			while (waiting.size() < 4)
				waiting.push_back(std::make_unique<request>(state.get(), number));
			std::unique_ptr<request> next = std::move(waiting.front());
			waiting.pop_front();
			if (next->resume())
				waiting.push_back(std::move(next));
		}
	}

private:
	bool goes_on()
	{
		lua_State *L = state.get();
		lua_getglobal(L, "goes_on");
		lua_call(L, 0, 1);
		const bool yes = lua_toboolean(L, -1) != 0;
		lua_pop(L, 1);
		return yes;
	}

	std::unique_ptr<lua_State, void (*)(lua_State *)> state;
	std::deque<std::unique_ptr<request>> waiting; // its coroutines end before the state
};

} // namespace

int main(int count, char **words)
{
	if (count != 4)
		return 2;
	std::vector<std::thread> threads;
	for (int i = std::atoi(words[1]); i > 0; i--)
		threads.emplace_back([words] {
			try {
				worker(words[2], words[3]).serve();
			} catch (const std::exception &e) {
				std::fprintf(stderr, "%s\n", e.what());
				std::abort();
			}
		});
	for (std::thread &thread : threads)
		thread.join();
}

/* bind_profile: t:profile: where a running process spends its time, as tables. The profile is taken by a child
 * (profile/profile_child.h), and its data belong to a userdata until the tables are made. */
#include <stdlib.h>
#include <string.h>

#include "lua/bind/bind_class.h"
#include "lua/vm/limit.h"
#include "profile/data/profile_data.h"
#include "profile/profile_child.h"
#include "profile/view/function_sums.h"

enum { SECONDS = 10, HZ = 99, MOST_HZ = 10000, MOST_SECONDS = 24 * 3600, STACKS = 1000 };

static const char *const kinds[] = {"native", "inlined", "kernel", "signal", "guess", "interpreted", "jit", "remark"};
_Static_assert(XC_COUNT(kinds) == XC_PROFILE_FRAME_KINDS, "a name for each");

/* What is freed with the state. */
struct taken {
	struct xc_profile_data *data;
	struct xc_function_sum *functions;
	uint32_t *order; /* sums, by samples */
};

static const char taken_key;

static int taken_gc(lua_State *L)
{
	struct taken *taken = lua_touserdata(L, 1);
	xc_profile_data_free(xc_take(taken->data));
	free(xc_take(taken->functions));
	free(xc_take(taken->order));
	return 0;
}

/* ---- what is asked for ---- */

static lua_Number option_number(lua_State *L, const char *name, lua_Number without, lua_Number least, lua_Number most)
{
	lua_getfield(L, 2, name);
	const bool absent = lua_isnil(L, -1);
	const lua_Number number = absent ? without : lua_tonumber(L, -1);
	if (!absent && (lua_type(L, -1) != LUA_TNUMBER || !(number >= least && number <= most)))
		xc_bind_fail(L, XC_ERR_USAGE, "%s must be a number from %g to %g", name, least, most);
	lua_pop(L, 1);
	return number;
}

/* On the stack as long as the text is used; NULL: not given. */
static const char *option_text(lua_State *L, const char *name)
{
	lua_getfield(L, 2, name);
	if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING)
		xc_bind_fail(L, XC_ERR_USAGE, "%s must be a string", name);
	return lua_tostring(L, -1);
}

static void read_clock(lua_State *L, struct xc_profile_request *request)
{
	static const char *const clocks[] = {"cpu", "off", "wall"}; /* enum xc_profile_clock */
	const char *clock = option_text(L, "clock");
	request->any_clock = !clock;
	for (size_t i = 0; clock && i < XC_COUNT(clocks); i++) {
		request->clock = (enum xc_profile_clock)i;
		if (strcmp(clock, clocks[i]) == 0)
			return;
	}
	if (clock)
		xc_bind_fail(L, XC_ERR_USAGE, "clock must be \"cpu\", \"off\" or \"wall\"");
}

static void read_event(lua_State *L, struct xc_profile_request *request)
{
	const char *event = option_text(L, "event");
	request->counter = xc_perf_counter_find(event);
	if (event && !request->counter)
		xc_bind_fail(L, XC_ERR_USAGE, "no event '%s': see `xcore profile --help`", event);
	if (event && !request->any_clock)
		xc_bind_fail(L, XC_ERR_USAGE, "event and clock cannot be combined: events are not time");
}

static struct xc_profile_request read_request(lua_State *L, const struct xc_process *process)
{
	struct xc_profile_request request = {
		.duration_ns = (uint64_t)(option_number(L, "seconds", SECONDS, 0.001, MOST_SECONDS) * 1e9),
		.hz = (unsigned)option_number(L, "hz", HZ, 1, MOST_HZ),
		.tid = (pid_t)option_number(L, "thread", 0, 1, INT32_MAX),
	};
	read_clock(L, &request);
	read_event(L, &request);
	if (request.tid && !xc_process_thread(process, request.tid))
		xc_bind_fail(L, XC_ERR_NOT_FOUND, "no thread %d", (int)request.tid);
	return request;
}

/* ---- tables ---- */

static void set_text(lua_State *L, const struct xc_profile_data *d, const char *key, uint32_t text)
{
	if (!text)
		return;
	lua_pushstring(L, xc_profile_data_text(d, text));
	lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, uint64_t number)
{
	lua_pushinteger(L, (lua_Integer)number);
	lua_setfield(L, -2, key);
}

static void set_function(lua_State *L, const struct xc_profile_data *d, uint32_t number)
{
	const struct xc_profile_function *function = &d->functions[number];
	set_text(L, d, "name", function->name);
	set_text(L, d, "module", function->module);
	set_text(L, d, "language", function->language);
}

static void set_line(lua_State *L, const struct xc_profile_data *d, uint32_t file, uint32_t line)
{
	if (!file || !line)
		return;
	set_text(L, d, "file", file);
	set_number(L, "line", line);
}

static void push_functions(lua_State *L, struct taken *taken)
{
	const struct xc_profile_data *d = taken->data;
	taken->functions = xc_function_sums(d, 0, d->sum_count);
	xc_function_sums_sort(taken->functions, d->function_count);
	lua_newtable(L);
	for (size_t i = 0; i < d->function_count && taken->functions[i].total; i++) {
		const struct xc_function_sum *sum = &taken->functions[i];
		lua_createtable(L, 0, 7);
		set_function(L, d, sum->function);
		set_line(L, d, sum->file, sum->line);
		set_number(L, "self", sum->self);
		set_number(L, "total", sum->total);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/* A frame is one table, which all stacks with it share; `frames` is the index of those that there are. */
static void push_frame(lua_State *L, const struct xc_profile_data *d, uint32_t number, int frames)
{
	if (lua_rawgeti(L, frames, (lua_Integer)number + 1) == LUA_TTABLE)
		return;
	lua_pop(L, 1);
	const struct xc_profile_frame *frame = &d->frames[number];
	lua_createtable(L, 0, 6);
	set_function(L, d, frame->function);
	set_line(L, d, frame->file, frame->line);
	lua_pushstring(L, kinds[frame->kind]);
	lua_setfield(L, -2, "kind");
	lua_pushvalue(L, -1);
	lua_rawseti(L, frames, (lua_Integer)number + 1);
}

static void push_stack(lua_State *L, const struct xc_profile_data *d, const struct xc_profile_sum *sum, int frames)
{
	lua_createtable(L, 0, 5);
	set_number(L, "samples", sum->samples);
	set_number(L, "thread", d->threads[sum->thread].tid);
	set_text(L, d, "thread_name", d->threads[sum->thread].name);
	set_text(L, d, "waits_for", sum->wait ? d->waits[sum->wait].text : 0);
	lua_newtable(L);
	lua_Integer count = 0;
	for (uint32_t node = sum->stack; node; node = d->nodes[node].parent) {
		xc_limit_spend(L, 1);
		push_frame(L, d, d->nodes[node].frame, frames);
		lua_rawseti(L, -2, ++count);
	}
	lua_setfield(L, -2, "frames");
}

static int by_samples(const void *a, const void *b, void *sums)
{
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct xc_profile_sum *x = &((const struct xc_profile_sum *)sums)[i],
				    *y = &((const struct xc_profile_sum *)sums)[j];
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return i < j ? -1 : i > j;
}

/* The stacks with most samples. Returns the samples of the others. */
static uint64_t push_stacks(lua_State *L, struct taken *taken, size_t most)
{
	const struct xc_profile_data *d = taken->data;
	uint64_t rest = 0;
	taken->order = xc_alloc((d->sum_count + 1) * sizeof *taken->order);
	for (size_t i = 0; i < d->sum_count; i++)
		taken->order[i] = (uint32_t)i;
	qsort_r(taken->order, d->sum_count, sizeof *taken->order, by_samples, d->sums);
	lua_newtable(L);
	const int frames = lua_gettop(L);
	lua_newtable(L);
	for (size_t i = 0; i < d->sum_count; i++) {
		const struct xc_profile_sum *sum = &d->sums[taken->order[i]];
		if (i >= most) {
			rest += sum->samples;
			continue;
		}
		push_stack(L, d, sum, frames);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_remove(L, frames);
	return rest;
}

static void push_warnings(lua_State *L, const struct xc_profile_data *d)
{
	lua_Integer count = 0;
	lua_newtable(L);
	for (size_t i = 0; i < d->account.count; i++) {
		const struct xc_profile_fact *fact = &d->account.rows[i];
		if (fact->note < XC_WARNING + 1 || !fact->text)
			continue;
		lua_pushstring(L, xc_profile_data_text(d, fact->text));
		lua_rawseti(L, -2, ++count);
	}
}

static void push_profile(lua_State *L, struct taken *taken, size_t stacks)
{
	const struct xc_profile_data *d = taken->data;
	lua_createtable(L, 0, 10);
	set_text(L, d, "account", d->head->account);
	push_warnings(L, d);
	lua_setfield(L, -2, "warnings");
	if (d->head->unit == XC_PROFILE_EVENTS) {
		set_text(L, d, "unit", d->head->events);
	} else {
		lua_pushliteral(L, "ns");
		lua_setfield(L, -2, "unit");
	}
	set_number(L, "period", d->head->period);
	lua_pushnumber(L, (lua_Number)d->head->length_ns / 1e9);
	lua_setfield(L, -2, "seconds");
	set_number(L, "samples", xc_profile_data_samples(d));
	set_number(L, "waiting", xc_profile_data_waiting(d));
	push_functions(L, taken);
	lua_setfield(L, -2, "functions");
	const uint64_t left_out = push_stacks(L, taken, stacks);
	lua_setfield(L, -2, "stacks");
	set_number(L, "left_out", left_out);
}

/* ---- the method ---- */

static struct taken *new_taken(lua_State *L)
{
	struct taken *taken = lua_newuserdatauv(L, sizeof *taken, 0);
	*taken = (struct taken){0};
	lua_rawgetp(L, LUA_REGISTRYINDEX, &taken_key);
	lua_setmetatable(L, -2);
	return taken;
}

static int profile(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	lua_settop(L, 2);
	if (lua_isnil(L, 2)) {
		lua_newtable(L);
		lua_replace(L, 2);
	}
	luaL_checktype(L, 2, LUA_TTABLE);
	const struct xc_profile_request request = read_request(L, host->process);
	const size_t stacks = (size_t)option_number(L, "stacks", STACKS, 0, 1 << 20);
	if (!host->process->live)
		return xc_bind_fail(L, XC_ERR_UNSUPPORTED, "a core is one moment, and cannot be sampled");
	if (!host->options.profiler)
		return xc_bind_fail(L, XC_ERR_UNSUPPORTED, "profiles are taken by `xcore run` and `xcore shell` only");
	struct taken *taken = new_taken(L);
	xc_bind_raise(L,
		      xc_profile_child_take(host->options.profiler, &request, &host->limit.interrupted, &taken->data));
	push_profile(L, taken, stacks);
	return 1;
}

void xc_bind_profile_open(lua_State *L)
{
	static const luaL_Reg methods[] = {{"profile", profile}, {NULL, NULL}};
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, taken_gc);
	lua_setfield(L, -2, "__gc");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &taken_key);
	xc_bind_class_add(L, &xc_bind_target_class, methods);
}

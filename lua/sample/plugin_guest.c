#include "lua/sample/plugin_guest.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/live/live.h"
#include "dwarf/cfi/foreign_frame.h"
#include "dwarf/sample/sample_stack.h"
#include "lua/target/bind_frame.h"
#include "lua/target/bind_samples.h"
#include "lua/vm/bind.h"

enum { PLUGINS = 16, PATIENCE = 100 }; /* failures in a row */

#define MS 1e-3 /* programs tell times in milliseconds */

/* Of one call: a small part of those of a run. The first for a virtual machine reads most. */
static struct xc_limits limits_of_call(const struct xc_limits *run)
{
	return (struct xc_limits){.instructions = run->instructions / 1000,
				  .memory = run->memory / 4,
				  .seconds = run->seconds / 60,
				  .may_starve = true};
}

struct asked {
	struct xc_host *host;
	const char *name;
	int step, value_of, frame_ref, sample_ref; /* in the registry */
	void *frame;
	const struct xc_samples *samples;
	bool fresh; /* the sample's table is to be made */
	unsigned failures;
	struct xc_error *failed; /* not told yet */
	bool is_out;
};

struct xc_plugin_guest {
	struct xc_sample_guest reader;
	struct xc_process *process;
	const char *by; /* the dimension that is asked for; NULL: none */
	struct xc_sample_values values;
	struct xc_thread thread; /* of the sample */
	uint64_t time_ns;        /* likewise */
	bool is_valued;          /* its value is told */
	struct asked items[PLUGINS];
	size_t count;
	bool is_read; /* memory was read for this sample */
};

/* ---- the beginning ---- */

/* Arguments: the plugin, the guest, what is asked. */
static int call_samples(lua_State *L)
{
	struct xc_plugin_guest *g = lua_touserdata(L, 2);
	struct asked *a = lua_touserdata(L, 3);
	if (!lua_istable(L, 1) || lua_getfield(L, 1, "samples") != LUA_TFUNCTION)
		return xc_bind_fail(L, XC_ERR_FORMAT, "it has no function 'samples'");
	luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	lua_getfield(L, -1, "xcore");
	lua_getfield(L, -1, "target");
	a->samples = xc_bind_push_samples(L, &g->reader.places, a->name, g->by);
	lua_pushvalue(L, -1);
	(void)luaL_ref(L, LUA_REGISTRYINDEX); /* it lives as long as the state */
	lua_pushvalue(L, 4);
	lua_insert(L, -3);
	lua_call(L, 2, 1);
	a->value_of = a->samples->value_of;
	if (lua_isnil(L, -1) && a->value_of == LUA_NOREF)
		return 0;
	if (!lua_isnil(L, -1))
		luaL_checktype(L, -1, LUA_TFUNCTION);
	a->step = luaL_ref(L, LUA_REGISTRYINDEX); /* of nil: LUA_REFNIL */
	a->frame = xc_bind_push_frame(L);
	a->frame_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	lua_newtable(L);
	a->sample_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	return 0;
}

static struct xc_error *begin(struct xc_plugin_guest *g, struct asked *a, const struct xc_run *run)
{
	lua_State *L = a->host->L;
	struct xc_error *err = xc_host_run(a->host, run->chunk, run->text, run->len, NULL, 0);
	if (err)
		return err;
	lua_settop(L, 1);
	lua_pushcfunction(L, call_samples);
	lua_insert(L, 1);
	lua_pushlightuserdata(L, g);
	lua_pushlightuserdata(L, a);
	err = xc_host_call(a->host, 3);
	lua_settop(L, 0);
	a->host->limit.limits = limits_of_call(&run->limits);
	a->host->limit.ceiling = a->host->limit.limits.memory;
	return err;
}

static void leave_out(struct asked *a, struct xc_error *err)
{
	xc_error_free(a->failed);
	a->failed = xc_error_wrap(err, "plugin %s: samples: it was not asked any more", a->name);
	a->is_out = true;
}

void xc_plugin_guest_add(struct xc_plugin_guest *g, const struct xc_run *run)
{
	if (g->count == PLUGINS)
		return;
	struct asked *a = &g->items[g->count++];
	const struct xc_host_options options = {
		.process = g->process,
		.name = run->name,
		.limits = run->limits,
		.module_dirs = run->module_dirs,
		.module_dir_count = run->module_dir_count,
		.redacts = run->redacts,
	};
	*a = (struct asked){.host = xc_host_new(&options), .name = run->plugin};
	struct xc_error *err = begin(g, a, run);
	if (err)
		leave_out(a, err);
	a->is_out |= !a->frame;
}

/* ---- a sample ---- */

static void begin_sample(void *ctx, pid_t tid, uint64_t time_ns)
{
	struct xc_plugin_guest *g = ctx;
	g->thread.tid = tid;
	g->time_ns = time_ns;
	g->is_read = g->is_valued = false;
	for (size_t i = 0; i < g->count; i++)
		g->items[i].fresh = true;
}

static bool watches(const struct asked *a, xc_addr at)
{
	for (size_t i = 0; i < a->samples->watched_count; i++)
		if (a->samples->watched[i].lo <= at && at <= a->samples->watched[i].hi)
			return true;
	return false;
}

static bool tells_value(const struct xc_plugin_guest *g, const struct asked *a)
{
	return !g->is_valued && a->value_of != LUA_NOREF;
}

static bool is_wanted(const struct xc_plugin_guest *g, const struct asked *a, const struct xc_frame *frame)
{
	const bool has_step = a->step != LUA_REFNIL;
	return !a->is_out && ((has_step && !frame->module) ||
			      ((has_step || tells_value(g, a)) && watches(a, xc_frame_lookup(frame))));
}

static bool wants(void *ctx, const struct xc_frame *frame)
{
	const struct xc_plugin_guest *g = ctx;
	for (size_t i = 0; i < g->count; i++)
		if (is_wanted(g, &g->items[i], frame))
			return true;
	return false;
}

struct call {
	struct xc_plugin_guest *guest;
	struct asked *asked;
	struct xc_sample_stack *stack;
};

/* The table of this sample. */
static void push_sample(lua_State *L, const struct call *c)
{
	if (c->asked->fresh) {
		lua_createtable(L, 0, 4);
		lua_pushinteger(L, c->guest->thread.tid);
		lua_setfield(L, -2, "tid");
		lua_rawseti(L, LUA_REGISTRYINDEX, c->asked->sample_ref);
		c->asked->fresh = false;
	}
	lua_rawgeti(L, LUA_REGISTRYINDEX, c->asked->sample_ref);
}

/* The numbers of places in the list at `index`, innermost first; 0: what is missing. True: there is one. */
static bool add_places(lua_State *L, int index, const struct call *c)
{
	bool torn = false;
	luaL_checktype(L, index, LUA_TTABLE);
	const size_t count = lua_rawlen(L, index);
	for (size_t i = 1; i <= count && i <= XC_SAMPLE_FRAMES; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, index, (lua_Integer)i);
		const lua_Integer place = luaL_checkinteger(L, -1);
		if (place < 0 || (size_t)place >= c->guest->reader.places.count)
			xc_bind_fail(L, XC_ERR_USAGE, "no place has the number %lld", (long long)place);
		xc_sample_stack_add(c->stack, (uint32_t)place);
		torn |= place == XC_GUEST_TORN;
	}
	return torn;
}

/* Argument: the call. */
static int call_step(lua_State *L)
{
	struct call *c = lua_touserdata(L, 1);
	lua_rawgeti(L, LUA_REGISTRYINDEX, c->asked->step);
	lua_rawgeti(L, LUA_REGISTRYINDEX, c->asked->frame_ref);
	push_sample(L, c);
	lua_call(L, 2, 2);
	const bool told = !lua_isnil(L, 2) && add_places(L, 2, c);
	if (!told && lua_toboolean(L, 3))
		xc_sample_stack_add(c->stack, XC_GUEST_TORN);
	c->stack->torn |= told || lua_toboolean(L, 3);
	return 0;
}

static void fail(struct asked *a, struct xc_error *err)
{
	if (a->host->limit.tripped || ++a->failures == PATIENCE)
		leave_out(a, err);
	else if (a->failed)
		xc_error_free(err);
	else
		a->failed = xc_error_wrap(err, "plugin %s: samples: a stack was not read", a->name);
}

/* False: it failed. */
static bool run(const struct call *c, lua_CFunction function)
{
	lua_State *L = c->asked->host->L;
	lua_settop(L, 0);
	lua_pushcfunction(L, function);
	lua_pushlightuserdata(L, (void *)c);
	xc_limit_renew(&c->asked->host->limit);
	struct xc_error *err = xc_host_call(c->asked->host, 1);
	if (err)
		fail(c->asked, err);
	else
		c->asked->failures = 0;
	return !err;
}

/* What is left out of a stack is told as torn. */
static bool ask(const struct call *c)
{
	const size_t before = c->stack->count;
	if (!run(c, call_step)) {
		xc_sample_stack_add(c->stack, XC_GUEST_TORN);
		c->stack->torn = true;
	}
	return c->stack->count > before;
}

/* When the sample was taken, in seconds since 1970. */
static double date_of(const struct xc_plugin_guest *g)
{
	struct timespec date;
	const uint64_t now = xc_now_ns(), age = now > g->time_ns ? now - g->time_ns : 0;
	clock_gettime(CLOCK_REALTIME, &date);
	return (double)date.tv_sec + (double)date.tv_nsec / 1e9 - (double)age / 1e9;
}

/* Argument: the call. */
static int call_value(lua_State *L)
{
	const struct call *c = lua_touserdata(L, 1);
	struct xc_plugin_guest *g = c->guest;
	size_t len;
	lua_rawgeti(L, LUA_REGISTRYINDEX, c->asked->value_of);
	lua_rawgeti(L, LUA_REGISTRYINDEX, c->asked->frame_ref);
	push_sample(L, c);
	lua_call(L, 2, 2);
	if (lua_isnil(L, 2))
		return 0;
	const char *text = lua_toboolean(L, 2) ? luaL_checklstring(L, 2, &len) : NULL;
	const char *word = lua_type(L, 3) == LUA_TSTRING ? lua_tostring(L, 3) : NULL;
	if (word && strcmp(word, "sample") != 0)
		return xc_bind_fail(L, XC_ERR_USAGE, "the second result is a start time in seconds, or 'sample'");
	const double began = word ? 0 : luaL_optnumber(L, 3, 0), then = date_of(g);
	c->stack->proof = word ? XC_PROOF_SAMPLE : began > 0 && began + MS <= then ? XC_PROOF_BEGAN : XC_PROOF_NONE;
	c->stack->value = text && began <= then ? xc_sample_values_add(&g->values, text, len) : XC_SAMPLED_NOT_READ;
	g->is_valued = true;
	return 0;
}

static void ask_value(const struct call *c)
{
	if (run(c, call_value))
		return;
	c->stack->value = XC_SAMPLED_NOT_READ;
	c->guest->is_valued = true;
}

static size_t code_count(const struct xc_process *process)
{
	const struct xc_foreign *foreign = xc_foreign_of(process);
	return foreign ? foreign->code_count : 0;
}

/* Memory is that of now, not of the last sample. */
static void begin_reading(struct xc_plugin_guest *g)
{
	xc_live_renew(g->process, (uint64_t)g->thread.tid);
	g->is_read = true;
}

/* Plugins are asked until one knows the frame. */
static bool take(void *ctx, const struct xc_frame *frame, xc_addr callee, struct xc_sample_stack *stack)
{
	struct xc_plugin_guest *g = ctx;
	const size_t before = code_count(g->process);
	if (!g->is_read)
		begin_reading(g);
	for (size_t i = 0; i < g->count; i++) {
		struct asked *a = &g->items[i];
		const struct call call = {g, a, stack};
		if (!is_wanted(g, a, frame))
			continue;
		xc_bind_set_frame(a->frame, &g->thread, frame, callee);
		if (tells_value(g, a) && watches(a, xc_frame_lookup(frame)))
			ask_value(&call);
		if (a->step != LUA_REFNIL && ask(&call))
			break;
	}
	return code_count(g->process) != before;
}

/* ---- all ---- */

struct xc_plugin_guest *xc_plugin_guest_new(struct xc_process *process, const char *by)
{
	struct xc_plugin_guest *g = xc_alloc(sizeof *g);
	g->process = process;
	g->by = by;
	g->reader = (struct xc_sample_guest){.ctx = g, .begin = begin_sample, .wants = wants, .take = take};
	xc_guest_places_init(&g->reader.places);
	return g;
}

void xc_plugin_guest_free(struct xc_plugin_guest *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->count; i++) {
		xc_host_free(g->items[i].host);
		xc_error_free(g->items[i].failed);
	}
	xc_guest_places_fini(&g->reader.places);
	xc_sample_values_fini(&g->values);
	free(g);
}

bool xc_plugin_guest_provides(const struct xc_plugin_guest *g, struct xc_text *others)
{
	bool tells = false;
	for (size_t i = 0; i < g->count; i++) {
		const struct xc_samples *samples = g->items[i].samples;
		tells |= samples && samples->value_of != LUA_NOREF;
		for (size_t k = 0; samples && k < samples->dimension_count; k++)
			xc_text_printf(others, "%s, ", samples->dimensions[k]);
	}
	return tells;
}

struct xc_sample_guest *xc_plugin_guest_reader(struct xc_plugin_guest *g)
{
	g->reader.values = g->by ? &g->values : NULL;
	for (size_t i = 0; i < g->count; i++)
		if (!g->items[i].is_out)
			return &g->reader;
	return NULL;
}

struct xc_error *xc_plugin_guest_failure(struct xc_plugin_guest *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->items[i].failed)
			return xc_take(g->items[i].failed);
	return NULL;
}

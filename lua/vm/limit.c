/* limit: instructions, memory and time of a run.
 *
 * Lua calls the count hook every XC_LIMIT_PERIOD instructions; C functions with loops charge their steps. Both check
 * the clock. After a limit is reached, the hook fires at every call and every instruction of the running coroutine.
 *
 * The allocator counts memory. After a refusal Lua asks again when it has collected all garbage; at the second
 * refusal the limit is reached. The error would then have no traceback (Lua unwinds the stack without calling
 * message handlers), so a block that may be a Lua stack is granted once, and the hook ends the run at the next
 * instruction; for a larger one the places are noted before. */
#include "lua/vm/limit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

/* After the limit: for the traceback and the error. */
static const uint64_t RESERVE = 1 << 20;

/* Allocating blocks of this size takes time, so the clock is checked. */
static const size_t LARGE = 1 << 20;

/* Printed bytes of a line beside its own, as JSON has quotes and a comma; and of a byte that is escaped. */
enum { LINE = 8, ESCAPE = 6 };

static const size_t HUGE_BLOCK = 4 << 20;

/* The limit of a state is the argument of its allocator. */
static struct xc_limit *limit_of(lua_State *L)
{
	void *limit;
	lua_getallocf(L, &limit);
	return limit;
}

struct xc_limits xc_limits_defaults(void)
{
	return (struct xc_limits){.instructions = UINT64_C(20000000000),
				  .memory = UINT64_C(512) << 20,
				  .seconds = 60,
				  .printed = UINT64_C(64) << 20};
}

static void begin_trip(struct xc_limit *limit, struct xc_text *text)
{
	if (limit->name)
		xc_text_printf(text, "%s: ", limit->name);
}

static void add_grouped(struct xc_text *text, uint64_t number)
{
	char digits[24];
	int count = snprintf(digits, sizeof digits, "%" PRIu64, number);
	for (int i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			xc_text_char(text, ',');
		xc_text_char(text, digits[i]);
	}
}

static void hook(lua_State *L, lua_Debug *at);

/* Ends the run with a message, and takes the text. Does not allocate from Lua: the allocator calls this too. */
static void trip(struct xc_limit *limit, struct xc_text *text)
{
	snprintf(limit->trip, sizeof limit->trip, "%s", xc_text_string(text));
	xc_text_fini(text);
	limit->tripped = true;
	if (limit->ceiling)
		limit->ceiling = limit->memory + RESERVE;
	lua_sethook(limit->running, hook, LUA_MASKCALL | LUA_MASKCOUNT, 1);
}

static void trip_instructions(struct xc_limit *limit)
{
	struct xc_text text = {0};
	begin_trip(limit, &text);
	xc_text_add(&text, "more than ");
	add_grouped(&text, limit->limits.instructions);
	xc_text_add(&text, " instructions (raise it with --max-instructions)");
	trip(limit, &text);
}

static void trip_memory(struct xc_limit *limit)
{
	struct xc_text text = {0};
	begin_trip(limit, &text);
	if (limit->limits.memory) {
		xc_text_add(&text, "more than ");
		xc_text_size(&text, limit->limits.memory);
		xc_text_add(&text, " of memory (raise it with --max-memory)");
	} else {
		xc_text_add(&text, "the system has no more memory");
	}
	trip(limit, &text);
}

static void trip_time(struct xc_limit *limit)
{
	struct xc_text text = {0};
	begin_trip(limit, &text);
	xc_text_printf(&text, "more than %g s (raise it with --max-time)", limit->limits.seconds);
	trip(limit, &text);
}

static void trip_printed(struct xc_limit *limit)
{
	struct xc_text text = {0};
	begin_trip(limit, &text);
	xc_text_add(&text, "more than ");
	xc_text_size(&text, limit->limits.printed);
	xc_text_add(&text, " of printed lines: the rest is left out (raise it with --max-output)");
	trip(limit, &text);
}

static void trip_interrupt(struct xc_limit *limit)
{
	struct xc_text text = {0};
	xc_text_add(&text, "interrupted");
	trip(limit, &text);
}

static bool is_late(struct xc_limit *limit)
{
	const double most = limit->limits.seconds * 1e9;
	if (most <= 0 || (double)(xc_now_ns() - limit->started_ns) <= most)
		return false;
	if (!limit->limits.may_starve)
		return true;
	const uint64_t cpu = xc_thread_cpu_ns();
	if (!limit->late_cpu_ns)
		limit->late_cpu_ns = cpu;
	return (double)(cpu - limit->late_cpu_ns) > most;
}

static void look(struct xc_limit *limit)
{
	if (limit->tripped)
		return;
	if (limit->interrupted)
		trip_interrupt(limit);
	else if (limit->limits.instructions && limit->steps > limit->limits.instructions)
		trip_instructions(limit);
	else if (is_late(limit))
		trip_time(limit);
}

/* ---- memory ---- */

static bool has_room(const struct xc_limit *limit, uint64_t more)
{
	return limit->ceiling == 0 || (limit->memory <= limit->ceiling && more <= limit->ceiling - limit->memory);
}

/* A larger block is not a Lua stack, so the stack may be inspected while it is allocated. */
static const size_t NO_STACK = 32 << 20;

/* Record a traceback without Lua memory, for errors that reach no message handler. */
static void note_places(struct xc_limit *limit)
{
	lua_Debug at;
	limit->trace.len = 0;
	xc_text_add(&limit->trace, "stack traceback:");
	for (int level = 0; level < 20 && lua_getstack(limit->running, level, &at); level++) {
		lua_getinfo(limit->running, "Sl", &at);
		if (at.currentline > 0)
			xc_text_printf(&limit->trace, "\n\t%s:%d: in %s", at.short_src, at.currentline,
				       strcmp(at.what, "main") == 0 ? "main chunk" : "a function");
	}
}

/* Is there no room for the block, also after the collection that follows the first refusal? */
static bool is_refused(struct xc_limit *limit, void *block, size_t old, size_t size)
{
	bool again = limit->refused_size == size && limit->refused == block;
	limit->short_of_memory = true;
	limit->refused = block;
	limit->refused_size = size;
	if (limit->tripped || !limit->running)
		return true;
	if (size > NO_STACK)
		note_places(limit);
	if (!again)
		return true;
	trip_memory(limit);
	if (size > NO_STACK) /* its traceback is noted */
		return true;
	limit->ceiling += size - old;
	limit->trace.len = 0; /* the hook makes a better one */
	return false;
}

/* For tables of millions of items: clearing small pages one by one takes longer than filling them. */
static void use_huge_pages(void *block, size_t size)
{
	uintptr_t page = 2 << 20, lo = (uintptr_t)block & -page, end = ((uintptr_t)block + size + page - 1) & -page;
	madvise((void *)lo, end - lo, MADV_HUGEPAGE);
}

static void *resize(struct xc_limit *limit, void *block, size_t old, size_t size)
{
	void *moved = realloc(block, size);
	if (moved && size >= HUGE_BLOCK)
		use_huge_pages(moved, size);
	if (!moved)
		return size <= old ? block : NULL;
	limit->memory += size - old;
	if (limit->memory > limit->peak)
		limit->peak = limit->memory;
	if (size > old) {
		if (size == limit->refused_size && !limit->tripped)
			limit->trace.len = 0; /* the collection has helped */
		limit->refused_size = 0;
		limit->steps += (size - old) / 64;
	}
	if (size > old && size >= LARGE && limit->running)
		look(limit);
	return moved;
}

void *xc_limit_allocate(void *user, void *block, size_t old, size_t size)
{
	struct xc_limit *limit = user;
	if (!block)
		old = 0; /* `old` is then the type of the object */
	if (size == 0) {
		free(block);
		limit->memory -= old;
		return NULL;
	}
	if (size > old && !has_room(limit, size - old) && is_refused(limit, block, old, size))
		return NULL;
	return resize(limit, block, old, size);
}

/* ---- steps ---- */

void xc_limit_trace(lua_State *L)
{
	struct xc_limit *limit = limit_of(L);
	if (limit->trace.len > 0 || !lua_checkstack(L, LUA_MINSTACK))
		return;
	luaL_traceback(L, L, NULL, 0);
	xc_text_add(&limit->trace, lua_tostring(L, -1));
	lua_pop(L, 1);
}

/* Nobody sees the value of this error: the host reports limit->trip. */
static void stop(struct xc_limit *limit, lua_State *L)
{
	lua_sethook(L, hook, LUA_MASKCALL | LUA_MASKCOUNT, 1);
	xc_limit_trace(L);
	lua_pushlightuserdata(L, limit);
	lua_error(L);
}

/* A script can cause this status by error("not enough memory"). */
bool xc_limit_is_over(lua_State *L, int status)
{
	struct xc_limit *limit = limit_of(L);
	if (!limit->tripped && status == LUA_ERRMEM && limit->short_of_memory)
		trip_memory(limit);
	return limit->tripped;
}

void xc_limit_check(lua_State *L, int status)
{
	if (xc_limit_is_over(L, status))
		stop(limit_of(L), L);
}

void xc_limit_make_room(lua_State *L, uint64_t bytes)
{
	struct xc_limit *limit = limit_of(L);
	if (has_room(limit, bytes))
		return;
	lua_gc(L, LUA_GCCOLLECT);
	if (!has_room(limit, bytes) && !limit->tripped)
		trip_memory(limit);
	if (limit->tripped)
		stop(limit, L);
}

void xc_limit_make_room_in(lua_State *L, const luaL_Buffer *buffer, size_t more)
{
	if (buffer->size - buffer->n < more)
		xc_limit_make_room(L, 2 * ((uint64_t)buffer->n + more)); /* the buffer, then the string */
}

void xc_limit_hold(lua_State *L, uint64_t *counted, uint64_t now)
{
	struct xc_limit *limit = limit_of(L);
	limit->memory += now - *counted;
	if (limit->memory > limit->peak)
		limit->peak = limit->memory;
	*counted = now;
}

void xc_limit_spend(lua_State *L, uint64_t steps)
{
	struct xc_limit *limit = limit_of(L);
	limit->steps += steps;
	look(limit);
	if (limit->tripped)
		stop(limit, L);
}

/* The bytes that a line has once it is printed: what is no text is escaped, and what is of the format's own syntax. */
static uint64_t printed_length(const char *line, size_t len)
{
	uint64_t escaped = 0;
	for (size_t at = 0; at < len; at++) {
		const size_t text = xc_text_readable_length(line + at, len - at);
		for (const size_t end = at + text; at < end; at++)
			escaped += line[at] && strchr("<>&\"\\#\t", line[at]);
		escaped += at < len;
	}
	return LINE + len + escaped * (ESCAPE - 1);
}

void xc_limit_print(lua_State *L, const char *line, size_t len)
{
	struct xc_limit *limit = limit_of(L);
	limit->printed += printed_length(line, len);
	if (!limit->tripped && limit->limits.printed && limit->printed > limit->limits.printed)
		trip_printed(limit);
	xc_limit_spend(L, 10 + len);
}

static void hook(lua_State *L, lua_Debug *at)
{
	(void)at;
	xc_limit_spend(L, XC_LIMIT_PERIOD);
}

void xc_limit_start(struct xc_limit *limit, lua_State *L)
{
	limit->steps = limit->printed = 0;
	limit->started_ns = xc_now_ns();
	limit->rested_ns = limit->late_cpu_ns = 0;
	limit->running = L;
	limit->ceiling = limit->limits.memory;
	limit->refused_size = 0;
	limit->short_of_memory = false;
	limit->tripped = false;
	limit->closing = 0;
	limit->trace.len = 0;
	lua_gc(L, LUA_GCRESTART); /* in case an error occurred between stop and restart (rows.c) */
	lua_sethook(L, hook, LUA_MASKCOUNT, XC_LIMIT_PERIOD);
}

void xc_limit_renew(struct xc_limit *limit)
{
	limit->steps = limit->printed = 0;
	limit->started_ns = limit->rested_ns = xc_now_ns();
	limit->late_cpu_ns = 0;
}

void xc_limit_rest(struct xc_limit *limit)
{
	limit->rested_ns = xc_now_ns();
}

void xc_limit_wake(struct xc_limit *limit)
{
	if (limit->rested_ns)
		limit->started_ns += xc_now_ns() - limit->rested_ns;
	limit->rested_ns = 0;
}

void xc_limit_fini(struct xc_limit *limit)
{
	xc_text_fini(&limit->trace);
}

void xc_limit_arm(const struct xc_limits *limits, double grace)
{
	if (limits->seconds <= 0)
		return;
	double seconds = limits->seconds + grace;
	struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds,
					       .tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
	setitimer(ITIMER_REAL, &timer, NULL);
}

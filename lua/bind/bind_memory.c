/* bind_memory: bytes, numbers and strings at addresses. */
#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"
#include "core/live/live.h"
#include "lua/bind/bind_class.h"

enum { READ_MAX = 64 << 20, STRING_MAX = 65536, FIRST_PIECE = 64, PIECE = 4096 };

struct xc_error *xc_bind_fault(struct xc_host *host, xc_addr addr, uint64_t size)
{
	struct xc_text text = {0};
	if (!xc_value_fault(host->process, addr, size, &text)) /* a live process has mapped it since */
		xc_text_printf(&text, "0x%llx: could only be read at the second attempt", (unsigned long long)addr);
	struct xc_error *err = xc_error_new(XC_ERR_FAULT, "%s", xc_text_string(&text));
	err->addr = strtoull(xc_text_string(&text), NULL, 16);
	xc_text_fini(&text);
	return err;
}

/* ---- numbers ---- */

/* `order` is argument 3. */
static bool is_big(lua_State *L, const struct xc_host *host)
{
	static const char *const orders[] = {"little", "big", NULL};
	return lua_isnoneornil(L, 3) ? host->process->arch->big_endian : luaL_checkoption(L, 3, NULL, orders) == 1;
}

static uint64_t load(lua_State *L, unsigned size)
{
	uint64_t bits;
	struct xc_host *host = xc_bind_check_target(L);
	xc_addr addr = xc_bind_check_address(L, 2);
	bool big = is_big(L, host);
	if (!xc_bind_load(host, addr, size, &bits))
		xc_bind_raise(L, xc_bind_fault(host, addr, size));
	return big ? __builtin_bswap64(bits) >> (64 - size * 8) : bits;
}

static int memory_u8(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)load(L, 1));
	return 1;
}

static int memory_u16(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)load(L, 2));
	return 1;
}

static int memory_u32(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)load(L, 4));
	return 1;
}

/* Also for i64: a Lua integer has the same bits. */
static int memory_u64(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)load(L, 8));
	return 1;
}

static int memory_i8(lua_State *L)
{
	lua_pushinteger(L, (int8_t)load(L, 1));
	return 1;
}

static int memory_i16(lua_State *L)
{
	lua_pushinteger(L, (int16_t)load(L, 2));
	return 1;
}

static int memory_i32(lua_State *L)
{
	lua_pushinteger(L, (int32_t)load(L, 4));
	return 1;
}

static int memory_f32(lua_State *L)
{
	uint32_t bits = (uint32_t)load(L, 4);
	float number;
	memcpy(&number, &bits, sizeof number);
	lua_pushnumber(L, (lua_Number)number);
	return 1;
}

static int memory_f64(lua_State *L)
{
	uint64_t bits = load(L, 8);
	double number;
	memcpy(&number, &bits, sizeof number);
	lua_pushnumber(L, number);
	return 1;
}

static int memory_ptr(lua_State *L)
{
	lua_settop(L, 2);
	lua_pushinteger(L, (lua_Integer)load(L, xc_bind_check_target(L)->process->arch->word));
	return 1;
}

/* ---- bytes ---- */

static int memory_read(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	xc_addr addr = xc_bind_check_address(L, 2);
	lua_Integer len = luaL_checkinteger(L, 3);
	if (len < 0 || len > READ_MAX)
		return xc_bind_fail(L, XC_ERR_LIMIT, "t:read of %lld bytes: at most %d at once", (long long)len,
				    READ_MAX);
	const void *mapped = xc_space_view(host->process->space, addr, (size_t)len);
	if (mapped || len == 0) {
		lua_pushlstring(L, mapped ? mapped : "", (size_t)len);
		return 1;
	}
	/* Do not allocate a large string for unreadable memory. */
	if (xc_space_peek(host->process->space, addr, &(char){0}, 1) != 1)
		return xc_bind_raise(L, xc_bind_fault(host, addr, 1));
	luaL_Buffer buffer;
	xc_limit_make_room(L, 2 * (uint64_t)len);
	char *room = luaL_buffinitsize(L, &buffer, (size_t)len);
	if (xc_space_peek(host->process->space, addr, room, (size_t)len) != (size_t)len)
		return xc_bind_raise(L, xc_bind_fault(host, addr, (uint64_t)len));
	luaL_pushresultsize(&buffer, (size_t)len);
	return 1;
}

/* The number of readable bytes, up to `max`, of a segment that is not mapped in this process. */
static uint64_t readable_in(lua_State *L, xc_addr addr, uint64_t max)
{
	const struct xc_space *space = xc_bind_host(L)->process->space;
	char piece[PIECE];
	uint64_t done = 0;
	while (done < max) {
		size_t want = max - done < sizeof piece ? (size_t)(max - done) : sizeof piece;
		size_t got = xc_space_peek(space, addr + done, piece, want);
		done += got;
		if (got < want)
			break;
		xc_limit_spend(L, PIECE / 8);
	}
	return done;
}

static uint64_t readable(lua_State *L, xc_addr addr, uint64_t max)
{
	const struct xc_space *space = xc_bind_host(L)->process->space;
	uint64_t done = 0;
	while (done < max) {
		const struct xc_segment *segment = xc_space_find(space, addr + done);
		if (!segment)
			break;
		uint64_t left = segment->hi - (addr + done);
		uint64_t part = left < max - done ? left + 1 : max - done;
		uint64_t got = segment->bytes ? part : readable_in(L, addr + done, part);
		done += got;
		if (got < part || segment->hi == UINT64_MAX)
			break;
	}
	return done;
}

static int memory_readable(lua_State *L)
{
	xc_bind_check_target(L);
	xc_addr addr = xc_bind_check_address(L, 2);
	lua_Integer len = luaL_optinteger(L, 3, 1);
	lua_pushinteger(L, len > 0 ? (lua_Integer)readable(L, addr, (uint64_t)len) : 0);
	return 1;
}

enum { RESIDENT_SHIFT = 40 }; /* a TiB needs 2 GiB of pagemap */

/* t:resident(addr, len) → bytes; nil for cores */
static int memory_resident(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	xc_addr addr = xc_bind_check_address(L, 2);
	lua_Integer len = luaL_checkinteger(L, 3);
	uint64_t bytes = 0;
	if (len < 0 || (uint64_t)len >> RESIDENT_SHIFT)
		return xc_bind_fail(L, XC_ERR_LIMIT, "resident: at most 1 TiB at once");
	if (len && (uint64_t)len - 1 > UINT64_MAX - addr)
		return xc_bind_fail(L, XC_ERR_USAGE, "resident: past the end of the address space");
	xc_limit_spend(L, (uint64_t)len >> 16); /* 8 bytes are read for each page */
	if (len && !xc_live_resident(host->process, addr, addr + (uint64_t)len - 1, &bytes))
		lua_pushnil(L);
	else
		lua_pushinteger(L, (lua_Integer)bytes);
	return 1;
}

/* ---- strings ---- */

/* Bytes that are mapped in this process need no copy. */
static bool push_mapped(lua_State *L, xc_addr addr, uint64_t max, bool *cut_out)
{
	struct xc_host *host = xc_bind_host(L);
	const struct xc_memory_view *window = &host->window;
	uint64_t first;
	if ((addr < window->lo || addr > window->hi) && !xc_bind_load(host, addr, 1, &first))
		return false;
	if (addr < window->lo || addr > window->hi)
		return false;
	uint64_t left = window->hi - addr;
	size_t room = (size_t)(left < max ? left + 1 : max);
	const char *text = (const char *)window->bytes + (addr - window->lo), *end = memchr(text, '\0', room);
	if (!end && room < max)
		return false; /* it may continue in another segment */
	*cut_out = !end;
	lua_pushlstring(L, text, end ? (size_t)(end - text) : room);
	return true;
}

bool xc_bind_push_string(lua_State *L, xc_addr addr, uint64_t max, bool *cut_out)
{
	const struct xc_space *space = xc_bind_host(L)->process->space;
	luaL_Buffer buffer;
	uint64_t done = 0;
	size_t piece = FIRST_PIECE;
	int top = lua_gettop(L);
	if (push_mapped(L, addr, max, cut_out))
		return true;
	*cut_out = true;
	luaL_buffinit(L, &buffer);
	for (; done < max; piece = PIECE) {
		size_t want = max - done < piece ? (size_t)(max - done) : piece;
		char *room = luaL_prepbuffsize(&buffer, want);
		size_t got = xc_space_peek(space, addr + done, room, want);
		const char *end = memchr(room, '\0', got);
		luaL_addsize(&buffer, end ? (size_t)(end - room) : got);
		done += got;
		*cut_out = !end;
		if (end || got < want)
			break;
	}
	if (done == 0 && max > 0) {
		lua_settop(L, top); /* the buffer's placeholder */
		return false;
	}
	luaL_pushresult(&buffer);
	return true;
}

static int memory_cstring(lua_State *L)
{
	bool cut;
	struct xc_host *host = xc_bind_check_target(L);
	xc_addr addr = xc_bind_check_address(L, 2);
	lua_Integer max = luaL_optinteger(L, 3, STRING_MAX);
	if (max < 0 || max > READ_MAX)
		return xc_bind_fail(L, XC_ERR_LIMIT, "a string of up to %lld bytes: at most %d", (long long)max,
				    READ_MAX);
	if (!xc_bind_push_string(L, addr, (uint64_t)max, &cut))
		return xc_bind_raise(L, xc_bind_fault(host, addr, 1));
	lua_pushboolean(L, cut);
	return 2;
}

void xc_bind_memory_open(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"u8", memory_u8},
		{"u16", memory_u16},
		{"u32", memory_u32},
		{"u64", memory_u64},
		{"i8", memory_i8},
		{"i16", memory_i16},
		{"i32", memory_i32},
		{"i64", memory_u64},
		{"f32", memory_f32},
		{"f64", memory_f64},
		{"ptr", memory_ptr},
		{"read", memory_read},
		{"readable", memory_readable},
		{"resident", memory_resident},
		{"cstring", memory_cstring},
		{NULL, NULL},
	};
	xc_bind_class_add(L, &xc_bind_target_class, methods);
}

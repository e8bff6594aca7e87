#include "lua/target/bind_samples.h"

#include <string.h>

#include "lua/bind/bind_class.h"
#include "lua/report/bind_report.h"
#include "lua/target/bind_stacks.h"

static const struct xc_bind_class samples_class;

static struct xc_samples *self_of(lua_State *L)
{
	return xc_bind_class_check(L, 1, &samples_class);
}

/* samples:watch(lo, hi) */
static int samples_watch(lua_State *L)
{
	struct xc_samples *self = self_of(L);
	const xc_addr lo = xc_bind_check_address(L, 2), hi = xc_bind_check_address(L, 3);
	if (lo > hi)
		return xc_bind_fail(L, XC_ERR_USAGE, "code that ends before it begins");
	if (self->watched_count == XC_WATCHED)
		return xc_bind_fail(L, XC_ERR_LIMIT, "more than %d ranges of code", XC_WATCHED);
	self->watched[self->watched_count].lo = lo;
	self->watched[self->watched_count++].hi = hi;
	return 0;
}

/* The field of table 2, which is on the stack from then on. NULL: it is nil. */
static const char *text_of(lua_State *L, const char *key)
{
	lua_pushstring(L, key);
	return lua_rawget(L, 2) == LUA_TNIL ? NULL : xc_report_check_text(L, lua_gettop(L), key);
}

static unsigned line_of(lua_State *L)
{
	lua_pushliteral(L, "line");
	const lua_Integer line = lua_rawget(L, 2) == LUA_TNIL ? 0 : luaL_checkinteger(L, -1);
	return line > 0 && line <= INT32_MAX ? (unsigned)line : 0;
}

/* samples:place { name =, file =, line =, kind =, language = } → its number */
static int samples_place(lua_State *L)
{
	struct xc_samples *self = self_of(L);
	luaL_checktype(L, 2, LUA_TTABLE);
	xc_report_check_names(L, 2, "name file line kind language");
	struct xc_guest_place place = {.function = text_of(L, "name"), .file = text_of(L, "file"), .line = line_of(L)};
	uint32_t number;
	place.kind = text_of(L, "kind");
	place.language = text_of(L, "language");
	if (!place.function)
		return xc_bind_fail(L, XC_ERR_USAGE, "'name' is missing");
	if (!place.language)
		place.language = self->language;
	xc_limit_spend(L, 20);
	if (!xc_guest_places_add(self->places, &place, &number))
		return xc_bind_fail(L, XC_ERR_LIMIT, "more than %d places, or more than %d MiB of names",
				    XC_GUEST_PLACES, XC_GUEST_BYTES >> 20);
	lua_pushinteger(L, number);
	return 1;
}

/* samples:rename(place, name) */
static int samples_rename(lua_State *L)
{
	struct xc_samples *self = self_of(L);
	const lua_Integer number = luaL_checkinteger(L, 2);
	const char *name = xc_report_check_text(L, 3, "name");
	if (number <= XC_GUEST_TORN || (uint64_t)number >= self->places->count)
		return xc_bind_fail(L, XC_ERR_USAGE, "no place has the number %lld", (long long)number);
	xc_limit_spend(L, 20);
	if (!xc_guest_places_rename(self->places, (uint32_t)number, name))
		return xc_bind_fail(L, XC_ERR_LIMIT, "more than %d MiB of names", XC_GUEST_BYTES >> 20);
	return 0;
}

/* samples:dimension(name, value_of) → is it asked for? */
static int samples_dimension(lua_State *L)
{
	struct xc_samples *self = self_of(L);
	const char *name = luaL_checkstring(L, 2);
	luaL_checktype(L, 3, LUA_TFUNCTION);
	if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return xc_bind_fail(L, XC_ERR_USAGE, "the name of a dimension has lower-case letters, digits and _");
	if (self->dimension_count == XC_DIMENSIONS)
		return xc_bind_fail(L, XC_ERR_LIMIT, "more than %d dimensions", XC_DIMENSIONS);
	const char *full = lua_pushfstring(L, "%s.%s", self->language, name);
	(void)luaL_ref(L, LUA_REGISTRYINDEX); /* the text lives as long as the state */
	self->dimensions[self->dimension_count++] = full;
	const bool asked = self->asked && strcmp(self->asked, full) == 0;
	if (asked) {
		luaL_unref(L, LUA_REGISTRYINDEX, self->value_of);
		lua_pushvalue(L, 3);
		self->value_of = luaL_ref(L, LUA_REGISTRYINDEX);
	}
	lua_pushboolean(L, asked);
	return 1;
}

static const luaL_Reg methods[] = {{"watch", samples_watch},         {"place", samples_place},
				   {"rename", samples_rename},       {"code", xc_bind_tell_code},
				   {"dimension", samples_dimension}, {NULL, NULL}};

static const struct xc_bind_class samples_class = {.name = "xcore.Samples", .noun = "the samples", .methods = methods};

struct xc_samples *xc_bind_push_samples(lua_State *L, struct xc_guest_places *places, const char *language,
					const char *asked)
{
	struct xc_samples *self = xc_bind_class_new(L, &samples_class, sizeof *self);
	self->places = places;
	self->language = language;
	self->asked = asked;
	self->value_of = LUA_NOREF;
	return self;
}

void xc_bind_samples_open(lua_State *L)
{
	xc_bind_class_open(L, &samples_class);
}

/* bind_index: `obj.field` and `obj[i]` in Lua: reads a member or an element of a value.
 *
 * Plugins spend most of their time here. An index costs one look-up by type and name (accessor.h), one compare with
 * the window of memory that was read last, and a number or a small userdata for Lua. Only unusual values take the
 * slow path through dwarf/value/value.h. Only the virtual machine calls metamethods (the metatable is locked), so
 * the first operand is always one of our values. */
#include "lua/bind/bind_index.h"

#include <string.h>

#include "dwarf/view/view.h"
#include "lua/bind/accessor.h"

/* ---- reading ---- */

static bool load_elsewhere(struct xc_host *host, xc_addr addr, unsigned size, uint64_t *bits_out)
{
	const struct xc_memory_view *view = xc_memory_view_at(&host->views, addr, 1);
	uint8_t bytes[8] = {0};
	if (view && view->hi - view->lo >= sizeof bytes) {
		host->window = *view;
		if (view->hi - addr >= sizeof bytes - 1)
			return xc_bind_load(host, addr, size, bits_out);
	}
	if (xc_space_peek(host->process->space, addr, bytes, size) != size)
		return false;
	memcpy(bits_out, bytes, sizeof bytes);
	return true;
}

void xc_bind_forget_bytes(struct xc_host *host)
{
	host->window = (struct xc_memory_view){.lo = 1};
	xc_memory_views_clear(&host->views);
}

bool xc_bind_load(struct xc_host *host, xc_addr addr, unsigned size, uint64_t *bits_out)
{
	const struct xc_memory_view *window = &host->window;
	uint64_t raw;
	if (addr < window->lo || addr > window->hi || window->hi - addr < sizeof raw - 1)
		return load_elsewhere(host, addr, size, bits_out);
	memcpy(&raw, window->bytes + (addr - window->lo), sizeof raw);
	*bits_out = size >= 8 ? raw : raw & ((UINT64_C(1) << size * 8) - 1);
	return true;
}

static void push_float(lua_State *L, uint64_t bits, enum xc_reading_kind kind)
{
	float f;
	double d;
	memcpy(&f, &bits, sizeof f);
	memcpy(&d, &bits, sizeof d);
	lua_pushnumber(L, kind == XC_READ_FLOAT ? (lua_Number)f : d);
}

/* Push the scalar or pointer at an address. reading->kind is not XC_READ_SLOWLY. False: it cannot be read. */
static inline bool push_reading(lua_State *L, const struct xc_reading *reading, xc_addr addr, int metatable)
{
	uint64_t bits;
	if (!xc_bind_load(xc_bind_host(L), addr, reading->size, &bits))
		return false;
	switch (reading->kind) {
	case XC_READ_INTEGER:
		lua_pushinteger(L, (lua_Integer)xc_extend(bits, reading->size * 8u, reading->is_signed));
		return true;
	case XC_READ_BITS:
		lua_pushinteger(
			L, (lua_Integer)xc_extend(bits >> reading->bit_offset, reading->bit_size, reading->is_signed));
		return true;
	case XC_READ_BOOL:
		lua_pushboolean(L, bits != 0);
		return true;
	case XC_READ_FLOAT:
	case XC_READ_DOUBLE:
		push_float(L, bits, reading->kind);
		return true;
	default:
		break;
	}
	if (bits == 0) {
		lua_pushnil(L);
		return true;
	}
	struct xc_lua_value *value = lua_newuserdatauv(L, sizeof *value, 0);
	*value = (struct xc_lua_value){reading->type, reading->shape, bits, NULL, XC_FORM_POINTER};
	lua_pushvalue(L, metatable);
	lua_setmetatable(L, -2);
	return true;
}

/* ---- __index ---- */

/* "server.clients.head.fd: 0x10 is not mapped", for the object at `addr`. */
static int raise_fault(lua_State *L, const struct xc_lua_value *self, const char *member, xc_addr addr, unsigned size)
{
	return xc_bind_raise_at(L, xc_bind_fault(xc_bind_host(L), addr, size), self, member);
}

struct xc_error *xc_bind_find_member(const struct xc_value *value, const char *name, struct xc_value *out)
{
	struct xc_error *err = xc_value_member(value, name, out);
	if (!err || err->code != XC_ERR_NOT_FOUND)
		return err;
	const struct xc_type *bare = xc_type_strip(value->type);
	const char *near = xc_value_near_member(bare->target ? bare->target : bare, name);
	return near ? xc_error_hint(err, "did you mean %s?", near) : err;
}

static int index_slowly(lua_State *L, const struct xc_lua_value *self, const char *name)
{
	struct xc_value value = xc_bind_value(L, self), member;
	const struct xc_type *bare = xc_type_strip(value.type);
	struct xc_error *err = NULL;
	/* A reference to a pointer is followed like the pointer. */
	if (self->form == XC_FORM_REFERENCE && bare->kind == XC_TYPE_POINTER && (err = xc_value_deref(&value, &value)))
		return xc_bind_raise_at(L, err, self, NULL);
	if ((err = xc_bind_find_member(&value, name, &member)))
		return xc_bind_raise_at(L, err, self, NULL);
	xc_bind_push(L, &member, xc_path_member(&xc_bind_host(L)->paths, self->path, name));
	return 1;
}

static const struct xc_path *path_through(struct xc_host *host, struct xc_accessor *field, const struct xc_path *from)
{
	if (!from)
		return NULL;
	if (field->from != from || !field->to) {
		field->to = field->name ? xc_path_member(&host->paths, from, field->name)
					: xc_path_element(&host->paths, from);
		field->from = from;
	}
	return field->to;
}

/* Set the path of the pointer at the top of the stack, unless it is NULL. */
static void set_path(lua_State *L, struct xc_host *host, struct xc_accessor *field, const struct xc_path *from)
{
	struct xc_lua_value *pointer = lua_touserdata(L, -1);
	if (pointer)
		pointer->path = path_through(host, field, from);
}

/* The successor of the node at `node`, if it can be read without waiting. The first access to a node has just loaded
 * its cache line; while the script works on it, the next one can be prefetched. */
static const void *next_on_trail(const struct xc_host *host, const struct xc_type *shape, xc_addr node)
{
	const struct xc_memory_view *window = &host->window;
	xc_addr at = node + host->trail.offset, next;
	if (host->trail.shape != shape || !xc_inside(at, sizeof next, window->lo, window->hi))
		return NULL;
	memcpy(&next, window->bytes + (at - window->lo), sizeof next);
	return next >= window->lo && next <= window->hi ? window->bytes + (next - window->lo) : NULL;
}

static void fetch_ahead(struct xc_host *host, const struct xc_lua_value *self, const struct xc_accessor *field)
{
	if (host->trail.node != self->addr) {
		host->trail.node = self->addr;
		const void *next = next_on_trail(host, self->shape, self->addr);
		if (next)
			__builtin_prefetch(next);
	}
	if (field->reading.kind == XC_READ_POINTER && field->reading.shape == self->shape) {
		host->trail.shape = self->shape;
		host->trail.offset = field->offset;
	}
}

static int index_member(lua_State *L, const struct xc_lua_value *self)
{
	struct xc_host *host = xc_bind_host(L);
	struct xc_accessor *field = xc_accessor_member(L, self->shape, 2);
	const int metatable = lua_upvalueindex(1);
	if (!field || field->reading.kind == XC_READ_SLOWLY || self->form == XC_FORM_HELD)
		return index_slowly(L, self, lua_tostring(L, 2));
	const struct xc_reading *reading = &field->reading;
	xc_addr addr = self->addr + field->offset;
	if (reading->kind == XC_READ_PLACE) {
		struct xc_lua_value *place = lua_newuserdatauv(L, sizeof *place, 0);
		*place = (struct xc_lua_value){reading->type, reading->shape, addr,
					       path_through(host, field, self->path), XC_FORM_PLACE};
		lua_pushvalue(L, metatable);
		lua_setmetatable(L, -2);
		return 1;
	}
	if (!push_reading(L, reading, addr, metatable)) {
		char member[XC_PATH_NAME];
		snprintf(member, sizeof member, ".%s", lua_tostring(L, 2));
		return raise_fault(L, self, member, addr, reading->size);
	}
	if (reading->kind == XC_READ_POINTER && self->path)
		set_path(L, host, field, self->path);
	fetch_ahead(host, self, field);
	return 1;
}

/* An element of a container with contiguous elements. */
static int index_view(lua_State *L, const struct xc_lua_value *self, lua_Integer index)
{
	struct xc_value value = xc_bind_value(L, self), element;
	struct xc_view view;
	enum xc_view_result result = xc_view_open(&value, &view);
	uint64_t size;
	struct xc_error *err = NULL;
	if (result == XC_VIEW_INVALID)
		err = xc_error_new(XC_ERR_FORMAT, "%s", view.why);
	else if (result != XC_VIEW_FOUND || !view.contiguous || !xc_type_size(view.elements.type, &size))
		err = xc_error_new(XC_ERR_USAGE, "%s has no elements to index: walk it with xcore.each",
				   xc_type_name(value.type));
	else if (index < 0 || (uint64_t)index >= view.count)
		err = xc_error_new(XC_ERR_LIMIT, "index %lld of %llu elements", (long long)index,
				   (unsigned long long)view.count);
	if (err)
		return xc_bind_raise_at(L, err, self, NULL);
	element = view.elements;
	element.addr += (uint64_t)index * size;
	xc_bind_push(L, &element, xc_path_element(&xc_bind_host(L)->paths, self->path));
	return 1;
}

static int element_slowly(lua_State *L, const struct xc_lua_value *self, lua_Integer index)
{
	struct xc_value value = xc_bind_value(L, self), element;
	struct xc_error *err = NULL;
	enum xc_type_kind kind = xc_type_strip(value.type)->kind;
	if (self->form == XC_FORM_REFERENCE && kind == XC_TYPE_POINTER && (err = xc_value_deref(&value, &value)))
		return xc_bind_raise_at(L, err, self, NULL);
	if (kind == XC_TYPE_STRUCT || kind == XC_TYPE_CLASS)
		return index_view(L, self, index);
	if ((err = xc_value_index(&value, index, &element)))
		return xc_bind_raise_at(L, err, self, NULL);
	xc_bind_push(L, &element, xc_path_element(&xc_bind_host(L)->paths, self->path));
	return 1;
}

/* The type of the elements, or NULL when it is not a plain array or pointer. */
static const struct xc_type *row_of(const struct xc_lua_value *self)
{
	if (self->form == XC_FORM_POINTER)
		return xc_type_strip(self->type)->target;
	if (self->form == XC_FORM_HELD || self->shape->kind != XC_TYPE_ARRAY)
		return NULL;
	return self->shape->unreadable || self->shape->is_dynamic || self->shape->is_vector ? NULL
											    : self->shape->target;
}

static int index_element(lua_State *L, const struct xc_lua_value *self, lua_Integer index)
{
	struct xc_host *host = xc_bind_host(L);
	const struct xc_type *row = row_of(self);
	struct xc_accessor *field = row ? xc_accessor_element(host->accessors, row) : NULL;
	if (!field)
		return element_slowly(L, self, index);
	bool bounded = self->form != XC_FORM_POINTER && self->shape->count_known;
	if (self->form != XC_FORM_POINTER && (index < 0 || (bounded && (uint64_t)index >= self->shape->count)))
		return element_slowly(L, self, index);
	xc_addr addr = self->addr + (uint64_t)index * field->offset;
	if (field->reading.kind == XC_READ_PLACE || field->reading.kind == XC_READ_SLOWLY) {
		struct xc_value element = xc_value_memory(host->process, field->reading.type, addr);
		xc_bind_push(L, &element, path_through(host, field, self->path));
		return 1;
	}
	if (!push_reading(L, &field->reading, addr, lua_upvalueindex(1))) {
		char member[32];
		snprintf(member, sizeof member, "[%lld]", (long long)index);
		return raise_fault(L, self, member, addr, field->reading.size);
	}
	if (field->reading.kind == XC_READ_POINTER && self->path)
		set_path(L, host, field, self->path);
	return 1;
}

int xc_bind_index(lua_State *L)
{
	const struct xc_lua_value *self = lua_touserdata(L, 1);
	if (lua_type(L, 2) == LUA_TSTRING)
		return index_member(L, self);
	int is_integer;
	lua_Integer index = lua_tointegerx(L, 2, &is_integer);
	if (is_integer)
		return index_element(L, self, index);
	return xc_bind_fail(L, XC_ERR_USAGE, "a %s does not name a member: give a string or an integer",
			    luaL_typename(L, 2));
}

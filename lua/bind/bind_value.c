/* bind_value: values of the target as Lua sees them, and the road by which each member is read.
 *
 * Indexing is the loop that every plugin spends its time in. It costs one look-up by type and name (accessor.h), one compare with the
 * window of memory that was read last, and a number or a small userdata for Lua; only what is unusual takes the road through
 * dwarf/value/value.h. Metamethods are reached by the machine alone (the metatable is locked), so the first operand of __index is
 * always one of our values. */
#include "lua/vm/bind.h"

#include <string.h>

#include "core/elf/arch.h"
#include "dwarf/view/view.h"
#include "lua/bind/accessor.h"

static const char value_key;

void *xc_bind_new(lua_State *L, size_t size)
{
	void *value = lua_newuserdatauv(L, size, 0);
	memset(value, 0, size);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &value_key);
	lua_setmetatable(L, -2);
	return value;
}

const struct xc_type *xc_bind_shape(const struct xc_type *type)
{
	const struct xc_type *bare = xc_type_strip(type);
	return bare->is_declaration ? xc_type_strip(xc_type_complete(bare)) : bare;
}

static const struct xc_type *shape_of_target(const struct xc_type *type)
{
	const struct xc_type *bare = xc_type_strip(type);
	return xc_bind_shape(bare->target ? bare->target : bare);
}

void xc_bind_push_place(lua_State *L, const struct xc_type *type, xc_addr addr, const struct xc_path *path)
{
	struct xc_lua_value *value = xc_bind_new(L, sizeof *value);
	*value = (struct xc_lua_value){type, xc_bind_shape(type), addr, path, XC_FORM_PLACE};
}

void xc_bind_push_pointer(lua_State *L, const struct xc_type *type, xc_addr addr, const struct xc_path *path)
{
	if (addr == 0) {
		lua_pushnil(L);
		return;
	}
	struct xc_lua_value *value = xc_bind_new(L, sizeof *value);
	*value = (struct xc_lua_value){type, shape_of_target(type), addr, path, XC_FORM_POINTER};
}

void xc_bind_push_reference(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	if (value->kind != XC_VALUE_MEMORY || value->bit_size > 0) {
		xc_bind_push_held(L, value, path);
		return;
	}
	struct xc_lua_value *reference = xc_bind_new(L, sizeof *reference);
	*reference =
		(struct xc_lua_value){value->type, xc_bind_shape(value->type), value->addr, path, XC_FORM_REFERENCE};
}

struct xc_lua_value *xc_bind_test(lua_State *L, int arg)
{
	struct xc_lua_value *value = lua_touserdata(L, arg);
	if (!value || !lua_getmetatable(L, arg))
		return NULL;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &value_key);
	bool is_value = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return is_value ? value : NULL;
}

struct xc_lua_value *xc_bind_check(lua_State *L, int arg)
{
	struct xc_lua_value *value = xc_bind_test(L, arg);
	if (!value)
		luaL_typeerror(L, arg, "value of the target");
	return value;
}

struct xc_value xc_bind_value(lua_State *L, const struct xc_lua_value *value)
{
	const struct xc_process *process = xc_bind_host(L)->process;
	if (value->form == XC_FORM_HELD)
		return ((const struct xc_lua_held *)value)->value;
	if (value->form == XC_FORM_POINTER)
		return xc_value_small(process, value->type, &value->addr, sizeof value->addr);
	return xc_value_memory(process, value->type, value->addr);
}

xc_addr xc_bind_address_of(lua_State *L, const struct xc_lua_value *value)
{
	if (value->form != XC_FORM_HELD)
		return value->addr;
	const struct xc_value *held = &((const struct xc_lua_held *)value)->value;
	uint64_t bits;
	if (xc_type_strip(held->type)->kind == XC_TYPE_POINTER) {
		xc_bind_raise_at(L, xc_value_number(held, &bits), value, NULL);
		return bits;
	}
	if (held->bit_size > 0)
		xc_bind_fail(L, XC_ERR_USAGE, "a bit-field has no address");
	if (held->kind != XC_VALUE_MEMORY)
		xc_bind_fail(L, XC_ERR_ABSENT, "%s is not in memory", xc_type_name(held->type));
	return held->addr;
}

xc_addr xc_bind_check_address(lua_State *L, int arg)
{
	const struct xc_lua_value *value = xc_bind_test(L, arg);
	return value ? xc_bind_address_of(L, value) : (xc_addr)luaL_checkinteger(L, arg);
}

/* ---- reading ---- */

static bool load_elsewhere(struct xc_host *host, xc_addr addr, unsigned size, uint64_t *bits_out)
{
	const struct xc_lens *lens = xc_lens_at(&host->lenses, addr, 1);
	uint8_t bytes[8] = {0};
	if (lens && lens->hi - lens->lo >= sizeof bytes) {
		host->window = *lens;
		if (lens->hi - addr >= sizeof bytes - 1)
			return xc_bind_load(host, addr, size, bits_out);
	}
	if (xc_space_peek(host->process->space, addr, bytes, size) != size)
		return false;
	memcpy(bits_out, bytes, sizeof bytes);
	return true;
}

void xc_bind_forget_bytes(struct xc_host *host)
{
	host->window = (struct xc_lens){.lo = 1};
	xc_lenses_clear(&host->lenses);
}

bool xc_bind_load(struct xc_host *host, xc_addr addr, unsigned size, uint64_t *bits_out)
{
	const struct xc_lens *window = &host->window;
	uint64_t raw;
	if (addr < window->lo || addr > window->hi || window->hi - addr < sizeof raw - 1)
		return load_elsewhere(host, addr, size, bits_out);
	memcpy(&raw, window->bytes + (addr - window->lo), sizeof raw);
	*bits_out = size >= 8 ? raw : raw & ((UINT64_C(1) << size * 8) - 1);
	return true;
}

static lua_Integer extend(uint64_t bits, unsigned width, bool is_signed)
{
	unsigned shift = 64 - width;
	return is_signed ? (lua_Integer)(bits << shift) >> shift : (lua_Integer)(bits << shift >> shift);
}

static void push_float(lua_State *L, uint64_t bits, enum xc_reading_kind kind)
{
	float f;
	double d;
	memcpy(&f, &bits, sizeof f);
	memcpy(&d, &bits, sizeof d);
	lua_pushnumber(L, kind == XC_READ_FLOAT ? (lua_Number)f : d);
}

/* What stands at an address, read in a known way. `kind` is not XC_READ_SLOWLY. False: it cannot be read. */
static inline bool push_reading(lua_State *L, const struct xc_reading *reading, xc_addr addr, int metatable)
{
	uint64_t bits;
	if (!xc_bind_load(xc_bind_host(L), addr, reading->size, &bits))
		return false;
	switch (reading->kind) {
	case XC_READ_INTEGER:
		lua_pushinteger(L, extend(bits, reading->size * 8u, reading->is_signed));
		return true;
	case XC_READ_BITS:
		lua_pushinteger(L, extend(bits >> reading->bit_offset, reading->bit_size, reading->is_signed));
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

/* A scalar that is no number for Lua: cannot be read, or of a format that we do not know. */
static void push_odd(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	xc_bind_raise_path(L, xc_value_check(value), path);
	xc_bind_push_held(L, value, path);
}

/* An integer of more than 8 bytes: a Lua integer when it is one of int64_t. */
static void push_wide(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	unsigned __int128 bits;
	bool is_signed = xc_type_strip(value->type)->is_signed;
	if (!xc_value_load_wide(value, &bits))
		push_odd(L, value, path);
	else if (bits >> 63 == 0 || (is_signed && (__int128)bits >> 63 == -1))
		lua_pushinteger(L, (lua_Integer)bits);
	else
		xc_bind_push_held(L, value, path);
}

static void push_number(lua_State *L, const struct xc_value *value, const struct xc_type *bare,
			const struct xc_path *path)
{
	uint64_t bits;
	long double number;
	if (bare->kind == XC_TYPE_FLOAT) {
		if (xc_value_load_float(value, 0, (unsigned)bare->size, &number))
			lua_pushnumber(L, (lua_Number)number);
		else
			push_odd(L, value, path);
	} else if (bare->size > 8) {
		push_wide(L, value, path);
	} else if (!xc_value_load(value, &bits)) {
		push_odd(L, value, path);
	} else if (bare->kind == XC_TYPE_BOOL) {
		lua_pushboolean(L, bits != 0);
	} else if (bare->kind == XC_TYPE_POINTER) {
		xc_bind_push_pointer(L, value->type, bits, path);
	} else {
		lua_pushinteger(L, (lua_Integer)bits);
	}
}

/* What a reference refers to; those of damaged debug information may refer to references. */
static struct xc_value referred(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	struct xc_value at = *value;
	for (unsigned depth = 0; depth < XC_TYPE_DEPTH; depth++) {
		enum xc_type_kind kind = xc_type_strip(at.type)->kind;
		if (kind != XC_TYPE_REFERENCE && kind != XC_TYPE_RVALUE_REFERENCE)
			break;
		xc_bind_raise_path(L, xc_value_deref(&at, &at), path);
	}
	return at;
}

void xc_bind_push(lua_State *L, const struct xc_value *given, const struct xc_path *path)
{
	luaL_checkstack(L, 8, NULL);
	if (given->kind == XC_VALUE_ABSENT)
		xc_bind_raise_path(L, xc_value_check(given), path);
	struct xc_value value = referred(L, given, path);
	const struct xc_type *bare = xc_bind_shape(value.type);
	switch (bare->kind) {
	case XC_TYPE_POINTER:
		if (value.kind == XC_VALUE_POINTEE) {
			xc_bind_push_held(L, &value, path);
			break;
		} /* fall through */
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
	case XC_TYPE_ENUM:
	case XC_TYPE_BOOL:
	case XC_TYPE_FLOAT:
		push_number(L, &value, bare, path);
		break;
	default:
		if (value.kind == XC_VALUE_MEMORY && value.bit_size == 0)
			xc_bind_push_place(L, value.type, value.addr, path);
		else
			xc_bind_push_held(L, &value, path);
	}
}

/* ---- __index ---- */

/* "server.clients.head.fd: 0x10 is not mapped", for what stands at `addr`. */
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
	/* A reference to a pointer is followed as the pointer would be. */
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

/* Of the pointer at the top of the stack, when it is not NULL. */
static void set_path(lua_State *L, struct xc_host *host, struct xc_accessor *field, const struct xc_path *from)
{
	struct xc_lua_value *pointer = lua_touserdata(L, -1);
	if (pointer)
		pointer->path = path_through(host, field, from);
}

/* The node that the one at `node` leads to, when that can be told without waiting. The first read of a node has just brought in its
 * bytes; while the script works on them, memory can bring the next ones. */
static const void *next_on_trail(const struct xc_host *host, const struct xc_type *shape, xc_addr node)
{
	const struct xc_lens *window = &host->window;
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

/* An element of a container that keeps them in a row. */
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

/* What lies in a row: the element's type, or NULL when it is no plain array or pointer. */
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

static int value_index(lua_State *L)
{
	const struct xc_lua_value *self = lua_touserdata(L, 1);
	if (lua_type(L, 2) == LUA_TSTRING)
		return index_member(L, self);
	int is_integer;
	lua_Integer index = lua_tointegerx(L, 2, &is_integer);
	if (is_integer)
		return index_element(L, self, index);
	return xc_bind_fail(L, XC_ERR_USAGE, "a %s names no member: give a string or an integer", luaL_typename(L, 2));
}

static int value_newindex(lua_State *L)
{
	return xc_bind_fail(L, XC_ERR_USAGE, "nothing is ever written to the target");
}

/* ---- operators ---- */

static int value_len(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	struct xc_value value = xc_bind_value(L, self);
	struct xc_view view;
	if (xc_type_strip(value.type)->kind == XC_TYPE_POINTER) /* to an array or a container */
		xc_bind_raise_at(L, xc_value_deref(&value, &value), self, NULL);
	const struct xc_type *shape = xc_bind_shape(value.type);
	if (shape->kind == XC_TYPE_ARRAY && shape->count_known) {
		lua_pushinteger(L, (lua_Integer)shape->count);
		return 1;
	}
	enum xc_view_result result = xc_view_open(&value, &view);
	if (result == XC_VIEW_FOUND && view.count_known) {
		lua_pushinteger(L, (lua_Integer)view.count);
		return 1;
	}
	return xc_bind_fail(L, result == XC_VIEW_INVALID ? XC_ERR_FORMAT : XC_ERR_USAGE,
			    "the length of %s is not known%s%s", xc_type_name(value.type),
			    result == XC_VIEW_INVALID ? ": " : "", result == XC_VIEW_INVALID ? view.why : "");
}

/* Bytes of what a pointer points to; 1 of void, as gcc has it. */
static uint64_t pointed_size(lua_State *L, const struct xc_lua_value *pointer)
{
	const struct xc_accessor *row = NULL;
	if (pointer->form == XC_FORM_POINTER && pointer->shape->kind == XC_TYPE_VOID)
		return 1;
	if (pointer->form == XC_FORM_POINTER)
		row = xc_accessor_element(xc_bind_host(L)->accessors, xc_type_strip(pointer->type)->target);
	if (!row || row->offset == 0 || row->offset > INT64_MAX) /* a difference is divided by it, signed */
		xc_bind_fail(L, XC_ERR_USAGE, "arithmetic needs a pointer to something whose size is known, not %s",
			     xc_type_name(pointer->type));
	return row->offset;
}

static int value_add(lua_State *L)
{
	int self = xc_bind_test(L, 1) ? 1 : 2;
	struct xc_lua_value pointer = *xc_bind_check(L, self);
	uint64_t by = (uint64_t)luaL_checkinteger(L, 3 - self);
	xc_bind_push_pointer(L, pointer.type, pointer.addr + by * pointed_size(L, &pointer), pointer.path);
	return 1;
}

static int value_sub(lua_State *L)
{
	const struct xc_lua_value *left = xc_bind_check(L, 1), *right = xc_bind_test(L, 2);
	uint64_t size = pointed_size(L, left);
	if (!right) {
		uint64_t by = (uint64_t)luaL_checkinteger(L, 2);
		xc_bind_push_pointer(L, left->type, left->addr - by * size, left->path);
		return 1;
	}
	if (pointed_size(L, right) != size)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s and %s cannot be subtracted", xc_type_name(left->type),
				    xc_type_name(right->type));
	lua_pushinteger(L, (lua_Integer)(left->addr - right->addr) / (lua_Integer)size);
	return 1;
}

/* Numbers that Lua has no type for. */
static bool same_bits(const struct xc_lua_value *left, const struct xc_lua_value *right)
{
	unsigned __int128 a, b;
	return xc_value_load_wide(&((const struct xc_lua_held *)left)->value, &a) &&
	       xc_value_load_wide(&((const struct xc_lua_held *)right)->value, &b) && a == b;
}

static int value_eq(lua_State *L)
{
	const struct xc_lua_value *left = xc_bind_test(L, 1), *right = xc_bind_test(L, 2);
	bool equal = false;
	if (!left || !right)
		equal = false;
	else if (left->form == XC_FORM_HELD || right->form == XC_FORM_HELD)
		equal = left->form == right->form && same_bits(left, right);
	else
		equal = left->addr == right->addr &&
			(left->form == XC_FORM_POINTER) == (right->form == XC_FORM_POINTER);
	lua_pushboolean(L, equal);
	return 1;
}

static int value_lt(lua_State *L)
{
	lua_pushboolean(L, xc_bind_address_of(L, xc_bind_check(L, 1)) < xc_bind_address_of(L, xc_bind_check(L, 2)));
	return 1;
}

static int value_le(lua_State *L)
{
	lua_pushboolean(L, xc_bind_address_of(L, xc_bind_check(L, 1)) <= xc_bind_address_of(L, xc_bind_check(L, 2)));
	return 1;
}

static int value_tostring(lua_State *L)
{
	struct xc_value value = xc_bind_value(L, xc_bind_check(L, 1));
	xc_bind_format(L, &value);
	return 1;
}

static int value_concat(lua_State *L)
{
	luaL_tolstring(L, 1, NULL);
	luaL_tolstring(L, 2, NULL);
	lua_concat(L, 2);
	return 1;
}

void xc_bind_value_open(lua_State *L)
{
	static const luaL_Reg metamethods[] = {
		{"__newindex", value_newindex},
		{"__len", value_len},
		{"__add", value_add},
		{"__sub", value_sub},
		{"__eq", value_eq},
		{"__lt", value_lt},
		{"__le", value_le},
		{"__concat", value_concat},
		{"__tostring", value_tostring},
		{NULL, NULL},
	};
	lua_createtable(L, 0, 16);
	luaL_setfuncs(L, metamethods, 0);
	lua_pushvalue(L, -1);
	lua_pushcclosure(L, value_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushliteral(L, "xcore.Value");
	lua_setfield(L, -2, "__name");
	lua_pushliteral(L, "xcore.Value");
	lua_setfield(L, -2, "__metatable");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &value_key);
}

/* bind_bulk: xcore.columns and xcore.follow: members of many structs as columns of numbers.
 *
 * A list is first walked (list_walk.h), then read when its length is known (rows.h). */
#include <string.h>

#include "core/elf/arch.h"
#include "lua/bulk/list_walk.h"
#include "lua/bulk/nodes.h"
#include "lua/bulk/rows.h"

enum { BLOCK = 4096 }; /* nodes between two checks of the limits */

/* ---- columns ---- */

static size_t check_count(lua_State *L, uint64_t count)
{
	if (count > XC_ROWS_MAX)
		xc_bind_fail(L, XC_ERR_LIMIT, "%llu rows are too many", (unsigned long long)count);
	return (size_t)count;
}

/* The struct that v is an array of, or points to. */
static const struct xc_type *row_type(lua_State *L, const struct xc_lua_value *value)
{
	const struct xc_type *type = NULL;
	if (value->form == XC_FORM_POINTER)
		type = value->shape;
	else if (value->form != XC_FORM_HELD && value->shape->kind == XC_TYPE_ARRAY)
		type = value->shape->target;
	if (!type)
		xc_bind_fail(L, XC_ERR_USAGE, "%s is neither an array in memory nor a pointer",
			     xc_type_name(value->type));
	return xc_bind_shape(type);
}

static uint64_t row_count(lua_State *L, const struct xc_lua_value *value)
{
	bool known = value->form != XC_FORM_POINTER && value->shape->count_known;
	if (lua_isnoneornil(L, 2)) {
		if (!known)
			xc_bind_fail(L, XC_ERR_USAGE, "the count is missing: columns(%s, count, …)",
				     xc_type_name(value->type));
		return value->shape->count;
	}
	lua_Integer count = luaL_checkinteger(L, 2);
	luaL_argcheck(L, count >= 0, 2, "the count is negative");
	return (uint64_t)count;
}

/* Check the count, which may be damaged, before memory is allocated for it. */
static void check_last(lua_State *L, const struct xc_lua_value *value, const struct xc_rows *rows)
{
	uint8_t byte;
	const struct xc_space *space = xc_bind_host(L)->process->space;
	xc_addr last = rows->start + (rows->count - 1) * rows->stride;
	if (rows->stride == 0 || (rows->count - 1) > (UINT64_MAX - rows->start) / rows->stride)
		xc_bind_fail(L, XC_ERR_FAULT, "%zu rows of %llu bytes from 0x%llx exceed the address space",
			     rows->count, (unsigned long long)rows->stride, (unsigned long long)rows->start);
	struct xc_error *err = xc_space_read(space, last, &byte, 1);
	if (err)
		xc_bind_raise_at(L, xc_error_wrap(err, "row %zu", rows->count - 1), value, NULL);
}

static int raise_row(lua_State *L, struct xc_error *err, const struct xc_lua_value *value, size_t row, int field)
{
	char member[XC_PATH_NAME];
	lua_geti(L, 3, field + 1);
	snprintf(member, sizeof member, "[%zu].%s", row, lua_tostring(L, -1));
	return xc_bind_raise_at(L, err, value, member);
}

static int bulk_columns(lua_State *L)
{
	const struct xc_lua_value *value = xc_bind_check(L, 1);
	luaL_checktype(L, 3, LUA_TTABLE);
	const struct xc_type *type = row_type(L, value);
	struct xc_rows rows = {.start = value->addr, .count = check_count(L, row_count(L, value))};
	struct xc_error *err = NULL;
	if (!xc_type_size(type, &rows.stride))
		return xc_bind_fail(L, XC_ERR_USAGE, "the size of %s is not known", xc_type_name(type));
	lua_settop(L, 3);
	xc_rows_find(L, type, 3, &rows);
	if (rows.count > 0 && rows.field_count > 0)
		check_last(L, value, &rows);
	xc_rows_push_tables(L, &rows);
	size_t done = xc_rows_fill(L, &rows, &err);
	if (err)
		return raise_row(L, err, value, done, rows.failed_field);
	xc_rows_push_columns(L, &rows, 3);
	lua_pushinteger(L, (lua_Integer)rows.count);
	return 2;
}

/* ---- follow ---- */

enum { HEAD = 1, NEXT, FIELDS, OPTIONS };

struct follow {
	struct xc_list_walk walk;
	const struct xc_type *node; /* the struct with the fields */
	uint64_t back;              /* from the target of the pointers back to the start of the node */
	uint64_t max;
	bool partial, addresses;
	struct xc_nodes *nodes;
};

static const char follow_key;

static int follow_gc(lua_State *L)
{
	xc_list_walk_end(&((struct follow *)lua_touserdata(L, 1))->walk);
	return 0;
}

/* A userdata, so that an error leaks nothing. */
static struct follow *push_follow(lua_State *L)
{
	struct xc_nodes *nodes = xc_nodes_push(L);
	struct follow *follow = lua_newuserdatauv(L, sizeof *follow, 0);
	*follow = (struct follow){.walk.host = xc_bind_host(L), .nodes = nodes};
	lua_rawgetp(L, LUA_REGISTRYINDEX, &follow_key);
	lua_setmetatable(L, -2);
	return follow;
}

/* Push an option; false when it is not given. */
static bool option(lua_State *L, const char *name)
{
	if (!lua_isnil(L, OPTIONS))
		return lua_getfield(L, OPTIONS, name) != LUA_TNIL;
	lua_pushnil(L);
	return false;
}

static bool flag(lua_State *L, const char *name)
{
	option(L, name);
	bool is_set = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return is_set;
}

static void read_container(lua_State *L, struct follow *follow)
{
	luaL_checktype(L, -1, LUA_TTABLE);
	lua_geti(L, -1, 1);
	lua_geti(L, -2, 2);
	follow->node = xc_bind_check_type(L, lua_gettop(L) - 1);
	follow->back = xc_fixed_find(L, follow->node, luaL_checkstring(L, -1)).offset;
	lua_pop(L, 2);
}

static void read_options(lua_State *L, struct follow *follow)
{
	follow->max = XC_ROWS_MAX;
	follow->partial = flag(L, "partial");
	follow->addresses = flag(L, "addresses") || luaL_len(L, FIELDS) == 0;
	if (option(L, "max")) {
		lua_Integer max = luaL_checkinteger(L, -1);
		luaL_argcheck(L, max >= 0, OPTIONS, "max is negative");
		follow->max = (uint64_t)max < XC_ROWS_MAX ? (uint64_t)max : XC_ROWS_MAX;
	}
	if (option(L, "stop"))
		follow->walk.stop = xc_bind_check_address(L, lua_gettop(L));
	if (option(L, "container"))
		read_container(L, follow);
	lua_pop(L, 3);
}

/* The pointer must point to the struct that contains it: that of a list_head points to another list_head. */
static void check_target(lua_State *L, const struct xc_type *shape, const struct xc_fixed *next)
{
	const struct xc_type *target = next->reading.shape;
	if (!xc_fixed_is_address(next, xc_bind_host(L)->process->arch->word))
		xc_bind_fail(L, XC_ERR_USAGE, "%s of %s is not a pointer", lua_tostring(L, NEXT), xc_type_name(shape));
	if (next->reading.kind != XC_READ_POINTER)
		return;
	if (target != shape && target->kind != XC_TYPE_VOID && strcmp(xc_type_name(target), xc_type_name(shape)) != 0)
		xc_bind_fail(L, XC_ERR_USAGE,
			     "%s of %s points to %s: follow it from there, and name the containing struct by container",
			     lua_tostring(L, NEXT), xc_type_name(shape), xc_type_name(target));
}

static void open_follow(lua_State *L, const struct xc_lua_value *head, struct follow *follow)
{
	const struct xc_type *shape = head->shape;
	if (shape->kind != XC_TYPE_STRUCT && shape->kind != XC_TYPE_CLASS && shape->kind != XC_TYPE_UNION)
		xc_bind_fail(L, XC_ERR_USAGE, "%s is not a struct, nor a pointer to one", xc_type_name(head->type));
	struct xc_fixed next = xc_fixed_find_number(L, shape, luaL_checkstring(L, NEXT));
	check_target(L, shape, &next);
	follow->walk.offset = next.offset;
	follow->walk.size = next.reading.size;
	follow->node = shape;
}

static void collect(lua_State *L, struct follow *follow)
{
	struct xc_nodes *nodes = follow->nodes;
	while (follow->walk.end == XC_LIST_WALK_GOES_ON && nodes->count < follow->max) {
		if (nodes->count == nodes->room)
			xc_nodes_grow(L, nodes);
		uint64_t room = nodes->room - nodes->count;
		room = room < BLOCK ? room : BLOCK;
		room = room < follow->max - nodes->count ? room : follow->max - nodes->count;
		nodes->count += xc_list_walk_run(&follow->walk, nodes->items + nodes->count, (size_t)room);
		xc_list_walk_look_ahead(&follow->walk, nodes->items, nodes->count);
		xc_limit_spend(L, BLOCK / 16);
	}
	xc_list_walk_end(&follow->walk);
}

static void add_grouped(struct xc_text *text, size_t number)
{
	char digits[24];
	int count = snprintf(digits, sizeof digits, "%zu", number);
	for (int i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			xc_text_char(text, ',');
		xc_text_char(text, digits[i]);
	}
}

/* "cycle: node 1,204 (0x…) leads back to node 17" */
static struct xc_error *cycle_error(lua_State *L, const xc_addr *nodes, struct xc_list_walk_cycle cycle)
{
	struct xc_text *text = xc_bind_scratch(L);
	xc_text_add(text, "cycle: node ");
	add_grouped(text, cycle.count);
	xc_text_printf(text, " (0x%llx) leads back to node ", (unsigned long long)nodes[cycle.count - 1]);
	add_grouped(text, cycle.back + 1);
	return xc_error_new(XC_ERR_FORMAT, "%s", xc_text_string(text));
}

/* "node 1,204: …" */
static struct xc_error *node_error(lua_State *L, struct xc_error *err, size_t index)
{
	struct xc_text *text = xc_bind_scratch(L);
	xc_text_add(text, "node ");
	add_grouped(text, index + 1);
	return xc_error_wrap(err, "%s", xc_text_string(text));
}

/* The error that ended the list, if any; removes nodes that occur twice. */
static struct xc_error *end_error(lua_State *L, struct follow *follow)
{
	const struct xc_list_walk *walk = &follow->walk;
	struct xc_list_walk_cycle cycle;
	switch (walk->end) {
	case XC_LIST_WALK_DONE:
		return NULL;
	case XC_LIST_WALK_CYCLE:
		cycle = xc_list_walk_cycle(walk, follow->nodes->items, follow->nodes->count);
		follow->nodes->count = cycle.count;
		return cycle_error(L, follow->nodes->items, cycle);
	case XC_LIST_WALK_FAULT:
		return node_error(L, xc_bind_fault(walk->host, walk->at + walk->offset, walk->size),
				  follow->nodes->count);
	case XC_LIST_WALK_GOES_ON:
		break;
	}
	return xc_error_new(XC_ERR_LIMIT, "more than %llu nodes", (unsigned long long)follow->max);
}

/* Raise with the path of the node at `index` (and of a member of it, if any); or, when a partial list is accepted,
 * push the reason. */
static void raise_or_push(lua_State *L, struct xc_error *err, const struct follow *follow, size_t index,
			  const char *member)
{
	struct xc_host *host = xc_bind_host(L);
	struct xc_lua_value node = *xc_bind_check(L, HEAD);
	char text[XC_PATH_NAME];
	for (size_t i = 0; i < index && i < 2; i++)
		node.path = xc_path_member(&host->paths, node.path, lua_tostring(L, NEXT));
	snprintf(text, sizeof text, ".%s", member ? member : "");
	if (!follow->partial)
		xc_bind_raise_at(L, err, &node, member ? text : NULL);
	xc_error_free(host->raised);
	host->raised = err;
	lua_pushstring(L, err->message);
}

/* Read the nodes; `why` is on top of the stack, and replaced when not all nodes could be read. Leaves the columns
 * there, and returns their number of nodes. */
static size_t push_result(lua_State *L, struct xc_rows *rows, const struct follow *follow)
{
	struct xc_error *err = NULL;
	int why = lua_gettop(L);
	xc_rows_push_tables(L, rows);
	size_t count = xc_rows_fill(L, rows, &err);
	if (err) {
		lua_geti(L, FIELDS, rows->failed_field + 1);
		raise_or_push(L, node_error(L, err, count), follow, count, lua_tostring(L, -1));
		lua_replace(L, why);
	}
	xc_rows_push_columns(L, rows, FIELDS);
	return count;
}

static void check_arguments(lua_State *L)
{
	lua_settop(L, OPTIONS);
	if (lua_isnil(L, FIELDS)) {
		lua_newtable(L);
		lua_replace(L, FIELDS);
	}
	luaL_checktype(L, FIELDS, LUA_TTABLE);
	if (!lua_isnil(L, OPTIONS))
		luaL_checktype(L, OPTIONS, LUA_TTABLE);
}

/* An empty list has empty columns. */
static int follow_nothing(lua_State *L)
{
	lua_Integer count = luaL_len(L, FIELDS);
	lua_newtable(L);
	for (lua_Integer i = 1; i <= count; i++) {
		lua_geti(L, FIELDS, i);
		lua_newtable(L);
		lua_settable(L, -3);
	}
	lua_newtable(L);
	lua_rawseti(L, -2, 1);
	lua_pushinteger(L, 0);
	return 2;
}

/* Push why the list ended early (nil: it did not), or raise that. */
static void push_end(lua_State *L, struct follow *follow)
{
	struct xc_error *err = end_error(L, follow);
	if (err)
		raise_or_push(L, err, follow, follow->nodes->count,
			      follow->walk.end == XC_LIST_WALK_FAULT ? lua_tostring(L, NEXT) : NULL);
	else
		lua_pushnil(L);
}

static int bulk_follow(lua_State *L)
{
	struct xc_rows rows = {.count = 0};
	check_arguments(L);
	if (lua_isnil(L, HEAD))
		return follow_nothing(L);
	const struct xc_lua_value *head = xc_bind_check(L, HEAD);
	struct follow *follow = push_follow(L);
	open_follow(L, head, follow);
	read_options(L, follow);
	xc_rows_find(L, follow->node, FIELDS, &rows);
	xc_list_walk_begin(&follow->walk, xc_bind_address_of(L, head), follow->walk.stop);
	collect(L, follow);
	push_end(L, follow);
	int why = lua_gettop(L);
	rows.nodes = follow->nodes->items;
	rows.count = follow->nodes->count;
	rows.back = follow->back;
	size_t count = push_result(L, &rows, follow);
	if (follow->addresses) {
		xc_rows_push_addresses(L, &rows, count);
		lua_rawseti(L, -2, 1);
	}
	xc_nodes_release(L, follow->nodes);
	lua_pushinteger(L, (lua_Integer)count);
	lua_pushvalue(L, why);
	return 3;
}

void xc_bind_bulk_open(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"columns", bulk_columns},
		{"follow", bulk_follow},
		{NULL, NULL},
	};
	xc_nodes_open(L);
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, follow_gc);
	lua_setfield(L, -2, "__gc");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &follow_key);
	luaL_setfuncs(L, functions, 0);
}

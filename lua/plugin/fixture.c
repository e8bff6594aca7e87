/* fixture: objects first get addresses, so that their names can be used as addresses, then contents. Each is in a
 * page of its own with a gap after it, so reading past an object faults. */
#include "lua/plugin/fixture.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/cexpr/synthetic_symbol.h"
#include "lua/vm/bind.h"
#include "lua/cdef/cdef.h"
#include "lua/plugin/fixture_impl.h"

enum { MAX_OBJECTS = 10000, MAX_OBJECT = 16 << 20 };

static const char *const machine_names[] = {"x86-64", "i386", "aarch64", "arm", "ppc64le", "riscv64", NULL};
static const struct {
	uint16_t machine;
	uint8_t elf_class;
} machines[] = {
	{EM_X86_64, ELFCLASS64}, {EM_386, ELFCLASS32},   {EM_AARCH64, ELFCLASS64},
	{EM_ARM, ELFCLASS32},    {EM_PPC64, ELFCLASS64}, {EM_RISCV, ELFCLASS64},
};

/* ---- names ---- */

const struct xc_fixture_object *xc_fixture_object(const struct xc_fixture *fixture, const char *name)
{
	for (size_t i = 0; i < fixture->object_count; i++)
		if (strcmp(fixture->objects[i].name, name) == 0)
			return &fixture->objects[i];
	return NULL;
}

static bool synthetic_value(const struct xc_synthetic_symbols *synthetic, const char *name, struct xc_value *out)
{
	const struct xc_fixture *fixture = (const struct xc_fixture *)synthetic; /* its first member */
	const struct xc_fixture_object *object = xc_fixture_object(fixture, name);
	int64_t number;
	if (object) {
		*out = xc_value_memory(fixture->process, object->type, object->addr);
		return true;
	}
	struct xc_error *err = xc_cdef_constant(fixture->cdef, name, &number);
	xc_error_free(err);
	if (err)
		return false;
	*out = xc_value_small(fixture->process, xc_ctype(fixture->process, XC_C_LLONG), &number, sizeof number);
	return true;
}

static const struct xc_type *synthetic_type(const struct xc_synthetic_symbols *synthetic, const char *name, int tag)
{
	const struct xc_fixture *fixture = (const struct xc_fixture *)synthetic;
	static const struct {
		int tag;
		const char *keyword;
	} tags[] = {{0, ""},
		    {DW_TAG_structure_type, "struct "},
		    {DW_TAG_union_type, "union "},
		    {DW_TAG_enumeration_type, "enum "}};
	for (size_t i = 0; i < XC_COUNT(tags); i++) {
		if (tag && tag != tags[i].tag)
			continue;
		const struct xc_type *type;
		xc_auto(xc_freep) char *full = xc_asprintf("%s%s", tags[i].keyword, name);
		struct xc_error *err = xc_cdef_type(fixture->cdef, full, &type);
		xc_error_free(err);
		if (!err)
			return type;
	}
	return NULL;
}

/* ---- life ---- */

struct xc_fixture *xc_fixture_new(void)
{
	struct xc_fixture *fixture = xc_alloc(sizeof *fixture);
	fixture->synthetic = (struct xc_synthetic_symbols){synthetic_value, synthetic_type};
	fixture->process = xc_process_new("fixture", false);
	fixture->process->arch = xc_arch_host();
	fixture->next_addr = 0x10000000;
	return fixture;
}

void xc_fixture_free(struct xc_fixture *fixture)
{
	if (!fixture)
		return;
	xc_cdef_free(fixture->cdef);
	xc_debuginfo_close(fixture->process);
	xc_process_close(fixture->process);
	free(fixture);
}

struct xc_process *xc_fixture_process(const struct xc_fixture *fixture)
{
	return fixture->process;
}

/* ---- memory ---- */

uint8_t *xc_fixture_lay(struct xc_fixture *fixture, xc_addr *addr, uint64_t size)
{
	enum { PAGE = 0x1000 };
	uint8_t *bytes = xc_arena_alloc(&fixture->process->arena, size);
	if (!*addr) {
		*addr = fixture->next_addr;
		fixture->next_addr += (size + 2 * PAGE - 1) & ~(uint64_t)(PAGE - 1);
	}
	struct xc_segment segment = {.lo = *addr, .hi = *addr + (size - 1), .provenance = XC_FROM_CORE, .bytes = bytes};
	xc_space_add(fixture->process->space, &segment);
	return bytes;
}

/* ---- reading the table ---- */

static void read_arch(lua_State *L, struct xc_fixture *fixture)
{
	if (lua_getfield(L, -1, "arch") != LUA_TNIL) {
		const char *name = luaL_checkstring(L, -1);
		size_t i = 0;
		while (machine_names[i] && strcmp(machine_names[i], name) != 0)
			i++;
		if (!machine_names[i])
			xc_bind_fail(L, XC_ERR_USAGE,
				     "arch: '%s' is not one of x86-64, i386, aarch64, arm, ppc64le, riscv64", name);
		fixture->process->arch = xc_arch_find(machines[i].machine, machines[i].elf_class, false);
	}
	lua_pop(L, 1);
}

static void read_cdef(lua_State *L, struct xc_fixture *fixture)
{
	fixture->cdef = xc_cdef_new(fixture->process);
	if (lua_getfield(L, -1, "cdef") != LUA_TNIL) {
		struct xc_error *err = xc_cdef_declare(fixture->cdef, luaL_checkstring(L, -1));
		if (err)
			xc_bind_raise(L, xc_error_wrap(err, "cdef"));
	}
	lua_pop(L, 1);
	xc_types_of(fixture->process)->synthetic = &fixture->synthetic;
}

/* The object whose name and table are at the top of the stack. */
static void place_object(lua_State *L, struct xc_fixture *fixture)
{
	uint64_t size;
	if (lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1))
		xc_bind_fail(L, XC_ERR_USAGE, "objects: expected NAME = { \"TYPE\", VALUE }");
	if (fixture->object_count == MAX_OBJECTS)
		xc_bind_fail(L, XC_ERR_LIMIT, "objects: more than %d", MAX_OBJECTS);
	struct xc_fixture_object *object = &fixture->objects[fixture->object_count];
	object->name = xc_arena_strdup(&fixture->process->arena, lua_tostring(L, -2));
	lua_rawgeti(L, -1, 1);
	struct xc_error *err = xc_cdef_type(fixture->cdef, luaL_checkstring(L, -1), &object->type);
	if (err)
		xc_bind_raise(L, xc_error_wrap(err, "object '%s'", object->name));
	lua_getfield(L, -2, "at");
	object->addr = (xc_addr)luaL_optinteger(L, -1, 0);
	lua_pop(L, 2);
	if (!xc_type_size(object->type, &size) || size == 0 || size > MAX_OBJECT)
		xc_bind_fail(L, XC_ERR_USAGE, "object '%s': its type has no size, or is too large", object->name);
	if (object->addr && size - 1 > UINT64_MAX - object->addr)
		xc_bind_fail(L, XC_ERR_USAGE, "object '%s': it does not fit at its address", object->name);
	object->size = size;
	fixture->object_count++;
}

static int by_name(const void *a, const void *b)
{
	const struct xc_fixture_object *left = a, *right = b;
	return strcmp(left->name, right->name);
}

/* In the order of names, so that addresses are the same in each run. */
static void place_objects(lua_State *L, struct xc_fixture *fixture)
{
	if (!lua_istable(L, -1))
		xc_bind_fail(L, XC_ERR_USAGE, "objects: expected a table");
	fixture->objects = xc_arena_alloc(&fixture->process->arena, MAX_OBJECTS * sizeof *fixture->objects);
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
		place_object(L, fixture);
	if (fixture->object_count)
		qsort(fixture->objects, fixture->object_count, sizeof *fixture->objects, by_name);
	for (size_t i = 0; i < fixture->object_count; i++) {
		struct xc_fixture_object *object = &fixture->objects[i];
		object->bytes = xc_fixture_lay(fixture, &object->addr, object->size);
	}
}

static void fill_objects(lua_State *L, struct xc_fixture *fixture)
{
	for (size_t i = 0; i < fixture->object_count; i++) {
		const struct xc_fixture_object *object = &fixture->objects[i];
		lua_getfield(L, -1, object->name);
		lua_rawgeti(L, -1, 2);
		xc_fixture_encode(L, fixture, object->name, object->type, object->bytes);
		lua_pop(L, 2);
	}
}

static void read_memory(lua_State *L, struct xc_fixture *fixture)
{
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		size_t len;
		xc_addr addr = (xc_addr)luaL_checkinteger(L, -2);
		const char *bytes = luaL_checklstring(L, -1, &len);
		if (len == 0 || len > MAX_OBJECT || len - 1 > UINT64_MAX - addr || addr == 0)
			xc_bind_fail(L, XC_ERR_USAGE, "memory: expected [ADDRESS] = \"bytes\"");
		memcpy(xc_fixture_lay(fixture, &addr, len), bytes, len);
	}
}

static void check_keys(lua_State *L)
{
	static const char *const keys[] = {"arch", "cdef", "objects", "memory"};
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
		size_t i = 0;
		while (i < XC_COUNT(keys) && strcmp(keys[i], key) != 0)
			i++;
		if (i == XC_COUNT(keys))
			xc_bind_fail(L, XC_ERR_USAGE, "unknown key '%.60s': arch, cdef, objects, memory", key);
	}
}

void xc_fixture_read(lua_State *L, struct xc_fixture *fixture)
{
	luaL_checkstack(L, 20, NULL);
	luaL_checktype(L, -1, LUA_TTABLE);
	check_keys(L);
	read_arch(L, fixture);
	read_cdef(L, fixture);
	if (lua_getfield(L, -1, "objects") != LUA_TNIL) {
		place_objects(L, fixture);
		fill_objects(L, fixture);
	}
	lua_pop(L, 1);
	if (lua_getfield(L, -1, "memory") != LUA_TNIL)
		read_memory(L, fixture);
	lua_pop(L, 1);
	xc_space_seal(fixture->process->space);
}

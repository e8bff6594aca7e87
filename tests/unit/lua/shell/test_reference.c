/* layer: lua */
/* The editor stubs and the bindings agree. */
#include "tests/support/check.h"

#include "core/elf/arch.h"
#include "lua/vm/bind.h"
#include "lua/shell/reference.h"

static struct xc_host *host;
static struct xc_process *process;

static int open_host(void **state)
{
	(void)state;
	process = xc_process_new("nothing", false);
	process->arch = xc_arch_host();
	xc_space_seal(process->space);
	struct xc_host_options options = {.process = process, .limits = xc_limits_defaults()};
	host = xc_host_new(&options);
	return 0;
}

static int close_host(void **state)
{
	(void)state;
	xc_host_free(host);
	xc_process_close(process);
	return 0;
}

static bool told(const char *class_name, const char *name)
{
	return xc_reference_find(class_name, name) != NULL;
}

static void entries_are_read(void **state)
{
	(void)state;
	const struct xc_reference *entry = xc_reference_find("Target", "var");
	struct xc_text text = {0};
	assert_non_null(entry);
	assert_int_equal(entry->kind, XC_REFERENCE_METHOD);
	assert_string_equal(entry->parameters, "name");
	xc_reference_write(&text, entry);
	assert_non_null(strstr(xc_text_string(&text), "Target:var(name)\n"));
	assert_non_null(strstr(xc_text_string(&text), "global or static variable"));
	xc_text_fini(&text);
	assert_int_equal(xc_reference_find("Thread", "tid")->kind, XC_REFERENCE_FIELD);
	assert_int_equal(xc_reference_find("xcore", "addr")->kind, XC_REFERENCE_FUNCTION);
	assert_null(xc_reference_find("xcore", "nothing"));
}

static void the_module_has_what_the_stubs_tell(void **state)
{
	(void)state;
	size_t count;
	const struct xc_reference *all = xc_reference_all(&count);
	lua_getglobal(host->L, "xcore");
	for (size_t i = 0; i < count; i++) {
		if (strcmp(all[i].class_name, "xcore") != 0 || strcmp(all[i].name, "report") == 0)
			continue;
		lua_getfield(host->L, -1, all[i].name);
		if (lua_isnil(host->L, -1))
			fail_msg("xcore.%s is in the stubs only", all[i].name);
		lua_pop(host->L, 1);
	}
	lua_settop(host->L, 0);
}

static void the_stubs_tell_what_the_module_has(void **state)
{
	(void)state;
	lua_getglobal(host->L, "xcore");
	for (lua_pushnil(host->L); lua_next(host->L, -2); lua_pop(host->L, 1))
		if (!told("xcore", lua_tostring(host->L, -2)))
			fail_msg("xcore.%s is in the bindings only", lua_tostring(host->L, -2));
	lua_settop(host->L, 0);
}

/* The classes are metatables in the registry, with their names in a table (bind_class.c). Pushes the table of names of
 * a class, or nothing. */
static bool push_names(lua_State *L, const char *class_name)
{
	for (lua_pushnil(L); lua_next(L, LUA_REGISTRYINDEX); lua_pop(L, 1)) {
		if (!lua_istable(L, -1))
			continue;
		lua_getfield(L, -1, "__name");
		const char *name = lua_tostring(L, -1);
		bool is = name && strncmp(name, "xcore.", 6) == 0 && strcmp(name + 6, class_name) == 0;
		lua_pop(L, 1);
		if (is)
			return lua_getfield(L, -1, "names") == LUA_TTABLE;
	}
	return false;
}

static void the_classes_have_what_the_stubs_tell(void **state)
{
	(void)state;
	size_t count, checked = 0;
	const struct xc_reference *all = xc_reference_all(&count);
	for (size_t i = 0; i < count; i++) {
		bool has = push_names(host->L, all[i].class_name);
		if (all[i].kind == XC_REFERENCE_METHOD && !has)
			fail_msg("no class %s for its method %s", all[i].class_name, all[i].name);
		if (has) {
			checked++;
			if (lua_getfield(host->L, -1, all[i].name) == LUA_TNIL)
				fail_msg("%s.%s is in the stubs only", all[i].class_name, all[i].name);
		}
		lua_settop(host->L, 0);
	}
	assert_true(checked > 60);
}

static void the_stubs_tell_what_the_classes_have(void **state)
{
	(void)state;
	static const char *const classes[] = {"Target", "Type", "Thread",    "Frame", "Report",      "Section",
					      "Table",  "Tree", "Histogram", "Top",   "Declarations"};
	for (size_t i = 0; i < XC_COUNT(classes); i++) {
		if (!push_names(host->L, classes[i]))
			fail_msg("no class %s", classes[i]);
		for (lua_pushnil(host->L); lua_next(host->L, -2); lua_pop(host->L, 1))
			if (!told(classes[i], lua_tostring(host->L, -2)))
				fail_msg("%s.%s is in the bindings only", classes[i], lua_tostring(host->L, -2));
		lua_settop(host->L, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_read),
		cmocka_unit_test(the_module_has_what_the_stubs_tell),
		cmocka_unit_test(the_stubs_tell_what_the_module_has),
		cmocka_unit_test(the_classes_have_what_the_stubs_tell),
		cmocka_unit_test(the_stubs_tell_what_the_classes_have),
	};
	return cmocka_run_group_tests(tests, open_host, close_host);
}

/* shell_help: for a function its reference, for a value or type its layout, for a name either of them. */
#include "lua/shell/shell_help.h"

#include <string.h>

#include "dwarf/layout/layout_text.h"
#include "lua/shell/reference.h"

static const char overview[] =
	"Type a line of Lua; its value is shown. The target is `t`, the API is the module `xcore`.\n"
	"\n"
	"  t:var \"server\"                a global variable; fields by dot, elements by [i]\n"
	"  t:var \"server\".clients.head\n"
	"  t:eval \"server.port + 1\"      a C expression\n"
	"  t:threads(), t:modules()      threads and modules of the process\n"
	"  xcore.str(v), xcore.fmt(v)    a string of the target; a value as `xcore print` shows it\n"
	"  for i, v in xcore.each(a) do print(i, v) end\n"
	"\n"
	"  help(thing)                   a function (xcore.cast), a name (\"cast\", \"Target:var\", \"struct "
	"client\"),\n"
	"                                a value or a type\n"
	"  help \"xcore\", help \"Target\"   all functions of a class\n"
	"\n"
	"Tab completes fields, functions and names of the target. ^C interrupts a line, ^D leaves the shell.";

static int print_scratch(lua_State *L)
{
	struct xc_host *host = xc_bind_host(L);
	struct xc_text *text = &host->scratch;
	while (text->len > 0 && text->bytes[text->len - 1] == '\n')
		text->bytes[--text->len] = '\0';
	if (host->options.output)
		host->options.output(host->options.output_user, xc_text_string(text), text->len);
	return 0;
}

static int print_layout(lua_State *L, const struct xc_type *type, const struct xc_lua_value *value)
{
	struct xc_text *text = xc_bind_scratch(L);
	const struct xc_layout_shown shown = {.brief = true};
	if (value) {
		xc_bind_path_text(text, value);
		xc_text_printf(text, ": %s", xc_type_name(value->type));
		if (value->form != XC_FORM_HELD)
			xc_text_printf(text, " %s 0x%llx", value->form == XC_FORM_POINTER ? "to" : "at",
				       (unsigned long long)value->addr);
		xc_text_char(text, '\n');
	}
	const struct xc_type *body = xc_layout_body(type);
	xc_layout_text(text, body ? body : type, &shown);
	return print_scratch(L);
}

/* All entries of a class, one per line. */
static bool list_class(struct xc_text *text, const char *class_name)
{
	size_t count, found = 0;
	const struct xc_reference *all = xc_reference_all(&count);
	for (size_t i = 0; i < count; i++) {
		const struct xc_reference *one = &all[i];
		if (strcmp(one->class_name, class_name) != 0)
			continue;
		found++;
		xc_text_printf(text, "  %s%s", one->kind == XC_REFERENCE_METHOD ? ":" : ".", one->name);
		if (one->kind != XC_REFERENCE_FIELD)
			xc_text_printf(text, "(%s)", one->parameters);
		xc_text_char(text, '\n');
	}
	return found > 0;
}

/* "Target:var", "xcore.addr", "addr", "t:var". */
static const struct xc_reference *named(const char *name)
{
	size_t len = strcspn(name, ".:");
	char class_name[24];
	if (!name[len])
		return xc_reference_find(NULL, name);
	if (len >= sizeof class_name)
		return NULL;
	memcpy(class_name, name, len);
	class_name[len] = '\0';
	return xc_reference_find(strcmp(class_name, "t") == 0 ? "Target" : class_name, name + len + 1);
}

static int help_name(lua_State *L, const char *name)
{
	struct xc_text *text = xc_bind_scratch(L);
	const struct xc_reference *entry = named(name);
	const struct xc_type *type;
	if (list_class(text, name))
		return print_scratch(L);
	if (entry) {
		xc_reference_write(text, entry);
		return print_scratch(L);
	}
	struct xc_error *err = xc_bind_type_named(xc_bind_host(L), name, &type);
	if (!err)
		return print_layout(L, type, NULL);
	xc_error_free(err);
	return xc_bind_fail(L, XC_ERR_NOT_FOUND, "'%s' is neither a function of the API nor a type", name);
}

/* The entry of a function, found by searching the module and the metatables of the API's classes. */
static const struct xc_reference *of_function(lua_State *L)
{
	size_t count;
	const struct xc_reference *all = xc_reference_all(&count);
	lua_getglobal(L, "xcore");
	for (size_t i = 0; i < count && lua_istable(L, -1); i++) {
		if (strcmp(all[i].class_name, "xcore") != 0)
			continue;
		lua_pushstring(L, all[i].name);
		lua_rawget(L, -2);
		if (lua_rawequal(L, 1, -1))
			return &all[i];
		lua_pop(L, 1);
	}
	return NULL;
}

static int help(lua_State *L)
{
	const struct xc_lua_value *value = xc_bind_test(L, 1);
	const struct xc_type *type = xc_bind_test_type(L, 1);
	struct xc_text *text = xc_bind_scratch(L);
	const struct xc_reference *entry;
	if (lua_isnoneornil(L, 1)) {
		xc_text_add(text, overview);
		return print_scratch(L);
	}
	if (value)
		return print_layout(L, value->type, value);
	if (type)
		return print_layout(L, type, NULL);
	if (lua_type(L, 1) == LUA_TSTRING)
		return help_name(L, lua_tostring(L, 1));
	if (lua_isfunction(L, 1) && (entry = of_function(L))) {
		xc_reference_write(text, entry);
		return print_scratch(L);
	}
	if (luaL_getmetafield(L, 1, "__name") == LUA_TSTRING && strncmp(lua_tostring(L, -1), "xcore.", 6) == 0 &&
	    list_class(text, lua_tostring(L, -1) + 6))
		return print_scratch(L);
	xc_text_printf(text, "a %s", luaL_typename(L, 1));
	return print_scratch(L);
}

void xc_shell_help_open(lua_State *L)
{
	lua_pushcfunction(L, help);
	lua_setglobal(L, "help");
	lua_getglobal(L, "xcore");
	lua_getfield(L, -1, "target");
	lua_setglobal(L, "t");
	lua_pop(L, 1);
}

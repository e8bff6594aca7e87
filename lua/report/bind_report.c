/* bind_report: xcore.report and its sections. Arguments are checked, and everything that can raise is done, before
 * anything is added. */
#include "lua/report/bind_report.h"

#include <jansson.h>
#include <string.h>

#include "dwarf/report/print.h"

static const char report_key;

enum { VALUE_DEPTH = 20, VALUE_ELEMENTS = 200, VALUE_LENGTH = 1 << 20 };
enum { JSON_COST = 8 }; /* bytes of memory per byte of text, about */

static const struct xc_bind_class report_class, section_class;

/* ---- what a run may tell ---- */

void xc_report_spend(lua_State *L, struct xc_lua_report *report, uint64_t bytes)
{
	if (bytes > XC_REPORT_BYTES - report->bytes) {
		report->bytes = XC_REPORT_BYTES; /* no more items: the charged one may already be in the report */
		xc_bind_fail(L, XC_ERR_LIMIT, "the report has more than %d MiB", XC_REPORT_BYTES >> 20);
	}
	report->bytes += bytes;
	xc_limit_spend(L, 10 + bytes / 64);
}

void xc_report_spend_item(lua_State *L, struct xc_lua_section *section, uint64_t bytes)
{
	if (section->items >= XC_REPORT_SECTION_ITEMS)
		xc_bind_fail(L, XC_ERR_LIMIT, "section '%s' has more than %d fields, notes and tables",
			     section->section->key, XC_REPORT_SECTION_ITEMS);
	if (section->owner->items >= XC_REPORT_ITEMS)
		xc_bind_fail(L, XC_ERR_LIMIT, "the report has more than %d fields, notes and tables", XC_REPORT_ITEMS);
	xc_report_spend(L, section->owner, bytes + sizeof(struct xc_item));
	section->items++;
	section->owner->items++;
}

/* ---- the report ---- */

void xc_report_push(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &report_key);
}

/* The section with this key: the existing one, or a new one. */
static int report_section(lua_State *L)
{
	struct xc_lua_report *self = xc_bind_class_check(L, 1, &report_class);
	const char *key = xc_report_check_key(L, 2), *title = xc_report_opt_text(L, 3, "a title");
	lua_getiuservalue(L, 1, 1);
	if (lua_getfield(L, -1, key) != LUA_TNIL)
		return 1;
	lua_pop(L, 1);
	if (self->sections >= XC_REPORT_SECTIONS)
		xc_bind_fail(L, XC_ERR_LIMIT, "the report has more than %d sections", XC_REPORT_SECTIONS);
	title = title ? title : xc_report_push_label(L, key, false);
	xc_report_spend(L, self, sizeof(struct xc_section) + strlen(key) + strlen(title));
	lua_getiuservalue(L, 1, 1);
	struct xc_lua_section *section = xc_bind_class_new(L, &section_class, sizeof *section);
	lua_pushvalue(L, 1);
	lua_setiuservalue(L, -2, 1);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, key); /* the last call that can raise: a handle never exists without its section */
	section->owner = self;
	section->section = xc_report_section(self->report, key, title);
	self->sections++;
	return 1;
}

/* ---- sections ---- */

struct xc_lua_section *xc_report_check_section(lua_State *L)
{
	return xc_bind_class_check(L, 1, &section_class);
}

/* The common start of all fields: section:KIND(key, value, options). */
struct field {
	struct xc_lua_section *section;
	const char *key, *label;
	struct xc_report_options options;
};

static struct field check_field(lua_State *L)
{
	struct field f = {.section = xc_report_check_section(L), .key = xc_report_check_key(L, 2)};
	lua_settop(L, 4);
	f.options = xc_report_check_options(L, 4, "label secret quiet");
	f.label = f.options.label ? f.options.label : xc_report_push_label(L, f.key, false);
	return f;
}

static void add_field(lua_State *L, const struct field *f, struct xc_cell cell)
{
	size_t text = cell.text ? strlen(cell.text) : 0;
	xc_report_spend_item(L, f->section, strlen(f->key) + strlen(f->label) + text);
	struct xc_field *field = xc_section_cell(f->section->section, f->key, f->label, cell);
	field->cell.secret = f->options.secret > 0;
	field->quiet = f->options.quiet;
}

static int add_checked(lua_State *L, enum xc_field_kind kind)
{
	struct field f = check_field(L);
	add_field(L, &f, xc_report_check_cell(L, 3, kind, f.key));
	return 0;
}

static int section_text(lua_State *L)
{
	return add_checked(L, XC_FIELD_TEXT);
}

static int section_count(lua_State *L)
{
	return add_checked(L, XC_FIELD_COUNT);
}

static int section_integer(lua_State *L)
{
	return add_checked(L, XC_FIELD_INTEGER);
}

static int section_number(lua_State *L)
{
	return add_checked(L, XC_FIELD_NUMBER);
}

static int section_bytes(lua_State *L)
{
	return add_checked(L, XC_FIELD_BYTES);
}

static int section_address(lua_State *L)
{
	return add_checked(L, XC_FIELD_ADDRESS);
}

static int section_bool(lua_State *L)
{
	return add_checked(L, XC_FIELD_BOOL);
}

static int section_seconds(lua_State *L)
{
	return add_checked(L, XC_FIELD_SECONDS);
}

static int section_ratio(lua_State *L)
{
	return add_checked(L, XC_FIELD_RATIO);
}

static int section_unknown(lua_State *L)
{
	struct field f = check_field(L);
	add_field(L, &f, xc_cell_null(xc_report_check_text(L, 3, f.key)));
	return 0;
}

static void add_value(lua_State *L, const struct field *f, const struct xc_value *value)
{
	struct xc_print_options options = {.format = xc_format_defaults()};
	options.format.depth = VALUE_DEPTH;
	options.format.elements = VALUE_ELEMENTS;
	options.format.length = VALUE_LENGTH;
	xc_report_spend_item(L, f->section, strlen(f->key) + strlen(f->label));
	struct xc_text *text = xc_bind_scratch(L);
	json_t *json;
	xc_print_value(text, value, &options, &json); /* nothing raises from here until the report is changed */
	struct xc_field *field = xc_section_value(f->section->section, f->key, f->label, xc_text_string(text), json);
	field->cell.secret = f->options.secret != 0;
	field->quiet = f->options.quiet;
	xc_report_spend(L, f->section->owner, text->len + JSON_COST * json_dumpb(json, NULL, 0, JSON_ENCODE_ANY));
}

/* Scalars have lost their C type: their kind is that of the Lua value. */
static enum xc_field_kind kind_of_scalar(lua_State *L, int arg)
{
	switch (lua_type(L, arg)) {
	case LUA_TBOOLEAN:
		return XC_FIELD_BOOL;
	case LUA_TNUMBER:
		return lua_isinteger(L, arg) ? XC_FIELD_INTEGER : XC_FIELD_NUMBER;
	default:
		return XC_FIELD_TEXT;
	}
}

static int section_value(lua_State *L)
{
	struct field f = check_field(L);
	const struct xc_lua_value *self = xc_bind_test(L, 3);
	if (self) {
		const struct xc_value value = xc_bind_value(L, self);
		add_value(L, &f, &value);
	} else {
		f.options.secret = f.options.secret != 0;
		add_field(L, &f, xc_report_check_cell(L, 3, kind_of_scalar(L, 3), f.key));
	}
	return 0;
}

static int section_lines(lua_State *L)
{
	struct xc_lua_section *section = xc_report_check_section(L);
	const char *key = xc_report_check_key(L, 2);
	lua_settop(L, 4);
	const char *text = xc_report_opt_text(L, 3, key);
	const struct xc_report_options options = xc_report_check_options(L, 4, "label secret quiet");
	if (!text) {
		struct field f = {section, key, options.label, options};
		f.label = f.label ? f.label : xc_report_push_label(L, key, false);
		add_field(L, &f, xc_cell_null(NULL));
		return 0;
	}
	xc_report_spend_item(L, section, strlen(key) + strlen(text) + (options.label ? strlen(options.label) : 0));
	struct xc_item *item = xc_section_lines(section->section, key, text);
	item->label = xc_arena_strdup(&section->owner->report->arena, options.label);
	item->secret = options.secret > 0;
	item->quiet = options.quiet;
	return 0;
}

static int section_headline(lua_State *L)
{
	struct xc_lua_section *section = xc_report_check_section(L);
	const char *text = xc_report_check_text(L, 2, "a headline");
	xc_report_spend(L, section->owner, strlen(text));
	section->section->headline = xc_arena_strdup(&section->owner->report->arena, text);
	return 0;
}

static int add_message(lua_State *L, enum xc_severity severity)
{
	struct xc_lua_section *section = xc_report_check_section(L);
	const char *text = xc_report_check_text(L, 2, "a note"), *hint = xc_report_opt_text(L, 3, "a hint");
	xc_report_spend_item(L, section, strlen(text) + (hint ? strlen(hint) : 0));
	xc_section_message(section->section, severity, hint, "%s", text);
	return 0;
}

static int section_note(lua_State *L)
{
	return add_message(L, XC_INFO);
}

static int section_warning(lua_State *L)
{
	return add_message(L, XC_WARNING);
}

static int section_problem(lua_State *L)
{
	return add_message(L, XC_PROBLEM);
}

/* ---- opening ---- */

static const luaL_Reg report_methods[] = {{"section", report_section}, {NULL, NULL}};

static const luaL_Reg section_methods[] = {
	{"headline", section_headline},
	{"text", section_text},
	{"count", section_count},
	{"integer", section_integer},
	{"number", section_number},
	{"bytes", section_bytes},
	{"address", section_address},
	{"bool", section_bool},
	{"seconds", section_seconds},
	{"ratio", section_ratio},
	{"value", section_value},
	{"unknown", section_unknown},
	{"lines", section_lines},
	{"note", section_note},
	{"warning", section_warning},
	{"problem", section_problem},
	{"table", xc_report_section_table},
	{"tree", xc_report_section_tree},
	{"histogram", xc_report_section_histogram},
	{NULL, NULL},
};

static const struct xc_bind_class report_class = {
	.name = "xcore.Report", .noun = "a report", .methods = report_methods};
static const struct xc_bind_class section_class = {
	.name = "xcore.Section", .noun = "a section", .methods = section_methods};

static int redacts(lua_State *L)
{
	lua_pushboolean(L, xc_bind_host(L)->options.redacts);
	return 1;
}

void xc_bind_report_open(lua_State *L)
{
	struct xc_report *report = xc_bind_host(L)->options.report;
	lua_pushcfunction(L, redacts);
	lua_setfield(L, -2, "redacts");
	xc_bind_class_open(L, &report_class);
	xc_bind_class_open(L, &section_class);
	xc_report_open_table(L);
	xc_report_open_tree(L);
	if (!report)
		return;
	struct xc_lua_report *self = xc_bind_class_new(L, &report_class, sizeof *self);
	self->report = report;
	lua_newtable(L);
	lua_setiuservalue(L, -2, 1);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &report_key);
	lua_setfield(L, -2, "report");
}

/* plugin_report: texts of plugins are untrusted; renderers escape them like all others. */
#include "lua/plugin/plugin_report.h"

#include "core/base/text.h"

static char *list_of(const struct xc_plugin_entries *entries)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < entries->count; i++)
		xc_text_printf(&text, "%s%s", i ? " " : "", entries->items[i].name);
	return xc_text_take(&text);
}

static struct xc_cell text_or_nothing(const char *text)
{
	return text ? xc_cell_text(text) : xc_cell_null(NULL);
}

static void add_row(struct xc_section *s, struct xc_table *table, const struct xc_plugin *plugin,
		    const struct xc_process *process)
{
	xc_auto(xc_freep) char *commands = list_of(&plugin->commands);
	xc_auto(xc_freep) char *flames = list_of(&plugin->flames);
	xc_auto(xc_freep) char *why = NULL;
	bool matches = process && xc_plugin_matches(plugin, process, &why);
	const struct xc_cell cells[] = {
		xc_cell_text(plugin->name), xc_cell_text(plugin->about), text_or_nothing(commands),
		text_or_nothing(flames),    xc_cell_text(plugin->file),  xc_cell_bool(matches),
		text_or_nothing(why),
	};
	xc_table_row(s, table, cells);
}

static void add_troubles(struct xc_section *s, const struct xc_plugins *plugins)
{
	for (size_t i = 0; i < plugins->dirs.refused_count; i++)
		xc_section_message(s, XC_WARNING, plugins->dirs.refused[i]->hint, "%s",
				   plugins->dirs.refused[i]->message);
	for (size_t i = 0; i < plugins->count; i++) {
		const struct xc_plugin *plugin = plugins->items[i];
		if (plugin->broken)
			xc_section_message(s, XC_WARNING, plugin->broken->hint, "%s is broken: %s", plugin->name,
					   plugin->broken->message);
	}
}

void xc_plugin_report_list(struct xc_report *report, struct xc_plugins *plugins, const struct xc_process *process)
{
	static const struct xc_column columns[] = {
		{.key = "name", .label = "name", .kind = XC_FIELD_TEXT},
		{.key = "about", .label = "about", .kind = XC_FIELD_TEXT},
		{.key = "commands", .label = "commands", .kind = XC_FIELD_TEXT},
		{.key = "flames", .label = "flames", .kind = XC_FIELD_TEXT, .verbose = true},
		{.key = "file", .label = "file", .kind = XC_FIELD_TEXT, .verbose = true},
		{.key = "matches", .label = "matches", .kind = XC_FIELD_BOOL},
		{.key = "why", .label = "why", .kind = XC_FIELD_TEXT},
	};
	struct xc_section *s = xc_report_section(report, "plugins", "Plugins");
	struct xc_table *table = NULL;
	const size_t all = XC_COUNT(columns);
	for (size_t i = 0; i < plugins->count; i++) {
		if (!xc_plugin_read(plugins, plugins->items[i]))
			continue;
		if (!table)
			table = xc_section_table(s, "plugins", columns, process ? all : all - 2);
		add_row(s, table, plugins->items[i], process);
	}
	for (size_t i = 0; i < plugins->dirs.count; i++)
		xc_section_text(s, "directory", "looked in", plugins->dirs.items[i].path)->quiet = table != NULL;
	if (!table)
		xc_section_message(s, XC_INFO, "`xcore plugin new NAME` creates one", "no plugins are installed");
	add_troubles(s, plugins);
}

static void add_entries(struct xc_section *s, const struct xc_plugin *plugin, const struct xc_plugin_entries *entries,
			const char *key, bool commands)
{
	const struct xc_column columns[] = {
		{.key = "name", .label = commands ? "command" : "flame graph", .kind = XC_FIELD_TEXT},
		{.key = "about", .label = "about", .kind = XC_FIELD_TEXT},
		{.key = "usage", .label = "usage", .kind = XC_FIELD_TEXT},
	};
	if (!entries->count)
		return;
	struct xc_table *table = xc_section_table(s, key, columns, XC_COUNT(columns));
	for (size_t i = 0; i < entries->count; i++) {
		const struct xc_plugin_entry *e = &entries->items[i];
		xc_auto(xc_freep) char *usage =
			xc_asprintf("xcore %s %s.%s TARGET%s%s", commands ? "run" : "flame", plugin->name, e->name,
				    e->usage ? " " : "", e->usage ? e->usage : "");
		xc_table_row(s, table,
			     (struct xc_cell[]){xc_cell_text(e->name), xc_cell_text(e->about), xc_cell_text(usage)});
	}
}

static void add_names(struct xc_section *s, const char *key, const char *label, const struct xc_plugin_names *names)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < names->count; i++)
		xc_text_printf(&text, "%s%s", i ? ", " : "", names->items[i]);
	if (names->count)
		xc_section_text(s, key, label, xc_text_string(&text));
	xc_text_fini(&text);
}

void xc_plugin_report_doc(struct xc_report *report, const struct xc_plugin *plugin)
{
	struct xc_section *s = xc_report_section(report, "plugin", plugin->name);
	xc_section_text(s, "name", "name", plugin->name)->quiet = true;
	xc_section_text(s, "about", "about", plugin->about);
	xc_section_text(s, "file", "file", plugin->file);
	xc_section_bool(s, "analyzes", "adds to analyze", plugin->analyzes);
	xc_section_bool(s, "claims", "knows the heap", plugin->claims)->quiet = !plugin->claims;
	xc_section_bool(s, "stacks", "knows stacks", plugin->stacks)->quiet = !plugin->stacks;
	add_names(s, "modules", "for modules", &plugin->match.modules);
	add_names(s, "symbols", "with symbols", &plugin->match.symbols);
	add_names(s, "strings", "or texts", &plugin->match.strings);
	add_names(s, "types", "with types", &plugin->match.types);
	if (plugin->doc)
		xc_section_lines(s, "doc", plugin->doc);
	add_entries(s, plugin, &plugin->commands, "commands", true);
	add_entries(s, plugin, &plugin->flames, "flames", false);
}

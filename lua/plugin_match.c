/* plugin_match: is a plugin for this target? Modules are compared by name, a symbol is looked up in hashes that are made once a
 * process; a type needs the name index of a module, which the first question builds: so types come last. */
#include <fnmatch.h>
#include <string.h>

#include "../core/text.h"
#include "../dwarf/lookup.h"
#include "../dwarf/symbol.h"
#include "plugin.h"

static bool has_module(const struct xc_process *process, const char *pattern)
{
	for (size_t i = 0; i < process->module_count; i++)
		if (fnmatch(pattern, process->modules[i]->name, 0) == 0)
			return true;
	return false;
}

static bool has_symbol(const struct xc_process *process, const char *name)
{
	return xc_symbol_find(process, name, NULL, NULL) != NULL;
}

static bool has_type(const struct xc_process *process, const char *name)
{
	static const char *const keywords[] = {"struct ", "union ", "enum ", "class "};
	for (size_t i = 0; i < XC_COUNT(keywords); i++)
		if (strncmp(name, keywords[i], strlen(keywords[i])) == 0)
			name += strlen(keywords[i]);
	struct xc_definition found;
	return xc_lookup_one(process, &(struct xc_query){.name = name, .kinds = XC_NAME_TYPE}, &found);
}

/* True when the list is empty or has a hit; the reason goes to `why`. */
static bool hit(const struct xc_plugin_names *names, const struct xc_process *process, const char *what,
		bool (*has)(const struct xc_process *process, const char *name), struct xc_text *why)
{
	for (size_t i = 0; i < names->count; i++) {
		if (!has(process, names->items[i]))
			continue;
		xc_text_printf(why, "%s%s %s", why->len ? ", " : "", what, names->items[i]);
		return true;
	}
	if (!names->count)
		return true;
	why->len = 0;
	xc_text_printf(why, "no %s ", what);
	for (size_t i = 0; i < names->count; i++)
		xc_text_printf(why, "%s%s", i ? " or " : "", names->items[i]);
	return false;
}

bool xc_plugin_matches(const struct xc_plugin *plugin, const struct xc_process *process, char **why_out)
{
	const struct xc_plugin_match *match = &plugin->match;
	struct xc_text why = {0};
	bool asks = match->modules.count || match->symbols.count || match->types.count;
	bool matches = asks && hit(&match->modules, process, "module", has_module, &why) &&
		       hit(&match->symbols, process, "symbol", has_symbol, &why) &&
		       hit(&match->types, process, "type", has_type, &why);
	if (!asks)
		xc_text_add(&why, "it names no targets: its commands are for all");
	if (why_out)
		*why_out = xc_text_take(&why);
	else
		xc_text_fini(&why);
	return matches;
}

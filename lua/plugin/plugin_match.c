/* plugin_match: does a plugin match this target? Modules are compared by name; symbols are looked up in hash tables
 * that are built once per process; a type needs the name index of a module, which the first look-up builds: so types
 * come last. Strings replace stripped symbols, and are searched only when symbols are not found: in read-only data,
 * at 10 GB/s. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/module.h"
#include "core/base/text.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/elf/name.h"
#include "lua/bulk/find.h"
#include "lua/plugin/plugin.h"

enum { MAX_MAPPINGS = 64, MAX_MODULE_BYTES = 64 << 20, MAX_BYTES = 512 << 20 };

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
	struct xc_query query = {.name = xc_name_without_keyword(name), .kinds = XC_NAME_TYPE};
	struct xc_definition found;
	return xc_lookup_one(process, &query, &found);
}

/* The mappings with a module's constants: neither writable nor code; including its code when its linker did not
 * separate them, which shows in the first mapping being code. Returns their number; *left bounds the bytes of all. */
static size_t constants_of(const struct xc_process *process, const struct xc_module *module, struct xc_range *ranges,
			   uint64_t *left)
{
	size_t count = 0;
	uint64_t room = *left < MAX_MODULE_BYTES ? *left : MAX_MODULE_BYTES;
	const struct xc_mapping *first = xc_process_mapping(process, module->lo);
	const size_t begin = XC_LOWER_BOUND(process->mapping_count, i, process->mappings[i].lo < module->lo);
	for (size_t i = begin; i < process->mapping_count && count < MAX_MAPPINGS && room; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (m->lo > module->hi)
			break;
		if (m->hi > module->hi || !m->readable || m->writable || (m->executable && first && !first->executable))
			continue;
		uint64_t size = m->hi - m->lo < room - 1 ? m->hi - m->lo + 1 : room;
		ranges[count++] = (struct xc_range){m->lo, m->lo + (size - 1)};
		room -= size;
		*left -= size;
	}
	return count;
}

static bool holds(const struct xc_process *process, const struct xc_range *ranges, size_t count, const char *text)
{
	xc_addr at;
	struct xc_find find = {.space = process->space,
			       .ranges = ranges,
			       .range_count = count,
			       .kind = XC_FIND_BYTES,
			       .align = 1,
			       .size = strlen(text),
			       .bytes = (const uint8_t *)text};
	if (find.size < 1 || find.size > XC_FIND_SPAN || count == 0)
		return false;
	find.buffer = malloc(xc_find_buffer_size(&find));
	size_t hits = 0;
	while (find.buffer && hits == 0 && !find.done)
		hits = xc_find_run(&find, &at, 1, MAX_MODULE_BYTES);
	free(find.buffer);
	return hits > 0;
}

static bool has_string(const struct xc_process *process, const char *text)
{
	uint64_t left = MAX_BYTES;
	struct xc_range ranges[MAX_MAPPINGS];
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_module *module = process->modules[i];
		if (xc_module_is_runtime(module))
			continue;
		size_t count = constants_of(process, module, ranges, &left);
		if (holds(process, ranges, count, text))
			return true;
	}
	return false;
}

/* True: the list is empty or has a hit; the reason is appended to `why`. */
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

/* Symbols, or strings for a program without them. */
static bool hit_symbols(const struct xc_plugin_match *match, const struct xc_process *process, struct xc_text *why)
{
	if (match->symbols.count && hit(&match->symbols, process, "symbol", has_symbol, why))
		return true;
	if (!match->strings.count)
		return !match->symbols.count;
	struct xc_text strings = {0};
	bool found = hit(&match->strings, process, "text", has_string, &strings);
	if (found)
		why->len = 0;
	xc_text_printf(why, "%s%s", why->len ? ", " : "", xc_text_string(&strings));
	xc_text_fini(&strings);
	return found;
}

bool xc_plugin_matches(const struct xc_plugin *plugin, const struct xc_process *process, char **why_out)
{
	const struct xc_plugin_match *match = &plugin->match;
	struct xc_text why = {0};
	bool asks = xc_plugin_asks(match);
	bool matches = asks && hit(&match->modules, process, "module", has_module, &why) &&
		       hit_symbols(match, process, &why) && hit(&match->types, process, "type", has_type, &why);
	if (!asks)
		xc_text_add(&why, "it has no match: its commands work on all targets");
	if (why_out)
		*why_out = xc_text_take(&why);
	else
		xc_text_fini(&why);
	return matches;
}

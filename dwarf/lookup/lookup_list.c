/* lookup_list: all names of a module, and names similar to a given one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/suggest.h"
#include "dwarf/lookup/lookup_impl.h"
#include "dwarf/lookup/name_query.h"

static struct xc_index *ready_index(const struct xc_process *process, struct xc_module *module)
{
	struct xc_index *index = xc_lookup_index(process, module);
	if (index && !xc_index_ready(index))
		xc_index_rebuild(index);
	return index;
}

static void qualified(struct xc_index *index, const struct xc_index_entry *entry, struct xc_text *text)
{
	struct xc_index_entry scopes[XC_NAME_QUERY_PARTS] = {*entry};
	size_t count = 1, len;
	while (count < XC_NAME_QUERY_PARTS && scopes[count - 1].parent &&
	       xc_index_table_entry(xc_index_table(index), scopes[count - 1].parent - 1, &scopes[count]))
		count++;
	while (count-- > 0) {
		const char *name = xc_index_name(index, &scopes[count], &len);
		if (name)
			xc_text_addn(text, name, len);
		else
			xc_text_add(text, "(anonymous namespace)");
		if (count > 0)
			xc_text_add(text, "::");
	}
}

/* Reads everything of the index that opening the entries needs, so that damage is found here. */
static struct xc_index_entry *list_module(struct xc_index *index, unsigned kinds, size_t *count_out)
{
	struct xc_index_entry *list = NULL, entry;
	struct xc_index_unit unit;
	size_t capacity = 0;
	*count_out = 0;
	for (uint32_t i = 0;
	     i < xc_index_table_count(xc_index_table(index)) && xc_index_table_entry(xc_index_table(index), i, &entry);
	     i++) {
		if (!(xc_index_kind(&entry) & kinds) || !xc_index_table_unit(xc_index_table(index), entry.unit, &unit))
			continue;
		list = xc_grow(list, *count_out, &capacity, sizeof *list);
		list[(*count_out)++] = entry;
	}
	if (*count_out)
		qsort(list, *count_out, sizeof *list, xc_lookup_by_place);
	return list;
}

void xc_lookup_each(const struct xc_process *process, struct xc_module *module, unsigned kinds, xc_lookup_fn *each,
		    void *context)
{
	struct xc_index *index = ready_index(process, module);
	size_t count;
	if (!index)
		return;
	struct xc_index_entry *list = list_module(index, kinds, &count);
	if (xc_index_table(index)->damaged) {
		free(list);
		xc_index_rebuild(index);
		list = list_module(index, kinds, &count);
	}
	bool more = true;
	for (size_t i = 0; i < count && more; i++) {
		xc_auto(xc_text_fini) struct xc_text name = {0};
		struct xc_definition one;
		qualified(index, &list[i], &name);
		if (xc_lookup_open(process, module, index, &list[i], &one))
			more = each(context, xc_text_string(&name), &one);
	}
	free(list);
}

/* ---- did you mean ---- */

enum { MAX_SIMILAR = 8 };

struct similar {
	const char *wrong;
	char *names[MAX_SIMILAR]; /* nearest first */
	size_t distances[MAX_SIMILAR];
	size_t count, max;
};

static bool has_name(const struct similar *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->names[i], name))
			return true;
	return false;
}

static void consider(struct similar *s, size_t distance, char *name)
{
	size_t at = s->count;
	if (has_name(s, name) || (at == s->max && distance >= s->distances[at - 1])) {
		free(name);
		return;
	}
	if (at == s->max)
		free(s->names[--at]);
	else
		s->count++;
	for (; at > 0 && s->distances[at - 1] > distance; at--) {
		s->names[at] = s->names[at - 1];
		s->distances[at] = s->distances[at - 1];
	}
	s->names[at] = name;
	s->distances[at] = distance;
}

static void consider_module(struct xc_index *index, unsigned kinds, struct similar *s)
{
	struct xc_index_entry entry;
	for (uint32_t i = 0;
	     i < xc_index_table_count(xc_index_table(index)) && xc_index_table_entry(xc_index_table(index), i, &entry);
	     i++) {
		size_t len;
		const char *name = xc_index_kind(&entry) & kinds ? xc_index_name(index, &entry, &len) : NULL;
		size_t distance = name ? xc_suggest_distance(s->wrong, name) : SIZE_MAX;
		if (distance == SIZE_MAX || (s->count == s->max && distance >= s->distances[s->count - 1]))
			continue;
		struct xc_text text = {0};
		qualified(index, &entry, &text);
		consider(s, distance, xc_text_take(&text));
	}
}

static void consider_modules(const struct xc_process *process, const struct xc_query *query, struct similar *s)
{
	for (size_t i = 0; i < process->module_count; i++) {
		struct xc_module *module = process->modules[i];
		struct xc_index *index =
			!query->module || query->module == module ? ready_index(process, module) : NULL;
		if (index)
			consider_module(index, query->kinds, s);
	}
}

size_t xc_lookup_similar(const struct xc_process *process, const struct xc_query *query, size_t max,
			 struct xc_text *text)
{
	struct xc_name_query wanted = {0};
	if (max == 0 || !xc_name_query_split(query, &wanted))
		return 0;
	char wrong[64];
	snprintf(wrong, sizeof wrong, "%.*s", (int)(wanted.parts[0].len < 63 ? wanted.parts[0].len : 63),
		 wanted.parts[0].text);
	struct similar s = {.wrong = wrong, .max = max < MAX_SIMILAR ? max : MAX_SIMILAR};
	consider_modules(process, query, &s);
	char *arguments = s.count ? NULL : strchr(wrong, '<');
	if (arguments) { /* the arguments may be spelled differently: accept any of this template */
		arguments[1] = '\0';
		consider_modules(process, query, &s);
	}
	size_t shown = 0;
	for (size_t i = 0; i < s.count; i++) {
		/* The same name in another scope is a sure match. */
		if (s.distances[i] == 0 || s.distances[0] > 0)
			xc_text_printf(text, "%s%s", shown++ ? ", " : "", s.names[i]);
		free(s.names[i]);
	}
	return shown;
}

/* lookup: a name is parted into components; the last one is looked up by its hash, and each candidate's scopes are compared
 * from the inside out. Namespaces that are inline or anonymous may be left out. When a page of an index turns out to be
 * damaged, the index is rebuilt and the query starts anew: no half answer. */
#include "lookup.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/suggest.h"
#include "debuginfo.h"
#include "die.h"
#include "index.h"
#include "name.h"
#include "scope.h"
#include "section.h"
#include "split.h"

enum { MAX_SCOPES = 64, MAX_CANDIDATES = 1 << 16 };

/* The index of one module, opened when first asked for. */
struct indexed {
	struct indexed *next;
	struct xc_module *module;
	struct xc_index *index; /* NULL: no debug information */
};

static struct xc_index *index_of(const struct xc_process *process, struct xc_module *module)
{
	struct indexed **list = (struct indexed **)xc_debuginfo_names(process), *i;
	for (i = *list; i; i = i->next)
		if (i->module == module)
			return i->index;
	i = xc_alloc(sizeof *i);
	i->module = module;
	i->index = xc_index_open(process, module);
	i->next = *list;
	*list = i;
	return i->index;
}

void xc_lookup_close(struct xc_process *process)
{
	struct indexed **list = (struct indexed **)xc_debuginfo_names(process);
	for (struct indexed *i; (i = *list); free(i)) {
		*list = i->next;
		xc_index_close(i->index);
	}
}

/* ---- does a candidate bear the name? ---- */

struct part {
	const char *text;
	size_t len;
};

struct wanted {
	const struct xc_query *query;
	struct part parts[MAX_SCOPES]; /* last first */
	size_t part_count;
	uint32_t hash;
	bool bare;                     /* without template arguments, which are compared when the entry is opened: */
	struct part given[MAX_SCOPES]; /* the parts as they were asked for */
};

static bool split_name(const struct xc_query *query, struct wanted *wanted)
{
	size_t len = query->name ? strlen(query->name) : 0;
	wanted->query = query;
	while (wanted->part_count < MAX_SCOPES) {
		struct part *part = &wanted->parts[wanted->part_count];
		part->text = xc_name_last(query->name, &len, &part->len);
		if (!part->text || (!part->len && !len))
			break;
		if (!part->len)
			return false;
		wanted->part_count++;
	}
	if (!wanted->part_count)
		return false;
	wanted->hash = (uint32_t)xc_name_hash(wanted->parts[0].text, wanted->parts[0].len);
	return true;
}

/* Cut the template arguments off, for units whose names do not have them (clang -gsimple-template-names). False when there are
 * none. */
static bool make_bare(struct wanted *wanted)
{
	memcpy(wanted->given, wanted->parts, wanted->part_count * sizeof *wanted->parts);
	for (size_t i = 0; i < wanted->part_count; i++) {
		struct part *part = &wanted->parts[i];
		const char *at = memchr(part->text, '<', part->len);
		if (!at || at == part->text || strncmp(part->text, "operator", 8) == 0)
			continue;
		part->len = (size_t)(at - part->text);
		wanted->bare = true;
	}
	wanted->hash = (uint32_t)xc_name_hash(wanted->parts[0].text, wanted->parts[0].len);
	return wanted->bare;
}

/* Do the parts as asked for stand in the whole name, in order? That others may be left out was seen to already. */
static bool has_arguments(const struct xc_process *process, Dwarf_Die *die, const struct wanted *wanted)
{
	const char *name = xc_scope_name(xc_types_of(process), die);
	size_t len = name ? strlen(name) : 0, part = 0, part_len;
	for (int i = 0; i < MAX_SCOPES && part < wanted->part_count; i++) {
		const char *text = xc_name_last(name, &len, &part_len);
		if (!text || (!part_len && !len))
			break;
		bool same = xc_name_equal(text, part_len, wanted->given[part].text, wanted->given[part].len);
		if (!same && part == 0)
			return false;
		part += same;
	}
	return part == wanted->part_count;
}

static bool is_named(struct xc_index *index, const struct xc_index_entry *entry, const struct part *part)
{
	size_t len;
	const char *name = xc_index_name(index, entry, &len);
	return name && xc_name_equal(name, len, part->text, part->len);
}

/* Compare the scopes around a candidate with the components left of the last. */
static bool scopes_match(struct xc_index *index, const struct xc_index_entry *entry, const struct wanted *wanted)
{
	struct xc_index_entry scope = *entry;
	size_t part = 1;
	for (int depth = 0; depth < MAX_SCOPES && scope.parent; depth++) {
		if (!xc_index_table_entry(xc_index_table(index), scope.parent - 1, &scope))
			return false;
		if (part < wanted->part_count && is_named(index, &scope, &wanted->parts[part]))
			part++;
		else if (!(scope.flags & XC_INDEX_TRANSPARENT) &&
			 !(wanted->query->anywhere && part == wanted->part_count))
			return false;
	}
	return part == wanted->part_count;
}

static bool tag_matches(int wanted, int tag)
{
	bool record = tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_interface_type;
	if (wanted == DW_TAG_structure_type || wanted == DW_TAG_class_type)
		return record;
	return !wanted || wanted == tag;
}

static bool matches(struct xc_index *index, const struct xc_index_entry *entry, const struct wanted *wanted)
{
	const struct xc_query *query = wanted->query;
	if (!(xc_index_kind(entry) & query->kinds) || !tag_matches(query->tag, entry->tag))
		return false;
	if ((entry->flags & XC_INDEX_DECLARATION) && !query->declarations)
		return false;
	return is_named(index, entry, &wanted->parts[0]) && scopes_match(index, entry, wanted);
}

/* ---- from an entry to a DIE ---- */

static bool open_entry(const struct xc_process *process, struct xc_module *module, struct xc_index *index,
		       const struct xc_index_entry *entry, struct xc_definition *out)
{
	struct xc_index_unit unit;
	*out = (struct xc_definition){.module = module,
				      .kind = xc_index_kind(entry),
				      .declaration = entry->flags & XC_INDEX_DECLARATION,
				      .external = entry->flags & XC_INDEX_EXTERNAL};
	if (!xc_index_table_unit(xc_index_table(index), entry->unit, &unit))
		return false;
	if (out->kind == XC_NAME_MACRO) {
		size_t len;
		const char *name = xc_index_name(index, entry, &len);
		out->macro = name && name[len] ? name + len + 1 : NULL;
		return out->macro != NULL;
	}
	struct xc_split *split = unit.space == XC_INDEX_SPLIT ? xc_debugfile_split(module->debug) : NULL;
	bool opened =
		split ? xc_split_die(split, unit.offset, unit.signature, entry->die, &out->die)
		      : unit.space <= XC_INDEX_ALT && xc_debuginfo_die(process, module, (enum xc_unit_space)unit.space,
								       unit.offset, entry->die, &out->die);
	return opened && dwarf_tag(&out->die) == entry->tag;
}

static bool ends_in(const char *path, const char *wanted)
{
	size_t len = path ? strlen(path) : 0, want = strlen(wanted);
	return path && want <= len && !strcmp(path + len - want, wanted) &&
	       (want == len || path[len - want - 1] == '/');
}

/* Does the DIE's unit come from a source file of this name, or whose path ends in it? */
static bool in_unit(Dwarf_CU *cu, const char *wanted)
{
	Dwarf_Die unit;
	return dwarf_cu_die(cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) && ends_in(dwarf_diename(&unit), wanted);
}

/* Was it declared in one? For sources that others include, and link-time optimisation: there the number is one of the unit
 * that holds the abstract instance. */
static bool in_file(const struct xc_process *process, Dwarf_Die *die, const char *wanted)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;
	uint64_t file;
	return xc_die_attr(die, DW_AT_decl_file, &attr) && xc_die_constant(&attr, &file) &&
	       dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
	       ends_in(xc_debuginfo_file(process, &unit, file), wanted);
}

static void add(struct xc_definitions *found, const struct xc_definition *one)
{
	if (found->count == XC_LOOKUP_MAX) {
		found->more = true;
		return;
	}
	found->items = xc_grow(found->items, found->count, &found->capacity, sizeof *found->items);
	found->items[found->count++] = *one;
}

static int by_place(const void *a, const void *b)
{
	const struct xc_index_entry *x = a, *y = b;
	return x->unit != y->unit ? (x->unit < y->unit ? -1 : 1) : x->die < y->die ? -1 : x->die > y->die;
}

/* The matching entries of a module in the order of the file; malloc'ed. */
static struct xc_index_entry *candidates(struct xc_index *index, const struct wanted *wanted, size_t *count_out)
{
	uint32_t first;
	size_t count = xc_index_table_find(xc_index_table(index), wanted->hash, &first), capacity = 0;
	struct xc_index_entry *list = NULL, entry;
	*count_out = 0;
	for (size_t i = 0; i < count && *count_out < MAX_CANDIDATES; i++) {
		if (!xc_index_table_entry(xc_index_table(index), first + (uint32_t)i, &entry) ||
		    !matches(index, &entry, wanted))
			continue;
		list = xc_grow(list, *count_out, &capacity, sizeof *list);
		list[(*count_out)++] = entry;
	}
	if (*count_out)
		qsort(list, *count_out, sizeof *list, by_place);
	return list;
}

static bool is_small(const struct xc_process *process, struct xc_module *module)
{
	Elf *elf = xc_debugfile_dwarf_elf(xc_debugfile_of(process, module));
	if (!elf)
		return true;
	struct xc_cursor info = xc_section_cursor(elf, ".debug_info");
	return xc_cursor_left(&info) <= XC_LOOKUP_SMALL;
}

static bool fits(const struct xc_process *process, struct xc_definition *one, const struct wanted *wanted, bool by_file)
{
	const char *unit = wanted->query->unit;
	if (wanted->bare && !has_arguments(process, &one->die, wanted))
		return false;
	if (!unit || one->macro)
		return true;
	return by_file ? in_file(process, &one->die, unit) : in_unit(one->die.cu, unit);
}

/* What an index has of the name; false when that is damaged. A file means its unit before it means what is declared there. */
static bool add_from(const struct xc_process *process, struct xc_module *module, struct xc_index *index,
		     const struct wanted *wanted, struct xc_definitions *found)
{
	struct xc_definition one;
	size_t count, before = found->count;
	xc_auto(xc_freep) struct xc_index_entry *list = candidates(index, wanted, &count);
	for (int by_file = 0; by_file < (wanted->query->unit ? 2 : 1) && found->count == before; by_file++)
		for (size_t i = 0; i < count && !xc_index_table(index)->damaged; i++)
			if (open_entry(process, module, index, &list[i], &one) && fits(process, &one, wanted, by_file))
				add(found, &one);
	if (xc_index_table(index)->damaged)
		found->count = before;
	return !xc_index_table(index)->damaged;
}

/* By a table of the file itself, which knows the name's units; true when that found something. */
static bool add_from_part(const struct xc_process *process, struct xc_module *module, struct xc_index *index,
			  const struct wanted *wanted, struct xc_definitions *found)
{
	size_t before = found->count;
	if (wanted->query->anywhere || wanted->bare)
		return false; /* not all of them are in the units of one name */
	struct xc_index *part =
		xc_index_partial(index, wanted->query->name, wanted->parts[0].text, wanted->parts[0].len);
	if (!part)
		return false;
	add_from(process, module, part, wanted, found);
	xc_index_close(part);
	return found->count > before;
}

static void look_in(const struct xc_process *process, struct xc_module *module, const struct wanted *wanted,
		    struct xc_definitions *found)
{
	bool passed = wanted->query->small_only && !is_small(process, module);
	struct xc_index *index = passed ? NULL : index_of(process, module);
	if (!index || (!xc_index_ready(index) && add_from_part(process, module, index, wanted, found)))
		return;
	if (!xc_index_ready(index))
		xc_index_rebuild(index);
	if (!add_from(process, module, index, wanted, found)) {
		xc_index_rebuild(index);
		add_from(process, module, index, wanted, found);
	}
}

static void look_in_all(const struct xc_process *process, const struct wanted *wanted, struct xc_definitions *found)
{
	if (wanted->query->module) {
		look_in(process, wanted->query->module, wanted, found);
		return;
	}
	for (size_t i = 0; i < process->module_count; i++)
		look_in(process, process->modules[i], wanted, found);
}

struct xc_error *xc_lookup(const struct xc_process *process, const struct xc_query *query, struct xc_definitions *found)
{
	struct wanted wanted = {0};
	if (!split_name(query, &wanted))
		return xc_error_new(XC_ERR_USAGE, "no name to look up");
	size_t before = found->count;
	look_in_all(process, &wanted, found);
	if (found->count == before && make_bare(&wanted))
		look_in_all(process, &wanted, found);
	return NULL;
}

void xc_definitions_fini(struct xc_definitions *found)
{
	free(found->items);
	*found = (struct xc_definitions){0};
}

/* ---- the best one ---- */

static unsigned rank(const struct xc_definition *one, Dwarf_Die *near, const struct xc_module *module)
{
	return (near && !one->macro && one->die.cu == near->cu ? 8u : 0) + (module && one->module == module ? 4u : 0) +
	       (one->declaration ? 0 : 2u) + (one->external ? 1u : 0);
}

static struct xc_module *module_of(const struct xc_process *process, Dwarf_Die *near)
{
	return near ? xc_debuginfo_module(process, dwarf_cu_getdwarf(near->cu)) : NULL;
}

static bool best(const struct xc_definitions *found, Dwarf_Die *near, const struct xc_module *module,
		 struct xc_definition *out)
{
	unsigned top = 0;
	for (size_t i = 0; i < found->count; i++) {
		unsigned r = rank(&found->items[i], near, module) + 1;
		if (r > top) {
			*out = found->items[i];
			top = r;
		}
	}
	return top > 0;
}

/* Modules are asked one by one, so that the index of a library is only built when nothing nearer has the name. */
static bool first_of(const struct xc_process *process, const struct wanted *wanted, Dwarf_Die *near,
		     struct xc_definition *out)
{
	const struct xc_module *only = wanted->query->module;
	struct xc_module *home = module_of(process, near);
	bool found_any = false;
	for (size_t i = 0; i <= process->module_count && !found_any; i++) {
		struct xc_module *module = i == 0 ? home : process->modules[i - 1];
		if (!module || (i > 0 && module == home) || (only && module != only))
			continue;
		struct xc_definitions found = {0};
		look_in(process, module, wanted, &found);
		found_any = best(&found, near, home, out);
		xc_definitions_fini(&found);
	}
	return found_any;
}

bool xc_lookup_one(const struct xc_process *process, const struct xc_query *query, Dwarf_Die *near,
		   struct xc_definition *out)
{
	struct wanted wanted = {0};
	if (!split_name(query, &wanted))
		return false;
	return first_of(process, &wanted, near, out) || (make_bare(&wanted) && first_of(process, &wanted, near, out));
}

/* ---- all of them ---- */

static struct xc_index *ready_index(const struct xc_process *process, struct xc_module *module)
{
	struct xc_index *index = index_of(process, module);
	if (index && !xc_index_ready(index))
		xc_index_rebuild(index);
	return index;
}

static void qualified(struct xc_index *index, const struct xc_index_entry *entry, struct xc_text *text)
{
	struct xc_index_entry scopes[MAX_SCOPES] = {*entry};
	size_t count = 1, len;
	while (count < MAX_SCOPES && scopes[count - 1].parent &&
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

static struct xc_index_entry *list_module(struct xc_index *index, unsigned kinds, size_t *count_out)
{
	struct xc_index_entry *list = NULL, entry;
	size_t capacity = 0;
	*count_out = 0;
	for (uint32_t i = 0;
	     i < xc_index_table_count(xc_index_table(index)) && xc_index_table_entry(xc_index_table(index), i, &entry);
	     i++) {
		if (!(xc_index_kind(&entry) & kinds))
			continue;
		list = xc_grow(list, *count_out, &capacity, sizeof *list);
		list[(*count_out)++] = entry;
	}
	if (*count_out)
		qsort(list, *count_out, sizeof *list, by_place);
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
		if (open_entry(process, module, index, &list[i], &one))
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
	struct wanted wanted = {0};
	if (max == 0 || !split_name(query, &wanted))
		return 0;
	char wrong[64];
	snprintf(wrong, sizeof wrong, "%.*s", (int)(wanted.parts[0].len < 63 ? wanted.parts[0].len : 63),
		 wanted.parts[0].text);
	struct similar s = {.wrong = wrong, .max = max < MAX_SIMILAR ? max : MAX_SIMILAR};
	consider_modules(process, query, &s);
	char *arguments = s.count ? NULL : strchr(wrong, '<');
	if (arguments) { /* perhaps they are written in other words: any of this template */
		arguments[1] = '\0';
		consider_modules(process, query, &s);
	}
	size_t shown = 0;
	for (size_t i = 0; i < s.count; i++) {
		/* The very name, in another scope, leaves no doubt. */
		if (s.distances[i] == 0 || s.distances[0] > 0)
			xc_text_printf(text, "%s%s", shown++ ? ", " : "", s.names[i]);
		free(s.names[i]);
	}
	return shown;
}

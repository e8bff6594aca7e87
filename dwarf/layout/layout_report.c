/* layout_report: looks up a type by name, and groups definitions with the same text.
 *
 * A header compiled into a thousand units gives a thousand definitions; xc_lookup merges those that agree in name, size
 * and place. The rest are compared by their text, as a reader would. A struct that is shown by a typedef of the same
 * name is left out. */
#include "dwarf/layout/layout_report.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"
#include "core/process/module.h"
#include "dwarf/layout/layout_json.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/name.h"

enum { MAX_PLACES = 8, SIMILAR = 3, MAX_LISTED = 1 << 22 };

/* Definitions with the same text. */
struct group {
	const struct xc_type *type;
	struct xc_text text;    /* without places */
	struct xc_text places;  /* "file:line in module", parted by newlines */
	struct xc_text modules; /* of definitions without a place in the source, separated by commas */
	json_t *place_list;
	size_t place_count;
	bool covered; /* shown by a typedef */
};

struct groups {
	struct group *items;
	size_t count, capacity;
};

static void free_groups(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		xc_text_fini(&groups->items[i].text);
		xc_text_fini(&groups->items[i].places);
		xc_text_fini(&groups->items[i].modules);
		json_decref(groups->items[i].place_list);
	}
	free(groups->items);
}

/* ---- the name ---- */

/* Remove a keyword from the front; returns its tag, or 0. */
static int cut_keyword(const char **name)
{
	static const struct {
		const char *word;
		int tag;
	} keywords[] = {
		{"struct", DW_TAG_structure_type}, {"class", DW_TAG_structure_type}, {"union", DW_TAG_union_type},
		{"enum", DW_TAG_enumeration_type}, {"typedef", DW_TAG_typedef},
	};
	for (size_t i = 0; i < XC_COUNT(keywords); i++) {
		size_t len = strlen(keywords[i].word);
		if (strncmp(*name, keywords[i].word, len) != 0 || !strchr(" \t", (*name)[len]) || !(*name)[len])
			continue;
		*name += len + strspn(*name + len, " \t");
		return keywords[i].tag;
	}
	return 0;
}

/* "libx.so!struct foo": the module, named by its last component or its path. */
static struct xc_error *cut_module(const struct xc_process *process, const char **text, struct xc_module **module_out)
{
	const char *mark = strchr(*text, '!');
	*module_out = NULL;
	if (!mark)
		return NULL;
	xc_auto(xc_freep) char *name = xc_asprintf("%.*s", (int)(mark - *text), *text);
	if (!(*module_out = xc_module_by_name(process, name)))
		return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "no module '%s' in %s", name, process->target),
				     "`xcore modules` lists them");
	*text = mark + 1;
	return NULL;
}

static bool has_tag(enum xc_type_kind kind)
{
	return kind == XC_TYPE_STRUCT || kind == XC_TYPE_UNION || kind == XC_TYPE_ENUM;
}

/* Search the scope as written, then any scope, then declarations. */
static struct xc_error *find(const struct xc_process *process, struct xc_query *query, struct xc_definitions *found)
{
	for (int step = 0; step < 3; step++) {
		query->anywhere = step > 0;
		query->declarations = step > 1;
		struct xc_error *err = xc_lookup(process, query, found);
		if (err || found->count)
			return err;
		xc_definitions_fini(found);
	}
	return NULL;
}

static struct xc_error *not_found(const struct xc_process *process, const struct xc_query *query, const char *text)
{
	xc_auto(xc_text_fini) struct xc_text similar = {0};
	struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "no type '%s' in %s", text,
					    query->module ? query->module->name : process->target);
	if (xc_lookup_similar(process, query, SIMILAR, &similar))
		return xc_error_hint(err, "did you mean %s?", xc_text_string(&similar));
	return xc_error_hint(err, "`xcore modules` lists modules without debug information");
}

/* ---- groups ---- */

static void add_place(struct group *group, const struct xc_definition *definition, const struct xc_type *type)
{
	const char *file = NULL;
	unsigned line = 0;
	bool placed = xc_type_place(type, &file, &line);
	json_t *place = json_object();
	xc_jsonvalue_set(place, "module", xc_jsonvalue_text(definition->module->name));
	xc_jsonvalue_set(place, "file", xc_jsonvalue_text(placed ? file : NULL));
	xc_jsonvalue_set(place, "line", placed && line ? xc_jsonvalue_count(line) : json_null());
	json_array_append_new(group->place_list, place);
	if (group->place_count++ >= MAX_PLACES)
		return;
	if (placed && file) {
		xc_text_add(&group->places, "/* ");
		xc_text_name(&group->places, file);
		xc_text_printf(&group->places, ":%u in ", line);
		xc_text_name(&group->places, definition->module->name);
		xc_text_add(&group->places, " */\n");
	} else {
		xc_text_add(&group->modules, group->modules.len ? ", " : "");
		xc_text_name(&group->modules, definition->module->name);
	}
}

static void add_definition(struct groups *groups, const struct xc_process *process,
			   const struct xc_definition *definition, const struct xc_layout_shown *shown)
{
	Dwarf_Die die = definition->die;
	const struct xc_type *type = xc_type_get(xc_types_of(process), &die);
	struct group one = {.type = type};
	struct group *group = NULL;
	xc_layout_text(&one.text, type, shown);
	for (size_t i = 0; i < groups->count && !group; i++)
		if (strcmp(xc_text_string(&groups->items[i].text), xc_text_string(&one.text)) == 0)
			group = &groups->items[i];
	if (group) {
		xc_text_fini(&one.text);
	} else {
		one.place_list = json_array();
		groups->items = xc_grow(groups->items, groups->count, &groups->capacity, sizeof one);
		groups->items[groups->count] = one;
		group = &groups->items[groups->count++];
	}
	add_place(group, definition, type);
}

static bool ends_with(const struct xc_text *text, const struct xc_text *end)
{
	return text->len > end->len && memcmp(text->bytes + text->len - end->len, end->bytes, end->len) == 0;
}

/* `typedef struct client client;` already shows struct client. */
static void cover(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		for (size_t j = 0; j < groups->count; j++)
			if (groups->items[j].type->kind == XC_TYPE_TYPEDEF &&
			    ends_with(&groups->items[j].text, &groups->items[i].text))
				groups->items[i].covered = true;
}

static void add_document(struct xc_section *s, struct groups *groups, const struct xc_layout_shown *shown)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	json_t *root = NULL, *others = json_array();
	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->items[i];
		if (group->covered)
			continue;
		json_t *object = xc_layout_json(group->type, shown);
		xc_jsonvalue_set(object, "places", json_incref(group->place_list));
		xc_text_add(&text, root ? "\n" : "");
		xc_text_add(&text, xc_text_string(&group->places));
		if (group->modules.len)
			xc_text_printf(&text, "/* in %s */\n", xc_text_string(&group->modules));
		if (group->place_count > MAX_PLACES)
			xc_text_printf(&text, "/* and %zu more */\n", group->place_count - MAX_PLACES);
		xc_text_add(&text, xc_text_string(&group->text));
		if (root)
			json_array_append_new(others, object);
		else
			root = object;
	}
	if (json_array_size(others))
		xc_jsonvalue_set(root, "others", others);
	else
		json_decref(others);
	xc_section_document(s, "type", xc_text_string(&text), root);
}

bool xc_layout_is_tag(const struct xc_process *process, const char *text)
{
	struct xc_query query = {.kinds = XC_NAME_TYPE, .name = text};
	struct xc_definitions found = {0};
	if (strchr(text, '!') || cut_keyword(&text))
		return false;
	struct xc_error *err = find(process, &query, &found);
	bool tags = !err && found.count > 0;
	for (size_t i = 0; i < found.count; i++) {
		const struct xc_type *type = xc_type_get(xc_types_of(process), &found.items[i].die);
		tags &= type->is_c && has_tag(type->kind);
	}
	xc_error_free(err);
	xc_definitions_fini(&found);
	return tags;
}

struct xc_error *xc_layout_report(struct xc_section *s, const struct xc_process *process, const char *text,
				  const struct xc_layout_shown *shown)
{
	struct xc_query query = {.kinds = XC_NAME_TYPE};
	struct xc_definitions found = {0};
	struct groups groups = {0};
	xc_auto(xc_text_fini) struct xc_text plain = {0};
	const char *name = text + strspn(text, " \t");
	xc_types_of(process)->thorough = true; /* names are looked up anyway */
	struct xc_error *err = cut_module(process, &name, &query.module);
	if (err)
		return err;
	name += strspn(name, " \t");
	query.tag = cut_keyword(&name);
	xc_name_without_anonymous(name, &plain);
	query.name = xc_text_string(&plain);
	if ((err = find(process, &query, &found)))
		return err;
	if (!found.count)
		return not_found(process, &query, text);
	for (size_t i = 0; i < found.count; i++)
		add_definition(&groups, process, &found.items[i], shown);
	cover(&groups);
	add_document(s, &groups, shown);
	if (found.more)
		xc_section_message(s, XC_WARNING, NULL, "only the first %d definitions of this name were read",
				   XC_LOOKUP_MAX);
	free_groups(&groups);
	xc_definitions_fini(&found);
	return NULL;
}

void xc_layout_report_type(struct xc_section *s, const struct xc_process *process, const struct xc_type *type,
			   const struct xc_layout_shown *shown)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_types_of(process)->thorough = true;
	xc_layout_text(&text, type, shown);
	xc_section_document(s, "type", xc_text_string(&text), xc_layout_json(type, shown));
}

/* ---- listings ---- */

struct listing {
	const struct xc_process *process;
	const struct xc_layout_listing *asked;
	struct xc_hashtable seen; /* (hash, other hash) of each type that was listed → 1 */
};

/* Two FNV-1a hashes with different starts: 128 bits distinguish any two types. */
static void hash(const char *text, uint64_t out[2])
{
	out[0] = UINT64_C(0xcbf29ce484222325);
	out[1] = UINT64_C(0x9e3779b97f4a7c15);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		out[0] = (out[0] ^ *c) * UINT64_C(0x100000001b3);
		out[1] = ((out[1] << 5 | out[1] >> 59) ^ *c) * UINT64_C(0x517cc1b727220a95);
	}
}

/* True for a type that was not listed yet. */
static bool is_new(struct listing *l, const char *text)
{
	uint64_t key[2];
	hash(text, key);
	return !xc_hashtable_at(&l->seen, NULL, key[0], key[1])->number++;
}

static json_t *place_of(const struct xc_type *type, json_t *object)
{
	const char *file;
	unsigned line;
	if (xc_type_place(type, &file, &line)) {
		xc_jsonvalue_set(object, "file", xc_jsonvalue_text(file));
		xc_jsonvalue_set(object, "line", xc_jsonvalue_count(line));
	}
	return object;
}

static bool list_one(void *context, const char *name, const struct xc_definition *definition)
{
	struct listing *l = context;
	Dwarf_Die die = definition->die;
	const struct xc_type *type = xc_type_get(xc_types_of(l->process), &die);
	(void)name;
	if (definition->declaration || (l->asked->kind && strcmp(xc_layout_kind_name(type), l->asked->kind) != 0))
		return true;
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_auto(xc_freep) char *line = NULL;
	if (l->asked->json) {
		line = xc_jsonstream_text(place_of(type, xc_layout_json(type, &l->asked->shown)));
	} else {
		xc_layout_text(&text, type, &l->asked->shown);
		line = xc_text_take(&text);
	}
	return !line || !is_new(l, line) || l->asked->line(l->asked->context, line);
}

void xc_layout_list(const struct xc_process *process, struct xc_module *module, const struct xc_layout_listing *listing)
{
	struct listing l = {.process = process, .asked = listing};
	xc_types_of(process)->thorough = true;
	xc_lookup_each(process, module, XC_NAME_TYPE, list_one, &l);
	xc_hashtable_fini(&l.seen);
}

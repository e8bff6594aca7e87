/* scope: DIEs do not know their parents.
 *
 * They are in file order, though: the children of a DIE lie between it and its next sibling. So for each container
 * (the unit, a namespace, a class) the entries with children are kept once, in their order, and the way from the unit
 * down to any DIE is one binary search per level. */
#include "dwarf/types/scope.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/module/die.h"
#include "dwarf/types/template.h"

enum { MAX_ENTRIES = 1 << 22, MAX_NAME = 4096 };

struct entry {
	Dwarf_Die die;
	const char *end; /* address of the next sibling; NULL for the last */
};

struct container {
	struct entry *entries;
	size_t count;
};

static struct container *read_container(struct xc_types *types, Dwarf_Die *die)
{
	struct container *out = xc_arena_alloc(types->arena, sizeof *out);
	xc_auto(xc_freep) struct entry *entries = NULL;
	size_t capacity = 0, count = 0;
	Dwarf_Die child;
	if (!xc_die_child(die, &child))
		return out;
	do {
		if (count > 0 && !entries[count - 1].end)
			entries[count - 1].end = child.addr;
		if (xc_die_has_children(&child)) {
			entries = xc_grow(entries, count, &capacity, sizeof *entries);
			entries[count++] = (struct entry){.die = child};
		}
	} while (count < MAX_ENTRIES && xc_die_next(&child));
	out->entries = xc_arena_alloc(types->arena, count * sizeof *entries + 1);
	if (count > 0)
		memcpy(out->entries, entries, count * sizeof *entries);
	out->count = count;
	return out;
}

static const struct container *container_of(struct xc_types *types, Dwarf_Die *die)
{
	void **slot = xc_pointer_map_at(&types->scopes, types->arena, die->addr, NULL);
	if (!*slot)
		*slot = read_container(types, die);
	return *slot;
}

static int compare(const void *key, const void *item)
{
	const char *addr = key;
	const struct entry *entry = item;
	if (addr < (const char *)entry->die.addr)
		return -1;
	return entry->end && addr >= entry->end;
}

/* The child of a container that is the DIE at addr, or holds it. */
static const struct entry *step(struct xc_types *types, Dwarf_Die *container, const void *addr)
{
	const struct container *c = container_of(types, container);
	return c->count == 0 ? NULL : bsearch(addr, c->entries, c->count, sizeof *c->entries, compare);
}

static void add_name(struct xc_types *types, struct xc_text *prefix, Dwarf_Die *die)
{
	const char *name = xc_template_name(types, die);
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		name = name ? name : "(anonymous namespace)";
		break;
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
	case DW_TAG_union_type:
		break;
	case DW_TAG_subprogram: /* as in gdb: names local to a function have no prefix */
		prefix->len = 0;
		return;
	default:
		return;
	}
	if (!name || prefix->len + strlen(name) > MAX_NAME)
		return;
	if (prefix->len > 0)
		xc_text_add(prefix, "::");
	xc_text_add(prefix, name);
}

/* A type that is defined outside of the class that declares it is named by the declaration's scope. */
static Dwarf_Die declared(Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die to;
		if (!dwarf_attr(&at, DW_AT_specification, &attr) || !xc_die_follow(&attr, &to))
			break;
		at = to;
	}
	return at;
}

static bool in_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct spelling {
	const char *from, *to;
};

/* The known spelling at `at`, if it consists of whole words there; else NULL. Longer ones are tried first. */
static const struct spelling *spelling_at(const char *name, const char *at)
{
	static const struct spelling spellings[] = {
		{"long long unsigned int", "unsigned long long"}, {"long long int", "long long"},
		{"long unsigned int", "unsigned long"},           {"long int", "long"},
		{"short unsigned int", "unsigned short"},         {"short int", "short"},
	};
	if ((*at != 'l' && *at != 's') || (at > name && in_word(at[-1])))
		return NULL;
	for (size_t i = 0; i < XC_COUNT(spellings); i++) {
		size_t len = strlen(spellings[i].from);
		if (strncmp(at, spellings[i].from, len) == 0 && !in_word(at[len]))
			return &spellings[i];
	}
	return NULL;
}

const char *xc_scope_canonical(struct xc_arena *arena, const char *name)
{
	const char *at = name;
	if (!name || !strstr(name, " int"))
		return name;
	xc_auto(xc_text_fini) struct xc_text text = {0};
	while (*at) {
		const struct spelling *s = spelling_at(name, at);
		if (s)
			xc_text_add(&text, s->to);
		else
			xc_text_char(&text, *at);
		at += s ? strlen(s->from) : 1;
	}
	return xc_arena_strdup(arena, text.bytes);
}

const char *xc_scope_prefix(struct xc_types *types, Dwarf_Die *die)
{
	Dwarf_Die at = declared(die), unit;
	if (!dwarf_cu_die(at.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return "";
	struct xc_text prefix = {0};
	Dwarf_Die container = unit;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		const struct entry *entry = step(types, &container, at.addr);
		if (!entry || entry->die.addr == at.addr)
			break;
		container = entry->die;
		add_name(types, &prefix, &container);
	}
	const char *text = prefix.len > 0 ? xc_arena_strndup(types->arena, prefix.bytes, prefix.len) : "";
	xc_text_fini(&prefix);
	return xc_scope_canonical(types->arena, text);
}

const char *xc_scope_name(struct xc_types *types, Dwarf_Die *die)
{
	const char *name = xc_scope_canonical(types->arena, xc_template_name(types, die));
	if (!name)
		return NULL;
	const char *prefix = xc_scope_prefix(types, die);
	return *prefix ? xc_arena_printf(types->arena, "%s::%s", prefix, name) : name;
}

bool xc_scope_parent(struct xc_types *types, Dwarf_Die *die, Dwarf_Die *parent_out)
{
	Dwarf_Die unit;
	bool found = false;
	if (!dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return false;
	Dwarf_Die container = unit;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		const struct entry *entry = step(types, &container, die->addr);
		if (!entry || entry->die.addr == die->addr)
			break;
		*parent_out = container = entry->die;
		found = true;
	}
	return found;
}

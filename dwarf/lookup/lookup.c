/* lookup: opens the index entries that match a name (name_query.h). When a page of an index turns out to be damaged,
 * the index is rebuilt and the query starts again, so no answer is partial. */
#include "dwarf/lookup/lookup_impl.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"
#include "dwarf/elf/section.h"
#include "dwarf/split/split.h"
#include "dwarf/module/unit.h"
#include "dwarf/lookup/name_query.h"

enum { MAX_CANDIDATES = 1 << 16 };

/* The index of one module, opened on first use. */
struct indexed {
	struct indexed *next;
	struct xc_module *module;
	struct xc_index *index; /* NULL: no debug information */
};

static void close_indexes(void *names)
{
	struct indexed *list = names;
	for (struct indexed *i; (i = list); free(i)) {
		list = i->next;
		xc_index_close(i->index);
	}
}

struct xc_index *xc_lookup_index(const struct xc_process *process, struct xc_module *module)
{
	struct indexed **list = (struct indexed **)xc_debuginfo_names(process, close_indexes), *i;
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

/* ---- from an entry to a DIE ---- */

bool xc_lookup_open(const struct xc_process *process, struct xc_module *module, struct xc_index *index,
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
		      : unit.space <= XC_INDEX_ALT && xc_unit_cache_die(process, module, (enum xc_unit_space)unit.space,
									unit.offset, entry->die, &out->die);
	return opened && dwarf_tag(&out->die) == entry->tag;
}

static bool ends_in(const char *path, const char *wanted)
{
	size_t len = path ? strlen(path) : 0, want = strlen(wanted);
	return path && want <= len && !strcmp(path + len - want, wanted) &&
	       (want == len || path[len - want - 1] == '/');
}

/* Does the DIE's unit come from a source file with this name, or whose path ends in it? */
static bool in_unit(Dwarf_CU *cu, const char *wanted)
{
	Dwarf_Die unit;
	return dwarf_cu_die(cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) && ends_in(dwarf_diename(&unit), wanted);
}

/* Was it declared in such a file? Needed for included sources, and for link-time optimization: there the number is
 * one of the unit that holds the abstract instance. */
static bool in_file(const struct xc_process *process, Dwarf_Die *die, const char *wanted)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;
	uint64_t file;
	return xc_die_attr(die, DW_AT_decl_file, &attr) && xc_die_constant(&attr, &file) &&
	       dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
	       ends_in(xc_unit_cache_file(process, &unit, file), wanted);
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

int xc_lookup_by_place(const void *a, const void *b)
{
	const struct xc_index_entry *x = a, *y = b;
	return x->unit != y->unit ? (x->unit < y->unit ? -1 : 1) : x->die < y->die ? -1 : x->die > y->die;
}

/* When there are too many entries, those without a place are dropped. */
static int placed_first(const void *a, const void *b)
{
	const struct xc_index_entry *x = a, *y = b;
	if ((x->flags ^ y->flags) & XC_INDEX_PLACED)
		return x->flags & XC_INDEX_PLACED ? -1 : 1;
	return xc_lookup_by_place(a, b);
}

/* The offset of the unit `near` in a module's .debug_info; UINT64_MAX when it is in another module. */
static uint64_t near_offset(const struct xc_process *process, struct xc_module *module, const Dwarf_Die *near)
{
	Dwarf_Die unit;
	uint64_t offset;
	Dwarf *dwarf = near ? dwarf_cu_getdwarf(near->cu) : NULL;
	if (!dwarf || xc_unit_cache_module(process, dwarf) != module ||
	    !dwarf_cu_die(near->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return UINT64_MAX;
	struct xc_split *split = xc_debugfile_split(module->debug);
	if (split && xc_split_skeleton(split, &unit, &offset))
		return offset;
	return dwarf_dieoffset(&unit) - dwarf_cuoffset(&unit) + xc_unit_base(dwarf);
}

static bool is_of(struct xc_index *index, const struct xc_index_entry *entry, uint64_t offset)
{
	struct xc_index_unit unit;
	return xc_index_table_unit(xc_index_table(index), entry->unit, &unit) && unit.offset == offset &&
	       (unit.space == XC_INDEX_MAIN || unit.space == XC_INDEX_SPLIT);
}

/* Move the entries of a unit, which are adjacent, to the front. */
static void put_first(struct xc_index *index, uint64_t offset, struct xc_index_entry *list, size_t count)
{
	size_t from = 0, to;
	if (offset == UINT64_MAX)
		return;
	while (from < count && !is_of(index, &list[from], offset))
		from++;
	for (to = from; to < count && is_of(index, &list[to], offset);)
		to++;
	xc_auto(xc_freep) struct xc_index_entry *others = xc_alloc((from + 1) * sizeof *others);
	memcpy(others, list, from * sizeof *others);
	memmove(list, list + from, (to - from) * sizeof *list);
	memcpy(list + (to - from), others, from * sizeof *others);
}

/* The matching entries of a module in the order of the file; malloc'ed. */
static struct xc_index_entry *candidates(struct xc_index *index, const struct xc_name_query *wanted, size_t *count_out)
{
	uint32_t first;
	size_t count = xc_index_table_find(xc_index_table(index), wanted->parts[0].hash, &first), capacity = 0;
	struct xc_index_entry *list = NULL, entry;
	*count_out = 0;
	for (size_t i = 0; i < count && *count_out < MAX_CANDIDATES; i++) {
		if (!xc_index_table_entry(xc_index_table(index), first + (uint32_t)i, &entry) ||
		    !xc_name_query_matches(wanted, index, &entry))
			continue;
		list = xc_grow(list, *count_out, &capacity, sizeof *list);
		list[(*count_out)++] = entry;
	}
	if (*count_out)
		qsort(list, *count_out, sizeof *list, *count_out > XC_LOOKUP_MAX ? placed_first : xc_lookup_by_place);
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

static bool fits(const struct xc_process *process, struct xc_definition *one, const struct xc_name_query *wanted,
		 bool by_file)
{
	const char *unit = wanted->query->unit;
	if (wanted->query->near_only && (one->macro || !wanted->query->near || one->die.cu != wanted->query->near->cu))
		return false;
	if (wanted->bare && !xc_name_query_has_arguments(wanted, process, &one->die))
		return false;
	if (!unit || one->macro)
		return true;
	return by_file ? in_file(process, &one->die, unit) : in_unit(one->die.cu, unit);
}

/* Add the entries of an index for the name; false when the index is damaged. A file stands for its unit first, then
 * for declarations in it. */
static bool add_from(const struct xc_process *process, struct xc_module *module, struct xc_index *index,
		     const struct xc_name_query *wanted, struct xc_definitions *found)
{
	struct xc_definition one;
	size_t count, before = found->count;
	xc_auto(xc_freep) struct xc_index_entry *list = candidates(index, wanted, &count);
	if (count > 0)
		put_first(index, near_offset(process, module, wanted->query->near), list, count);
	for (int by_file = 0; by_file < (wanted->query->unit ? 2 : 1) && found->count == before; by_file++)
		for (size_t i = 0; i < count && !xc_index_table(index)->damaged; i++)
			if (xc_lookup_open(process, module, index, &list[i], &one) &&
			    fits(process, &one, wanted, by_file))
				add(found, &one);
	if (xc_index_table(index)->damaged)
		found->count = before;
	return !xc_index_table(index)->damaged;
}

/* Use a table of the file itself, which lists the name's units; true when that found something. */
static bool add_from_part(const struct xc_process *process, struct xc_module *module, struct xc_index *index,
			  const struct xc_name_query *wanted, struct xc_definitions *found)
{
	size_t before = found->count;
	if (wanted->query->anywhere || wanted->bare)
		return false; /* such names may be in further units */
	struct xc_index *part =
		xc_index_partial(index, wanted->query->name, wanted->parts[0].text, wanted->parts[0].len);
	if (!part)
		return false;
	add_from(process, module, part, wanted, found);
	xc_index_close(part);
	return found->count > before;
}

static void look_in(const struct xc_process *process, struct xc_module *module, const struct xc_name_query *wanted,
		    struct xc_definitions *found)
{
	bool passed = wanted->query->small_only && !is_small(process, module);
	struct xc_index *index = passed ? NULL : xc_lookup_index(process, module);
	if (!index || (!xc_index_ready(index) && add_from_part(process, module, index, wanted, found)))
		return;
	if (!xc_index_ready(index))
		xc_index_rebuild(index);
	if (!add_from(process, module, index, wanted, found)) {
		xc_index_rebuild(index);
		add_from(process, module, index, wanted, found);
	}
}

static void look_in_all(const struct xc_process *process, const struct xc_name_query *wanted,
			struct xc_definitions *found)
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
	struct xc_name_query wanted = {0};
	if (!xc_name_query_split(query, &wanted))
		return xc_error_new(XC_ERR_USAGE, "no name to look up");
	size_t before = found->count;
	look_in_all(process, &wanted, found);
	if (found->count == before && xc_name_query_make_bare(&wanted))
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
	return near ? xc_unit_cache_module(process, dwarf_cu_getdwarf(near->cu)) : NULL;
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

/* Are the definitions that are as good as the best one of the same size? */
static bool agree(const struct xc_definitions *found, Dwarf_Die *near, const struct xc_module *module,
		  const struct xc_definition *top)
{
	Dwarf_Die of_top = top->die;
	int size = top->macro ? 0 : dwarf_bytesize(&of_top);
	for (size_t i = 0; i < found->count; i++) {
		Dwarf_Die die = found->items[i].die;
		if (!found->items[i].macro && rank(&found->items[i], near, module) == rank(top, near, module) &&
		    dwarf_bytesize(&die) != size)
			return false;
	}
	return true;
}

/* Modules are searched one by one, so that the index of a library is built only when no nearer module has the name. */
static bool first_of(const struct xc_process *process, const struct xc_name_query *wanted, struct xc_definition *out)
{
	Dwarf_Die *near = wanted->query->near;
	const struct xc_module *only = wanted->query->module;
	struct xc_module *home = module_of(process, near);
	bool found_any = false, good = true;
	for (size_t i = 0; i <= process->module_count && !found_any; i++) {
		struct xc_module *module = i == 0 ? home : process->modules[i - 1];
		if (!module || (i > 0 && module == home) || (only && module != only))
			continue;
		struct xc_definitions found = {0};
		look_in(process, module, wanted, &found);
		found_any = best(&found, near, home, out);
		good = !found_any || !wanted->query->agreed || agree(&found, near, home, out);
		xc_definitions_fini(&found);
	}
	return found_any && good;
}

bool xc_lookup_one(const struct xc_process *process, const struct xc_query *query, struct xc_definition *out)
{
	struct xc_name_query wanted = {0};
	if (!xc_name_query_split(query, &wanted))
		return false;
	return first_of(process, &wanted, out) || (xc_name_query_make_bare(&wanted) && first_of(process, &wanted, out));
}

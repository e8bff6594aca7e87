/* debuginfo: address → unit → function → the chain of inlined functions and lexical blocks that hold it.
 *
 *   unit_cache.h: address ─→ unit
 *   unit_functions.h: address ─→ function of the unit
 *   down from the function: children whose ranges hold the address
 *
 * Answers are kept by address for the life of the process. */
#include "dwarf/symbolize/debuginfo.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/elf/demangle.h"
#include "dwarf/module/die.h"
#include "dwarf/symbolize/function_name.h"
#include "dwarf/symbolize/unit_functions.h"
#include "dwarf/cfi/foreign_frame.h"
#include "dwarf/elf/pointer_map.h"
#include "dwarf/symbolize/plt.h"
#include "dwarf/elf/symbol.h"

enum { MAX_NESTING = 256 }; /* lexical blocks and inlined functions around one address */

struct debuginfo {
	void *names; /* of dwarf/lookup */
	void (*close_names)(void *names);
	struct xc_pointer_map told; /* places by foreign code (foreign_frame.h) and address */
	struct xc_unit_functions *functions;
	struct xc_hashtable places; /* by address */
};

static struct debuginfo *debuginfo_of(const struct xc_process *process)
{
	struct xc_process *p = (struct xc_process *)(uintptr_t)process; /* a cache, not a fact of the process */
	if (!p->debuginfo) {
		struct debuginfo *info = xc_alloc(sizeof *info);
		xc_unit_cache_open(process);
		info->functions = xc_unit_functions_new();
		p->debuginfo = info;
	}
	return p->debuginfo;
}

/* ---- places ---- */

/* The DIEs on the way down from the function, outermost first. */
struct path {
	Dwarf_Die dies[MAX_NESTING];
	size_t count;
};

static bool is_scope(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt || tag == DW_TAG_subprogram;
}

static bool child_with(Dwarf_Die *parent, uint64_t file_addr, Dwarf_Die *child_out)
{
	Dwarf_Die child;
	if (!xc_die_child(parent, &child))
		return false;
	do {
		if (is_scope(dwarf_tag(&child)) && xc_die_holds(&child, file_addr)) {
			*child_out = child;
			return true;
		}
	} while (xc_die_next(&child));
	return false;
}

static void descend(Dwarf_Die *function, uint64_t file_addr, struct path *path)
{
	Dwarf_Die at = *function;
	path->dies[0] = at;
	path->count = 1;
	while (path->count < MAX_NESTING && child_with(&at, file_addr, &at)) {
		if (dwarf_tag(&at) == DW_TAG_subprogram)
			path->count = 0; /* a function nested in this one (GNU C, Ada) is separate */
		path->dies[path->count++] = at;
	}
}

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static void fill_level(const struct xc_process *p, struct xc_level *level, const struct path *path, size_t from,
		       size_t to)
{
	struct xc_arena *arena = &((struct xc_process *)(uintptr_t)p)->arena;
	level->die = path->dies[from];
	const Dwarf_Die declaration = xc_function_declaration(&level->die);
	level->language = xc_function_language(&declaration);
	level->block_count = to - from;
	level->blocks = xc_arena_alloc(arena, level->block_count * sizeof *level->blocks);
	for (size_t i = 0; i < level->block_count; i++) /* innermost first */
		level->blocks[i] = path->dies[to - 1 - i];
	level->function = xc_function_name(p, &level->die);
}

/* Cut the path at each function, innermost first. */
static void fill_levels(const struct xc_process *p, struct xc_place *place, struct path *path)
{
	size_t count = 0, to = path->count;
	for (size_t i = 0; i < path->count; i++)
		count += is_function(&path->dies[i]);
	place->levels =
		xc_arena_alloc(&((struct xc_process *)(uintptr_t)p)->arena, (count + 1) * sizeof *place->levels);
	for (size_t i = path->count; i-- > 0;) {
		if (!is_function(&path->dies[i]))
			continue;
		fill_level(p, &place->levels[place->level_count++], path, i, to);
		to = i;
	}
}

/* The innermost level has the location of the line table; each outer one the location where the next was inlined. */
static void fill_lines(const struct xc_process *p, struct xc_place *place)
{
	struct xc_source_location line;
	if (place->level_count && xc_unit_cache_line(p, &place->unit, place->file_addr, &line)) {
		place->levels[0].file = line.file;
		place->levels[0].line = line.line;
		place->levels[0].column = line.column;
	}
	for (size_t i = 1; i < place->level_count; i++) {
		uint64_t number;
		struct xc_level *outer = &place->levels[i];
		if (xc_die_number(&place->levels[i - 1].die, DW_AT_call_file, &number))
			outer->file = xc_unit_cache_file(p, &place->unit, number);
		if (xc_die_number(&place->levels[i - 1].die, DW_AT_call_line, &number))
			outer->line = (unsigned)number;
		if (xc_die_number(&place->levels[i - 1].die, DW_AT_call_column, &number))
			outer->column = (unsigned)number;
	}
}

static int language_of_symbol(const char *name)
{
	if (xc_demangle_is_rust(name))
		return DW_LANG_Rust;
	return xc_begins_with(name, "_Z") ? DW_LANG_C_plus_plus : 0;
}

static void fill_symbol(const struct xc_process *p, struct xc_place *place)
{
	const struct xc_symbol *s = xc_symbol_at(p, place->module, place->file_addr);
	if (!s)
		return;
	struct xc_arena *arena = &((struct xc_process *)(uintptr_t)p)->arena;
	xc_auto(xc_freep) char *name = xc_demangle(s->name, false);
	place->symbol = xc_arena_strdup(arena, name ? name : s->name);
	place->symbol_language = language_of_symbol(s->name);
	place->symbol_offset = place->file_addr - s->value;
}

static void fill_stub(const struct xc_process *p, struct xc_place *place)
{
	struct xc_plt_stub stub;
	if (!xc_plt_stub_at(xc_debugfile_elf(xc_debugfile_of(p, place->module)), place->file_addr, &stub))
		return;
	xc_auto(xc_freep) char *name = xc_demangle(stub.name, false);
	xc_auto(xc_freep) char *text = xc_asprintf("%s@plt", name ? name : stub.name);
	place->stub = xc_arena_strdup(&((struct xc_process *)(uintptr_t)p)->arena, text);
	place->stub_lo = stub.lo;
	place->stub_hi = stub.hi;
}

/* Assembler units have lines but no function DIEs. */
static void fill_assembler(const struct xc_process *p, struct xc_place *place)
{
	struct xc_source_location line;
	if (!xc_unit_cache_line(p, &place->unit, place->file_addr, &line))
		return;
	place->levels = xc_arena_alloc(&((struct xc_process *)(uintptr_t)p)->arena, sizeof *place->levels);
	place->levels[0] = (struct xc_level){.file = line.file, .line = line.line, .column = line.column};
	place->level_count = 1;
	place->line_only = true;
}

static struct xc_place *make_place(const struct xc_process *p, xc_addr addr)
{
	struct xc_place *place = xc_arena_alloc(&((struct xc_process *)(uintptr_t)p)->arena, sizeof *place);
	place->module = xc_process_module(p, addr);
	if (!place->module)
		return place;
	place->file_addr = addr - place->module->bias;
	if (xc_unit_cache_at(p, place->module, place->file_addr, &place->unit)) {
		Dwarf_Die function;
		if (xc_unit_functions_at(debuginfo_of(p)->functions, place->module, &place->unit, place->file_addr,
					 &function)) {
			struct path path;
			descend(&function, place->file_addr, &path);
			fill_levels(p, place, &path);
			fill_lines(p, place);
		} else {
			fill_assembler(p, place);
		}
	}
	if (place->level_count == 0 || !place->levels[place->level_count - 1].function)
		fill_symbol(p, place);
	if (place->level_count == 0 && !place->symbol)
		fill_stub(p, place);
	return place;
}

static const struct xc_place *place_of_module(const struct xc_process *process, xc_addr addr)
{
	struct xc_hashtable *places = &debuginfo_of(process)->places;
	union xc_hashtable_value *known = xc_hashtable_find(places, addr, 0);
	if (known && known->pointer)
		return known->pointer;
	struct xc_place *place = make_place(process, addr);
	return xc_hashtable_at(places, NULL, addr, 0)->pointer = place;
}

static const struct xc_place *told_place(const struct xc_process *process, xc_addr addr,
					 const struct xc_foreign_code *code)
{
	struct xc_arena *arena = &((struct xc_process *)(uintptr_t)process)->arena;
	void **slot = xc_pointer_map_at(&debuginfo_of(process)->told, arena, code, (const void *)(uintptr_t)addr);
	if (*slot)
		return *slot;
	struct xc_place *place = xc_arena_alloc(arena, sizeof *place);
	*place = (struct xc_place){.module = xc_process_module(process, addr),
				   .symbol = code->name,
				   .symbol_offset = addr - code->lo,
				   .told = code};
	place->file_addr = place->module ? addr - place->module->bias : 0;
	return *slot = place;
}

const struct xc_place *xc_debuginfo_place(const struct xc_process *process, xc_addr addr)
{
	const struct xc_foreign_code *told = xc_foreign_code_at(process, addr, true);
	if (told && told->name)
		return told_place(process, addr, told);
	const struct xc_place *place = place_of_module(process, addr);
	if (place->level_count || place->symbol || !(told = xc_foreign_code_at(process, addr, false)) || !told->name)
		return place;
	return told_place(process, addr, told);
}

/* ---- call sites ---- */

static bool is_site_of(Dwarf_Die *die, uint64_t file_return)
{
	uint64_t at;
	int tag = dwarf_tag(die);
	Dwarf_Attribute attr;
	bool known = tag == DW_TAG_call_site
			     ? dwarf_attr(die, DW_AT_call_return_pc, &attr) && dwarf_formaddr(&attr, &at) == 0
			     : tag == DW_TAG_GNU_call_site && dwarf_lowpc(die, &at) == 0;
	return known && (at == file_return || at == file_return + xc_die_behind_call(die->cu));
}

static bool site_below(Dwarf_Die *block, uint64_t file_return, Dwarf_Die *site_out)
{
	if (!xc_die_child(block, site_out))
		return false;
	do {
		if (is_site_of(site_out, file_return))
			return true;
	} while (xc_die_next(site_out));
	return false;
}

/* Call sites are in the block that makes the call, or in any level above it; gcc 12 leaves some in the abstract
 * instance. */
bool xc_debuginfo_call_site(const struct xc_place *place, uint64_t file_return, Dwarf_Die *site_out)
{
	for (size_t l = 0; l < place->level_count; l++)
		for (size_t b = 0; b < place->levels[l].block_count; b++) {
			Dwarf_Die *block = &place->levels[l].blocks[b], site, origin;
			if (site_below(block, file_return, &site) ||
			    (xc_die_ref(block, DW_AT_abstract_origin, &origin) &&
			     site_below(&origin, file_return, &site))) {
				*site_out = site;
				return true;
			}
		}
	return false;
}

static void free_debuginfo(struct debuginfo *info)
{
	if (info->names)
		info->close_names(info->names);
	xc_unit_functions_free(info->functions);
	xc_hashtable_fini(&info->places);
	free(info);
}

void xc_debuginfo_close(struct xc_process *process)
{
	xc_foreign_set(process, NULL);
	if (process->debuginfo)
		free_debuginfo(process->debuginfo);
	process->debuginfo = NULL;
	xc_unit_cache_close(process);
}

void **xc_debuginfo_names(const struct xc_process *process, void (*close)(void *names))
{
	struct debuginfo *info = debuginfo_of(process);
	info->close_names = close;
	return &info->names;
}

const char *xc_place_function(const struct xc_place *place, size_t level)
{
	const char *name = level < place->level_count ? place->levels[level].function : NULL;
	return name ? name : place->symbol ? place->symbol : place->stub;
}

const char *xc_place_outer_function(const struct xc_place *place)
{
	return xc_place_function(place, place->level_count ? place->level_count - 1 : 0);
}

/* Link-time optimization inlines functions of one language into another's. dwz's partial units do not state theirs. */
int xc_place_language(const struct xc_place *place, size_t level)
{
	int language = level < place->level_count ? place->levels[level].language : 0;
	if (!language && level < place->level_count)
		language = xc_function_language(&place->unit);
	return language ? language : place->symbol_language;
}

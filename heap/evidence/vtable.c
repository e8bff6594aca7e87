/* vtable: the class that a vptr identifies.
 *
 * Nothing about a vptr is believed without a check: it points into a module, to memory that is not executable; the
 * offset to top is small and a multiple of a word; the type info is in a module and begins with a pointer into one;
 * its name demangles to the name of a type. A word that only looks like a vptr (a pointer to constant data) fails
 * at least one check.
 *
 * The scan filters words (do they point to a module's data?) in several threads. One thread does the rest, with a
 * hash of the few vptrs. */
#include "heap/evidence/vtable.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"
#include "core/base/parallel.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/elf/demangle.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/name.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/view/view_function.h"
#include "dwarf/view/view_part.h"
#include "heap/blocks/window.h"

enum {
	WORD = 8,
	MAX_NAME = 4096,
	MAX_TOP = 1 << 24, /* bytes of a class before one of its bases */
	MAX_FUNCTIONS = 8, /* functions of a vtable that are examined for the class */
	PIECE = 1 << 14,   /* blocks */
	PIECES = 64,       /* that are read at once: limits the memory for results */
	MOST_TABLES = 1 << 17,
	MOST_NAMES = 1 << 26, /* bytes of their names */
};

struct range {
	xc_addr lo, hi; /* inclusive */
};

struct xc_vtables {
	const struct xc_process *process;
	struct xc_window window;
	struct xc_arena memory;      /* of vtables */
	struct xc_hashtable by_word; /* → vtable; NULL: the word leads to none */
	size_t tables, name_bytes;   /* that were read: words that lead to them may be forged */
	struct range *ranges;        /* of modules, in address order */
	size_t range_count;
};

static void add_range(struct xc_vtables *tables, const struct xc_module *module)
{
	struct range *last = tables->range_count ? &tables->ranges[tables->range_count - 1] : NULL;
	if (last && module->lo <= last->hi)
		last->hi = module->hi > last->hi ? module->hi : last->hi;
	else
		tables->ranges[tables->range_count++] = (struct range){module->lo, module->hi};
}

struct xc_vtables *xc_vtables_new(const struct xc_process *process)
{
	struct xc_vtables *tables = xc_alloc(sizeof *tables);
	tables->process = process;
	tables->ranges = xc_alloc((process->module_count + 1) * sizeof *tables->ranges);
	for (size_t i = 0; i < process->module_count; i++)
		add_range(tables, process->by_address[i]);
	xc_window_init(&tables->window, process->space);
	return tables;
}

void xc_vtables_free(struct xc_vtables *tables)
{
	if (!tables)
		return;
	xc_window_fini(&tables->window);
	xc_arena_fini(&tables->memory);
	xc_hashtable_fini(&tables->by_word);
	free(tables->ranges);
	free(tables);
}

/* ---- the name of the class ---- */

/* The name in the type info at this address, as in a symbol: "4Name". buf has MAX_NAME + 1 bytes. */
static const char *mangled_by_info(struct xc_vtables *tables, xc_addr info, char *buf)
{
	uint64_t abi, name;
	bool cut;
	if (info == 0 || info % WORD != 0 || !xc_process_module(tables->process, info) ||
	    !xc_window_word(&tables->window, info, &abi) || !xc_process_module(tables->process, abi) ||
	    !xc_window_word(&tables->window, info + WORD, &name) || !xc_process_module(tables->process, name) ||
	    xc_space_peek_string(tables->process->space, name, buf, MAX_NAME, &cut) <= 0 || cut)
		return NULL;
	return *buf == '*' ? buf + 1 : buf; /* marks a name that is compared by address */
}

/* Finds type info by its symbol. The word may not be relocated: relocated pages that are not in the core appear as
 * in the file. */
static bool is_info(const struct xc_symtab *symbols, const struct xc_module *module, xc_addr info)
{
	const struct xc_symbol *symbol = xc_symtab_at(symbols, info - module->bias);
	if (!symbol)
		symbol = xc_symtab_at(symbols, info);
	return symbol && strncmp(symbol->name, "_ZTI", 4) == 0;
}

/* The same by the symbol of the table. A table of an object under construction is that of the base class. */
static const char *mangled_by_symbol(const struct xc_process *process, xc_addr vptr, xc_addr info)
{
	struct xc_module *module = xc_process_module(process, vptr);
	if (!module || !module->bias_known)
		return NULL;
	const struct xc_symtab *symbols = xc_debugfile_symbols(xc_debugfile_of(process, module));
	const struct xc_symbol *symbol = xc_symtab_at(symbols, vptr - module->bias);
	if (!symbol || strncmp(symbol->name, "_ZTV", 4) != 0 || vptr - module->bias - symbol->value < 2 * WORD ||
	    (info && !is_info(symbols, module, info)))
		return NULL;
	return symbol->name + 4;
}

/* "ns::Name" for "N2ns4NameE"; malloc'ed. NULL if it is no name of a type. */
static char *demangled(const char *mangled)
{
	static const char head[] = "typeinfo name for ";
	if (strspn(mangled, "0123456789NSZ") == 0) /* built-in types and texts are not names of classes */
		return NULL;
	xc_auto(xc_freep) char *symbol = xc_asprintf("_ZTS%s", mangled);
	xc_auto(xc_freep) char *text = xc_demangle(symbol, true);
	return text && strncmp(text, head, sizeof head - 1) == 0 ? xc_strdup(text + sizeof head - 1) : NULL;
}

static bool is_code(const struct xc_process *process, xc_addr addr)
{
	const struct xc_mapping *mapping = xc_process_mapping(process, addr);
	return mapping && mapping->executable && xc_process_module(process, addr);
}

/* ---- the class ---- */

/* Up to the first template argument, the part on which compilers agree. */
static size_t head_length(const char *name)
{
	return strcspn(name, "<");
}

/* "f()::Local" in a symbol is "Local" in debug information. Components of anonymous namespaces are left out. */
static bool same_class(const char *name, const char *have)
{
	struct xc_text bare = {0};
	xc_name_without_anonymous(name, &bare);
	const char *all = xc_text_string(&bare);
	size_t len = strlen(all), have_len = strlen(have), part;
	bool same = xc_name_equal(all, len, have, have_len);
	const char *last = xc_name_last(all, &len, &part);
	size_t have_part, have_left = have_len;
	const char *have_last = xc_name_last(have, &have_left, &have_part);
	if (!same && last && have_last) {
		size_t head = head_length(last), have_head = head_length(have_last);
		same = head == have_head && memcmp(last, have_last, head) == 0;
	}
	xc_text_fini(&bare);
	return same;
}

/* Finds the class by the functions of its table: the `this` of one of them, unless all are inherited. */
static const struct xc_type *class_by_functions(struct xc_vtables *tables, xc_addr vptr, const char *name)
{
	for (unsigned i = 0; i < MAX_FUNCTIONS; i++) {
		uint64_t function;
		if (!xc_window_word(&tables->window, vptr + i * WORD, &function) ||
		    (function && !is_code(tables->process, function)))
			return NULL;
		const struct xc_type *type = xc_view_function_this(tables->process, function);
		type = type ? xc_view_plain(type) : NULL;
		if (type && type->name && same_class(name, type->name))
			return type;
	}
	return NULL;
}

/* The unit of the first described function; it distinguishes classes of anonymous namespaces. */
static bool unit_of(struct xc_vtables *tables, xc_addr vptr, Dwarf_Die *unit_out)
{
	for (unsigned i = 0; i < MAX_FUNCTIONS; i++) {
		uint64_t function;
		if (!xc_window_word(&tables->window, vptr + i * WORD, &function) || !is_code(tables->process, function))
			return false;
		const struct xc_place *place = xc_debuginfo_place(tables->process, function);
		if (place->level_count > 0) {
			*unit_out = place->unit;
			return true;
		}
	}
	return false;
}

static const struct xc_type *class_by_name(struct xc_vtables *tables, xc_addr vptr, const char *name)
{
	struct xc_text bare = {0};
	struct xc_definition found;
	Dwarf_Die unit;
	xc_name_without_anonymous(name, &bare);
	struct xc_query query = {.name = xc_text_string(&bare),
				 .kinds = XC_NAME_TYPE,
				 .tag = DW_TAG_structure_type,
				 .module = xc_process_module(tables->process, vptr)};
	query.near = strstr(name, "(anonymous namespace)") && unit_of(tables, vptr, &unit) ? &unit : NULL;
	bool has = *query.name && xc_lookup_one(tables->process, &query, &found);
	if (!has && *query.name) { /* the class may be described in another module than its key function */
		query.module = NULL;
		has = xc_lookup_one(tables->process, &query, &found);
	}
	xc_text_fini(&bare);
	return has ? xc_type_get(xc_types_of(tables->process), &found.die) : NULL;
}

static void describe(struct xc_vtables *tables, struct xc_vtable *vtable)
{
	const struct xc_type *type = class_by_name(tables, vtable->addr, vtable->name);
	if (!type)
		type = class_by_functions(tables, vtable->addr, vtable->name);
	vtable->type = type && xc_type_size(type, &vtable->size) ? type : NULL;
}

/* ---- lookup ---- */

/* Most words are no pointers into modules, which a few steps find out. */
static bool in_modules(const struct xc_vtables *tables, uint64_t word)
{
	if (word % WORD != 0)
		return false;
	size_t lo = XC_LOWER_BOUND(tables->range_count, i, tables->ranges[i].hi < word);
	return lo < tables->range_count && word >= tables->ranges[lo].lo;
}

static struct xc_vtable *read_vtable(struct xc_vtables *tables, xc_addr vptr)
{
	uint64_t top, info;
	char buf[MAX_NAME + 1];
	const struct xc_mapping *mapping = xc_process_mapping(tables->process, vptr);
	if ((mapping && mapping->executable) || !xc_window_word(&tables->window, vptr - 2 * WORD, &top) ||
	    top % WORD != 0 || 0 - top > MAX_TOP || !xc_window_word(&tables->window, vptr - WORD, &info))
		return NULL;
	const char *mangled = mangled_by_info(tables, info, buf);
	if (!mangled)
		mangled = mangled_by_symbol(tables->process, vptr, info);
	xc_auto(xc_freep) char *name = mangled ? demangled(mangled) : NULL;
	if (!name || tables->tables >= MOST_TABLES || tables->name_bytes >= MOST_NAMES)
		return NULL;
	tables->tables++;
	tables->name_bytes += strlen(name);
	struct xc_vtable *vtable = xc_arena_alloc(&tables->memory, sizeof *vtable);
	vtable->addr = vptr;
	vtable->name = xc_arena_strdup(xc_types_of(tables->process)->arena, name);
	vtable->to_top = (int64_t)top;
	describe(tables, vtable);
	return vtable;
}

struct xc_vtable *xc_vtables_at(struct xc_vtables *tables, xc_addr vptr)
{
	if (!in_modules(tables, vptr))
		return NULL;
	const union xc_hashtable_value *known = xc_hashtable_find(&tables->by_word, vptr, 0);
	if (known)
		return known->pointer;
	struct xc_vtable *vtable = read_vtable(tables, vptr);
	return xc_hashtable_at(&tables->by_word, NULL, vptr, 0)->pointer = vtable;
}

/* ---- the scan ---- */

struct candidate {
	xc_addr word;
	uint32_t block;
	uint32_t offset;
};

struct candidates {
	struct candidate *items;
	size_t count, capacity;
};

struct scan {
	struct xc_vtables *tables;
	const struct xc_heap *heap;
	uint32_t first; /* block of the first piece */
	struct candidates pieces[PIECES];
};

static void keep(struct candidates *list, xc_addr word, uint32_t block, uint32_t offset)
{
	if (list->count == list->capacity)
		list->items = xc_grow(list->items, list->count, &list->capacity, sizeof *list->items);
	list->items[list->count++] = (struct candidate){word, block, offset};
}

static void look_at_block(const struct scan *scan, struct xc_window *window, uint32_t block, struct candidates *found)
{
	const struct xc_blocks *blocks = &scan->heap->blocks;
	xc_addr addr = xc_block_addr(blocks, block);
	uint64_t size = xc_block_size(blocks, block), words[2];
	const uint8_t *bytes = xc_window(window, addr, sizeof words);
	if (size < sizeof words || !bytes)
		return; /* an object of one word has only its vptr; malloc returns more room */
	memcpy(words, bytes, sizeof words);
	if (in_modules(scan->tables, words[0]))
		keep(found, words[0], block, 0);
	else if (words[0] - 1 < size / WORD && in_modules(scan->tables, words[1]))
		keep(found, words[1], block, WORD);
}

static void look(void *context, size_t piece, unsigned worker)
{
	struct scan *scan = context;
	const struct xc_blocks *blocks = &scan->heap->blocks;
	struct xc_window window;
	size_t lo = scan->first + piece * PIECE, hi = lo + PIECE < blocks->count ? lo + PIECE : blocks->count;
	(void)worker;
	xc_window_init(&window, scan->heap->process->space);
	scan->pieces[piece].count = 0;
	for (size_t i = lo; i < hi; i++) {
		if (xc_block_state(blocks, (uint32_t)i) == XC_BLOCK_LIVE)
			look_at_block(scan, &window, (uint32_t)i, &scan->pieces[piece]);
	}
	xc_window_fini(&window);
}

/* An array of `count` elements whose first has this vptr. */
static bool is_array(const struct scan *scan, const struct candidate *at, const struct xc_vtable *vtable)
{
	uint64_t count, size = xc_block_size(&scan->heap->blocks, at->block) - WORD;
	return vtable->size && vtable->to_top == 0 &&
	       xc_window_word(&scan->tables->window, xc_block_addr(&scan->heap->blocks, at->block), &count) &&
	       count <= size / vtable->size && size - count * vtable->size < 4 * WORD;
}

static void report(struct scan *scan, const struct candidates *found, xc_vtable_fn *seen, void *context)
{
	for (size_t i = 0; i < found->count; i++) {
		const struct candidate *at = &found->items[i];
		struct xc_vtable *vtable = xc_vtables_at(scan->tables, at->word);
		if (vtable && (at->offset == 0 || is_array(scan, at, vtable)))
			seen(context, at->block, at->offset, vtable);
	}
}

void xc_vtables_scan(struct xc_vtables *tables, const struct xc_heap *heap, xc_vtable_fn *seen, void *context)
{
	struct scan *scan = xc_alloc(sizeof *scan);
	scan->tables = tables;
	scan->heap = heap;
	for (size_t first = 0; first < heap->blocks.count && tables->range_count > 0; first += PIECES * PIECE) {
		size_t left = (heap->blocks.count - first + PIECE - 1) / PIECE, count = left < PIECES ? left : PIECES;
		scan->first = (uint32_t)first;
		xc_parallel(heap->jobs, count, look, scan);
		for (size_t i = 0; i < count; i++)
			report(scan, &scan->pieces[i], seen, context);
	}
	for (size_t i = 0; i < PIECES; i++)
		free(scan->pieces[i].items);
	free(scan);
}

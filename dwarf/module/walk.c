/* walk: from a Dwarf_CU to the bytes of its unit, and steps in them.
 *
 * clang writes no DW_AT_sibling: to skip a namespace, everything in it must be read, again at every level. So the
 * first long skip in a unit without siblings is a pass over the whole unit that records where every large subtree
 * ends. */
#include "dwarf/module/walk.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>

#include "dwarf/elf/budget.h"
#include "dwarf/elf/pointer_map.h"
#include "dwarf/elf/section.h"
#include "dwarf/scan/die_scan.h"

enum {
	MAX_DEPTH = 256, /* more than any compiler nests */
	LARGE = 128,     /* bytes; smaller subtrees are walked */
	COST = 1 << 12   /* of a walk in vain through a subtree that is too deep, in steps of the budget */
};

/* A DIE with children and where they end; offsets from the start of the unit. */
struct subtree {
	uint32_t start, end;
};

struct walker {
	struct walker *next;
	uint64_t unit, first;     /* offsets of its header and its first DIE */
	struct subtree *subtrees; /* the large ones, by start */
	size_t count, capacity;
	bool surveyed;
	bool too_deep; /* nests deeper than MAX_DEPTH: the ends of the subtrees there are unknown */
	struct xc_die_scan_space space;
	struct xc_die_scan *scan; /* NULL: cannot be walked */
	struct Dwarf_CU *cu;
};

static struct {
	struct xc_arena arena;
	struct xc_pointer_map by_unit; /* Dwarf_CU → walker */
	struct walker *all, *last;
} walkers;

static bool is_little_endian(Elf *elf)
{
	const char *ident = elf_getident(elf, NULL);
	return ident && ident[EI_DATA] == ELFDATA2LSB;
}

/* Find the section of a DIE at `offset`. */
static bool find_section(struct walker *w, Elf *elf, const Dwarf_Die *die, uint64_t offset)
{
	static const char *const names[] = {".debug_info", ".debug_types"};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		struct xc_cursor c = xc_section_cursor(elf, names[i]);
		if (offset < xc_cursor_left(&c) && c.at + offset == (const uint8_t *)die->addr) {
			w->space.info = c;
			w->space.types = i == 1;
			w->space.abbrev = xc_section_cursor(elf, ".debug_abbrev");
			return true;
		}
	}
	return false;
}

static void open_walker(struct walker *w)
{
	Dwarf_Die die;
	struct xc_die_scan_unit unit;
	if (!dwarf_cu_die(w->cu, &die, NULL, NULL, NULL, NULL, NULL, NULL))
		return;
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(w->cu));
	uint64_t offset = dwarf_dieoffset(&die), header = offset - dwarf_cuoffset(&die);
	if (!elf || !is_little_endian(elf) || header > offset || !find_section(w, elf, &die, offset) ||
	    !xc_die_scan_next_unit(&w->space, &header, &unit) || unit.first != offset)
		return;
	w->unit = unit.offset;
	w->first = unit.first;
	w->scan = xc_die_scan_new(&w->space);
	if (xc_die_scan_enter(w->scan, &unit))
		return;
	xc_die_scan_free(w->scan);
	w->scan = NULL;
}

static struct walker *walker_of(const Dwarf_Die *die)
{
	if (walkers.last && walkers.last->cu == die->cu)
		return walkers.last;
	void **slot = xc_pointer_map_at(&walkers.by_unit, &walkers.arena, die->cu, NULL);
	struct walker *w = *slot;
	if (!w) {
		*slot = w = xc_alloc(sizeof *w);
		w->cu = die->cu;
		w->next = walkers.all;
		walkers.all = w;
		open_walker(w);
	}
	walkers.last = w;
	return w;
}

void xc_walk_forget(void)
{
	for (struct walker *w; (w = walkers.all); free(w)) {
		walkers.all = w->next;
		xc_die_scan_free(w->scan);
		free(w->subtrees);
	}
	xc_arena_fini(&walkers.arena);
	walkers.by_unit = (struct xc_pointer_map){0};
	walkers.last = NULL;
}

/* The offset of a DIE in the walker's section; false when it is in another. */
static bool offset_of(const struct walker *w, const Dwarf_Die *die, uint64_t *offset_out)
{
	const uint8_t *at = die->addr;
	if (!w->scan || at < w->space.info.at || at >= w->space.info.end)
		return false;
	*offset_out = (uint64_t)(at - w->space.info.at);
	return true;
}

/* ---- ends of subtrees ---- */

static int by_start(const void *a, const void *b)
{
	const struct subtree *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static void close_subtree(struct walker *w, uint32_t start)
{
	uint32_t end = (uint32_t)(xc_die_scan_position(w->scan) - w->unit);
	if (end - start < LARGE)
		return;
	w->subtrees = xc_grow(w->subtrees, w->count, &w->capacity, sizeof *w->subtrees);
	w->subtrees[w->count++] = (struct subtree){start, end};
}

/* From `from` on to the end of the unit. */
static void survey(struct walker *w, uint64_t from)
{
	uint32_t open[MAX_DEPTH];
	size_t depth = 0, deeper = 0; /* deeper: levels below the last one in `open` */
	struct xc_die_scan_entry die;
	w->surveyed = true;
	for (bool good = xc_die_scan_at(w->scan, from, &die); good; good = xc_die_scan_next(w->scan, &die)) {
		if (die.tag && die.children && depth < MAX_DEPTH)
			open[depth++] = (uint32_t)(die.offset - w->unit);
		else if (die.tag && die.children)
			deeper++;
		else if (!die.tag && deeper)
			deeper--;
		else if (!die.tag && depth)
			close_subtree(w, open[--depth]);
		else if (!die.tag)
			break;
		w->too_deep |= deeper > 0;
	}
	if (w->count)
		qsort(w->subtrees, w->count, sizeof *w->subtrees, by_start);
}

/* Skip the children of the DIE just read. */
static bool leave(struct walker *w, const struct xc_die_scan_entry *die)
{
	if (!die->children || (die->has & XC_DIE_SCAN_SIBLING))
		return xc_die_scan_leave(w->scan, die);
	if (!w->surveyed)
		survey(w, w->first);
	struct subtree key = {.start = (uint32_t)(die->offset - w->unit)};
	const struct subtree *known =
		w->count ? bsearch(&key, w->subtrees, w->count, sizeof *w->subtrees, by_start) : NULL;
	if (known)
		return xc_die_scan_seek(w->scan, w->unit + known->end);
	struct xc_die_scan_entry again;
	return xc_die_scan_at(w->scan, die->offset, &again) && xc_die_scan_leave(w->scan, &again);
}

enum xc_walk xc_walk_next(const Dwarf_Die *die, Dwarf_Die *next_out)
{
	struct walker *w = walker_of(die);
	struct xc_die_scan_entry here;
	uint64_t offset;
	uint16_t tag;
	bool children;
	if (!offset_of(w, die, &offset) || !xc_die_scan_at(w->scan, offset, &here) || !here.tag)
		return XC_WALK_UNABLE;
	if (!leave(w, &here)) {
		if (!w->too_deep)
			return XC_WALK_UNABLE;
		xc_budget_spend(COST); /* libdw would read all that follows, at every level */
		return XC_WALK_END;
	}
	offset = xc_die_scan_position(w->scan);
	if (!xc_die_scan_peek(w->scan, offset, &tag, &children))
		return XC_WALK_UNABLE;
	if (!tag)
		return XC_WALK_END;
	*next_out = (Dwarf_Die){.addr = (void *)(uintptr_t)(w->space.info.at + offset), .cu = die->cu};
	return XC_WALK_DONE;
}

bool xc_walk_peek(const Dwarf_Die *die, int *tag_out, bool *children_out)
{
	struct walker *w = walker_of(die);
	uint64_t offset;
	uint16_t tag;
	if (!offset_of(w, die, &offset) || !xc_die_scan_peek(w->scan, offset, &tag, children_out))
		return false;
	*tag_out = tag;
	return true;
}

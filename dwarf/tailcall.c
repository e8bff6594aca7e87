/* tailcall: a search over call sites.
 *
 *   caller ──call site──→ F0 ──tail──→ F1 ──tail──→ callee          F0 and F1 have left no frame
 *
 * DW_AT_call_tail_call and DW_AT_call_origin: DWARF 5, 3.4.1; the GNU forms are those of DWARF 4 with
 * extensions. A site's target counts only when its address is known: by its low_pc, or by the symbol of its
 * linkage name. Two ways to the callee mean that nothing is told; a tail call of a function that is not known may be
 * another way, and so may what a limit left out. */
#include "tailcall.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "memo.h"
#include "symbol.h"

enum { MAX_CHAIN = 12, MAX_SITES = 4096, MAX_DEPTH = 64, MANY = 2 };

struct xc_tailcalls {
	const struct xc_process *process;
	struct xc_arena arena;
	struct xc_memo answers; /* (place of the callee's function, place of the caller) → xc_addr */
};

/* One search: from a function towards the callee. */
struct search {
	const struct xc_process *process;
	xc_addr goal;             /* entry of the callee */
	xc_addr chain[MAX_CHAIN]; /* entries of the functions on the way */
	size_t length, sites;
	unsigned found;      /* ways found or possible; more than one is as good as none */
	xc_addr last_return; /* behind the jump to the goal */
};

struct xc_tailcalls *xc_tailcalls_new(const struct xc_process *process)
{
	struct xc_tailcalls *t = xc_alloc(sizeof *t);
	t->process = process;
	return t;
}

void xc_tailcalls_free(struct xc_tailcalls *t)
{
	if (!t)
		return;
	xc_arena_fini(&t->arena);
	free(t);
}

/* The function DIE at a place, and its entry in memory; 0 when there is no debug information. */
static xc_addr entry_of(const struct xc_place *place, Dwarf_Die *die_out)
{
	Dwarf_Addr low;
	if (place->level_count == 0 || place->line_only)
		return 0;
	*die_out = place->levels[place->level_count - 1].die;
	return dwarf_entrypc(die_out, &low) == 0 ? low + place->module->bias : 0;
}

static const char *linkage_name(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	if (xc_die_attr(function, DW_AT_linkage_name, &attr) || xc_die_attr(function, DW_AT_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

/* Where the function that a call site names begins in memory; 0 when that is not known. */
static xc_addr target_of(const struct xc_process *p, struct xc_module *module, Dwarf_Die *site)
{
	Dwarf_Die function;
	Dwarf_Addr low;
	xc_addr addr;
	if (!xc_die_ref(site, DW_AT_call_origin, &function) && !xc_die_ref(site, DW_AT_abstract_origin, &function))
		return 0;
	if (dwarf_lowpc(&function, &low) == 0)
		return low + module->bias;
	const char *name = linkage_name(&function);
	const struct xc_symtab *own = xc_debugfile_symbols(xc_debugfile_of(p, module));
	const struct xc_symbol *symbol = name ? xc_symtab_named(own, name) : NULL;
	if (symbol)
		return symbol->value + module->bias;
	return name && xc_symbol_find(p, name, NULL, &addr) ? addr : 0;
}

/* Does the site name the function itself, by DIE or by name? The usual case, and told without a symbol table. What is
 * defined elsewhere is told by its address instead: static functions may share a name. */
static bool names_function(Dwarf_Die *site, Dwarf_Die *function)
{
	Dwarf_Die target;
	Dwarf_Addr low;
	if (!xc_die_ref(site, DW_AT_call_origin, &target) && !xc_die_ref(site, DW_AT_abstract_origin, &target))
		return false;
	if (target.addr != function->addr && dwarf_lowpc(&target, &low) == 0)
		return false;
	const char *wanted = linkage_name(&target), *name = linkage_name(function);
	return target.addr == function->addr || (wanted && name && !strcmp(wanted, name));
}

static bool is_tail_site(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return (tag == DW_TAG_call_site && xc_die_flag(die, DW_AT_call_tail_call)) ||
	       (tag == DW_TAG_GNU_call_site && xc_die_flag(die, DW_AT_GNU_tail_call));
}

static xc_addr return_of(const struct xc_module *module, Dwarf_Die *site)
{
	Dwarf_Attribute attr;
	Dwarf_Addr at;
	if ((dwarf_attr(site, DW_AT_call_return_pc, &attr) && dwarf_formaddr(&attr, &at) == 0) ||
	    dwarf_lowpc(site, &at) == 0)
		return at + module->bias;
	return 0;
}

static void search_function(struct search *s, xc_addr entry);

static void follow(struct search *s, struct xc_module *module, Dwarf_Die *site)
{
	xc_addr target = ++s->sites <= MAX_SITES ? target_of(s->process, module, site) : 0;
	if (!target) {
		s->found = MANY;
		return;
	}
	if (target == s->goal) {
		s->found++;
		s->last_return = return_of(module, site);
		return;
	}
	for (size_t i = 0; i < s->length; i++)
		if (s->chain[i] == target)
			return; /* a loop of tail calls */
	search_function(s, target);
}

/* Call sites below a DIE, through lexical blocks and inlined functions. */
static void search_die(struct search *s, struct xc_module *module, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;
	if (depth > MAX_DEPTH || !xc_die_child(parent, &child))
		return;
	do {
		int tag = dwarf_tag(&child);
		if (is_tail_site(&child))
			follow(s, module, &child);
		else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
			search_die(s, module, &child, depth + 1);
	} while (s->found < MANY && xc_die_next(&child));
}

static void search_function(struct search *s, xc_addr entry)
{
	Dwarf_Die function;
	const struct xc_place *place = xc_debuginfo_place(s->process, entry);
	if (s->length == MAX_CHAIN)
		s->found = MANY;
	if (s->found >= MANY || !entry_of(place, &function))
		return;
	s->chain[s->length++] = entry;
	search_die(s, place->module, &function, 0);
	s->length--;
}

static xc_addr search(const struct xc_process *p, const struct xc_place *callee, const struct xc_place *caller,
		      xc_addr ret)
{
	Dwarf_Die function, site;
	xc_addr goal = entry_of(callee, &function);
	if (!goal || !caller->module || !xc_debuginfo_call_site(caller, ret - caller->module->bias, &site))
		return 0;
	if (names_function(&site, &function))
		return 0;
	xc_addr named = target_of(p, caller->module, &site);
	if (!named || named == goal)
		return 0;
	struct search s = {.process = p, .goal = goal};
	search_function(&s, named);
	return s.found == 1 ? s.last_return : 0;
}

xc_addr xc_tailcall_between(struct xc_tailcalls *t, xc_addr callee, xc_addr ret)
{
	const struct xc_place *below = xc_debuginfo_place(t->process, callee);
	const struct xc_place *above = xc_debuginfo_place(t->process, ret - 1);
	if (below->level_count == 0 || above->level_count == 0 || below->line_only)
		return 0;
	void **slot = xc_memo_at(&t->answers, &t->arena, below->levels[below->level_count - 1].die.addr, above);
	if (*slot)
		return *(xc_addr *)*slot;
	xc_addr *answer = xc_arena_alloc(&t->arena, sizeof *answer);
	*slot = answer;
	*answer = search(t->process, below, above, ret);
	return *answer;
}

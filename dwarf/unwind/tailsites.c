/* tailsites: call sites that are marked as tail calls, in the blocks and inlined functions of a function.
 *
 * DW_AT_call_tail_call, DW_AT_call_all_tail_calls: DWARF 5, 3.4.1 and 3.3.1.3; the GNU forms are those of DWARF 4
 * with extensions. A function that does not state that it lists all its tail calls may have others: it may come from
 * another compiler, or from code without call sites.
 *
 * The address of a site: gcc gives the address after the jump, as if it returned there, clang that of the jump
 * (DWARF 5). gcc 12 leaves some sites in the abstract instance; those whose address lies in this copy belong to it. */
#include "dwarf/unwind/tailsites.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>

#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"
#include "dwarf/decode/disas.h"
#include "dwarf/unwind/sitetarget.h"

enum { MAX_SITES = 256, MAX_NESTING = 64, MAX_DIES = 65536 };

struct reader {
	const struct xc_process *process;
	struct xc_module *module;
	Dwarf_Die function;
	struct xc_disas **disas;
	struct xc_tailsite *items;
	size_t count, dies;
	bool whole;
};

static bool lists_all_calls(Dwarf_Die *function)
{
	return xc_die_flag(function, DW_AT_call_all_calls) || xc_die_flag(function, DW_AT_call_all_tail_calls) ||
	       xc_die_flag(function, DW_AT_GNU_all_call_sites) || xc_die_flag(function, DW_AT_GNU_all_tail_call_sites);
}

static bool is_tail_site(Dwarf_Die *die, int tag)
{
	return (tag == DW_TAG_call_site && xc_die_flag(die, DW_AT_call_tail_call)) ||
	       (tag == DW_TAG_GNU_call_site && xc_die_flag(die, DW_AT_GNU_tail_call));
}

/* The address after the instruction at a file address; 0 when its length is unknown. */
static xc_addr behind(struct reader *r, uint64_t at)
{
	const struct xc_arch *arch = r->process->arch;
	uint8_t bytes[XC_CODE_LONGEST], length;
	xc_addr addr = at + r->module->bias;
	size_t got = xc_space_peek(r->process->space, addr, bytes, sizeof bytes);
	if (arch->machine == EM_ARM) /* may be Thumb code */
		return 0;
	if (!*r->disas)
		xc_error_free(xc_disas_open(arch, XC_SYNTAX_ATT, r->disas));
	bool known = *r->disas && got && xc_disas_length(*r->disas, bytes, got, addr, &length);
	return known ? addr + length : 0;
}

static xc_addr end_of(struct reader *r, Dwarf_Die *site)
{
	Dwarf_Attribute attr;
	Dwarf_Addr at;
	if ((dwarf_attr(site, DW_AT_call_return_pc, &attr) && dwarf_formaddr(&attr, &at) == 0) ||
	    (dwarf_tag(site) == DW_TAG_GNU_call_site && dwarf_lowpc(site, &at) == 0))
		return at + r->module->bias;
	return dwarf_attr(site, DW_AT_call_pc, &attr) && dwarf_formaddr(&attr, &at) == 0 ? behind(r, at) : 0;
}

static void add(struct reader *r, Dwarf_Die *die, bool abstract)
{
	struct xc_site site = {
		.process = r->process, .module = r->module, .die = die, .end = end_of(r, die), .jump = true};
	bool ours = site.end && xc_die_holds(&r->function, site.end - 1 - r->module->bias);
	if (!ours) {
		r->whole &= abstract;
		return;
	}
	for (size_t i = 0; i < r->count; i++)
		if (r->items[i].end == site.end)
			return;
	xc_addr target = r->count < MAX_SITES ? xc_site_target(&site, NULL) : 0;
	if (target)
		r->items[r->count++] = (struct xc_tailsite){.target = target, .end = site.end};
	else
		r->whole = false;
}

static bool is_block(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

enum { DEEP = 0, ABSTRACT = 1, FLAT = 2 };

static void read_block(struct reader *r, Dwarf_Die *block, unsigned how, unsigned nesting)
{
	Dwarf_Die child, origin;
	if (nesting > MAX_NESTING)
		r->whole = false;
	if (!(how & ABSTRACT) && xc_die_ref(block, DW_AT_abstract_origin, &origin))
		read_block(r, &origin, nesting ? ABSTRACT | FLAT : ABSTRACT, nesting + 1);
	for (bool more = xc_die_child(block, &child); more && r->whole; more = xc_die_next(&child)) {
		int tag = xc_die_tag(&child);
		if (++r->dies > MAX_DIES)
			r->whole = false;
		else if (is_tail_site(&child, tag))
			add(r, &child, how & ABSTRACT);
		else if (is_block(tag) && !(how & FLAT))
			read_block(r, &child, how, nesting + 1);
	}
}

void xc_tailsites_read(const struct xc_process *process, xc_addr entry, struct xc_arena *arena, struct xc_disas **disas,
		       struct xc_tailsites *out)
{
	struct xc_tailsite items[MAX_SITES];
	const struct xc_place *place = xc_debuginfo_place(process, entry);
	struct reader r = {.process = process, .module = place->module, .disas = disas, .items = items, .whole = true};
	*out = (struct xc_tailsites){.whole = false};
	if (xc_site_function(place, &r.function) != entry || !r.function.addr || !lists_all_calls(&r.function))
		return;
	read_block(&r, &r.function, DEEP, 0);
	if (!r.whole || xc_budget_is_spent())
		return;
	struct xc_tailsite *kept = xc_arena_alloc(arena, (r.count + 1) * sizeof *kept);
	for (size_t i = 0; i < r.count; i++)
		kept[i] = items[i];
	*out = (struct xc_tailsites){.whole = true, .items = kept, .count = r.count};
}

/* writers: see writers.h. A store through a register is one to the member when the function has a pointer to the
 * record, and the displacement and the size are the member's: it may be that of another record. */
#include "triage/loop/writers.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"
#include "dwarf/types/field.h"
#include "triage/code/body.h"
#include "triage/code/slice.h"
#include "triage/util/same_type.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum {
	FUNCTIONS = 10000,
	DIES = 50000, /* of other units */
	CODE = 256 << 10 /* bytes */,
	VARIABLES = 256, /* and blocks, of a function */
	MEMBERS = 64,
	TOLD = 3,
	NESTING = 8,   /* namespaces, blocks */
	SLICES = 256,  /* of what is stored */
	PLACES = 4096, /* whose inlined functions are looked at */
};

struct search {
	const struct xc_crash_context *crash;
	const struct xc_module *module;
	const struct xc_written *written;
	struct xc_arena scratch; /* of one function */
	struct xc_writers *out;
	size_t functions, dies, slices, places;
	uint64_t code;
};

/* ---- which functions ---- */

/* Has the type a pointer to the record as a member, and at the written member's offset none of that size of its own? A
 * store there would be to either. */
static bool leads_to_record(const struct search *s, const struct xc_type *type)
{
	size_t count;
	uint64_t rest, size;
	bool leads = false;
	const struct xc_member *members = xc_same_type_is_record(type) ? xc_type_members(type, &count) : NULL;
	for (size_t i = 0; members && i < count && i < MEMBERS && !leads; i++) {
		const struct xc_type *target = xc_same_type_pointed(members[i].type);
		leads = target && xc_same_type(target, s->written->record);
	}
	if (!leads)
		return false;
	const struct xc_type *there = xc_field_path(NULL, type, s->written->offset, &rest);
	return !there || rest || !xc_type_size(there, &size) || size != s->written->size;
}

static const struct xc_type *pointed_by(const struct search *s, Dwarf_Die *variable)
{
	const struct xc_type *pointer = xc_type_of(xc_types_of(s->crash->process), variable);
	return pointer ? xc_same_type_pointed(pointer) : NULL;
}

/* Is one of the parameters and variables of a function, or of a block in it, a pointer to the record? Does a parameter
 * lead to one: *leads_out (not changed when none does). */
static bool has_record(const struct search *s, Dwarf_Die *function, unsigned depth, unsigned *left, bool *leads_out)
{
	Dwarf_Die die;
	if (!s->written->record || !xc_die_child(function, &die))
		return false;
	do {
		int tag = xc_die_tag(&die);
		if (tag == DW_TAG_lexical_block && depth < NESTING && has_record(s, &die, depth + 1, left, leads_out))
			return true;
		if (tag != DW_TAG_formal_parameter && tag != DW_TAG_variable)
			continue;
		const struct xc_type *target = pointed_by(s, &die);
		if (target && xc_same_type(target, s->written->record))
			return true;
		*leads_out |= target && tag == DW_TAG_formal_parameter &&
			      leads_to_record(s, xc_type_complete(xc_type_strip(target)));
	} while (*left && --*left && xc_die_next(&die));
	return false;
}

/* Has the function that an instruction was inlined from a pointer to the record? */
static bool was_inlined_with_record(struct search *s, xc_addr at)
{
	if (s->places == PLACES)
		return false;
	s->places++;
	const struct xc_place *place = xc_debuginfo_place(s->crash->process, at);
	bool found = false, leads = false;
	for (size_t l = 0; l + 1 < place->level_count && !place->line_only && !found; l++) {
		Dwarf_Die die = place->levels[l].die;
		unsigned left = VARIABLES;
		found = has_record(s, &die, 0, &left, &leads);
	}
	return found;
}

/* "net::session::session", "session" of the record "net::session" */
static bool is_constructor(const struct search *s, const char *function)
{
	const char *record = s->written->record ? s->written->record->name : NULL;
	const char *last = record ? strrchr(record, ':') : NULL, *own = function ? strrchr(function, ':') : NULL;
	size_t len;
	if (!function || !record)
		return false;
	last = last ? last + 1 : record;
	own = own ? own + 1 : function;
	len = strcspn(last, "<");
	return strlen(own) == len && memcmp(own, last, len) == 0;
}

static bool is_constructed(const struct search *s, xc_addr at)
{
	const struct xc_place *place = xc_debuginfo_place(s->crash->process, at);
	for (size_t l = 0; l < place->level_count; l++)
		if (is_constructor(s, place->levels[l].function))
			return true;
	return false;
}

/* ---- which instructions ---- */

/* Does the function keep the frame's address in the frame pointer? Else that is a register like any other. */
static bool has_frame_pointer(const struct search *s, const struct xc_body *body)
{
	const struct xc_arch *arch = s->crash->process->arch;
	for (size_t i = 0; i < body->count; i++)
		if (body->insns[i].kind == XC_INSN_MOVE && body->insns[i].to == arch->fp &&
		    body->insns[i].from == arch->sp)
			return true;
	return false;
}

/* Does it store the constant 0, on one way to it at least? */
static bool clears(struct search *s, const struct xc_body *body, size_t at)
{
	const struct xc_insn *insn = &body->insns[at];
	struct xc_slice slice;
	bool found = insn->kind == XC_INSN_STORE_CONSTANT && !insn->constant;
	if (insn->kind != XC_INSN_STORE || insn->from < 0 || s->slices == SLICES)
		return found;
	s->slices++;
	xc_slice_register(body, at, insn->from, &slice);
	for (size_t i = 0; i < slice.count && !found; i++) {
		const struct xc_insn *set = &body->insns[slice.items[i].insn];
		found = slice.items[i].kind == XC_DEFINITION_INSN && set->kind == XC_INSN_CONSTANT && !set->constant;
	}
	return found;
}

/* It writes the variable if its pointer, when it has one, is to the record. */
static bool may_write(const struct search *s, const struct xc_body *body, size_t at, bool framed)
{
	const struct xc_insn *insn = &body->insns[at];
	const struct xc_arch *arch = s->crash->process->arch;
	const struct xc_written *w = s->written;
	const struct xc_insn_memory *m = &insn->memory;
	if (!insn->writes_memory || !insn->has_memory || m->complex || m->index >= 0 || m->segment >= 0 ||
	    m->size != w->size)
		return false;
	if (m->base < 0)
		return (xc_addr)m->displacement == w->addr;
	return m->base != arch->sp && !(framed && m->base == arch->fp) && m->displacement >= 0 &&
	       (uint64_t)m->displacement == w->offset;
}

const char *xc_writers_function(const struct xc_crash_context *crash, xc_addr at)
{
	const struct xc_place *place = xc_debuginfo_place(crash->process, at);
	size_t level = 0;
	xc_user_code_level(place, &level);
	return xc_place_function(place, level);
}

static unsigned line_at(const struct xc_crash_context *crash, xc_addr at)
{
	const struct xc_place *place = xc_debuginfo_place(crash->process, at);
	size_t level = 0;
	xc_user_code_level(place, &level);
	return place->level_count ? place->levels[level].line : 0;
}

static void add_line(unsigned lines[XC_WRITER_LINES], unsigned line)
{
	size_t i = 0;
	while (i < XC_WRITER_LINES && lines[i] && lines[i] != line)
		i++;
	if (i < XC_WRITER_LINES)
		lines[i] = line;
}

/* Is the function among those found? Then this is another of its lines. */
static bool is_found(const struct search *s, xc_addr at)
{
	const char *name = xc_writers_function(s->crash, at);
	for (size_t i = 0; i < s->out->count; i++) {
		const char *other = xc_writers_function(s->crash, s->out->at[i]);
		if (!name || !other || strcmp(name, other) != 0)
			continue;
		add_line(s->out->lines[i], line_at(s->crash, at));
		return true;
	}
	return false;
}

static void add(const struct search *s, const struct xc_insn *insn, bool leads)
{
	add_line(s->out->lines[s->out->count], line_at(s->crash, insn->addr));
	s->out->at[s->out->count++] = insn->addr;
	s->out->likely |= insn->memory.base >= 0;
	s->out->perhaps |= insn->memory.base >= 0 && leads;
}

/* Templates of C++'s library: "std::vector<int>::push_back". */
static bool is_of_library(Dwarf_Die *function)
{
	static const char *const prefixes[] = {"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", NULL};
	Dwarf_Attribute attr;
	const char *name = xc_die_attr(function, DW_AT_linkage_name, &attr) ? dwarf_formstring(&attr) : NULL;
	for (size_t i = 0; name && prefixes[i]; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void look_at(struct search *s, Dwarf_Die *function)
{
	uint64_t entry;
	s->functions++;
	if (!xc_die_entry(function, &entry) || is_of_library(function))
		return;
	unsigned left = VARIABLES;
	bool leads = false, own = has_record(s, function, 0, &left, &leads);
	const struct xc_body *body = xc_body_read(s->crash->process, s->module->bias + entry, &s->scratch);
	bool framed = body && has_frame_pointer(s, body);
	for (size_t i = 0; body && i < body->count && s->code < CODE && s->out->count < XC_WRITERS; i++) {
		const struct xc_insn *insn = &body->insns[i];
		s->code += insn->length;
		if (!may_write(s, body, i, framed))
			continue;
		bool has = own || insn->memory.base < 0 || was_inlined_with_record(s, insn->addr);
		if ((!has && !leads) || (s->written->cleared && !clears(s, body, i)) || is_constructed(s, insn->addr) ||
		    is_found(s, insn->addr))
			continue;
		add(s, insn, !has);
	}
	xc_arena_fini(&s->scratch);
	s->scratch = (struct xc_arena){0};
}

static bool has_budget(const struct search *s)
{
	return s->out->count < XC_WRITERS && s->functions < FUNCTIONS && s->code < CODE && s->dies < DIES;
}

static void look_at_unit(struct search *s, Dwarf_Die *unit, unsigned depth)
{
	Dwarf_Die die;
	if (!xc_die_child(unit, &die))
		return;
	do {
		int tag = xc_die_tag(&die);
		s->dies++;
		if (tag == DW_TAG_subprogram)
			look_at(s, &die);
		else if (tag == DW_TAG_namespace && depth < NESTING)
			look_at_unit(s, &die, depth + 1);
	} while (has_budget(s) && xc_budget_spend(1) && xc_die_next(&die));
}

/* The units without that of the place. */
static void look_at_others(struct search *s, const Dwarf_Die *own)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(own->cu);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	while (has_budget(s) && xc_budget_spend(1) && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		if (die.cu != own->cu)
			look_at_unit(s, &die, 0);
}

bool xc_writers_find(const struct xc_crash_context *crash, const struct xc_place *place,
		     const struct xc_written *written, struct xc_writers *out)
{
	struct search s = {.crash = crash, .module = place->module, .written = written, .out = out};
	Dwarf_Die unit;
	*out = (struct xc_writers){.cleared = written->cleared};
	if (!place->module || !place->module->bias_known || !place->level_count || place->line_only ||
	    !dwarf_diecu(&place->levels[place->level_count - 1].die, &unit, NULL, NULL))
		return false;
	look_at_unit(&s, &unit, 0);
	s.dies = 0;
	look_at_others(&s, &unit);
	return out->count > 0;
}

void xc_writers_text(const struct xc_crash_context *crash, const struct xc_writers *writers, struct xc_text *text)
{
	xc_text_printf(text, "is %s%s in ",
		       writers->perhaps  ? "perhaps "
		       : writers->likely ? "likely "
					 : "",
		       writers->cleared ? "set to NULL" : "written");
	for (size_t i = 0; i < writers->count && i < TOLD; i++) {
		const struct xc_place *at = xc_debuginfo_place(crash->process, writers->at[i]);
		size_t level = 0;
		xc_user_code_level(at, &level);
		const char *function = xc_place_function(at, level);
		xc_text_add(text, !i ? "" : i + 1 == writers->count ? " and " : ", ");
		xc_text_name(text, function ? function : "a function without a name");
		if (!xc_sourceline(at, level, " (", text))
			continue;
		for (size_t k = 1; k < XC_WRITER_LINES && writers->lines[i][k]; k++)
			xc_text_printf(text, ", %u", writers->lines[i][k]);
		xc_text_add(text, ")");
	}
	xc_text_add(text, writers->count > TOLD ? ", and in others" : "");
}

bool xc_writers_is_between(const struct xc_crash_context *crash, const struct xc_written *written, xc_addr pc)
{
	struct search s = {.crash = crash, .written = written};
	const struct xc_body *body = xc_body_read(crash->process, pc, &s.scratch);
	long here = body ? xc_body_at(body, pc) : XC_BODY_NONE;
	bool framed = body && has_frame_pointer(&s, body), cleared = false, set = false;
	for (size_t i = 0; here >= 0 && i < body->count; i++) {
		if (!may_write(&s, body, i, framed))
			continue;
		bool clear = clears(&s, body, i);
		cleared = (long)i < here ? clear : cleared;
		set |= (long)i >= here && !clear;
	}
	xc_arena_fini(&s.scratch);
	return cleared && set;
}

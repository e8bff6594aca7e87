/* writers: see writers.h. A store through a register is one to the member when the function has a pointer to the
 * record, and the displacement and the size are the member's: it may be that of another record. */
#include "triage/loop/writers.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"
#include "dwarf/types/field.h"
#include "triage/code/body.h"
#include "triage/util/same_type.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { FUNCTIONS = 10000, CODE = 256 << 10 /* bytes */, TOLD = 3, PARAMETERS = 8, MEMBERS = 64 };

struct search {
	const struct xc_crash_context *crash;
	const struct xc_module *module;
	const struct xc_written *written;
	struct xc_arena scratch; /* of one function */
	xc_addr found[TOLD];     /* of instructions, in different functions */
	size_t count, functions;
	bool likely;  /* one of them writes through a pointer */
	bool perhaps; /* one of them has no pointer to the record, but leads to one: it may be another's member */
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

/* Is one of its parameters a pointer to the record; or does one lead there? */
static bool has_record(struct search *s, Dwarf_Die *function, bool *leads_out)
{
	struct xc_types *types = xc_types_of(s->crash->process);
	Dwarf_Die die;
	bool found = false;
	*leads_out = false;
	if (!s->written->record || !xc_die_child(function, &die))
		return false;
	for (size_t i = 0; i < PARAMETERS && xc_die_tag(&die) == DW_TAG_formal_parameter && !found; i++) {
		const struct xc_type *pointer = xc_type_of(types, &die);
		const struct xc_type *target = pointer ? xc_same_type_pointed(pointer) : NULL;
		found = target && xc_same_type(target, s->written->record);
		*leads_out |= target && leads_to_record(s, xc_type_complete(xc_type_strip(target)));
		if (!xc_die_next(&die))
			break;
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

static bool is_frame_register(const struct search *s, int reg)
{
	const struct xc_arch *arch = s->crash->process->arch;
	return reg == arch->sp || reg == arch->fp;
}

static bool writes(const struct search *s, const struct xc_insn *insn, bool by_pointer)
{
	const struct xc_written *w = s->written;
	const struct xc_insn_memory *m = &insn->memory;
	if (!insn->writes_memory || !insn->has_memory || m->complex || m->index >= 0 || m->segment >= 0 ||
	    m->size != w->size)
		return false;
	if (m->base < 0)
		return (xc_addr)m->displacement == w->addr;
	return by_pointer && !is_frame_register(s, m->base) && m->displacement >= 0 &&
	       (uint64_t)m->displacement == w->offset;
}

static const char *function_at(const struct search *s, xc_addr at)
{
	const struct xc_place *place = xc_debuginfo_place(s->crash->process, at);
	size_t level = 0;
	xc_user_code_level(place, &level);
	return xc_place_function(place, level);
}

static bool is_found(const struct search *s, xc_addr at)
{
	const char *name = function_at(s, at);
	for (size_t i = 0; i < s->count; i++) {
		const char *other = function_at(s, s->found[i]);
		if (name && other && strcmp(name, other) == 0)
			return true;
	}
	return false;
}

static void add(struct search *s, const struct xc_insn *insn, bool leads)
{
	s->found[s->count++] = insn->addr;
	s->likely |= insn->memory.base >= 0;
	s->perhaps |= insn->memory.base >= 0 && leads;
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
	bool leads, by_pointer = has_record(s, function, &leads);
	const struct xc_body *body = xc_body_read(s->crash->process, s->module->bias + entry, &s->scratch);
	for (size_t i = 0; body && i < body->count && s->code < CODE && s->count < TOLD; i++) {
		const struct xc_insn *insn = &body->insns[i];
		s->code += insn->length;
		if (writes(s, insn, by_pointer || leads) && !is_constructed(s, insn->addr) && !is_found(s, insn->addr))
			add(s, insn, !by_pointer);
	}
	xc_arena_fini(&s->scratch);
	s->scratch = (struct xc_arena){0};
}

static void look_at_unit(struct search *s, Dwarf_Die *unit)
{
	Dwarf_Die die;
	if (!xc_die_child(unit, &die))
		return;
	do {
		if (xc_die_tag(&die) == DW_TAG_subprogram)
			look_at(s, &die);
	} while (s->count < TOLD && s->functions < FUNCTIONS && s->code < CODE && xc_budget_spend(1) &&
		 xc_die_next(&die));
}

bool xc_writers_find(const struct xc_crash_context *crash, const struct xc_place *place,
		     const struct xc_written *written, struct xc_text *text)
{
	struct search s = {.crash = crash, .module = place->module, .written = written};
	Dwarf_Die unit;
	if (!place->module || !place->module->bias_known || !place->level_count || place->line_only ||
	    !dwarf_diecu(&place->levels[place->level_count - 1].die, &unit, NULL, NULL))
		return false;
	look_at_unit(&s, &unit);
	for (size_t i = 0; i < s.count; i++) {
		const struct xc_place *at = xc_debuginfo_place(crash->process, s.found[i]);
		size_t level = 0;
		xc_user_code_level(at, &level);
		const char *function = function_at(&s, s.found[i]);
		xc_text_add(text, !i                 ? s.perhaps     ? "is perhaps written in "
							  : s.likely ? "is likely written in "
								     : "is written in "
				  : i + 1 == s.count ? " and "
						     : ", ");
		xc_text_name(text, function ? function : "a function without a name");
		if (xc_sourceline(at, level, " (", text))
			xc_text_add(text, ")");
	}
	return s.count > 0;
}

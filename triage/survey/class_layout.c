/* class_layout: the one-definition rule of C++ asks for equal definitions; a linker does not check it. */
#include "triage/survey/class_layout.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "dwarf/line/unit_cache.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/types/scope.h"
#include "dwarf/types/type_die.h"
#include "triage/dataflow/deref.h"
#include "triage/survey/layout_difference.h"
#include "triage/survey/survey.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"

enum { CLASSES = 64, LOOKUPS = 24, TOLD = 2, NESTING = 16, ARGUMENTS = 8, DEPTH = 3 };

/* A class that the crashed functions work on. */
struct met {
	const struct xc_type *type;
	bool led;        /* the bad value was read from an object of it, */
	uint64_t offset; /* here */
	xc_addr at;      /* of an object; 0: not known */
};

struct search {
	struct xc_crash_context *crash;
	struct met met[CLASSES];
	size_t count;
};

/* Two definitions that differ. */
struct pair {
	const struct met *met;
	const struct xc_type *other;
	const char *unit, *other_unit;
	const struct xc_module *module; /* that has the object, and the other definition; NULL: the same */
	struct xc_layout_difference difference;
};

/* ---- which classes have one definition for the whole program ---- */

/* Of a library, of the compiler, or of what cannot be named elsewhere. */
static bool has_own_name(const char *name)
{
	static const char *const others[] = {"std::", "__gnu_cxx::", "__cxxabiv1::", "boost::", NULL};
	static const char *const hidden[] = {"(anonymous", "{", "<unnamed", "<lambda", ")::", NULL};
	return name && !xc_names_begin(others, name) && !xc_names_in(hidden, name);
}

/* Is it in no function, and in no namespace without a name? */
static bool is_linked(struct xc_types *types, const Dwarf_Die *class_die)
{
	Dwarf_Die at = *class_die, parent;
	for (unsigned i = 0; i < NESTING && xc_scope_parent(types, &at, &parent); i++, at = parent) {
		int tag = dwarf_tag(&parent);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
		    !dwarf_diename(&parent))
			return false;
	}
	return true;
}

static bool is_shared(struct xc_types *types, const struct xc_type *type, unsigned depth);

/* A template has the linkage of its arguments. */
static bool has_shared_arguments(struct xc_types *types, const struct xc_type *type, unsigned depth)
{
	size_t count;
	const struct xc_template *arguments = xc_type_templates(type, &count);
	for (size_t i = 0; i < count && i < ARGUMENTS; i++) {
		const struct xc_type *argument = arguments[i].type ? xc_type_strip(arguments[i].type) : NULL;
		if (argument && argument->target && xc_type_is_pointer(argument))
			argument = xc_type_strip(argument->target);
		if (argument && (xc_type_is_record(argument) || argument->kind == XC_TYPE_ENUM) &&
		    !is_shared(types, argument, depth - 1))
			return false;
	}
	return true;
}

/* Has the type one meaning in the whole program? */
static bool is_shared(struct xc_types *types, const struct xc_type *type, unsigned depth)
{
	Dwarf_Die die;
	return depth && type->name && !type->is_c && !type->is_rust && !type->is_go && xc_type_die_of(type, &die) &&
	       is_linked(types, &die) && has_shared_arguments(types, type, depth);
}

/* ---- which classes are looked at ---- */

static void meet(struct search *s, const struct xc_type *type, bool led, uint64_t offset, xc_addr at)
{
	type = type ? xc_type_complete(xc_type_strip(type)) : NULL;
	if (!type || !xc_same_type_is_record(type) || type->is_declaration || !type->size_known ||
	    !has_own_name(type->name))
		return;
	for (size_t i = 0; i < s->count; i++) /* by name: both of two definitions may be met */
		if (strcmp(s->met[i].type->name, type->name) == 0) {
			if (led && !s->met[i].led)
				s->met[i] = (struct met){type, led, offset, at};
			return;
		}
	if (s->count < CLASSES)
		s->met[s->count++] = (struct met){type, led, offset, at};
}

static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	const struct xc_type *type = it->value->type;
	xc_addr broken = s->crash->broken, at = it->value->addr;
	uint64_t size, pointer;
	if (xc_type_is_pointer(type)) {
		meet(s, xc_same_type_pointed(type), false, 0, xc_value_load(it->value, &pointer) ? pointer : 0);
		return;
	}
	bool led = broken && it->value->kind == XC_VALUE_MEMORY && xc_type_size(type, &size) && broken >= at &&
		   broken - at < size;
	meet(s, type, led, broken - at, it->value->kind == XC_VALUE_MEMORY ? at : 0);
}

static void look_at_derefs(struct search *s)
{
	const struct xc_derefs *derefs = s->crash->derefs;
	for (size_t i = 0; derefs && i < derefs->count; i++) {
		const struct xc_deref *one = &derefs->items[i];
		if (one->pointer_type)
			meet(s, xc_same_type_pointed(one->pointer_type), one->at_known && one->led_known,
			     one->at - one->led, one->led_known ? one->led : 0);
	}
}

/* ---- its definitions ---- */

static const char *unit_of(const Dwarf_Die *die)
{
	Dwarf_Die unit;
	const char *path =
		dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ? dwarf_diename(&unit) : NULL;
	return path ? path : "?";
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_other_definition(const struct search *s, const struct xc_definition *one, struct pair *pair)
{
	struct xc_types *types = xc_types_of(s->crash->process);
	const struct xc_type *type = pair->met->type, *other;
	Dwarf_Die die = one->die;
	if (one->macro || one->declaration || one->kind != XC_NAME_TYPE)
		return false;
	other = xc_type_get(types, &die);
	if (other == type || !xc_same_type_is_record(other) || other->is_declaration || !other->size_known ||
	    !other->name || strcmp(other->name, type->name) != 0 ||
	    (!pair->module && !is_shared(types, other, DEPTH)) ||
	    !xc_layout_difference_find(type, other, &pair->difference))
		return false;
	pair->other = other;
	pair->other_unit = unit_of(&die);
	return true;
}

/* Its definition in a module that differs. */
static bool find_in(const struct search *s, struct xc_module *module, struct pair *pair)
{
	const struct xc_query query = {.name = pair->met->type->name,
				       .kinds = XC_NAME_TYPE,
				       .tag = DW_TAG_structure_type,
				       .module = module,
				       .small_only = true};
	struct xc_definitions found = {0};
	struct xc_error *error = module ? xc_lookup(s->crash->process, &query, &found) : NULL;
	bool other = false;
	for (size_t i = 0; !error && i < found.count && !other; i++)
		other = is_other_definition(s, &found.items[i], pair);
	xc_error_free(error);
	xc_definitions_fini(&found);
	return other;
}

/* What two modules call by one name need not be the same thing, unless it is an object of one that the other's code
 * uses. That one may show the other only a beginning of it. */
static bool find_elsewhere(const struct search *s, const struct xc_module *own, struct pair *pair)
{
	const struct xc_layout_difference *d = &pair->difference;
	struct xc_module *holder = xc_process_module(s->crash->process, pair->met->at);
	if (!holder || holder == own)
		return false;
	pair->module = holder;
	bool found = find_in(s, holder, pair) && (d->member || d->base || d->other_size < d->size);
	pair->module = found ? holder : NULL;
	return found;
}

static bool find_other(const struct search *s, const struct met *met, struct pair *pair)
{
	Dwarf_Die die;
	*pair = (struct pair){.met = met};
	if (!xc_type_die_of(met->type, &die))
		return false;
	pair->unit = unit_of(&die);
	struct xc_module *own = xc_unit_cache_module(s->crash->process, dwarf_cu_getdwarf(die.cu));
	bool other = is_shared(xc_types_of(s->crash->process), met->type, DEPTH) && find_in(s, own, pair);
	if (!other && own && met->at)
		other = find_elsewhere(s, own, pair);
	if (other && pair->module) {
		pair->unit = base_name(own->path);
		pair->other_unit = base_name(pair->module->path);
	} else if (other && strcmp(base_name(pair->unit), base_name(pair->other_unit)) != 0) {
		pair->unit = base_name(pair->unit);
		pair->other_unit = base_name(pair->other_unit);
	}
	return other;
}

/* ---- in words ---- */

static const char *keyword_of(const struct pair *pair)
{
	return pair->met->type->is_c ? "struct" : "class";
}

static void add_extra(const struct xc_type *type, const struct xc_type *other, struct xc_text *text)
{
	struct xc_text names = {0};
	if (xc_layout_difference_extra(type, other, &names))
		xc_text_printf(text, " (with %s)", xc_text_string(&names));
	xc_text_fini(&names);
}

static void report(const struct search *s, const struct pair *pair)
{
	const struct xc_layout_difference *d = &pair->difference;
	struct xc_text text = {0};
	if (pair->module)
		xc_text_printf(&text, "the %s at 0x%" PRIx64 " is an object of %s; ", pair->met->type->name,
			       pair->met->at, pair->other_unit);
	xc_text_printf(&text, "%s %s has two layouts: %" PRIu64 " bytes in %s", keyword_of(pair), pair->met->type->name,
		       d->size, pair->unit);
	add_extra(pair->other, pair->met->type, &text);
	xc_text_printf(&text, ", %" PRIu64 " bytes in %s", d->other_size, pair->other_unit);
	add_extra(pair->met->type, pair->other, &text);
	if (d->base)
		xc_text_printf(&text, ": code of the two does not agree on the base class %s", d->base);
	else if (d->member)
		xc_text_printf(&text, ": code of the two does not agree %s `%s` is", d->moved ? "where" : "what",
			       d->member);
	else
		xc_text_add(&text, ": code of the two does not agree where an object ends");
	xc_verdict_evidence(s->crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

static void explain(const struct search *s, const struct pair *pair, const char *how)
{
	struct xc_verdict *v = s->crash->verdict;
	v->cause = xc_arena_printf(&s->crash->report->arena, "%s%s%s because %s %s has two layouts, in %s and in %s",
				   v->cause ? v->cause : "", v->cause ? "; " : "", how, keyword_of(pair),
				   pair->met->type->name, pair->unit, pair->other_unit);
}

static bool is_damage(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"heap-corruption", "heap-overrun", "stack-smash",
					    "exec-data",       "pc-control",   NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

/* A bad pointer that nothing is known of: the library's code got it, or its members are not described. */
static bool is_blind_access(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"null-read",  "null-write",  "null-access", "wild-read",
					    "wild-write", "wild-access", NULL};
	return xc_names_find(names, crash->verdict->class_name) && !crash->verdict->expression && !crash->broken;
}

/* The class is told, and whether that explains the death: the bad value was read where the two do not agree, or may
 * have been. */
static bool tell(const struct search *s, const struct pair *pair, bool explained)
{
	bool led = pair->met->led && pair->met->offset >= pair->difference.from;
	bool damage = is_damage(s->crash) && pair->difference.size != pair->difference.other_size;
	bool open = is_blind_access(s->crash);
	report(s, pair);
	if (!explained && (led || damage || open))
		explain(s, pair, led ? "likely" : "perhaps");
	return led || damage || open;
}

void xc_class_layout_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	struct pair pair;
	size_t told = 0, looked = 0;
	bool explained = false;
	if (!crash->verdict->class_name || !crash->blame.place || xc_crash_context_is_signalled(crash))
		return;
	look_at_derefs(&s);
	xc_survey_walk(crash, look, &s);
	for (int led = 1; led >= 0; led--) /* those of the way of the bad value first */
		for (size_t i = 0; i < s.count && told < TOLD && looked < LOOKUPS; i++) {
			if (s.met[i].led != led)
				continue;
			looked++;
			if (!find_other(&s, &s.met[i], &pair))
				continue;
			explained |= tell(&s, &pair, explained);
			told++;
		}
}

/* cexpr_scope: the meaning of a name, in the order of a compiler's lookup:
 *
 *   1. locals and arguments of the frame's function, innermost block first
 *   2. members of *this
 *   3. in the function's classes and namespaces, from the inside out, and in what they import (cexpr_enclosing.c)
 *   4. in the function's unit, then in its module, then anywhere: the only external definition, or the only one at all.
 *      A thread mostly stands in the C library, whose private names nobody means: of such modules the unit only
 *   5. a static local of a function: `function::name`
 *   6. ELF symbols, and types that a C library would define
 *
 * A file or module before the name restricts the lookup. Several statics with the name are an error that lists them. */
#include <dwarf.h>

#include "core/process/module.h"
#include "dwarf/cexpr/cexpr_impl.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/module/die.h"
#include "dwarf/cexpr/synthetic_symbol.h"
#include "dwarf/elf/name.h"
#include "dwarf/types/scope.h"
#include "dwarf/elf/symbol.h"

enum { LISTED = 8 };

static Dwarf_Die *unit_of(const struct xc_cexpr *c, Dwarf_Die *storage)
{
	return xc_frame_scope_unit(c->scope, storage) ? storage : NULL;
}

/* ---- modules ---- */

static struct xc_error *find_module(const struct xc_cexpr *c, const char *name, struct xc_module **out)
{
	if ((*out = xc_module_by_name(c->process, name)))
		return NULL;
	return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "no module `%s`", name), "`xcore modules` lists them");
}

/* ---- definitions as values ---- */

static struct xc_error *function_value(struct xc_cexpr *c, const struct xc_definition *d, struct xc_value *out)
{
	Dwarf_Die die = d->die;
	uint64_t entry;
	const char *name = xc_die_name(&die);
	if (!xc_die_entry(&die, &entry))
		return xc_error_new(XC_ERR_ABSENT, "`%s` has no code of its own: %s", name ? name : "?",
				    d->declaration ? "it is only declared" : "it was inlined everywhere");
	if (!d->module->bias_known)
		return xc_error_new(XC_ERR_NOT_FOUND, "the load address of %s is not known", d->module->name);
	*out = xc_value_memory(c->process, xc_type_get(xc_types_of(c->process), &die), entry + d->module->bias);
	return NULL;
}

static struct xc_error *enumerator_value(struct xc_cexpr *c, const struct xc_definition *d, struct xc_value *out)
{
	Dwarf_Die die = d->die, parent;
	uint64_t bits;
	struct xc_types *types = xc_types_of(c->process);
	if (!xc_die_number(&die, DW_AT_const_value, &bits))
		return xc_error_new(XC_ERR_FORMAT, "an enumerator without a value");
	const struct xc_type *type = xc_ctype(c->process, XC_C_INT);
	if (xc_scope_parent(types, &die, &parent) && dwarf_tag(&parent) == DW_TAG_enumeration_type)
		type = xc_type_get(types, &parent);
	if (type->kind == XC_TYPE_ENUM && type->is_c && type->size <= 4)
		type = xc_ctype_constant(c->process, type);
	*out = xc_value_small(c->process, type, &bits, sizeof bits);
	return NULL;
}

/* A definition as a value, or as a type. */
static struct xc_error *defined(struct xc_cexpr *c, const struct xc_definition *d, enum xc_cfound *found_out,
				struct xc_value *value_out, const struct xc_type **type_out)
{
	Dwarf_Die die = d->die;
	struct xc_error *err = NULL;
	switch (d->kind) {
	case XC_NAME_TYPE:
		*type_out = xc_type_get(xc_types_of(c->process), &die);
		*found_out = XC_FOUND_TYPE;
		return NULL;
	case XC_NAME_VARIABLE:
		xc_variable_static(c->process, d->module, c->scope->thread, &die, c->arena, value_out);
		break;
	case XC_NAME_FUNCTION:
		err = function_value(c, d, value_out);
		break;
	case XC_NAME_ENUMERATOR:
		err = enumerator_value(c, d, value_out);
		break;
	default:
		return NULL;
	}
	if (!err)
		*found_out = XC_FOUND_VALUE;
	return err;
}

/* ---- choosing among definitions ---- */

/* A unit's file name, without its directory. */
static const char *unit_file(const struct xc_definition *d)
{
	Dwarf_Die unit, die = d->die;
	if (!dwarf_cu_die(die.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return "?";
	const char *name = xc_die_name(&unit), *slash = name ? strrchr(name, '/') : NULL;
	return slash ? slash + 1 : name ? name : "?";
}

static struct xc_error *ambiguous(const struct xc_cname *name, const struct xc_definitions *all)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < all->count && i < LISTED; i++) {
		Dwarf_Die die = all->items[i].die;
		uint64_t line = 0;
		xc_die_number(&die, DW_AT_decl_line, &line);
		xc_text_printf(&text, "%s%s:%llu", i ? ", " : "", unit_file(&all->items[i]), (unsigned long long)line);
	}
	if (all->count > LISTED)
		xc_text_printf(&text, ", and %zu more", all->count - LISTED);
	struct xc_error *err = xc_error_new(XC_ERR_USAGE, "`%s` is ambiguous: %s", name->name, xc_text_string(&text));
	xc_text_fini(&text);
	return xc_error_hint(err, "%s::%s, or MODULE!%s, chooses one", unit_file(&all->items[0]), name->name,
			     name->name);
}

static bool same_unit(const struct xc_definition *d, const Dwarf_Die *unit)
{
	return unit && d->die.cu == unit->cu;
}

static bool is_tagged(const struct xc_definition *d)
{
	Dwarf_Die die = d->die;
	int tag = dwarf_tag(&die);
	return d->kind == XC_NAME_TYPE && tag != DW_TAG_typedef && tag != DW_TAG_base_type;
}

static uint64_t size_of(const struct xc_cexpr *c, const struct xc_definition *d)
{
	Dwarf_Die die = d->die;
	uint64_t size = 0;
	return xc_type_size(xc_type_get(xc_types_of(c->process), &die), &size) ? size : 0;
}

/* Is a type of this name something else in another unit of the module? Programs of C have a `struct entry` in many
 * files. Not asked for scripts, which have no frame: they name the type that they expect. */
static bool differs_elsewhere(const struct xc_cexpr *c, const struct xc_definitions *all,
			      const struct xc_definition *one)
{
	uint64_t size = size_of(c, one);
	for (size_t i = 0; c->scope->has_frame && i < all->count; i++) {
		const struct xc_definition *other = &all->items[i];
		uint64_t theirs =
			other->kind == XC_NAME_TYPE && other->module == one->module ? size_of(c, other) : size;
		if (theirs != 0 && theirs != size)
			return true;
	}
	return false;
}

/* The definition to use among those of one kind: from the scope's unit, then external ones (the first is what the
 * loader binds to), then from the scope's module. Types of one name and size are the same. */
static const struct xc_definition *choose(const struct xc_cexpr *c, const struct xc_definitions *all,
					  struct xc_definitions *rivals)
{
	Dwarf_Die storage, *unit = unit_of(c, &storage);
	const struct xc_definition *here = NULL;
	size_t here_count = 0;
	for (size_t i = 0; i < all->count; i++) {
		if (same_unit(&all->items[i], unit))
			return &all->items[i];
	}
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].external || all->items[i].kind == XC_NAME_ENUMERATOR)
			return &all->items[i];
		if (all->items[i].kind == XC_NAME_TYPE) {
			bool same = !differs_elsewhere(c, all, &all->items[i]);
			*rivals = same ? *rivals : *all;
			return same ? &all->items[i] : NULL;
		}
	}
	for (size_t i = 0; i < all->count; i++) {
		if (c->scope->has_frame && all->items[i].module == c->scope->frame.module) {
			here = &all->items[i];
			here_count++;
		}
	}
	if (here_count == 1 || all->count == 1)
		return here ? here : &all->items[0];
	*rivals = *all;
	return NULL;
}

static struct xc_module *frame_module(const struct xc_cexpr *c)
{
	return c->scope->has_frame ? c->scope->frame.module : NULL;
}

struct xc_module *xc_cexpr_home(const struct xc_cexpr *c)
{
	struct xc_module *module = frame_module(c);
	return module && !xc_module_is_runtime(module) ? module : NULL;
}

/* Definitions that a bare name does not find: a tag of C in another module, which needs its keyword, and private names
 * of the C library and similar ones, which a misspelt name would match too often. */
static bool is_foreign(struct xc_cexpr *c, const struct xc_definition *d)
{
	Dwarf_Die die = d->die, storage;
	if (d->module == xc_cexpr_home(c) || d->kind == XC_NAME_ENUMERATOR || same_unit(d, unit_of(c, &storage)))
		return false;
	if (d->kind == XC_NAME_TYPE)
		return is_tagged(d) && xc_type_get(xc_types_of(c->process), &die)->is_c;
	return !d->external && xc_module_is_runtime(d->module);
}

/* The definitions of some kinds only; a shallow copy. */
static struct xc_definitions only(struct xc_cexpr *c, const struct xc_cname *name, const struct xc_definitions *all,
				  unsigned kinds, bool tagged)
{
	struct xc_definitions out = {.items = xc_arena_alloc(c->arena, all->count * sizeof *all->items + 1)};
	for (size_t i = 0; i < all->count; i++) {
		if ((all->items[i].kind & kinds) && is_tagged(&all->items[i]) == tagged &&
		    (name->module || name->file || !is_foreign(c, &all->items[i])))
			out.items[out.count++] = all->items[i];
	}
	return out;
}

/* Variables are preferred to functions that are only declared. In C a tag is not a name by itself; in other languages a
 * variable hides it. */
static struct xc_error *use_best(struct xc_cexpr *c, const struct xc_cname *name, const struct xc_definitions *all,
				 enum xc_cfound *found_out, struct xc_value *value_out, const struct xc_type **type_out)
{
	static const struct {
		unsigned kinds;
		bool tagged;
	} order[] = {{XC_NAME_VARIABLE | XC_NAME_FUNCTION | XC_NAME_ENUMERATOR | XC_NAME_TYPE, false},
		     {XC_NAME_TYPE, true}};
	for (size_t i = 0; i < XC_COUNT(order); i++) {
		struct xc_definitions some = only(c, name, all, order[i].kinds, order[i].tagged), rivals = {0};
		const struct xc_definition *one = some.count > 0 ? choose(c, &some, &rivals) : NULL;
		if (one)
			return defined(c, one, found_out, value_out, type_out);
		if (rivals.count > 0)
			return ambiguous(name, &rivals);
	}
	return NULL;
}

/* The best definition in one module; in any module for declarations. */
static struct xc_error *find_in_module(struct xc_cexpr *c, const struct xc_cname *name, const struct xc_query *query,
				       enum xc_cfound *found_out, struct xc_value *value_out,
				       const struct xc_type **type_out)
{
	struct xc_definitions all = {0};
	struct xc_error *err = xc_lookup(c->process, query, &all);
	if (!err)
		err = use_best(c, name, &all, found_out, value_out, type_out);
	xc_definitions_fini(&all);
	return err;
}

const char *xc_cexpr_plain_name(struct xc_cexpr *c, const char *name)
{
	if (!strstr(name, "(anonymous namespace)::"))
		return name;
	struct xc_text text = {0};
	xc_name_without_anonymous(name, &text);
	const char *plain = xc_arena_strdup(c->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return plain;
}

/* Sets the i-th module to search, the scope's first. False: pass over it. only: no other one. */
static bool set_module(const struct xc_cexpr *c, size_t i, const struct xc_module *only, struct xc_query *query)
{
	struct xc_module *module = i == 0 ? frame_module(c) : c->process->modules[i - 1];
	query->module = module;
	query->near_only = i == 0 && module != xc_cexpr_home(c);
	return module && (i == 0 || module != xc_cexpr_home(c)) && (!only || module == only);
}

static struct xc_error *find_in_modules(struct xc_cexpr *c, const struct xc_cname *name, const char *full,
					bool declarations, struct xc_module *only_module, enum xc_cfound *found_out,
					struct xc_value *value_out, const struct xc_type **type_out)
{
	Dwarf_Die storage;
	struct xc_query query = {.name = xc_cexpr_plain_name(c, full),
				 .kinds = XC_NAME_ANY & ~(unsigned)XC_NAME_NAMESPACE,
				 .unit = name->file,
				 .declarations = declarations,
				 .near = unit_of(c, &storage)};
	struct xc_error *err = NULL;
	for (size_t i = 0; i <= c->process->module_count && !err && *found_out == XC_FOUND_NOTHING; i++) {
		if (set_module(c, i, only_module, &query))
			err = find_in_module(c, name, &query, found_out, value_out, type_out);
	}
	return err;
}

struct xc_error *xc_cexpr_find_defined(struct xc_cexpr *c, const struct xc_cname *name, const char *full,
				       struct xc_module *only_module, enum xc_cfound *found_out,
				       struct xc_value *value_out, const struct xc_type **type_out)
{
	return find_in_modules(c, name, full, false, only_module, found_out, value_out, type_out);
}

/* In the scope's module, then in the others in load order. The next module is searched only when there is none so far,
 * since a module's index is built on its first lookup. Declarations are searched last: a static member may have its
 * constant in the class and no definition. */
struct xc_error *xc_cexpr_find_global(struct xc_cexpr *c, const struct xc_cname *name, const char *full,
				      struct xc_module *only_module, enum xc_cfound *found_out,
				      struct xc_value *value_out, const struct xc_type **type_out)
{
	struct xc_error *err = find_in_modules(c, name, full, false, only_module, found_out, value_out, type_out);
	if (err || *found_out != XC_FOUND_NOTHING)
		return err;
	return find_in_modules(c, name, full, true, only_module, found_out, value_out, type_out);
}

/* ---- the function and its object ---- */

static bool find_local(struct xc_cexpr *c, const char *name, struct xc_value *out)
{
	const struct xc_frame_scope *s = c->scope;
	if (!s->has_frame)
		return false;
	struct xc_frame_context context = xc_frame_scope_context(s);
	return xc_variable_find(&context, s->level, name, c->arena, out);
}

/* A member of a pointer's target, or a static member of its class. */
static bool find_through(struct xc_cexpr *c, const struct xc_value *object, const char *name, struct xc_value *out)
{
	const struct xc_type *type = xc_type_strip(object->type);
	if (type->kind != XC_TYPE_POINTER)
		return false;
	struct xc_error *err = object->kind == XC_VALUE_ABSENT ? NULL : xc_value_member(object, name, out);
	bool found = !err && object->kind != XC_VALUE_ABSENT;
	xc_error_free(err);
	return found || xc_cexpr_class_member(c, type->target, name, out);
}

/* A member of the function's object. In a lambda compiled by gcc, the captured `x` is __closure->__x, and the object is
 * __closure->__this. */
static bool find_in_this(struct xc_cexpr *c, const char *name, struct xc_value *out)
{
	struct xc_value object, inner;
	if (find_local(c, "this", &object))
		return find_through(c, &object, name, out);
	if (!find_local(c, "__closure", &object))
		return false;
	if (find_through(c, &object, xc_arena_printf(c->arena, "__%s", name), out))
		return true;
	return find_through(c, &object, "__this", &inner) && find_through(c, &inner, name, out);
}

bool xc_cexpr_class_member(struct xc_cexpr *c, const struct xc_type *type, const char *name, struct xc_value *out)
{
	size_t count;
	type = xc_type_complete(xc_type_strip(type));
	struct xc_cname plain = {.name = name};
	enum xc_cfound found = XC_FOUND_NOTHING;
	const struct xc_type *ignored;
	bool record = xc_type_is_record(type);
	if (!record || !type->name || type->is_c || xc_cexpr_is_own_name(type->name, strlen(type->name), name) ||
	    ++c->names > XC_CEXPR_NAMES)
		return false;
	xc_error_free(xc_cexpr_find_global(c, &plain, xc_arena_printf(c->arena, "%s::%s", type->name, name), NULL,
					   &found, out, &ignored));
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && members[i].base && found != XC_FOUND_VALUE; i++) {
		if (xc_cexpr_class_member(c, members[i].type, name, out))
			found = XC_FOUND_VALUE;
	}
	return found == XC_FOUND_VALUE;
}

/* ---- synthetic symbols ---- */

static enum xc_cfound find_made(const struct xc_cexpr *c, const char *name, struct xc_value *value_out,
				const struct xc_type **type_out)
{
	const struct xc_synthetic_symbols *synthetic = xc_types_of(c->process)->synthetic;
	if (synthetic && synthetic->value(synthetic, name, value_out))
		return XC_FOUND_VALUE;
	if (synthetic && (*type_out = synthetic->type(synthetic, name, 0)))
		return XC_FOUND_TYPE;
	return XC_FOUND_NOTHING;
}

/* ---- the whole lookup ---- */

static struct xc_error *find_near(struct xc_cexpr *c, const struct xc_cname *name, enum xc_cfound *found_out,
				  struct xc_value *value_out, const struct xc_type **type_out)
{
	if (find_local(c, name->name, value_out) || find_in_this(c, name->name, value_out)) {
		*found_out = XC_FOUND_VALUE;
		return NULL;
	}
	return xc_cexpr_find_enclosing(c, name, found_out, value_out, type_out);
}

struct xc_error *xc_cexpr_find(struct xc_cexpr *c, const struct xc_cname *name, enum xc_cfound *found_out,
			       struct xc_value *value_out, const struct xc_type **type_out)
{
	struct xc_module *module = NULL;
	struct xc_error *err = NULL;
	*found_out = XC_FOUND_NOTHING;
	if (name->module && (err = find_module(c, name->module, &module)))
		return err;
	if (!name->module && !name->file && !name->global)
		err = find_near(c, name, found_out, value_out, type_out);
	if (!err && *found_out == XC_FOUND_NOTHING)
		err = xc_cexpr_find_global(c, name, name->name, module, found_out, value_out, type_out);
	if (!err && *found_out == XC_FOUND_NOTHING && name->global)
		err = xc_cexpr_find_enclosing(c, name, found_out, value_out, type_out);
	if (!err && *found_out == XC_FOUND_NOTHING)
		err = xc_cexpr_static_local(c, name, module, found_out, value_out);
	if (!err && *found_out == XC_FOUND_NOTHING)
		*found_out = find_made(c, name->name, value_out, type_out);
	if (err || *found_out != XC_FOUND_NOTHING)
		return err;
	if (!name->file && xc_cexpr_symbol(c, name, value_out)) {
		*found_out = XC_FOUND_VALUE;
	} else if (!name->file && !module && (*type_out = xc_ctype_library(c->process, name->name))) {
		*found_out = XC_FOUND_TYPE;
	} else if (!name->file) {
		bool macro;
		err = xc_cexpr_macro(c, name, module, &macro, value_out);
		*found_out = macro && !err ? XC_FOUND_VALUE : XC_FOUND_NOTHING;
	}
	return err;
}

/* A tagged type of one module; of any module for NULL. */
static struct xc_error *find_tag_in(struct xc_cexpr *c, const struct xc_cname *name, struct xc_query *query,
				    const struct xc_type **type_out)
{
	struct xc_definitions all = {0}, rivals = {0};
	struct xc_error *err = xc_lookup(c->process, query, &all);
	const struct xc_definition *one = !err && all.count > 0 ? choose(c, &all, &rivals) : NULL;
	if (one) {
		Dwarf_Die die = one->die;
		*type_out = xc_type_get(xc_types_of(c->process), &die);
	} else if (rivals.count > 0) {
		err = ambiguous(name, &rivals);
	}
	xc_definitions_fini(&all);
	return err;
}

struct xc_error *xc_cexpr_find_tag(struct xc_cexpr *c, const struct xc_cname *name, const struct xc_type **type_out)
{
	struct xc_module *module = NULL;
	Dwarf_Die storage;
	*type_out = NULL;
	struct xc_error *err = name->module ? find_module(c, name->module, &module) : NULL;
	struct xc_query query = {.name = xc_cexpr_plain_name(c, name->name),
				 .kinds = XC_NAME_TYPE,
				 .tag = name->tag,
				 .unit = name->file,
				 .near = unit_of(c, &storage)};
	for (int declarations = 0; declarations < 2 && !err && !*type_out; declarations++) {
		const struct xc_synthetic_symbols *synthetic = xc_types_of(c->process)->synthetic;
		query.declarations = declarations;
		for (size_t i = 0; i <= c->process->module_count && !err && !*type_out; i++) {
			if (set_module(c, i, module, &query))
				err = find_tag_in(c, name, &query, type_out);
		}
		if (!declarations && !err && !*type_out && synthetic)
			*type_out = synthetic->type(synthetic, name->name, name->tag);
	}
	return err;
}

/* cexpr_symbol: names that are only in an ELF symbol table, and names that are nowhere.
 *
 * A symbol has an address and no type, unless the unit declares it: it can be cast and its address taken, but not
 * read. */
#include <elf.h>

#include <dwarf.h>

#include "core/process/module.h"
#include "core/text/suggest.h"
#include "dwarf/cexpr/cexpr_impl.h"
#include "dwarf/elf/budget.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/module/die.h"
#include "dwarf/value/expr.h"
#include "dwarf/elf/symbol.h"

enum { FRAMES_SEARCHED = 64, SIMILAR = 3 };

bool xc_cexpr_is_untyped(const struct xc_cexpr *c, const struct xc_type *type)
{
	return type == xc_ctype_untyped(c->process);
}

struct xc_error *xc_cexpr_untyped(void)
{
	return xc_error_hint(xc_error_new(XC_ERR_USAGE, "has unknown type; cast it to its declared type"),
			     "there is no debug information for it: (int)NAME, *(struct foo **)&NAME");
}

/* The address of a thread-local symbol: its offset is evaluated as by DW_OP_form_tls_address. */
static void thread_local_value(struct xc_cexpr *c, const struct xc_module *module, uint64_t offset,
			       struct xc_value *out)
{
	struct xc_expr_context context = {
		.process = c->process, .module = module, .thread = c->scope->thread, .scratch = c->arena};
	const Dwarf_Op ops[] = {{.atom = DW_OP_const8u, .number = offset}, {.atom = DW_OP_form_tls_address}};
	struct xc_expr expr = {.ops = ops, .count = XC_COUNT(ops)};
	struct xc_location location;
	xc_expr_locate(&context, &expr, NULL, &location);
	const struct xc_type *type = xc_ctype_untyped(c->process);
	if (location.kind == XC_LOCATION_MEMORY)
		*out = xc_value_memory(c->process, type, location.number);
	else
		*out = xc_value_absent(c->process, type, location.why ? location.why : "it has no address");
}

static bool symbol_value(struct xc_cexpr *c, const struct xc_module *module, const struct xc_symbol *symbol,
			 struct xc_value *out)
{
	bool code = symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC;
	if (symbol->type == STT_TLS) {
		thread_local_value(c, module, symbol->value, out);
		return true;
	}
	if (!module->bias_known)
		return false;
	*out = xc_value_memory(c->process, code ? xc_ctype_untyped_code(c->process) : xc_ctype_untyped(c->process),
			       symbol->value + module->bias);
	return true;
}

/* The unit may declare a variable whose definition is in a unit without debug information. */
static void use_declared_type(struct xc_cexpr *c, const char *name, struct xc_value *value)
{
	Dwarf_Die unit, child;
	if (!xc_cexpr_is_untyped(c, value->type) || !xc_frame_scope_unit(c->scope, &unit))
		return;
	for (bool more = xc_die_child(&unit, &child); more && xc_budget_spend(1); more = xc_die_next(&child)) {
		const char *have = dwarf_tag(&child) == DW_TAG_variable ? xc_die_name(&child) : NULL;
		if (have && strcmp(have, name) == 0 && xc_die_flag(&child, DW_AT_external)) {
			value->type = xc_type_of(xc_types_of(c->process), &child);
			return;
		}
	}
}

bool xc_cexpr_symbol(struct xc_cexpr *c, const struct xc_cname *name, struct xc_value *out)
{
	for (size_t i = 0; i < c->process->module_count; i++) {
		struct xc_module *module = c->process->modules[i];
		if (name->module && module != xc_module_by_name(c->process, name->module))
			continue;
		const struct xc_symtab *table = xc_debugfile_symbols(xc_debugfile_of(c->process, module));
		const struct xc_symbol *symbol = xc_symtab_named(table, name->name);
		bool foreign = symbol && symbol->bind == STB_LOCAL && !name->module && xc_module_is_runtime(module);
		if (symbol && !foreign && symbol_value(c, module, symbol, out)) {
			use_declared_type(c, name->name, out);
			return true;
		}
	}
	return false;
}

/* ---- nothing has this name ---- */

static bool consider(void *user, const char *name)
{
	xc_suggest_consider(user, name);
	return true;
}

/* The first outer frame in which the name is a local. */
static bool other_frame(const struct xc_cexpr *c, const char *name, unsigned *row_out, const char **function_out)
{
	struct xc_frame_scope s;
	bool found = false;
	struct xc_error *err = xc_frame_scope_open(&s, c->process, c->scope->thread, c->scope->row);
	for (int i = 0; !err && !found && i < FRAMES_SEARCHED && xc_frame_scope_up(&s); i++) {
		struct xc_frame_context context = xc_frame_scope_context(&s);
		struct xc_value value;
		found = xc_variable_find(&context, s.level, name, c->arena, &value);
	}
	*row_out = s.row;
	*function_out = xc_frame_scope_function(&s);
	xc_error_free(err);
	xc_frame_scope_fini(&s);
	return found;
}

static void add_similar(struct xc_cexpr *c, const struct xc_cname *name, struct xc_text *text)
{
	const struct xc_frame_scope *s = c->scope;
	struct xc_suggestion near = xc_suggest(name->name);
	if (s->has_frame) {
		struct xc_frame_context context = xc_frame_scope_context(s);
		xc_variable_names(&context, s->level, consider, &near);
	}
	if (near.best) {
		xc_text_add(text, near.best);
		return;
	}
	struct xc_query query = {.name = xc_cexpr_plain_name(c, name->name),
				 .kinds = XC_NAME_VARIABLE | XC_NAME_FUNCTION | XC_NAME_ENUMERATOR | XC_NAME_TYPE,
				 .module = name->module ? xc_module_by_name(c->process, name->module) : NULL};
	xc_lookup_similar(c->process, &query, SIMILAR, text); /* the name itself was already looked up in all */
}

static struct xc_error *where_not(const struct xc_cexpr *c, const struct xc_cname *name)
{
	const struct xc_frame_scope *s = c->scope;
	const char *function = xc_frame_scope_function(s);
	if (name->file)
		return xc_error_new(XC_ERR_NOT_FOUND, "no `%s` in file `%s`", name->name, name->file);
	if (name->module)
		return xc_error_new(XC_ERR_NOT_FOUND, "no `%s` in module `%s`", name->name, name->module);
	if (!s->has_frame || name->global)
		return xc_error_new(XC_ERR_NOT_FOUND, "no `%s` in the target", name->name);
	if (s->place->level_count == 0)
		return xc_error_new(XC_ERR_NOT_FOUND, "no `%s` (frame %u, %s, has no debug information)", name->name,
				    s->row, function ? function : "which is unknown");
	return xc_error_new(XC_ERR_NOT_FOUND, "no `%s` here (frame %u, %s)", name->name, s->row,
			    function ? function : "?");
}

struct xc_error *xc_cexpr_unknown(struct xc_cexpr *c, const struct xc_cname *name)
{
	struct xc_error *err = where_not(c, name);
	const char *function;
	unsigned row;
	if (c->scope->without_hints)
		return err;
	if (!name->file && !name->module && c->scope->has_frame && other_frame(c, name->name, &row, &function))
		return xc_error_hint(err, "it is a local of frame %u, %s: --frame %u", row, function ? function : "?",
				     row);
	struct xc_text near = {0};
	add_similar(c, name, &near);
	if (near.len > 0)
		err = xc_error_hint(err, "did you mean %s?", xc_text_string(&near));
	xc_text_fini(&near);
	return err;
}

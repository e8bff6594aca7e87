/* cexpr_static: static locals, as function::variable. */
#include <dwarf.h>
#include <string.h>

#include "dwarf/cexpr/cexpr_impl.h"
#include "dwarf/module/die.h"

enum { MAX_BLOCKS = 12 };

static bool find_below(Dwarf_Die *parent, const char *name, unsigned depth, Dwarf_Die *out)
{
	Dwarf_Die child, origin;
	Dwarf_Attribute attr;
	for (bool more = xc_die_child(parent, &child); more; more = xc_die_next(&child)) {
		int tag = dwarf_tag(&child);
		const char *have = tag == DW_TAG_variable ? xc_die_name(&child) : NULL;
		if (have && strcmp(have, name) == 0 && !xc_die_flag(&child, DW_AT_declaration) &&
		    (xc_die_attr(&child, DW_AT_location, &attr) || xc_die_attr(&child, DW_AT_const_value, &attr))) {
			*out = child;
			return true;
		}
		if (tag == DW_TAG_lexical_block && depth < MAX_BLOCKS && find_below(&child, name, depth + 1, out))
			return true;
	}
	if (depth == 0 && xc_die_ref(parent, DW_AT_abstract_origin, &origin) && origin.addr != parent->addr)
		return find_below(&origin, name, 1, out);
	return false;
}

struct xc_error *xc_cexpr_static_local(struct xc_cexpr *c, const struct xc_cname *name, struct xc_module *module,
				       enum xc_cfound *found_out, struct xc_value *out)
{
	size_t cut = xc_cexpr_last_separator(name->name, strlen(name->name));
	if (cut == 0)
		return NULL;
	const char *function = xc_arena_strndup(c->arena, name->name, cut);
	struct xc_query query = {.name = xc_cexpr_plain_name(c, function),
				 .kinds = XC_NAME_FUNCTION,
				 .module = module,
				 .unit = name->file};
	struct xc_definitions all = {0};
	struct xc_error *err = xc_lookup(c->process, &query, &all);
	for (size_t i = 0; !err && i < all.count && *found_out == XC_FOUND_NOTHING; i++) {
		Dwarf_Die variable;
		if (!find_below(&all.items[i].die, name->name + cut + 2, 0, &variable))
			continue;
		xc_variable_static(c->process, all.items[i].module, c->scope->thread, &variable, c->arena, out);
		*found_out = XC_FOUND_VALUE;
	}
	xc_definitions_fini(&all);
	return err;
}

/* cexpr_macro: macros. A body is an expression in the scope of its use, as with the preprocessor. Units may define a
 * name differently: bodies that are not expressions are skipped, and bodies with different values make the name
 * ambiguous. */
#include "dwarf/cexpr/cexpr_impl.h"

enum { MAX_DEPTH = 16 };

static bool same_value(const struct xc_value *a, const struct xc_value *b)
{
	uint64_t x, y;
	return xc_value_load(a, &x) && xc_value_load(b, &y) && x == y;
}

static struct xc_error *ambiguous(const struct xc_cname *name, const char *a, const char *b)
{
	return xc_error_new(XC_ERR_USAGE, "`%s` is a macro with several meanings: %s, %s", name->name, a, b);
}

struct xc_error *xc_cexpr_macro(struct xc_cexpr *c, const struct xc_cname *name, struct xc_module *module,
				bool *found_out, struct xc_value *out)
{
	struct xc_query query = {.name = name->name, .kinds = XC_NAME_MACRO, .module = module};
	xc_auto(xc_definitions_fini) struct xc_definitions found = {0};
	const char *taken = NULL;
	*found_out = false;
	if (c->macros >= MAX_DEPTH || strstr(name->name, "::"))
		return NULL;
	struct xc_error *err = xc_lookup(c->process, &query, &found);
	for (size_t i = 0; i < found.count && !err; i++) {
		struct xc_value value;
		struct xc_error *wrong = xc_cexpr_body(c, found.items[i].macro, &value);
		if (wrong && wrong->code == XC_ERR_LIMIT)
			return wrong;
		if (!wrong && taken && !same_value(&value, out))
			return ambiguous(name, taken, found.items[i].macro);
		if (!wrong && !taken) {
			taken = found.items[i].macro;
			*out = value;
		}
		xc_error_free(wrong);
	}
	*found_out = taken != NULL;
	return err;
}

/* synthetic_symbol: names without debug information, in a process that a test synthesised (lua/plugin/fixture.h).
 *
 * Expressions and types look here after every other place. */
#ifndef XC_SYNTHETIC_SYMBOL_H
#define XC_SYNTHETIC_SYMBOL_H

#include "dwarf/value/value.h"

struct xc_synthetic_symbols {
	/* A variable or constant; false when there is none. */
	bool (*value)(const struct xc_synthetic_symbols *synthetic, const char *name, struct xc_value *out);
	/* A type by its name without a keyword; tag is a DW_TAG_… or 0 for any. NULL when there is none. */
	const struct xc_type *(*type)(const struct xc_synthetic_symbols *synthetic, const char *name, int tag);
};

#endif

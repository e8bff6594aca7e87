/* made: names that no debug information tells, for a process that was made up (lua/plugin/fixture.h). Expressions and types find them
 * where nothing else has the name. */
#ifndef XC_MADE_H
#define XC_MADE_H

#include "dwarf/value/value.h"

struct xc_made {
	/* A variable or constant; false when there is none. */
	bool (*value)(const struct xc_made *made, const char *name, struct xc_value *out);
	/* A type without its keyword; tag is a DW_TAG_…, 0 for any. NULL when there is none. */
	const struct xc_type *(*type)(const struct xc_made *made, const char *name, int tag);
};

#endif

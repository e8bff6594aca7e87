/* statics: the variable of a file, namespace or class that lies at an address, as the code at a place knows it. */
#ifndef XC_STATICS_H
#define XC_STATICS_H

#include "dwarf/stack/variable.h"

/* Looked for in the unit of the place, by address, then by the name of the symbol there among what the unit declares. Without a
 * declaration only the symbol is told: then the type is NULL. False when there is none. */
bool xc_statics_at(const struct xc_process *process, const struct xc_place *place, const struct xc_thread *thread,
		   xc_addr addr, struct xc_held *out);

#endif

/* statics: the variable of a file, namespace or class at an address, in the scope of the code at a place. */
#ifndef XC_STATICS_H
#define XC_STATICS_H

#include "dwarf/stack/variable.h"

/* Searched for in the compilation unit of the place, by address, then by the name of the symbol at the address.
 * Without a declaration only the symbol is known: type is then NULL. False when there is none. */
bool xc_statics_at(const struct xc_process *process, const struct xc_place *place, const struct xc_thread *thread,
		   xc_addr addr, struct xc_held *out);

/* Call `each` for the variables with a fixed place that the compilation unit of the place defines: some hundred at
 * most. Their values live as long as the call. */
typedef void xc_statics_fn(void *user, const char *name, const struct xc_value *value);
void xc_statics_each(const struct xc_process *process, const struct xc_place *place, const struct xc_thread *thread,
		     xc_statics_fn *each, void *user);

#endif
